/**
 * A group without keys: an epoch is its number and the commit or founding that led to it, a leaf is
 * a name, a key is the epoch, the leaf and a counter. A world notes each key with what it sealed,
 * over all copies of all stores: one that seals two contents is seen at once.
 */
import { foundingEpoch } from "../../proto/mod.ts";

export interface Group {
  readonly epoch: number;
  /** The commit or the founding that led to this epoch. */
  readonly led: string;
  readonly leaf: string;
}

/** By key: what it sealed. */
export type Sealed = Record<string, string>;

/** Two members that took the same way have the same one. */
export function afterCommit({ epoch, leaf }: Group, hash: string): Group {
  return Object.freeze({ epoch: epoch + 1, led: hash, leaf });
}

export function afterFounding(generation: number, hash: string, leaf: string): Group {
  return Object.freeze({ epoch: foundingEpoch(generation) + 1, led: hash, leaf });
}

export function groupOf(group: Group): Group {
  return Object.freeze({ ...group });
}

/** Returns the fault, if the key has sealed something else before. */
export function seal(
  sealed: Sealed,
  { epoch, led, leaf }: Group,
  keyNumber: number,
  content: string,
): string | undefined {
  const key = `${led} ${epoch} ${leaf} ${keyNumber}`;
  const before = sealed[key];
  sealed[key] = content;
  return before === undefined || before === content ? undefined : "S1: a key sealed two contents";
}

const letters = new Map<string, Uint8Array>();
const encoder = new TextEncoder();

/** A letter as bytes, the same ones each time. */
export function bytesOf(letter: string): Uint8Array {
  const known = letters.get(letter) ?? encoder.encode(letter);
  letters.set(letter, known);
  return known;
}
