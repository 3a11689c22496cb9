/**
 * Carries out what `stepCommits` says: work with keys, calls, timers and writes, whose ends are its
 * next events. Promises of our own commits are here alone.
 */
import { type AgentId, generationOf } from "../../../proto/mod.ts";
import { isCode, StaticError, UnavailableError } from "../../base/errors.ts";
import { jitter } from "../../base/runtime.ts";
import type { PreparedCommit } from "../../mls/group.ts";
import { failureOf, mayNotAdd, tookTwo, unreachable } from "../commits/commit_errors.ts";
import { stepCommits } from "../commits/own_commit.ts";
import {
  candidateOf,
  type ChangeOutcome,
  type ChangeRefusal,
  type CommitCandidate,
  type CommitEffect,
  type CommitEvent,
  type CommitFacts,
  type CommitsState,
  type CommitWrite,
  oursOf,
  restoreCommits,
  timersOf,
} from "../commits/own_commit_state.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import { toStaticError } from "../faults.ts";
import type { HealthLog } from "../health.ts";
import type { LeaveStage } from "../departure/stage.ts";
import { channelFull, type LastHeard } from "../upkeep/last_heard.ts";
import type { CommitChanges, Membership } from "../group/membership.ts";
import { type Plan, type PlannedChange, withLeavers } from "../commits/plan.ts";
import type { LeaveProof } from "../records.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";
import type { RootDoor } from "./root_door.ts";
import {
  KeptOwnCommits,
  type MadeCommit,
  type OwnCommitParts,
  type WriteOutcome,
} from "./kept_own_commits.ts";
import { findCommit } from "./find_commit.ts";

type Event = CommitEvent<Plan>;
type Effect = CommitEffect<Plan>;
type ChangeEvent = Extract<Event, { type: "change" }>;
/** To an entry that waited. */
export type Explanation = Extract<Effect, { type: "explained" }>["as"];

export interface EnteredCommit {
  readonly prepared: PreparedCommit;
  /** Place in the log. */
  readonly sequence: number;
}

export interface CommitRunnerParts extends OwnCommitParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  /** A commit of before whose fate is not known, and those that were given up in this epoch. */
  readonly candidate: PreparedCommit | undefined;
  readonly given: readonly PreparedCommit[];
  /** Permission to work, of this moment. */
  readonly work: () => Permit | undefined;
  /** Returns the stage of leaving, at this moment. */
  readonly departure: () => LeaveStage;
  /** Why the channel is stopped, if it is. */
  readonly stopped: () => StaticError | undefined;
  /** A plan in the present epoch; undefined when there is nothing to do. Throws `StaticError`. */
  readonly planOf: (plan: Plan, leavers: readonly LeaveProof[]) => PlannedChange | undefined;
  /** Our keys are so old that any commit of ours changes them. */
  readonly isKeyOld: () => boolean;
  /** Returns `LastHeard` for the members that there are now. */
  readonly lastHeard: () => LastHeard;
  readonly found: RootDoor;
  readonly queue: ChannelQueue;
  readonly onFault: (fault: unknown) => void;
}

/** With its bytes and its request. */
interface PreparedEvent extends Extract<Event, { type: "prepared" }> {
  readonly kept: MadeCommit;
}

export class CommitRunner {
  readonly #parts: CommitRunnerParts;
  readonly #deps: ChannelDeps;
  readonly #facts: CommitFacts<Plan>;
  readonly #state: CommitsState<Plan>;
  readonly #steps: Steps<Event | PreparedEvent, Effect>;
  readonly #operations = new Calls<EnteredCommit | undefined>();
  /** The changes of the calls that wait: in another group each is asked for anew. */
  readonly #changes = new Map<number, ChangeEvent>();
  readonly #entries = new Calls<Explanation>();
  readonly #fates = new Calls();
  readonly #kept: KeptOwnCommits;
  /** As the machine was told: keys are at work for exactly that. */
  #planned = new WeakMap<
    Plan,
    PlannedChange & { readonly epoch: number; readonly leavers: readonly LeaveProof[] }
  >();
  /** The commit whose write is under way. */
  #entering: { readonly made: MadeCommit; readonly isOfBefore: boolean } | undefined;
  #generation: number;
  #otherKeys = "";
  #over: StaticError | undefined;

