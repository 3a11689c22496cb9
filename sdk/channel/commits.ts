/**
 * Our own commits, in two phases: prepared and on disk, sent, then accepted or discarded. Of two commits in one epoch the
 * relay takes the first; the loser follows the winner and plans again. When a reply is lost, the relay's log says whose
 * commit it was. One that the log does not hold may still be on its way, also after a crash: the same bytes are sent again until
 * the relay takes them or another commit, because an agent that has given it up could not follow it. One commit of ours is under
 * way at a time.
 */
import { generationOf, type RequestBody } from "../../proto/mod.ts";
import { createDeferred } from "../base/deferred.ts";
import { createError, isCode, StaticError, UnavailableError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import type { DurableGroup } from "../mls/durable_group.ts";
import type { Change, PreparedCommit } from "../mls/group.ts";
import { type Conflict, fateOf, isLast, logBehind, type Taken } from "./commit_fate.ts";
import { CommitPace } from "./commit_pace.ts";
import { requestOf } from "./commit_request.ts";
import type { ChannelDeps } from "./deps.ts";
import { translating } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import { channelFull, type LastHeard } from "./last_heard.ts";
import type { Membership } from "./membership.ts";
import { type Plan, type Planned, withLeavers } from "./plan.ts";
import type { RecordChange } from "../store/mod.ts";

export interface Committed {
  readonly prepared: PreparedCommit;
  /** Place in the log. */
  readonly sequence: number;
}

/** With ten members that commit at once the last one wins in its tenth try, usually much earlier. */
const maxAttempts = 40;
/** Of one commit whose reply is lost again and again. */
const maxSends = 5;
const firstPauseMs = 20;
const maxPauseMs = 1000;
/** Within one call, answers of a log that is behind us: as after a restored backup, until the next connection mends it. */
const maxBehind = 3;
/** For the winner's commit to arrive. */
const catchUpMs = 30_000;

export interface CommitterParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  /** A commit from before a crash whose fate is not known. */
  readonly candidate: PreparedCommit | undefined;
  /** Resolves when we may act under our present leaf. */
  readonly cleared: () => Promise<void>;
  /** Our keys are so old that any commit of ours changes them. */
  readonly isKeyOld: () => boolean;
  /** A commit is given up with unknown outcome. Returns a function for the change to write with that, called in the write's turn. */
  readonly onGivenUp: (prepared: PreparedCommit) => () => RecordChange;
  /** A commit is left open: nobody knows whether the relay has taken it. */
  readonly onOpen: () => void;
  /** The relay took a commit of ours and gave us another one of that epoch. */
  readonly onForked: (reason: string) => void;
  readonly lastHeard: LastHeard;
  /** A plan in the present epoch; undefined when there is nothing to do. Throws `StaticError`. */
  readonly planOf: (plan: Plan) => Planned | undefined;
  /** The relay says that our group has other keys than the others' in this epoch: a wrong Welcome let us in. */
  readonly onOtherKeys: (reason: string) => void;
}

export class Committer {
  readonly #deps: ChannelDeps;
  readonly #membership: Membership;
  readonly #health: HealthLog;
  readonly #parts: Omit<CommitterParts, "membership" | "health" | "candidate">;
  readonly #serial = new Serial();
  readonly #pace: CommitPace;
  #closed = false;
  #candidate: PreparedCommit | undefined;
  /** Resolves when the commit under way is accepted, discarded or given up for now. */
  #underWay: Promise<void> | undefined;
  #recovering: Promise<void> | undefined;
  #resending: Promise<void> | undefined;

  constructor({ membership, health, candidate, ...parts }: CommitterParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#pace = new CommitPace(deps.runtime);
    this.#membership = membership;
    this.#health = health;
    this.#candidate = candidate;
  }

  /** Made, and not known to be taken or not. */
  get candidate(): PreparedCommit | undefined {
    return this.#candidate;
  }

  /** A commit is settled that was made before the present connection, perhaps by an earlier process. */
  get isOfBefore(): boolean {
    return this.#resending !== undefined || this.#recovering !== undefined;
  }

