/** Telling the relay that we go. The others remove us from the group when they hear of it. */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, leaveStatement, openPolicy, samePolicy } from "../../proto/mod.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import { pause } from "../base/runtime.ts";
import { policyOf } from "../mls/policy_rules.ts";
import type { Caretaker } from "./caretaker.ts";
import type { Committer, Plan } from "./commits.ts";
import type { Confirmations } from "./confirmations.ts";
import type { ChannelDeps } from "./deps.ts";
import { hiddenError } from "./end_errors.ts";
import { isHeardLately } from "./last_heard.ts";
import type { Membership } from "./membership.ts";
import { successorNeeded } from "./ownership.ts";
import type { RecoveryRunner } from "./runner/recovery_runner.ts";
import type { StoreAge } from "./store_age.ts";

/** How long the only owner of a channel that leaves waits for its way back. */
const successionMs = 15_000;
/** How often an agent says that it leaves when others let it in again meanwhile. */
const maxTries = 3;
const retryMs = 1000;

export interface LeavingParts {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly caretaker: Caretaker;
  readonly recovery: RecoveryRunner;
  readonly storeAge: StoreAge;
  readonly confirmations: Pick<Confirmations, "lastHeardMs">;
  /** The channel has ended. */
  readonly ended: AbortSignal;
}

/** If it fails, everything is as before, and leaving can be tried again. */
export async function sayGoodbye(
  parts: LeavingParts,
  successor: AgentId | undefined,
  deps: ChannelDeps,
): Promise<void> {
  const { membership, recovery, ended } = parts;
  // The only owner hands the channel on, which it can do once it is back.
  if (recovery.reason !== undefined && isLastOwner(membership)) {
    await Promise.race([recovery.over, pause(deps.runtime, successionMs, ended)]);
  }
  for (let tries = 1;; tries++) {
    // The statement is about the present leaf: the leaf must not change meanwhile, and nothing may be written after the
    // end.
    await recovery.halt();
    // Stopped or out of step, it cannot commit; it may still go.
    const isBlocked = recovery.stopped !== undefined || recovery.reason !== undefined;
    if (recovery.reason !== undefined && (successor !== undefined || isOnlyOwner(membership))) throw keptOut();
    // Where this agent cannot get in again, its statement may be void, and an owner has to remove it.
    const isNamed = tries < maxTries && !recovery.isUnwelcome;
    try {
      return await go(parts, { isBlocked, isNamed, successor }, deps);
    } catch (error) {
      if (!ended.aborted) recovery.resume();
      // Somebody has let it in again meanwhile: once it knows of that, it can say so of its new leaf. A channel that has ended
      // hears of nothing, and must not leave a membership that is not its own.
      if (!isNamed || ended.aborted || !isCode(error, "state_conflict")) throw error;
      await pause(deps.runtime, retryMs, ended);
      await Promise.race([recovery.over, pause(deps.runtime, successionMs, ended)]);
    }
  }
}

/** A relay that says that we are out of step, and keeps us out, would else take the channel its owner. */
function keptOut(): StaticError {
  const text =
    "Cannot leave: this agent is out of step, or the channel is stopped, so that no other member can be made an owner; do what " +
    "health() says, and leave when it is ok";
  return createError("not_allowed", text);
}

/** Others stay, and none of them is an owner. */
function isOnlyOwner(membership: Membership): boolean {
  const going = goingFrom(membership);
  return isLastOwner(membership) && membership.group.members().some(({ agentId }) => !going.has(agentId));
}

interface Going {
  readonly isBlocked: boolean;
  /** The relay is told which membership is meant. */
  readonly isNamed: boolean;
  /** Owns the channel afterwards, if the caller has said who. */
  readonly successor: AgentId | undefined;
}

async function go(parts: LeavingParts, { isBlocked, isNamed, successor }: Going, deps: ChannelDeps): Promise<void> {
  const { membership, committer, caretaker, recovery, storeAge, confirmations } = parts;
  const isHeard: IsHeard = (agentId) => isHeardLately(confirmations.lastHeardMs(agentId), deps.runtime.nowMs());
  caretaker.stop();
  try {
    // It may be what makes us the last member.
    if (!isBlocked) await committer.settle();
    const isAlone = membership.group.members().length === 1;
    if (isAlone && membership.absent.length === 0 && await close(membership, deps)) return;
    if (isAlone && !isBlocked) checkNobodyWaits(membership);
    if (!isBlocked) {
      await committer.commit(() => successionPlan(membership, successor, isHeard));
      // The statement is about our leaf: a commit that is taken after it would make it void.
      await committer.close();
    }
    const joinedSequence = isNamed ? storeAge.joinedSequence({ isTold: recovery.isLeafTold }) : undefined;
    await leave(membership, { leaf: recovery.presentLeaf, joinedSequence }, deps);
  } catch (error) {
    const isUnknown = isCode(error, "not_found");
    const isHidden = isUnknown && deps.session.covers?.(membership) === false;
    if (isUnknown && !isHidden) return; // the relay had forgotten us already
    committer.reopen();
    if (!isBlocked) caretaker.start();
    throw isHidden ? hiddenError(membership.name) : error;
  }
}