  constructor({ candidate, given, ...parts }: CommitRunnerParts, deps: ChannelDeps) {
    this.#parts = { candidate, given, ...parts };
    this.#deps = deps;
    const { membership } = parts;
    this.#kept = new KeptOwnCommits(parts, deps);
    for (const prepared of candidate === undefined ? given : [candidate, ...given]) {
      this.#kept.keep(this.#kept.make(prepared));
    }
    this.#state = restoreCommits({
      candidate: candidate && shownOf(candidate),
      given: given.map((each) => shownOf(each)),
    });
    this.#facts = this.#createFacts();
    this.#steps = parts.queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
      stepped: () => this.#kept.forgetOthers(oursOf(this.#state)),
    });
    this.#generation = generationOf(membership.epoch);
    membership.onMoved((moved) => this.#moved(moved));
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): CommitFacts<Plan> {
    const { membership, work, stopped, departure } = this.#parts;
    const { session, runtime } = this.#deps;
    return {
      get work() {
        return work();
      },
      get isStopped() {
        return stopped() !== undefined;
      },
      get isOnline() {
        return session.state.kind === "online";
      },
      get departure() {
        return departure();
      },
      get epoch() {
        return membership.epoch;
      },
      get made() {
        const { secretTree, ownLeaf } = membership.group.current;
        return secretTree.generation(ownLeaf, "handshake");
      },
      get isAlone() {
        return membership.group.current.tree.memberCount === 1;
      },
      get isOwner() {
        return membership.group.self.owner;
      },
      planOf: (plan, isWithoutLeavers) => this.#plan(plan, isWithoutLeavers),
      jitter: (ms) => jitter(runtime, ms),
    };
  }

  /** Made, and not known to be taken or not. */
  get candidate(): PreparedCommit | undefined {
    const candidate = candidateOf(this.#state.commit);
    return candidate && this.#kept.of(candidate).prepared;
  }

  /** Commits that the relay may have taken, or may take yet. */
  get ours(): readonly PreparedCommit[] {
    const entering = this.#entering === undefined ? [] : [this.#entering.made.prepared];
    return [
      ...entering,
      ...oursOf(this.#state).map((each) => this.#kept.of(each).prepared),
    ];
  }

  /** A commit is settled that was made before, perhaps by an earlier process. */
  get isOfBefore(): boolean {
    const { commit } = this.#state;
    return this.#entering?.isOfBefore === true || ("isAgain" in commit && commit.isAgain);
  }

  /** In this epoch the relay lets us remove nobody that left. */
  get isWithoutLeavers(): boolean {
    return this.#state.withoutLeaversIn === this.#parts.membership.epoch;
  }

  planOf(plan: Plan, leavers: readonly LeaveProof[]): PlannedChange | undefined {
    return this.#parts.planOf(plan, leavers);
  }

  /**
   * Commits what is planned, and members that are leaving on the way. It is worked out again in
   * every epoch that another commit began first. Resolves with undefined when there is nothing left
   * to do; rejects with `StaticError`.
   */
  commit(plan: Plan, { isOfDeparture = false } = {}): Promise<EnteredCommit | undefined> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    return this.#operations.begin((operation) => {
      const change: ChangeEvent = { type: "change", operation, plan, isOfDeparture };
      this.#changes.set(operation, change);
      this.#steps.push(change);
    });
  }

  /** An entry cannot be read, and a commit of ours may be why. */
  explain(): Promise<Explanation> {
    if (this.#over !== undefined) return Promise.resolve("unknown");
    return this.#entries.begin((reading) => this.#steps.push({ type: "entry", reading }));
  }

  /** Whether a commit of ours that may be taken adds this agent. */
  adds(agentId: AgentId): boolean {
    return this.ours.some(({ summary }) => summary.added.includes(agentId));
  }

  /**
   * Resolves when the relay has said what became of our commits, or one is under way. Throws
   * `StaticError` when it does not say.
   */
  fate(): Promise<void> {
    if (this.#over !== undefined) return Promise.resolve();
    return this.#fates.begin((call) => this.#steps.push({ type: "fate", call }));
  }

  /** The permit, the place, the departure, or something that plans are about has changed. */
  look(): void {
    this.#steps.push({ type: "look" });
    // No connection comes any more, and nobody waits for one.
    if (!this.#isClosed) return;
    for (const { timer } of this.#state.plans) {
      if (timer !== undefined) this.#steps.push({ type: "time", timer });
    }
  }

  get #isClosed(): boolean {
    return this.#deps.session.state.kind === "ended";
  }

  /** A member has said that it leaves. */
  left(): void {
    this.#steps.push({ type: "left" });
  }

  /** This agent was let in anew, and the membership before is over. */
  replaced(): void {
    this.#generation = generationOf(this.#parts.membership.epoch);
    this.#steps.pushFirst({ type: "moved", by: "membership" });
  }

  /**
   * Nothing is stepped any more, and all that waits is told at once, also behind a step that is
   * being written.
   */
  end(error: StaticError): void {
    if (this.#over !== undefined) return;
    this.#over = error;
    this.#steps.end();
    this.#operations.failAll(error);
    this.#entries.settleAll("unknown");
    this.#fates.settleAll();
  }

  // Steps

  #moved({ committer }: Pick<CommitChanges, "committer">): void {
    const generation = generationOf(this.#parts.membership.epoch);
    const isNew = generation !== this.#generation;
    this.#generation = generation;
    if (isNew) this.#steps.pushFirst({ type: "moved", by: "generation" });
    // The write tells of our own commit.
    else if (committer !== this.#deps.agentId) {
      this.#steps.pushFirst({ type: "moved", by: "commit" });
    }
  }

  #step(event: Event | PreparedEvent): StepResult<Effect> {
    if ("kept" in event) this.#kept.keep(event.kept);
    const { write, effects } = stepCommits(this.#state, event, this.#facts);
    return write === undefined ? { effects } : { effects, written: this.#carryOut(write, effects) };
  }

  /** Resolves with the effects: they are others when the group had moved. */
  async #carryOut(write: CommitWrite, effects: readonly Effect[]): Promise<readonly Effect[]> {
    try {
      const written = await this.#write(write, effects);
      return written === "done" ? effects : this.#notEntered(written, effects);
    } catch (fault) {
      this.#operations.failAll(toStaticError(fault, "Cannot change the channel"));
      throw fault;
    }
  }

  async #write(write: CommitWrite, effects: readonly Effect[]): Promise<WriteOutcome> {
    if (write.type !== "entered") return await this.#kept.write(write);
    const isOfBefore = effects.some((effect) => {
      return effect.type === "finding" && effect.finding.is === "entered" &&
        effect.finding.isOfBefore;
    });
    this.#entering = { made: this.#kept.of(write.candidate), isOfBefore };
    try {
      return await this.#kept.write(write);
    } finally {
      this.#entering = undefined;
    }
  }

  /**
   * The group had moved when the write of our commit had its turn. In another group the plan goes
   * on.
   */
  #notEntered(written: Exclude<WriteOutcome, "done">, effects: readonly Effect[]): Effect[] {
    return effects.flatMap((effect): Effect[] => {
      if (effect.type === "settle" && effect.result.is === "made") {
        if (written === "moved") {
          return [{ ...effect, result: { is: "failed", why: { by: "forked" } } }];
        }
        const change = this.#changes.get(effect.operation);
        if (change !== undefined) this.#steps.push(change);
        return [];
      }
      if (effect.type !== "finding" || effect.finding.is !== "entered") return [effect];
      if (written === "over") return [];
      return [{ type: "report", what: "took_two" }, {
        type: "finding",
        finding: { is: "outside", why: "took_two" },
      }];
    });
  }

  // Effects

  #perform(effect: Effect): void {
    const { membership, health, found } = this.#parts;
    switch (effect.type) {
      case "prepare":
        return void this.#prepare(effect.job, effect.plan).catch((fault) =>
          this.#parts.onFault(fault)
        );
      case "send":
        return this.#send(effect.call, effect.candidate);
      case "find":
        findCommit(membership, effect.epoch, this.#deps).then(
          (found) => this.#steps.push({ type: "found", call: effect.call, found }),
          (error) => this.#refused(effect.call, error),
        );
        return;
      case "wake":
        return this.#steps.wake(effect.timer, this.#isClosed ? 0 : effect.afterMs);
      case "settle":
        return this.#settle(effect.operation, effect.result);
      case "explained":
        return this.#entries.settle(effect.reading, effect.as);
      case "fate_told": {
        const { call, why } = effect;
        return why === undefined
          ? this.#fates.settle(call)
          : this.#fates.fail(call, why.error ?? unreachable());
      }
      case "report":
        return health.report(
          "relay_lied",
          effect.what === "took_two" ? tookTwo : conflictWithItself,
        );
      case "finding": {
        const { finding } = effect;
        if (finding.is === "entered") return this.#steps.push({ type: "moved", by: "own" });
        // Our group is of no use any more. By name: an answer to all let this agent in with wrong
        // keys.
        const isNamed = finding.why === "other_keys";
        const reason = isNamed ? this.#otherKeys : tookTwo;
        return void found({ from: "commits", finding: { type: "out_of_step", reason, isNamed } });
      }
    }
  }

  #settle(operation: number, result: ChangeOutcome): void {
    this.#changes.delete(operation);
    switch (result.is) {
      case "made": {
        const { candidate, sequence } = result;
        return this.#operations.settle(operation, {
          prepared: this.#kept.of(candidate).prepared,
          sequence,
        });
      }
      case "nothing":
        return this.#operations.settle(operation, undefined);
      case "refused":
        return this.#operations.fail(operation, result.why.error ?? unreachable());
      case "failed": {
        const { membership: { name, epoch }, stopped } = this.#parts;
        const scene = { name, epoch, stopped: stopped(), isClosed: this.#isClosed };
        return this.#operations.fail(operation, failureOf(result.why, scene));
      }
    }
  }

  #plan(plan: Plan, isWithoutLeavers: boolean): "change" | "nothing" | ChangeRefusal {
    const { membership } = this.#parts;
    const leavers = isWithoutLeavers ? [] : membership.departures.leavers;
    try {
      const planned = this.planOf(plan, leavers);
      if (planned === undefined) return "nothing";
      this.#planned.set(plan, { ...planned, leavers, epoch: membership.epoch });
      return "change";
    } catch (fault) {
      return refusalOf(toStaticError(fault, "Cannot change the channel"));
    }
  }

  async #prepare(job: number, plan: Plan): Promise<void> {
    const { membership, isKeyOld } = this.#parts;
    const { durable, trust, group } = membership;
    const planned = this.#planned.get(plan);
    if (planned === undefined) throw new TypeError("A plan is prepared that was not asked for");
    const { epoch, leavers, answers = [] } = planned;
    const change = { ...withLeavers(planned.change, leavers), forcePath: isKeyOld() };
    const removesLeavers = change.leaves !== undefined && change.leaves.length > 0;
    try {
      const prepared = await durable.prepareIn(epoch, change);
      // The group has moved, which is the next event.
      if (prepared === undefined || prepared.epoch !== membership.epoch || durable.isRetired) {
        return;
      }
      const why = trust.judge(prepared.summary.added, group.self);
      if (why !== undefined) throw mayNotAdd(why);
      const kept = this.#kept.make(prepared, answers);
      this.#steps.push({ type: "prepared", job, made: shownOf(prepared, removesLeavers), kept });
    } catch (fault) {
      const error = toStaticError(fault, "Cannot change the channel");
      this.#steps.push({ type: "prepared", job, made: refusalOf(error) });
    }
  }

  /** A permit may have been lost, and the group have moved, while the disk was waited for. */
  #send(call: number, candidate: CommitCandidate): void {
    const { membership: { epoch }, work } = this.#parts;
    if (epoch !== candidate.epoch) {
      return this.#steps.push({ type: "refused", call, why: { code: "epoch_conflict", epoch } });
    }
    if (work() === undefined) {
      return this.#steps.push({ type: "refused", call, why: refusalOf(unreachable()) });
    }
    this.#deps.session.call("SendCommit", this.#kept.of(candidate).request).then(
      ({ sequence }) => this.#steps.push({ type: "taken", call, sequence }),
      (error) => this.#refused(call, error),
    );
  }

  #refused(call: number, error: unknown): void {
    if (!(error instanceof StaticError)) return this.#parts.onFault(error);
    if (isCode(error, "state_conflict")) this.#otherKeys = error.message;
    const { membership, lastHeard } = this.#parts;
    const nowMs = this.#deps.runtime.nowMs();
    const isFull = isCode(error, "member_limit_reached");
    const shown = isFull
      ? channelFull(error, membership, { lastHeard: lastHeard(), nowMs })
      : error;
    this.#steps.push({ type: "refused", call, why: { ...refusalOf(error), error: shown } });
  }
}

const conflictWithItself = "The relay accepted a commit of ours, but reported a conflict";

function shownOf(
  { epoch, hash, summary, next }: PreparedCommit,
  removesLeavers = false,
): CommitCandidate {
  return {
    epoch,
    hash,
    adds: summary.added.length > 0,
    isLast: next.tree.memberCount === 1,
    removesLeavers,
  };
}

function refusalOf(error: StaticError): ChangeRefusal {
  const { code, epoch } = error;
  return { code, error, isBusy: error instanceof UnavailableError, epoch };
}
