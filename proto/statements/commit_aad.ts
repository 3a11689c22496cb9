/**
 * The authenticated data of a commit: why it may do what it does. It travels inside the commit, so
 * every member judges the same proofs, and the relay, which can read them, can neither change them
 * nor take them away.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { WireError } from "../base/errors.ts";
import { type AgentId, parseAgentId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { MlsReader } from "../mls/reader.ts";
import { vector } from "../mls/writer.ts";

/**
 * A member's signature about its present leaf; the hashes that it signed come from the tree and
 * from the commit itself.
 */
export interface MemberProof {
  readonly agentId: AgentId;
  readonly signature: Uint8Array;
}

export interface CommitAad {
  /** Changes of the owners, one after the other, as bytes. */
  readonly changes: Uint8Array;
  /** Of members that leave, in ascending order of leaves. */
  readonly leaves: readonly MemberProof[];
  /** Of members that come back, likewise. */
  readonly rejoins: readonly MemberProof[];
}

const format = 1;
const agentIdBytes = 22;
const signatureBytes = 64;

export const emptyCommitAad: CommitAad = { changes: new Uint8Array(0), leaves: [], rejoins: [] };

/** Empty when there is nothing to prove. */
export function encodeCommitAad({ changes, leaves, rejoins }: CommitAad): Uint8Array {
  if (changes.length + leaves.length + rejoins.length === 0) return new Uint8Array(0);
  return concatBytes(
    Uint8Array.of(format),
    vector(changes),
    encodeProofs(leaves),
    encodeProofs(rejoins),
  );
}

/** Throws `WireError` for whatever `encodeCommitAad` would not have written. */
export function decodeCommitAad(bytes: Uint8Array): CommitAad {
  if (bytes.length === 0) return emptyCommitAad;
  const reader = new MlsReader(bytes, "authenticated data of a commit");
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const decoded = {
    changes: reader.vector(),
    leaves: readProofs(reader),
    rejoins: readProofs(reader),
  };
  reader.end();
  if (decoded.changes.length + decoded.leaves.length + decoded.rejoins.length === 0) {
    reader.refuse("it says nothing");
  }
  return decoded;
}

function encodeProofs(proofs: readonly MemberProof[]): Uint8Array {
  checkCount(proofs.length);
  return vector(
    concatBytes(...proofs.flatMap(({ agentId, signature }) => [utf8ToBytes(agentId), signature])),
  );
}

function readProofs(reader: MlsReader): MemberProof[] {
  const list = reader.nested();
  const proofs: MemberProof[] = [];
  while (!list.done) {
    const agentId = parseAgentId(String.fromCharCode(...list.take(agentIdBytes)));
    proofs.push({ agentId, signature: list.take(signatureBytes) });
    checkCount(proofs.length);
  }
  return proofs;
}

function checkCount(count: number): void {
  if (count <= limits.proofsPerCommit) return;
  throw new WireError(
    "payload_too_large",
    `A commit proves at most ${limits.proofsPerCommit} leaves, and as many rejoins`,
  );
}
