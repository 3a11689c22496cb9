/**
 * Which records there are, and which batch wrote each: in memory, rebuilt when a store is opened. Its digest is the xor of a
 * keyed hash of every (name, generation) and lies encrypted in the head, so a record that vanished, came back or was
 * replaced by an older version of itself is noticed without reading a single value. (Multiset hash after Clarke et al.,
 * ASIACRYPT 2003: keyed, and hidden from whoever can write to the disk.)
 */
import { concat, encodeUint } from "./bytes.ts";
import { createMac } from "./derived_keys.ts";

export const digestBytes = 16;

export class RecordIndex {
  readonly #mac: (message: Uint8Array) => Uint8Array;
  readonly #generations: Map<string, number> = new Map();
  readonly #digest: Uint8Array<ArrayBuffer> = new Uint8Array(digestBytes);
  #newest = 0;

  constructor(key: Uint8Array) {
    this.#mac = createMac(key);
  }

  get(name: Uint8Array): number | undefined {
    return this.#generations.get(textOf(name));
  }

  set(name: Uint8Array, generation: number): void {
    this.#remove(name);
    this.#generations.set(textOf(name), generation);
    this.#toggle(name, generation);
    this.#newest = Math.max(this.#newest, generation);
  }

  delete(name: Uint8Array): void {
    this.#remove(name);
    this.#generations.delete(textOf(name));
  }

  /** Names with this prefix. */
  names(prefix: Uint8Array): Uint8Array<ArrayBuffer>[] {
    const start = textOf(prefix);
    return [...this.#generations.keys()].filter((name) => name.startsWith(start)).map(bytesOf);
  }

  digest(): Uint8Array<ArrayBuffer> {
    return this.#digest.slice();
  }

  /** The highest generation of any record. */
  newest(): number {
    return this.#newest;
  }

  #remove(name: Uint8Array): void {
    const generation = this.get(name);
    if (generation !== undefined) this.#toggle(name, generation);
  }

  #toggle(name: Uint8Array, generation: number): void {
    const hash = this.#mac(concat(name, encodeUint(generation, 8)));
    for (let i = 0; i < digestBytes; i++) this.#digest[i] = (this.#digest[i] ?? 0) ^ (hash[i] ?? 0);
  }
}

/** One character a byte: the cheapest key that a `Map` compares by content. */
function textOf(name: Uint8Array): string {
  return String.fromCharCode(...name);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
