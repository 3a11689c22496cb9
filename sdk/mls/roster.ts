/**
 * The members of an epoch, for reading its messages once it is over: signature key, identity and
 * badges of every leaf, in one array of bytes. It is stored in this form and decoded only when a
 * late message asks for a sender, who is judged by the badges that it had then.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { MlsReader } from "../../proto/mod.ts";
import { equalBytes, uint16, vector } from "./codec.ts";
import { type BadgedCredential, badgedOf } from "./leaf.ts";
import type { RatchetTree } from "./ratchet_tree.ts";

/** An extension without content is malformed, so it says as little as none. */
const noBadges = new Uint8Array(0);

export class Roster {
  readonly bytes: Uint8Array;
  #byLeaf: ReadonlyMap<number, BadgedCredential> | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * The members in a tree. Returns `before` when they are the same: most commits add and remove
   * nobody.
   */
  static of(tree: RatchetTree, before: Roster | undefined): Roster {
    const entries: Uint8Array[] = [];
    for (const [leafIndex, { node }] of tree.leaves()) {
      const { signatureKey, identity, badges = noBadges } = badgedOf(node);
      entries.push(uint16(leafIndex), vector(signatureKey), vector(identity), vector(badges));
    }
    const bytes = concatBytes(...entries);
    return before !== undefined && equalBytes(before.bytes, bytes) ? before : new Roster(bytes);
  }

  /** Throws `WireError` when the bytes are not a roster. */
  *credentials(): Generator<BadgedCredential> {
    for (const [, credential] of entriesOf(this.bytes)) yield credential;
  }

  /** Throws `WireError` when the bytes are not a roster. */
  at(leafIndex: number): BadgedCredential | undefined {
    this.#byLeaf ??= new Map(entriesOf(this.bytes));
    return this.#byLeaf.get(leafIndex);
  }
}

/**
 * Which epochs have a record of their members: each is of all epochs up to the next of them. A
 * record is never written anew under a name that it had, so a deletion may come late.
 */
export class RosterRecords {
  /** Ascending. */
  #from: readonly bigint[];
  /** In the last of them, if this process has written it. */
  #last: Roster | undefined;

  constructor(from: readonly bigint[]) {
    this.#from = from;
  }

  /** Whether an epoch, later than all before, needs a record. */
  add(epoch: bigint, roster: Roster): boolean {
    if (this.#last === roster) return false;
    this.#last = roster;
    this.#from = [...this.#from, epoch];
    return true;
  }

  /** Returns the records that none of these epochs needs. They are none any more. */
  drop(left: Iterable<bigint>): bigint[] {
    const all = this.#from;
    const needed = new Set<bigint>();
    let at = 0;
    for (const epoch of [...left].sort((a, b) => a < b ? -1 : 1)) {
      while ((all[at + 1] ?? epoch + 1n) <= epoch) at++;
      const from = all[at];
      if (from !== undefined && from <= epoch) needed.add(from);
    }
    this.#from = all.filter((from) => needed.has(from));
    if (this.#from.at(-1) !== all.at(-1)) this.#last = undefined;
    return all.filter((from) => !needed.has(from));
  }
}

function* entriesOf(
  bytes: Uint8Array,
): Generator<readonly [leafIndex: number, credential: BadgedCredential]> {
  const reader = new MlsReader(bytes, "stored roster");
  while (!reader.done) {
    const leafIndex = reader.uint16();
    const credential = { signatureKey: reader.vector(), identity: reader.vector() };
    const badges = reader.vector();
    yield [leafIndex, badges.length === 0 ? credential : { ...credential, badges }];
  }
}
