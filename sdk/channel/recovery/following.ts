/**
 * Whether a founding that is in the log is followed. By this agent's own state alone: the founder
 * is an owner in its present epoch, the base is that epoch or its parent with the named commit
 * between, and the commit carries the signature of the blamed. An owner that was rightly removed by
 * the commit that it calls bad is none any more for those that have followed it.
 */
import {
  type AgentId,
  agentIdOf,
  decodeOwnersChanges,
  encodeOwnersChanges,
  equalBytes,
  foundingEpoch,
  foundingHash,
  foundingStatement,
  type NoticeBody,
  sameIssuers,
  samePolicy,
} from "../../../proto/mod.ts";
import { type BaseEpoch, baseMembersOf, baseOf, hashOfMembers } from "../../mls/base_epoch.ts";
import { stateOf } from "../../mls/epoch.ts";
import type { Group } from "../../mls/group.ts";
import { mayFollow } from "../../mls/sealing_rules.ts";
import { type BadCommit, provenBytes } from "./bad_commit.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";

export type DeliveredFounding = NoticeBody<"DeliverFounding">;

export type FoundingVerdict =
  /** The founding may be followed from this epoch. */
  | { readonly kind: "follow"; readonly base: BaseEpoch }
  /** The founding is genuine, but this agent has moved on further. */
  | { readonly kind: "behind"; readonly reason: string }
  /**
   * This agent is stopped before its base and cannot tell: it stays stopped, and asks to be let in.
   */
  | { readonly kind: "ahead" }
  | { readonly kind: "refused"; readonly reason: string }
  /** No agent made it: the relay did. */
  | { readonly kind: "forged"; readonly reason: string };

/** Where a new generation begins in the log. */
export interface GenerationStart {
  readonly sequence: number;
  /** The founder's own. */
  readonly epoch: number;
}

