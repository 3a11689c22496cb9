/**
 * The calls by which applications have asked their agents for something, and the statements that
 * agents have signed about themselves. By these the ledger judges the agents' commits: whatever
 * nobody asked for is a fault.
 */
import type { AgentId, RequestBody } from "../../../proto/mod.ts";

export type WillKind = "remove" | "add" | "invite" | "owners" | "leave" | "recover";

interface Will {
  readonly by: AgentId;
  readonly kind: WillKind;
  readonly about: readonly AgentId[];
  readonly at: number;
  /**
   * The last epoch in which its agent may act on it: the call has ended since then, or the process
   * has.
   */
  untilEpoch: number;
}

/** An agent's own signed words about its place. */
type Statement = "leaves" | "comes back";

/** A commit, on the group that it was made for. */
export type Made = Pick<RequestBody<"SendCommit">, "epoch" | "added" | "state" | "nextState">;

/**
 * An epoch, and the group that a member had in it: the relay may have led members apart. Without a
 * group, the log's.
 */
interface Place {
  readonly epoch: number;
  readonly state?: Uint8Array;
}

export class Wills {
  readonly #wills: Will[] = [];
  readonly #statements: {
    readonly agentId: AgentId;
    readonly kind: Statement;
    readonly at: number;
  }[] = [];
  /** Agents that were let in, and the epochs that this ended. */
  readonly #arrivals: { readonly agentId: AgentId; readonly epoch: number; readonly at: number }[] =
    [];
  /** Epochs whose commits a generation that begins behind them has undone. */
  readonly #undone: { readonly from: number; readonly before: number }[] = [];
  /** Commits that were made, whether or not the log has them, by the groups that they lead to. */
  readonly #commits = new Map<string, Made & { readonly at: number }>();
  readonly #epochNow: () => number;
  #clock = 0;
  /**
   * In a log that was set back agents have their earlier places again, and earlier words are about
   * these.
   */
  #isSetBack = false;

  constructor(epochNow: () => number) {
    this.#epochNow = epochNow;
  }

  /**
   * An application's call: until it ends its agent may act on it, and then only in the epochs that
   * it knew.
   */
  async during<T>(
    by: AgentId,
    kind: WillKind,
    about: readonly AgentId[],
    call: Promise<T>,
  ): Promise<T> {
    const will = this.#add(by, kind, about);
    try {
      return await call;
    } finally {
      this.#end(will);
    }
  }

  /** An application gives out an invite, which its agent keeps until the invited one has come. */
  invites(by: AgentId, guest: AgentId): void {
    this.#add(by, "invite", [guest]);
  }

  states(agentId: AgentId, kind: Statement): void {
    this.#statements.push({ agentId, kind, at: this.#clock++ });
  }

  /** The present moment, for `arrived`. */
  now(): number {
    return this.#clock++;
  }

  /**
   * A commit is made. The relay may show it to members that go on from there, and keep it out of
   * its log.
   */
  made(commit: Made, at: number): void {
    this.#commits.set(commit.nextState.toHex(), { ...commit, at });
  }

  /**
   * The log lets it in. `at`: when the commit was made, because members may have followed it before
   * the log had it.
   */
  arrived(agentId: AgentId, epoch: number, at: number): void {
    this.#arrivals.push({ agentId, epoch, at });
  }

  /**
   * A generation begins on an earlier epoch: those that came in after that have not come into it.
   */
  undone(epochs: { readonly from: number; readonly before: number }): void {
    this.#undone.push(epochs);
  }

  setBack(): void {
    this.#isSetBack = true;
  }

  /** Whether an application has asked for it, so that its agent may commit it there. */
  has(
    by: AgentId,
    kind: WillKind,
    { about, ...place }: Place & { readonly about?: AgentId },
  ): boolean {
    return this.#wills.some((will) =>
      will.by === by && will.kind === kind && will.untilEpoch >= place.epoch &&
      (about === undefined ||
        (will.about.includes(about) && (kind !== "invite" || this.#isSince(will.at, about, place))))
    );
  }

  /** Whether an application has asked its agent to leave the place that it has now. */
  wantsToGo(by: AgentId): boolean {
    return this.#wills.some((will) =>
      will.by === by && will.kind === "leave" &&
      (will.untilEpoch === Infinity || this.#isSince(will.at, by, { epoch: Infinity }))
    );
  }

  /** Whether an agent has said so about the place that it has there. */
  hasStated(agentId: AgentId, kind: Statement, place: Place): boolean {
    return this.#statements.some((each) =>
      each.agentId === agentId && each.kind === kind && this.#isSince(each.at, agentId, place)
    );
  }

  /**
   * Whether the agent has been in its place there since then. A member that is behind, or led
   * astray, knows of no other one.
   */
  #isSince(at: number, agentId: AgentId, place: Place): boolean {
    return this.#isSetBack || at >= this.#cameIn(agentId, place);
  }

  /**
   * By the commits that lead to the group, and by the log up to the first of them that is known.
   */
  #cameIn(agentId: AgentId, { epoch, state }: Place): number {
    const last = state && this.#commits.get(state.toHex());
    if (last !== undefined && last.epoch < epoch) {
      return last.added.includes(agentId) ? last.at : this.#cameIn(agentId, last);
    }
    const isUndone = (arrival: number): boolean =>
      this.#undone.some(({ from, before }) =>
        arrival >= from && arrival < before && epoch >= before
      );
    return this.#arrivals.findLast((each) =>
      each.agentId === agentId && each.epoch < epoch && !isUndone(each.epoch)
    )
      ?.at ?? 0;
  }

  #add(by: AgentId, kind: WillKind, about: readonly AgentId[]): Will {
    const will = { by, kind, about, at: this.#clock++, untilEpoch: Infinity };
    this.#wills.push(will);
    return will;
  }

  #end(will: Will): void {
    will.untilEpoch = Math.min(will.untilEpoch, this.#epochNow());
  }
}
