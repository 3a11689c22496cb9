/** A `SendCommit` as its sender signs it, for tests whose MLS bytes nobody opens. */
import { sha256 } from "@noble/hashes/sha2.js";
import { commitStatement, type RequestBody } from "../../proto/mod.ts";

type Commit = RequestBody<"SendCommit">;
type Unsigned = Pick<Commit, "channelId" | "epoch" | "commit"> & Partial<Commit>;

export function signedCommit(given: Unsigned, sign: (statement: Uint8Array) => Uint8Array): Commit {
  const commit = { generation: 0, added: [], removed: [], welcomes: [], answers: [], ...given };
  const statement = commitStatement({ ...commit, commitHash: sha256(commit.commit), owners: commit.owners?.agentIds });
  return { ...commit, signature: given.signature ?? sign(statement) };
}
