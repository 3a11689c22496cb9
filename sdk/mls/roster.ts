/**
 * The members of an epoch, for reading its messages once it is over: signature key and identity of
 * every leaf, in one array of bytes. It is stored in this form and decoded only when a late message
 * asks for a sender.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { MlsReader } from "../../proto/mod.ts";
import { equalBytes, uint16, vector } from "./codec.ts";
import { credentialOf, type MemberCredential } from "./leaf.ts";
import type { RatchetTree } from "./ratchet_tree.ts";

export class Roster {
  readonly bytes: Uint8Array;
  #byLeaf: ReadonlyMap<number, MemberCredential> | undefined;

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
      const { signatureKey, identity } = credentialOf(node);
      entries.push(uint16(leafIndex), vector(signatureKey), vector(identity));
    }
    const bytes = concatBytes(...entries);
    return before !== undefined && equalBytes(before.bytes, bytes) ? before : new Roster(bytes);
  }

  /** Throws `WireError` when the bytes are not a roster. */
  *credentials(): Generator<MemberCredential> {
    for (const [, credential] of entriesOf(this.bytes)) yield credential;
  }

  /** Throws `WireError` when the bytes are not a roster. */
  at(leafIndex: number): MemberCredential | undefined {
    this.#byLeaf ??= new Map(entriesOf(this.bytes));
    return this.#byLeaf.get(leafIndex);
  }
}

function* entriesOf(
  bytes: Uint8Array,
): Generator<readonly [leafIndex: number, credential: MemberCredential]> {
  const reader = new MlsReader(bytes, "stored roster");
  while (!reader.done) {
    yield [reader.uint16(), { signatureKey: reader.vector(), identity: reader.vector() }];
  }
}