  /** While this is a promise, the next epoch may be ours though nobody has told us yet. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay;
  }

  /**
   * Commits what is planned, and members that are leaving on the way. It is worked out again in every epoch that another commit
   * began first. Resolves with undefined when there is nothing left to do.
   */
  commit(plan: Plan): Promise<Committed | undefined> {
    return this.#serial.run(() => translating("Cannot change the channel", () => this.#commit(plan)));
  }

  planOf(plan: Plan): Planned | undefined {
    return this.#parts.planOf(plan);
  }

  /**
   * Settles a commit from before a crash or a lost connection, if the log says what became of it; else `resume` does. Call it
   * when the relay can be reached. A commit that is under way settles itself and may be waiting for the log: the reader of the
   * log must not wait for it.
   */
  async recover(): Promise<void> {
    const candidate = this.#candidate;
    if (this.#underWay !== undefined) return;
    if (candidate !== undefined) {
      this.#recovering ??= this.#recover(candidate).finally(() => this.#recovering = undefined);
    }
    await this.#recovering;
  }

  /** Settles a commit that is open, if the relay says what became of it. Throws `StaticError` when it cannot be asked. */
  async settle(): Promise<void> {
    await this.commit({ is: "settle" });
  }

  /**
   * We may act: sends a commit again whose fate is not known. From this call on it is under way. Resolves when it is settled, or
   * left open; rejects with faults only.
   */
  async resume(): Promise<void> {
    const { durable } = this.#membership;
    await this.#sendAgain().catch((error) => {
      if (!(error instanceof StaticError) && !durable.isRetired) throw error;
    });
  }

  /** Settles what is under way; no commit is made or sent any more until `reopen`. */
  async close(): Promise<void> {
    await this.#serial.run(async () => {
      this.#closed = true;
      await this.#resending?.catch(() => {});
      await this.recover();
    });
  }

  reopen(): void {
    this.#closed = false;
    if (this.#candidate !== undefined) this.#parts.onOpen();
  }

  /** We were brought in anew: a commit of the membership before is of no use, whatever became of it. */
  forget(): void {
    this.#candidate = undefined;
  }

  async #commit(plan: Plan): Promise<Committed | undefined> {
    if (this.#closed) throw createError("not_allowed", "Cannot change the channel: this agent is leaving it");
    await this.recover();
    let behind = 0;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      // First what is open: it may be what is planned, or change what has to be.
      const isOpen = this.#candidate !== undefined || this.#resending !== undefined;
      const whyOpen = isOpen ? await this.#settleOpen() : undefined;
      if (isOpen && whyOpen === undefined) continue;
      if (this.planOf(plan) === undefined) return undefined;
      if (whyOpen !== undefined) throw whyOpen;
      await this.#parts.cleared();
      // Again: it must be about the epoch in which it is committed.
      const planned = this.planOf(plan);
      if (planned === undefined) return undefined;
      const { epoch, group } = this.#membership;
      this.#pace.take(group.current);
      const result = await this.#attempt(planned).catch((error) => {
        if (isCode(error, "not_allowed") && this.#membership.setLeaversAside()) return undefined;
        throw error;
      });
      if (result === undefined) continue;
      if (!("conflict" in result)) return result;
      if (result.conflict <= epoch && ++behind >= maxBehind) throw logBehind(result.conflict, epoch);
      await this.#membership.waitForEpoch(result.conflict, catchUpMs);
      const ms = jitter(this.#deps.runtime, Math.min(firstPauseMs * 2 ** Math.floor(attempt / 2), maxPauseMs));
      await pause(this.#deps.runtime, ms);
    }
    throw createError(
      "epoch_conflict",
      `Cannot change the channel: others were faster ${maxAttempts} times; try again`,
    );
  }

  async #attempt(planned: Planned): Promise<Committed | Conflict> {
    const { durable, group, epoch } = this.#membership;
    const prepared = await durable.prepareIn(epoch, this.#completed(planned));
    if (prepared === undefined) return { conflict: this.#membership.epoch };
    this.#candidate = prepared;
    return await this.#asUnderWay(async () => {
      const why = this.#membership.trust.judge(prepared.summary.added, group.self);
      if (why !== undefined) {
        await this.#discard(durable);
        throw createError("not_allowed", `Cannot add: ${why}; ask an owner of the channel to do it`);
      }
      return await this.#submit(
        durable,
        prepared,
        requestOf(prepared, planned.answers ?? [], this.#membership, this.#deps),
      );
    });
  }

  /** From this call on, before anything else runs. */
  async #asUnderWay<T>(act: () => Promise<T>): Promise<T> {
    const { promise, resolve } = createDeferred<void>();
    this.#underWay = promise;
    try {
      return await act();
    } finally {
      this.#underWay = undefined;
      resolve();
      if (this.#candidate !== undefined && !this.#closed) this.#parts.onOpen();
    }
  }

  /** Returns why it is still open. When the relay refuses, the commit is given up, and plans go on without it. */
  async #settleOpen(): Promise<StaticError | undefined> {
    try {
      await this.#parts.cleared();
      await this.#sendAgain();
    } catch (error) {
      if (!(error instanceof StaticError)) throw error;
      if (this.#candidate !== undefined) return error;
    }
    return undefined;
  }

  #sendAgain(): Promise<void> {
    const candidate = this.#candidate;
    if (this.#resending !== undefined) return this.#resending;
    if (candidate === undefined || this.#underWay !== undefined || this.#closed) return Promise.resolve();
    return this.#resending = this.#resend(candidate).finally(() => this.#resending = undefined);
  }

  async #resend(candidate: PreparedCommit): Promise<void> {
    const { durable } = this.#membership;
    await this.#asUnderWay(async () => {
      await this.#recovering; // which may settle it
      if (this.#candidate !== candidate) return;
      if (!this.#mayWait(candidate)) return await this.#recover(candidate);
      await this.#submit(durable, candidate, requestOf(candidate, [], this.#membership, this.#deps), true);
    });
  }

  #completed({ change }: Planned): Change {
    return { ...withLeavers(change, this.#membership.dueLeavers), forcePath: this.#parts.isKeyOld() };
  }

  /** The candidate is durable; from here on a crash is settled by `recover`. */
  async #submit(
    durable: DurableGroup,
    prepared: PreparedCommit,
    body: RequestBody<"SendCommit">,
    isAgain = false,
  ): Promise<Committed | Conflict> {
    for (let sends = 1;; sends++) {
      const answer = await this.#send(durable, prepared, body, { sends, isAgain });
      const fate = answer ?? await fateOf(prepared, this.#membership);
      if (fate === "unknown") continue; // the same bytes again: the relay knows them if it has taken them
      if (this.#isOfEarlier(prepared)) return { conflict: this.#membership.epoch };
      if ("conflict" in fate && fate.conflict <= prepared.epoch && isLast(prepared)) {
        throw logBehind(fate.conflict, prepared.epoch);
      }
      if ("conflict" in fate) await this.#giveUp(durable);
      else await this.#accept(durable, prepared, fate, body);
      return "conflict" in fate ? fate : { prepared, sequence: fate.sequence };
    }
  }

  /** The channel was begun anew meanwhile, and without what this commit did. */
  #isOfEarlier({ epoch }: PreparedCommit): boolean {
    return generationOf(epoch) < generationOf(this.#membership.epoch);
  }

  /** Undefined when the reply was lost. Other refusals end the commit. */
  async #send(
    durable: DurableGroup,
    prepared: PreparedCommit,
    body: RequestBody<"SendCommit">,
    { sends, isAgain }: { readonly sends: number; readonly isAgain: boolean },
  ): Promise<Taken | Conflict | undefined> {
    try {
      return await this.#deps.session.call("SendCommit", body);
    } catch (error) {
      if (isCode(error, "epoch_conflict")) {
        const isFirst = sends === 1 && !isAgain;
        return await this.#conflicting(prepared, error.epoch ?? prepared.epoch + 1, isFirst);
      }
      if (isCode(error, "transport_error", "connection_error", "internal") && sends < maxSends) return undefined;
      // A busy relay may have taken it, or take an earlier copy yet.
      const isOpen = isCode(error, "transport_error", "connection_error") ||
        (isLast(prepared) && error instanceof UnavailableError);
      if (!isOpen) await this.#giveUp(durable);
      if (isCode(error, "state_conflict")) this.#parts.onOtherKeys(error.message);
      if (!isCode(error, "member_limit_reached")) throw error;
      const { lastHeard } = this.#parts;
      throw channelFull(error, this.#membership, { lastHeard, nowMs: this.#deps.runtime.nowMs() });
    }
  }

  /**
   * The relay says that another commit was first. If its log holds ours, nobody would ever deliver it to us: the log is asked
   * before the commit is given up. An earlier copy of it may have been that other one.
   */
  async #conflicting(prepared: PreparedCommit, epoch: number, isFirst: boolean): Promise<Taken | Conflict> {
    const fate = await fateOf(prepared, this.#membership);
    if (fate === "unknown" || "conflict" in fate) return { conflict: epoch };
    const text = `The relay accepted our commit of epoch ${prepared.epoch} but reported a conflict`;
    if (isFirst) this.#health.report("relay_lied", text);
    return fate;
  }

  /**
   * Whether a commit may be sent again. Not one that adds somebody: those who asked may have left, and their KeyPackages may
   * be over.
   */
  #mayWait({ epoch, summary }: PreparedCommit): boolean {
    return epoch === this.#membership.epoch && summary.added.length === 0;
  }

  async #recover(candidate: PreparedCommit): Promise<void> {
    const { durable } = this.#membership;
    const fate = await fateOf(candidate, this.#membership);
    if (this.#candidate !== candidate) return;
    if (fate === "unknown" && this.#mayWait(candidate)) return;
    if (fate === "unknown" || "conflict" in fate) await this.#giveUp(durable);
    else await this.#accept(durable, candidate, fate, requestOf(candidate, [], this.#membership, this.#deps));
  }

  async #accept(
    durable: DurableGroup,
    prepared: PreparedCommit,
    { sequence }: Taken,
    request: RequestBody<"SendCommit">,
  ): Promise<void> {
    this.#checkCurrent(durable);
    const isMoved = (): boolean => this.#membership.epoch !== prepared.epoch;
    const accepted = { ...request, welcomes: [], answers: [] };
    try {
      if (!isMoved()) return await this.#membership.accept(prepared, sequence, accepted);
    } catch (error) {
      // Only another commit, which came while the acceptance waited for its turn, is the relay's lie.
      if (!isMoved() || this.#membership.group.current === prepared.next) throw error;
    } finally {
      // Not before the group has moved: until then a relay that names it says nothing new.
      if (this.#candidate === prepared) this.#candidate = undefined;
    }
    const text = `The relay accepted our commit of epoch ${prepared.epoch}, but delivered another one of that epoch`;
    this.#health.report("relay_lied", text);
    await durable.discard();
    this.#parts.onForked(text);
    throw createError("mls_error", `${text}; this agent joins the channel anew, try again then`);
  }

  async #discard(durable: DurableGroup, alongside?: () => RecordChange): Promise<void> {
    this.#checkCurrent(durable);
    this.#candidate = undefined;
    await durable.discard(alongside && (() => [alongside()]));
  }

  /** The commit may still be on its way: remember that it is ours, in case the relay takes it. */
  async #giveUp(durable: DurableGroup): Promise<void> {
    await this.#discard(durable, this.#candidate && this.#parts.onGivenUp(this.#candidate));
  }

  /** A commit of a membership that is over is neither accepted nor discarded. */
  #checkCurrent(durable: DurableGroup): void {
    if (durable === this.#membership.durable && !durable.isRetired) return;
    throw createError("transport_error", "This agent has joined the channel anew meanwhile; try again");
  }
}
