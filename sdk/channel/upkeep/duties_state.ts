/**
 * The state of a member's duties for others: removing members that left, and letting in those that
 * lost their state. It is plain data, and `stepDuties` alone changes it. A request is known here by
 * its id: the signed statement and its KeyPackage stay with the runner.
 */
import type { AgentId, JoinRequestId } from "../../../proto/mod.ts";

/** A member that asks to come back. */
export interface RejoinAsker {
  readonly agentId: AgentId;
  readonly requestId: JoinRequestId;
  readonly expiresAtMs: number;
  /** The asker's; a hint. */
  readonly epoch: number;
  /** The request asks this agent and nobody else. */
  readonly isNamed: boolean;
}

export type DutyStage =
  /** None is begun: stopped, out of step, or leaving. */
  | { readonly at: "resting" }
  /** There is nothing to do. */
  | { readonly at: "idle" }
  /** The relay is asked for members that come before us. */
  | { readonly at: "asking_turn"; readonly call: number }
  /** Until those before us have had their time. */
  | { readonly at: "turn"; readonly timer: number }
  /** A member that signed about an outdated leaf is told its present one, so that it asks again. */
  | { readonly at: "telling"; readonly call: number }
  /** A commit for all of them. */
  | { readonly at: "working"; readonly change: number }
  /**
   * The commit could not be made: the request that cannot be granted is found by trying each alone.
   */
  | {
    readonly at: "one_by_one";
    readonly change: number;
    /** `none`: only members that leave, which ask for nothing. */
    readonly of: "none" | JoinRequestId;
    readonly left: readonly JoinRequestId[];
  }
  /** Work was left. */
  | { readonly at: "pausing"; readonly timer: number };

export interface DutyState {
  work: DutyStage;
  /** One of each member that asks. */
  requests: readonly RejoinAsker[];
  /** Requests whose agents were told their leaf. */
  told: readonly JoinRequestId[];
  /** When members came back since this process began, let in by any member. */
  readonly returns: Partial<Record<AgentId, readonly number[]>>;
  /** The last number that was given to a call, a change or a timer. */
  numbers: number;
}

/**
 * A leaf as its agent signed about it: its present one, another one, or of somebody who is no
 * member.
 */
export type LeafStatus = "present" | "other" | "gone";

/**
 * The part that is missing: a badge from a required issuer, a key for the Welcome layer, or a
 * KeyPackage that is valid by our clocks.
 */
export type MissingItem = "badge" | "key" | "time";

/** Knowledge of others at the moment of a step. */
export interface DutyFacts {
  /** The time by the local clock. */
  readonly nowMs: number;
  readonly relayNowMs: number;
  readonly self: AgentId;
  /** Whether a member signed it, with a KeyPackage that a commit can add. */
  readonly isGenuine: (request: JoinRequestId) => boolean;
  readonly judge: (request: JoinRequestId) => LeafStatus;
  /** A thing that the channel requires, and that its KeyPackage has not. */
  readonly lacks: (request: JoinRequestId) => MissingItem | undefined;
  /** Members that have said that they leave. */
  readonly leavers: readonly AgentId[];
  /** In this epoch the relay lets us remove none of them. */
  readonly isWithoutLeavers: boolean;
  /** Our own leaf is of a KeyPackage, and others wait for one of ours. */
  readonly wantsOwnLeaf: boolean;
  /** Members that are absent have left, and are ours to remove. */
  readonly hasAbsentLeavers: boolean;
  readonly members: () => readonly { readonly agentId: AgentId; readonly leafIndex: number }[];
  readonly joinedAfter: (agentId: AgentId, epoch: number) => boolean;
  /** Between half and one and a half of it. */
  readonly jitter: (ms: number) => number;
}

export type DutyEvent =
  /** A member asks to come back. */
  | { readonly type: "asked"; readonly request: RejoinAsker }
  /** This member has left: its request to come back, if it made one, is over. */
  | { readonly type: "left"; readonly agentId: AgentId }
  /** Our group has moved, by a commit or a founding. */
  | {
    readonly type: "moved";
    readonly added: readonly AgentId[];
    readonly removed: readonly AgentId[];
  }
  /** The channel is not in step any more, or the agent leaves. */
  | { readonly type: "rest" }
  /** The channel goes on, and may have work left. */
  | { readonly type: "start" }
  /** Members that are connected and stay, by the relay's word; undefined when it did not say. */
  | {
    readonly type: "listed";
    readonly call: number;
    readonly online: ReadonlySet<AgentId> | undefined;
  }
  /** The member was told its leaf, or could not be. */
  | { readonly type: "told"; readonly call: number; readonly failed: string | undefined }
  /** The commit has ended. `why`: it was not made. */
  | { readonly type: "changed"; readonly change: number; readonly why: FailedDuty | undefined }
  /** A timer has run out: it is our turn, or a pause is over. */
  | { readonly type: "time"; readonly timer: number };

export interface FailedDuty {
  /**
   * The duty failed because of its content. Any other reason passes, and the duty is tried again.
   */
  readonly isAboutContent: boolean;
  readonly text: string;
}

export type DutyEffect =
  | { readonly type: "list"; readonly call: number }
  | {
    readonly type: "tell";
    readonly call: number;
    readonly requestId: JoinRequestId;
    readonly agentId: AgentId;
  }
  | {
    readonly type: "change";
    readonly change: number;
    readonly of: "all" | "none" | JoinRequestId;
  }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  | { readonly type: "report"; readonly report: DutyReport };

export type DutyReport =
  | { readonly is: "failed"; readonly text: string }
  | {
    readonly is: "not_genuine" | "too_often" | "cannot_be_granted";
    readonly agentId: AgentId;
  }
  | { readonly is: "lacking"; readonly what: MissingItem; readonly agentId: AgentId };

export interface DutyStep {
  readonly effects: readonly DutyEffect[];
}

/**
 * Returns the duties of a process that starts: nothing of them is on disk, and a channel that was
 * stopped may be so again.
 */
export function newDuties(): DutyState {
  return { work: { at: "resting" }, requests: [], told: [], returns: {}, numbers: 0 };
}

/** Returns the timers that the state waits for. */
export function timersOf({ work }: DutyState): readonly number[] {
  return "timer" in work ? [work.timer] : [];
}

/**
 * Requests that have not expired, of members that are still in the group and have not left since.
 */
export function openRequests(
  { requests }: Pick<DutyState, "requests">,
  facts: DutyFacts,
): (RejoinAsker & { leaf: LeafStatus })[] {
  const leaving = new Set(facts.leavers);
  return requests.map((request) => {
    const isOver = request.expiresAtMs < facts.relayNowMs || leaving.has(request.agentId);
    const leaf: LeafStatus = isOver ? "gone" : facts.judge(request.requestId);
    return { ...request, leaf };
  });
}
