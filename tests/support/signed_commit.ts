/** A `SendCommit` as its sender signs it, for tests whose MLS bytes nobody opens. */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type ChannelId,
  commitStatement,
  generationOf,
  type RequestBody,
} from "../../proto/mod.ts";

type Commit = RequestBody<"SendCommit">;
type Unsigned = Pick<Commit, "channelId" | "epoch" | "commit"> & Partial<Commit>;

export function signedCommit(given: Unsigned, sign: (statement: Uint8Array) => Uint8Array): Commit {
  const { channelId, epoch } = given;
  const states = {
    state: madeUpState(channelId, epoch),
    nextState: madeUpState(channelId, epoch + 1),
  };
  const commit = {
    generation: generationOf(epoch),
    added: [],
    removed: [],
    welcomes: [],
    answers: [],
    ...states,
    ...given,
  };
  const statement = commitStatement({
    ...commit,
    commitHash: sha256(commit.commit),
    owners: commit.owners?.agentIds,
  });
  return { ...commit, signature: given.signature ?? sign(statement) };
}

/** One for each epoch, so that commits follow each other. */
function madeUpState(channelId: ChannelId, epoch: number): Uint8Array {
  return sha256(utf8ToBytes(`${channelId} ${epoch}`));
}
