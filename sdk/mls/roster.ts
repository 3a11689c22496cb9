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