/** The last member closes the channel, if it may: no member would be left to remove it. */
async function close({ channelId }: Membership, { session }: ChannelDeps): Promise<boolean> {
  try {
    await session.call("CloseChannel", { channelId });
    return true;
  } catch (error) {
    if (isCode(error, "not_allowed")) return false;
    throw error;
  }
}

/** Nobody but this agent could let those in that are absent. */
function checkNobodyWaits({ absent, group }: Membership): void {
  if (absent.length === 0 || !group.self.owner) return;
  const text =
    `Cannot leave: ${absent.join(", ")} belong to the channel and are not back yet, and nobody else could let ` +
    "them in; wait for them, or remove them first";
  throw createError("not_allowed", text);
}

function goingFrom({ group, leavers, absentLeavers }: Membership): ReadonlySet<AgentId> {
  return new Set([group.self.agentId, ...leavers.map(({ agentId }) => agentId), ...absentLeavers]);
}

function isLastOwner(membership: Membership): boolean {
  const { self, binding } = membership.group;
  const going = goingFrom(membership);
  return self.owner && !binding.owners.some((owner) => !going.has(owner));
}

type IsHeard = (agentId: AgentId) => boolean;

/**
 * Before an owner leaves that has heard of no other owner lately, it makes another member an owner: the one that it names, or the
 * member with the lowest leaf of those that it has heard of, but no guest. Where there are other owners, owners have rights that others lack, or
 * nobody was heard of, the caller has to name one. Throws `StaticError`.
 */
function successorOf(membership: Membership, named: AgentId | undefined, isHeard: IsHeard): AgentId | undefined {
  const { group } = membership;
  const going = goingFrom(membership);
  const staying = group.members().filter(({ agentId }) => !going.has(agentId));
  if (named !== undefined) {
    if (staying.some(({ agentId }) => agentId === named)) return named;
    throw createError(
      "invalid_request",
      `Cannot leave: ${named} is not a member, or is leaving too; name another successor`,
    );
  }
  const owners = staying.filter(({ owner }) => owner);
  // An absent owner has no keys to sign with before it is back; it stays an owner.
  const isOwned = group.binding.owners.some((owner) => !going.has(owner) && membership.absent.includes(owner));
  if (staying.length === 0 || isOwned || owners.some(({ agentId }) => isHeard(agentId))) return undefined;
  const [heir] = staying.filter(({ agentId, guest }) => isHeard(agentId) && !guest).sort((a, b) =>
    a.leafIndex - b.leafIndex
  );
  const isOpen = owners.length === 0 && samePolicy(policyOf(group.binding), openPolicy);
  if (heir !== undefined && isOpen) return heir.agentId;
  const who = owners.length > 0
    ? "no other owner"
    : heir === undefined
    ? "no other member that is no guest"
    : undefined;
  const why = who === undefined ? "" : `: this agent has heard of ${who} for 7 days`;
  throw successorNeeded(membership, `Cannot leave${why}`, "name one with leave({ successor })");
}

function successionPlan(membership: Membership, named: AgentId | undefined, isHeard: IsHeard): Plan | undefined {
  const { owners } = membership.group.binding;
  const successor = membership.group.self.owner ? successorOf(membership, named, isHeard) : undefined;
  if (successor === undefined || owners.includes(successor)) return undefined;
  // The commit also removes those that have left.
  const leaving = new Set(membership.leavers.map(({ agentId }) => agentId));
  return { change: { owners: [...owners.filter((owner) => !leaving.has(owner)), successor] } };
}

interface OwnPlace {
  readonly leaf: Uint8Array;
  /** Where its membership began, if that is known. */
  readonly joinedSequence: number | undefined;
}

/** Throws `StaticError` with `state_conflict` when the agent was brought in anew meanwhile: then its leaf is another one. */
async function leave(
  { channelId, groupId }: Membership,
  { leaf, joinedSequence }: OwnPlace,
  deps: ChannelDeps,
): Promise<void> {
  const { agentId, signatures, identity, session } = deps;
  if (leaf.length === 0) throw createError("mls_error", "Cannot leave: this agent is not in the channel's group");
  const leafHash = sha256(leaf);
  const signature = signatures.sign(
    identity.signingSeed,
    leaveStatement({ channelId: groupId, agentId, leafHash }),
  );
  const place = joinedSequence === undefined ? {} : { joinedSequence };
  await session.call("LeaveChannel", { channelId, leafHash, signature, ...place });
}
