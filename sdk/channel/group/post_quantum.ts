/**
 * How long a channel has been sealed, as far as an agent knows. The group says so itself; but a
 * relay that sets its log back takes its members to before the commit that ended a sealing, and a
 * member that was away did not see that commit. So each loss is remembered here, and a group is
 * believed only where no known loss lies behind it. Pure: neither store nor clock.
 */
import type { AgentId } from "../../../proto/mod.ts";
import type { Sealing } from "../../mls/sealing_rules.ts";

/**
 * Whether every secret of a channel that travelled was sealed with post-quantum keys. It protects
 * against outsiders. It does not protect against somebody who was a member.
 */
export type PostQuantum =
  | {
    /** Every secret was sealed with post-quantum keys, from `since` on. */
    readonly state: "all";
    /** The first epoch from which this was so; 0 since the channel was made. */
    readonly since: number;
    /**
     * Nobody comes in without post-quantum keys. Otherwise every member that may add agents can let
     * in one without, which ends it.
     */
    readonly required: boolean;
  }
  | {
    /** Every secret was sealed so, until an agent without a key came in. */
    readonly state: "partly";
    /** The first epoch from which this was so; 0 since the channel was made. */
    readonly since: number;
    /** The first epoch that may be open. */
    readonly until: number;
    /** When this agent learned that, by the local clock. */
    readonly learnedMs: number;
    /** The agent without a key; unknown when the channel began anew, or this agent was away. */
    readonly because: AgentId | undefined;
    /** The member that let it in; unknown when this agent was away. */
    readonly by: AgentId | undefined;
  }
  | {
    /** The secrets were not sealed so, as far as this agent knows. */
    readonly state: "none";
  };

/** Epochs up to a loss were sealed; those of `until` and later may be open. */
export interface SealingLoss {
  readonly since: number;
  /** `since` where nothing is known to be closed. */
  readonly until: number;
  /** The latest epoch that is known to be open. */
  readonly latest: number;
  /** When this agent learned of the loss, by the local clock. */
  readonly learnedMs: number;
  /** The member that let it in; undefined when we were away. */
  readonly by: AgentId | undefined;
  /** The agent whose KeyPackage had no key; unknown in a founding. */
  readonly because: AgentId | undefined;
}

/** A group as one of its members has it. */
interface GroupState {
  readonly sealing: Sealing | undefined;
  readonly epoch: number;
}

/** The way from one group to the next. */
export interface SealingStep {
  readonly before: GroupState;
  readonly after: GroupState;
  /** We have come back, and did not see what was in between. */
  readonly wasAway: boolean;
  readonly by?: AgentId | undefined;
  readonly because?: AgentId | undefined;
  readonly nowMs: number;
}

/** The loss that is known behind a step: the one that was known before, or a new one. */
export function lossAfter(
  known: SealingLoss | undefined,
  step: SealingStep,
): SealingLoss | undefined {
  const was = sealedSince(step.before.sealing, known);
  const is = sealedSince(step.after.sealing, known);
  if (was === undefined) return stillOpen(known, is, step);
  return is === was ? known : newLoss(was, is, step);
}

function newLoss(was: number, is: number | undefined, step: SealingStep): SealingLoss {
  const { before, after, wasAway } = step;
  // Back in a log of before: nothing is certain about how it went on.
  if (after.epoch <= before.epoch) return lossOf(was, was, step);
  if (is !== undefined && is < was) return lossOf(is, is, step);
  if (!wasAway) return lossOf(was, after.epoch, step);
  const until = before.epoch + 1;
  const loss = lossOf(was, until, step);
  return is === undefined ? loss : { ...loss, latest: until };
}

/** The channel was open before the step, and is again sealed since `is`, if at all. */
function stillOpen(
  known: SealingLoss | undefined,
  is: number | undefined,
  step: SealingStep,
): SealingLoss | undefined {
  const { before, after, wasAway } = step;
  // Only a generation that began later is sealed again. The log of another one was set back.
  if (is !== undefined) return is > before.epoch ? known : lossOf(is, is, step);
  if (known === undefined) return undefined;
  const latest = Math.max(known.latest, before.epoch, after.epoch);
  if (after.epoch < known.until) return { ...lossOf(known.since, known.since, step), latest };
  return wasAway ? { ...known, latest } : known;
}

function lossOf(since: number, until: number, step: SealingStep): SealingLoss {
  const { before, after, by, because, nowMs } = step;
  const latest = Math.max(before.epoch, after.epoch);
  return { since, until, latest, learnedMs: nowMs, by, because };
}

/** Whether both are one, of which more may be known now. */
export function isSameLoss(a: SealingLoss | undefined, b: SealingLoss | undefined): boolean {
  return a?.until === b?.until && a?.learnedMs === b?.learnedMs;
}

/** The word of a group, as far as no known loss contradicts it. */
function sealedSince(
  sealing: Sealing | undefined,
  loss: SealingLoss | undefined,
): number | undefined {
  if (sealing === undefined || (loss !== undefined && sealing.since <= loss.latest)) {
    return undefined;
  }
  return sealing.since;
}

export function postQuantumOf(
  sealing: Sealing | undefined,
  loss: SealingLoss | undefined,
): PostQuantum {
  const since = sealedSince(sealing, loss);
  if (sealing !== undefined && since !== undefined) {
    return { state: "all", since, required: sealing.required };
  }
  if (loss === undefined || loss.until <= loss.since) return { state: "none" };
  const { latest: _, ...partly } = loss;
  return { state: "partly", ...partly };
}

/** For an issue: an agent that is told of a loss may look at nothing else. */
export function lossText({ by, because }: SealingLoss): string {
  const who = because === undefined
    ? "An agent without post-quantum keys"
    : `Agent ${because}, which has no post-quantum keys,`;
  const how = by === undefined ? "" : `, by ${by}`;
  return `${who} was let into the channel${how}: a later quantum computer may open what is said from now on, and what was ` +
    "said since then. health().postQuantum says from which epoch on. A new channel that requires the keys is closed";
}
