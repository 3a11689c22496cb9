/** Telling the relay that we go. The others remove us from the group when they hear of it. */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, type ChannelEndReason, leaveStatement } from "../../proto/mod.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import { pause } from "../base/runtime.ts";
import type { ChannelDeps } from "./deps.ts";
import { hiddenError } from "./end_errors.ts";
import type { Membership } from "./membership.ts";
import type { CommitRunner } from "./runner/commit_runner.ts";
import type { DutyRunner } from "./runner/duty_runner.ts";
import type { RecoveryRunner } from "./runner/recovery_runner.ts";
import type { StoreAge } from "./store_age.ts";
import { isLastOwner, isOnlyOwner } from "./succession.ts";

/** How long the only owner of a channel that leaves waits for its way back. */
const successionMs = 15_000;
/** How often an agent says that it leaves when others let it in again meanwhile. */
const maxTries = 3;
const retryMs = 1000;

export type Asked = Extract<ChannelEndReason, "left" | "closed">;

export interface LeavingParts {
  readonly membership: Membership;
  readonly commits: CommitRunner;
  readonly caretaker: DutyRunner;
  readonly recovery: RecoveryRunner;
  readonly storeAge: StoreAge;
  /** The relay is asked for this end of the channel. It may tell it before it answers. */
  readonly asks: (end: Asked, call: () => Promise<void>) => Promise<void>;
  /** The channel has ended. */
  readonly ended: AbortSignal;
}

/** If it fails, everything is as before, and leaving can be tried again. It says nothing any more when the channel has ended. */
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
    ended.throwIfAborted();
    let isNamed = false;
    try {
      // The statement is about the present leaf: the leaf must not change meanwhile, and nothing may be written after the
      // end.
      await recovery.halt();
      // Stopped or out of step, it cannot commit; it may still go.
      const isBlocked = recovery.stopped !== undefined || recovery.reason !== undefined;
      if (recovery.reason !== undefined && (successor !== undefined || isOnlyOwner(membership))) throw keptOut();
      // Where this agent cannot get in again, its statement may be void, and an owner has to remove it.
      isNamed = tries < maxTries && !recovery.isUnwelcome;
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
export function keptOut(): StaticError {
  const text =
    "Cannot leave: this agent is out of step, or the channel is stopped, so that no other member can be made an owner; do what " +
    "health() says, and leave when it is ok";
  return createError("not_allowed", text);
}

/**
 * How a channel that is over can be left: it commits nothing any more. `kept_out`: somebody belongs to it that this agent would have
 * to make an owner, or let in, first.
 */
export function wayOut(membership: Membership): "close" | "leave" | "kept_out" {
  const isAlone = membership.group.members().length === 1;
  if (isAlone && membership.absent.length === 0) return "close";
  return isOnlyOwner(membership) || (isAlone && membership.group.self.owner) ? "kept_out" : "leave";
}

interface Going {
  readonly isBlocked: boolean;
  /** The relay is told which membership is meant. */
  readonly isNamed: boolean;
  /** Owns the channel afterwards, if the caller has said who. */
  readonly successor: AgentId | undefined;
}

async function go(parts: LeavingParts, { isBlocked, isNamed, successor }: Going, deps: ChannelDeps): Promise<void> {
  const { membership, commits, caretaker, asks, ended } = parts;
  caretaker.stop();
  commits.depart(isBlocked ? "goodbye" : "leaving");
  const ofDeparture = { isOfDeparture: true };
  try {
    // An open commit may be what makes us the last member.
    if (!isBlocked) await commits.commit({ is: "settle" }, ofDeparture);
    ended.throwIfAborted();
    const isAlone = membership.group.members().length === 1;
    if (isAlone && membership.absent.length === 0 && await close(parts, deps)) return;
    if (isAlone && !isBlocked) checkNobodyWaits(membership);
    if (!isBlocked) {
      await commits.commit({ is: "succession", successor }, ofDeparture);
      // The statement is about our leaf: a commit that is taken after it would make it void.
      commits.depart("goodbye");
    }
    ended.throwIfAborted();
    await asks("left", () => sayLeave(parts, { isNamed }, deps));
  } catch (error) {
    const isUnknown = isCode(error, "not_found");
    const isHidden = isUnknown && deps.session.covers?.(membership) === false;
    if (isUnknown && !isHidden) return; // the relay had forgotten us already
    if (ended.aborted) throw error;
    commits.depart("staying");
    if (!isBlocked) caretaker.start();
    throw isHidden ? hiddenError(membership.name) : error;
  }
}

/** The last member closes the channel, if it may: no member would be left to remove it. */
async function close(
  { membership: { channelId }, asks }: Pick<LeavingParts, "membership" | "asks">,
  { session }: ChannelDeps,
): Promise<boolean> {
  try {
    await asks("closed", async () => void await session.call("CloseChannel", { channelId }));
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

/** Throws `StaticError` with `state_conflict` when the agent was brought in anew meanwhile: then its leaf is another one. */
export async function sayLeave(
  { membership, recovery, storeAge }: Pick<LeavingParts, "membership" | "recovery" | "storeAge">,
  { isNamed }: Pick<Going, "isNamed">,
  { agentId, signatures, identity, session }: ChannelDeps,
): Promise<void> {
  const { channelId, groupId } = membership;
  const { presentLeaf: leaf, isLeafTold: isTold } = recovery;
  // Where its membership began, if that is known.
  const joinedSequence = isNamed ? storeAge.joinedSequence({ isTold }) : undefined;
  if (leaf.length === 0) throw createError("mls_error", "Cannot leave: this agent is not in the channel's group");
  const leafHash = sha256(leaf);
  const signature = signatures.sign(
    identity.signingSeed,
    leaveStatement({ channelId: groupId, agentId, leafHash }),
  );
  const place = joinedSequence === undefined ? {} : { joinedSequence };
  await session.call("LeaveChannel", { channelId, leafHash, signature, ...place });
}
