/** Counts open sockets by client address, before their TLS handshake, so that one address cannot take them all. */

/** A /56 network may have as much as this many addresses: a customer often commands one, with 256 networks of /64 in it. */
export const networkShare = 4;

export class Admission {
  readonly #limits: { readonly connections: number; readonly connectionsPerAddress: number };
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(limits: { readonly connections: number; readonly connectionsPerAddress: number }) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** A function to call once when the socket closes, or undefined when it must be refused. */
  admit(address: string): (() => void) | undefined {
    const [key, network] = [addressKey(address), networkKey(address)];
    const { connections, connectionsPerAddress } = this.#limits;
    if (this.#total >= connections || this.#count(key) >= connectionsPerAddress) return undefined;
    if (network !== undefined && this.#count(network) >= networkShare * connectionsPerAddress) return undefined;
    const keys = network === undefined ? [key] : [key, network];
    for (const each of keys) this.#open.set(each, this.#count(each) + 1);
    this.#total++;
    return () => this.#leave(keys);
  }

  #count(key: string): number {
    return this.#open.get(key) ?? 0;
  }

  #leave(keys: readonly string[]): void {
    for (const key of keys) {
      const open = this.#count(key) - 1;
      if (open <= 0) this.#open.delete(key);
      else this.#open.set(key, open);
    }
    this.#total--;
  }
}

/** An IPv6 client usually owns a whole /64 network; an IPv4 one may come mapped into IPv6. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%")[0]?.toLowerCase().split("::") ?? [];
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...new Array<string>(Math.max(0, missing)).fill("0"), ...last];
  return groups.slice(0, 4).join(":");
}

/** The /56 around an IPv6 address. Undefined for IPv4, where an address stands for itself. */
export function networkKey(address: string): string | undefined {
  const groups = addressKey(address).split(":");
  if (groups.length < 4) return undefined;
  const [first, second, third, fourth = "0"] = groups;
  return `${first}:${second}:${third}:${(parseInt(fourth, 16) >> 8).toString(16)}/56`;
}
