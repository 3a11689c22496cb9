/** Counts open sockets by client address, before their TLS handshake, so that one address cannot take them all. */
import { networkOf, networkShare, prefixOf } from "../limits/mod.ts";

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
    const [prefix, network] = [prefixOf(address), networkOf(address)];
    const { connections, connectionsPerAddress } = this.#limits;
    if (this.#total >= connections || this.#count(prefix) >= connectionsPerAddress) return undefined;
    if (this.#count(network) >= networkShare * connectionsPerAddress) return undefined;
    return this.enter(address);
  }

  /** The same, whatever the limits are. */
  enter(address: string): () => void {
    const [prefix, network] = [prefixOf(address), networkOf(address)];
    const keys = network === prefix ? [prefix] : [prefix, network];
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
