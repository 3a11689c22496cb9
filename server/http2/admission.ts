/**
 * Counts open sockets by client address, before their TLS handshake, so that one address cannot take them all. Sockets that
 * sessions carry count together, and leave a part of all places to others: to those who log in, and to balancers that ask for
 * health.
 */
import { networkOf, networkShare, prefixOf } from "../limits/mod.ts";
import type { SocketCounts } from "./session_sockets.ts";

/** Of all places: so many may be of sockets that sessions carry. */
const carriedShare = 7 / 8;
/** Of all places: when so many are taken, a session carries one socket only. */
const spareShare = 1 / 2;

export class Admission {
  readonly #limits: { readonly connections: number; readonly connectionsPerAddress: number };
  readonly #open = new Map<string, number>();
  #total = 0;
  #carried = 0;

  constructor(limits: { readonly connections: number; readonly connectionsPerAddress: number }) {
    this.#limits = limits;
  }

  /** Those that count for their addresses. */
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

  countsOf(address: string): SocketCounts {
    return { count: () => this.enter(address), carry: (others) => this.#carry(others) };
  }

  #carry(others: number): (() => void) | undefined {
    const { connections } = this.#limits;
    if (this.#carried >= carriedShare * connections) return undefined;
    if (others > 0 && this.#total + this.#carried > spareShare * connections) return undefined;
    this.#carried++;
    return () => {
      this.#carried--;
    };
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
