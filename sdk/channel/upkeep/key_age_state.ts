/**
 * The state of members' keys: since when each member of a channel has its present ones, by this
 * agent's clock, and when our own are changed next. It is plain data, and `stepKeyAge` alone
 * changes it. Only our own age decides anything, and only about our own commits; the others' ages
 * are shown.
 */
import type { AgentId } from "../../../proto/mod.ts";
import type { HealingPace, HealingStart } from "./healing_pace.ts";
import type { SeenLeaf } from "./key_age_records.ts";

/** A member's keys. */
export interface KeyAge {
  /** The member. */
  readonly agentId: AgentId;
  /**
   * When this agent saw them change, by the local clock; undefined when that was before it came, or
   * while it was away.
   */
  readonly changedAtMs: number | undefined;
  /**
   * Longer ago than a member that is online takes: it was away, or the relay takes no commits of
   * it.
   */
  readonly overdue: boolean;
}

/** The next change of our own keys. */
export type KeyChange =
  /** No duty is begun: stopped, out of step, leaving, or not up yet. */
  | { readonly at: "resting" }
  /** Waits for the moment at which the keys are due, or for another try. */
  | { readonly at: "waiting"; readonly timer: number }
  /** They are due. `finish`: the call of a process that ends, which waits for no turn. */
  | { readonly at: "asking_turn"; readonly turn: number; readonly finish: number | undefined }
  /** The turn over all channels is ours, a little later. */
  | { readonly at: "in_turn"; readonly timer: number }
  /** Our commit is on its way. */
  | { readonly at: "changing"; readonly change: number; readonly finishing: readonly number[] };

/** A leaf from an earlier version of the program comes up to this one. */
export type Renewal =
  /** Our leaf is of this version. */
  | { readonly at: "none" }
  /** Waits for a moment by chance, so that members do not renew at once. */
  | { readonly at: "waiting"; readonly timer: number }
  /** Our commit is on its way. */
  | { readonly at: "renewing"; readonly change: number };

export interface KeyAgeState {
  keys: KeyChange;
  renewal: Renewal;
  /** The leaves that were seen, by member, as on disk. */
  readonly seen: Map<AgentId, SeenLeaf>;
  /** When this process began. */
  readonly start: HealingStart;
  /** The leaf with which this process found the channel. */
  startLeaf: string | undefined;
  /** The last number that was given to a change, a turn or a timer. */
  numbers: number;
}

/** Knowledge of others at the moment of a step. */
export interface KeyAgeFacts {
  /** The time by the local clock, which may be set. */
  readonly nowMs: number;
  readonly self: AgentId;
  /** The name of our own leaf. */
  readonly ownLeaf: string;
  readonly members: number;
  /** The names of leaves, of these members or of all. */
  readonly leavesOf: (
    members: ReadonlySet<AgentId> | "all",
  ) => Iterable<readonly [AgentId, string]>;
  /** Our leaf does not tell what this version is capable of. */
  readonly isRenewalWanted: boolean;
  readonly pace: HealingPace;
  /** From 0 to 1. */
  readonly draw: () => number;
}

/** A commit or founding that the group has followed. */
export interface KeysMoved {
  readonly type: "moved";
  readonly committer: AgentId;
  readonly added: readonly AgentId[];
  readonly removed: readonly AgentId[];
  readonly isNewGeneration: boolean;
  /** A commit of ours from before: its keys lay on disk. */
  readonly isOfBefore: boolean;
}

export type KeyAgeEvent =
  /** The channel is in step: from now on, until `rest`. */
  | { readonly type: "look" }
  /** The channel is not in step any more, or the agent leaves. */
  | { readonly type: "rest" }
  | KeysMoved
  /** The turn over all channels. */
  | { readonly type: "turn"; readonly turn: number; readonly afterMs: number }
  /** A change has ended. `isLost`: with the connection. */
  | { readonly type: "changed"; readonly change: number; readonly why: KeysUnchanged | undefined }
  /** A timer has run out: our keys or our leaf may be due. */
  | { readonly type: "time"; readonly timer: number }
  /**
   * The process ends: what has been due for long is done before, because there may be no other
   * moment.
   */
  | { readonly type: "finish"; readonly operation: number };

export interface KeysUnchanged {
  readonly isLost: boolean;
  readonly text: string;
}

export type KeyAgeEffect =
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  | { readonly type: "ask_turn"; readonly turn: number }
  /** `heal`: as long as our leaf is this one; any commit of ours with a path does it. */
  | { readonly type: "change"; readonly change: number; readonly plan: KeyPlan }
  | { readonly type: "report"; readonly of: KeyPlan["is"]; readonly text: string }
  | { readonly type: "settle"; readonly operation: number };

export type KeyPlan = { readonly is: "heal"; readonly leaf: string } | { readonly is: "renew" };

export type KeyAgeWrite =
  | { readonly type: "seen"; readonly agentId: AgentId; readonly seen: SeenLeaf }
  | { readonly type: "gone"; readonly agentId: AgentId };

/**
 * Not in one with the commit: what a crash loses is unknown then, and changes nothing for others.
 */
export interface KeyAgeStep {
  readonly write: readonly KeyAgeWrite[];
  readonly effects: readonly KeyAgeEffect[];
}

/** Restores the key ages of a process that starts. */
export function restoreKeyAges(
  seen: ReadonlyMap<AgentId, SeenLeaf>,
  start: HealingStart,
): KeyAgeState {
  const [keys, renewal]: [KeyChange, Renewal] = [{ at: "resting" }, { at: "none" }];
  return { keys, renewal, seen: new Map(seen), start, startLeaf: undefined, numbers: 0 };
}

type KnownKeyAges = Pick<KeyAgeState, "seen">;

/**
 * When our own keys were last changed. Of those that we came with, and that were not noted yet,
 * that is now.
 */
export function ownKeysOf(
  { seen }: KnownKeyAges,
  { self, ownLeaf: leaf, nowMs }: KeyAgeFacts,
): SeenLeaf {
  const known = seen.get(self);
  return known?.leaf === leaf ? known : { leaf, atMs: nowMs };
}

/** Our keys are so old that the next commit of ours changes them, whatever else it does. */
export function areKeysOld(state: KnownKeyAges, facts: KeyAgeFacts): boolean {
  return facts.nowMs - ownKeysOf(state, facts).atMs > facts.pace.restMs(facts.members);
}

/** Returns the key ages of all members, in the order of leaves. */
export function keyAgesOf(
  { seen }: KnownKeyAges,
  { nowMs, members, leavesOf, pace }: KeyAgeFacts,
): KeyAge[] {
  const latestMs = nowMs - pace.periodMs(members);
  return Array.from(leavesOf("all"), ([agentId, leaf]) => {
    const known = seen.get(agentId);
    const changedAtMs = known?.leaf === leaf ? known.atMs : undefined;
    return { agentId, changedAtMs, overdue: (changedAtMs ?? Infinity) < latestMs };
  });
}

/** Returns the timers that the state waits for. */
export function timersOf({ keys, renewal }: KeyAgeState): readonly (number | undefined)[] {
  return [keys, renewal].map((each) => "timer" in each ? each.timer : undefined);
}