/** `bad` is the commit at which this agent is stopped, if it is. */
export function judgeFounding(
  entry: DeliveredFounding,
  bad: BadCommit | undefined,
  membership: Membership,
  deps: ChannelDeps,
): FoundingVerdict {
  const { founding, proof } = entry;
  const { channelId, group } = membership;
  const refused = (reason: string): FoundingVerdict => ({ kind: "refused", reason });
  const forged = (reason: string): FoundingVerdict => ({ kind: "forged", reason });
  const founder = agentIdOf(founding.signatureKey, founding.identity);
  const verify = (key: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean =>
    deps.signatures.verifyHandshake(key, bytes, signature);
  if (
    founder !== entry.sender ||
    !verify(
      founding.signatureKey,
      foundingStatement({ channelId, ...founding }),
      founding.signature,
    )
  ) {
    return forged(`${entry.sender} did not sign it so`);
  }
  const present = group.binding.generation?.generation ?? 0;
  if (founding.generation <= present || entry.epoch !== foundingEpoch(founding.generation)) {
    return forged("it belongs to another place of the log");
  }
  if (!group.binding.owners.includes(founder)) {
    // The founder may have become an owner since the commit at which we are stopped: the member
    // that lets us in shows how.
    if (bad !== undefined && founding.baseEpoch > group.epoch) return { kind: "ahead" };
    return refused(`${entry.sender} is not an owner that this agent knows`);
  }
  if (founding.generation !== present + 1) {
    return refused("it is not the generation after the present one");
  }
  const commit = { channelId, epoch: founding.baseEpoch, commitHash: founding.badCommit };
  const isBlamed = agentIdOf(proof.signatureKey, proof.identity) === founding.blamed;
  if (!isBlamed || !verify(proof.signatureKey, provenBytes(proof, commit), proof.signature)) {
    return refused("the blamed agent did not sign the commit that it names");
  }
  // Nobody in it may let us in, so there is nothing to ask for, and a stop stays.
  if (!founding.members.includes(deps.agentId)) return refused("it was begun without this agent");
  const base = baseFor(entry, bad, group);
  if (base === undefined) {
    return {
      kind: "behind",
      reason: "the channel was begun anew on an epoch that this agent has left behind",
    };
  }
  return isOfBase(entry, base)
    ? { kind: "follow", base }
    : refused("it does not follow from the epoch that it names");
}

function baseFor(
  { founding }: DeliveredFounding,
  bad: BadCommit | undefined,
  { current, parent }: Group,
): BaseEpoch | undefined {
  const isNamed = (hash: Uint8Array | undefined): boolean =>
    hash !== undefined && equalBytes(hash, founding.badCommit);
  const present = baseOf(current);
  if (present.epoch === founding.baseEpoch && isNamed(bad?.declared.commitHash)) return present;
  return parent?.base.epoch === founding.baseEpoch && isNamed(parent.commitHash)
    ? parent.base
    : undefined;
}

/**
 * Transcript, suite, members and owners are those that follow from the base. An owner may leave out
 * whom it wants, as it may remove them: a rule on what one member alone knows would divide the
 * group.
 */
function isOfBase({ founding, sender }: DeliveredFounding, base: BaseEpoch): boolean {
  const { members, without, owners, blamed } = founding;
  const out = [blamed, ...without];
  const expected = base.owners.filter((owner) => !out.includes(owner)).sort();
  return equalBytes(founding.transcriptHash, base.transcriptHash) &&
    founding.suite === base.suiteId &&
    isAscending(without) && !out.includes(sender) &&
    !members.some((member) => out.includes(member)) &&
    equalBytes(hashOfMembers([...members, ...out]), base.members) &&
    owners.join() === expected.join();
}

/** Each once. */
function isAscending(agentIds: readonly AgentId[]): boolean {
  return agentIds.every((agentId, i) => i === 0 || agentId > (agentIds[i - 1] ?? ""));
}

/**
 * Why the group that a founding's Welcome leads into is worth nothing. Undefined when it is the one
 * that was founded on this epoch.
 */
export function judgeOpened(
  group: Group,
  entry: DeliveredFounding,
  base: BaseEpoch,
): string | undefined {
  const { founding, change, absent } = entry;
  const why = differs(group, entry, baseMembersOf(group.current));
  if (why !== undefined) return why;
  if (!samePolicy(group.binding.policy, base.policy)) return "it has another policy";
  if (!sameIssuers(group.binding.issuers, base.issuers)) return "it has other issuers";
  if (!mayFollow(group.binding.sealing, base.sealing, founding.generation)) {
    return "it is not sealed as the channel was";
  }
  const guests = base.guests.filter((guest) => founding.members.includes(guest));
  if ((group.binding.guests ?? []).join() !== guests.join()) return "it has other guests";
  const last = group.changes.at(-1);
  if (
    last === undefined ||
    !equalBytes(encodeOwnersChanges([last]), encodeOwnersChanges(decodeOwnersChanges(change)))
  ) {
    return "its owners came to be in another way";
  }
  const present = group.members().map(({ agentId }) => agentId);
  if (present.some((agentId) => absent.includes(agentId))) {
    return "somebody is both present and absent";
  }
  if (group.epoch !== foundingEpoch(founding.generation) + 1) return "it leads into another epoch";
  return undefined;
}

function differs(
  group: Group,
  { channelId, founding, absent }: DeliveredFounding,
  members: readonly AgentId[],
): string | undefined {
  const { generation, owners } = group.binding;
  if (generation?.generation !== founding.generation) return "it is of another generation";
  if (!equalBytes(generation.founding, foundingHash({ channelId, ...founding }))) {
    return "it was founded in another way";
  }
  const away = generation.absent.map(({ agentId }) => agentId);
  if (away.join() !== absent.join() || members.join() !== founding.members.join()) {
    return "it has other members";
  }
  if (owners.join() !== founding.owners.join()) return "it has other owners";
  return equalBytes(stateOf(group.current), founding.state)
    ? undefined
    : "its state is another one than the founder signed";
}
