/** The request by which a commit goes to the relay. */
import {
  commitStatement,
  generationOf,
  type JoinRequestId,
  type RequestBody,
} from "../../../proto/mod.ts";
import { stateOf } from "../../mls/epoch.ts";
import type { PreparedCommit } from "../../mls/group.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";

/**
 * Signed, so that every member can hold us to what we declare, and nobody else. Call it in the
 * epoch that the commit ends.
 */
export function requestOf(
  prepared: PreparedCommit,
  answers: readonly JoinRequestId[],
  { channelId, group }: Pick<Membership, "channelId" | "group">,
  { signatures, identity }: Pick<ChannelDeps, "signatures" | "identity">,
): RequestBody<"SendCommit"> {
  const { epoch, hash: commitHash, welcome } = prepared;
  const { added, removed, owners } = prepared.summary;
  const states = { state: stateOf(group.current), nextState: stateOf(prepared.next) };
  const generation = generationOf(epoch);
  const declared = { channelId, generation, epoch, commitHash, added, removed, owners, ...states };
  return {
    channelId,
    epoch,
    commit: prepared.message,
    added: [...added],
    removed: [...removed],
    welcomes: welcome === undefined ? [] : [{ recipients: [...added], welcome }],
    owners: owners && { agentIds: [...owners] },
    answers: [...answers],
    signature: signatures.sign(identity.signingSeed, commitStatement(declared)),
    generation,
    ...states,
  };
}
