/** Counts open sockets by client address, before their TLS handshake, so that one address cannot take them all. */

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
    const key = addressKey(address);
    const open = this.#open.get(key) ?? 0;
    if (open >= this.#limits.connectionsPerAddress || this.#total >= this.#limits.connections) return undefined;
    this.#open.set(key, open + 1);
    this.#total++;
    return () => this.#leave(key);
  }

  #leave(key: string): void {
    const open = (this.#open.get(key) ?? 1) - 1;
    if (open === 0) this.#open.delete(key);
    else this.#open.set(key, open);
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
