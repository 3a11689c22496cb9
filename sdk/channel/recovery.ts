/**
 * A channel that is stopped at a commit which this agent cannot follow, and the way out of it: an owner begins a new generation.
 * Until then the group stays as it is, nothing is sent, and the log is read for a founding only. The agent may also be the only
 * one that cannot follow; then a member lets it in again, and nothing has to begin anew.
 */
import {
  type AgentId,
  equalBytes,
  foundingEpoch,
  generationOf,
  type NoticeBody,
  type NoticeEnvelope,
} from "../../proto/mod.ts";
import { createDeferred } from "../base/deferred.ts";
import { createError, isCode, StaticError } from "../base/errors.ts";
import { baseOf } from "../mls/base_epoch.ts";
import type { Member } from "../mls/members.ts";
import type { FoundingCandidate } from "../mls/state_codec.ts";
import { type BadCommit, blamedOf, deleteBadCommit, deleteReturn, putBadCommit, putReturn } from "./bad_commit.ts";
import type { RecordChange } from "../store/mod.ts";
import type { Permit } from "./connection/permit.ts";
import type { ChannelDeps } from "./deps.ts";
import { type Begun, type Followed, type Founding, judgeFounding, openFounding } from "./following.ts";
import { deleteForeign, type ForeignGeneration, putForeign } from "./foreign_generation.ts";
import { createFounding, requestOf } from "./founding.ts";
import type { HealthLog, StoppedState } from "./health.ts";
import type { Membership } from "./membership.ts";
import { actionFor, foreignState, problemOf } from "./stopped_words.ts";

/** An owner whose members do not all ask waits so long: others may be able to follow. */
const patienceMs = 60_000;
/** An owner that is stopped again so soon after it was let in was let in by somebody that it does not trust again. */
const calmMs = 10 * 60_000;
/** For the founding of another owner to arrive. */
const arrivalMs = 30_000;

export interface RecoveryParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly bad: BadCommit | undefined;
  readonly returnedMs: number | undefined;
  readonly foreign: ForeignGeneration | undefined;
  readonly founding: FoundingCandidate | undefined;
  /** Returns what else to write when a new generation is entered. */
  readonly onEntering: () => RecordChange;
}

export class Recovery {
  readonly #deps: ChannelDeps;
  readonly #parts: RecoveryParts;
  #bad: BadCommit | undefined;
  #returnedMs: number | undefined;
  #foreign: ForeignGeneration | undefined;
  /** Called when a founding is refused. */
  readonly #refusals = new Set<() => void>();
  #founding: FoundingCandidate | undefined;
  /** Members that ask to be let in again since we are stopped: they cannot follow either. */
  readonly #askers = new Set<AgentId>();
  #unread = 0;
  /** The last entry that was counted there. */
  #countedTo = 0;

  constructor(parts: RecoveryParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#bad = parts.bad;
    this.#returnedMs = parts.returnedMs;
    this.#foreign = parts.foreign;
    this.#founding = parts.founding;
  }

  get stopped(): BadCommit | undefined {
    return this.#bad;
  }

  /** Durable first: blame must survive a crash of the agent that saw it. */
  async stop(bad: BadCommit): Promise<void> {
    await this.#deps.store.batch([putBadCommit(bad)]);
    this.#bad = bad;
    this.#askers.clear();
    this.#unread = this.#countedTo = 0;
    this.#parts.health.report("refused_commit", problemOf(bad));
  }

  asked(agentId: AgentId): void {
    this.#askers.add(agentId);
  }

  /** Whether an entry of the log is the commit at which we are stopped, or stands behind it. */
  isBehind({ operation, body }: NoticeEnvelope): boolean {
    if (this.#bad === undefined) return false;
    if (operation === "DeliverGap") return body.firstSequence >= this.#bad.sequence;
    return "sequence" in body && body.sequence >= this.#bad.sequence;
  }

  /** A message behind the commit: nobody that cannot follow that can read it. It may be delivered again. */
  passOver(sequence: number): void {
    if (sequence <= this.#countedTo) return;
    this.#countedTo = sequence;
    this.#unread++;
  }

  /**
   * Asks whether the log still holds the commit at which we are stopped: that it does is the relay's word, too. A log that was set
   * back to before it goes on from there, perhaps with another commit, or with the same one at another place, which is noted.
   */
  async isGone(): Promise<boolean> {
    const bad = this.#bad;
    if (bad === undefined) return false;
    const { epoch, commitHash } = bad.declared;
    const { epoch: logEpoch, commit } = await this.#parts.membership.findCommit(epoch);
    // Traces of commits are forgotten one day: only while the epoch lasts does their absence tell something.
    if (commit === undefined) return generationOf(logEpoch) === generationOf(epoch) && logEpoch <= epoch;
    const isSame = equalBytes(commit.commitHash, commitHash);
    if (isSame && commit.sequence !== bad.sequence) await this.#place(bad, commit.sequence);
    return !isSame && generationOf(logEpoch) === generationOf(epoch);
  }

  /** Entries before it there are read, and those behind it are not. */
  async #place(bad: BadCommit, sequence: number): Promise<void> {
    const moved = { ...bad, sequence };
    await this.#deps.store.batch([putBadCommit(moved)]);
    this.#bad = moved;
    this.#unread = this.#countedTo = 0;
  }

  /**
   * The commit is gone. Returns the problem that is over. A founding of ours stays until the group moves on: it may be in the log
   * yet.
   */
  async takeBack(): Promise<string | undefined> {
    const bad = this.#bad;
    if (bad === undefined) return undefined;
    await this.#deps.store.batch([deleteBadCommit(this.#parts.membership.channelId)]);
    this.#bad = undefined;
    this.#unread = this.#countedTo = 0;
    return problemOf(bad);
  }

  /** The earliest that this agent does not follow. */
  get foreignGeneration(): number | undefined {
    return this.#foreign?.generation;
  }

  /** Whether a generation is one that this agent does not follow, or comes after such a one. */
  isForeign(generation: number): boolean {
    return this.#foreign !== undefined && generation >= this.#foreign.generation;
  }

  /** Our group is another one: what was foreign to the one before may be our own now. It is gone from disk already. */
  forgetForeign(): void {
    this.#foreign = undefined;
  }

  /** That a founding is in the log is the relay's word. It has taken it back if its log is in an earlier generation. */
  async takeBackForeign(generation: number): Promise<void> {
    if (this.#foreign === undefined || this.isForeign(generation)) return;
    await this.#deps.store.batch([deleteForeign(this.#parts.membership.channelId)]);
    this.#foreign = undefined;
  }

  /**
   * Whether this agent owns the channel and is stopped again soon after it was let in. Two members could do that without end, one
   * by commits, the other by Welcomes. So it takes no Welcome any more but an owner's, and may begin anew at once.
   */
  get isAgain(): boolean {
    const since = this.#bad?.sinceMs;
    return since !== undefined && this.#returnedMs !== undefined && Math.abs(since - this.#returnedMs) < calmMs &&
      this.#parts.membership.group.self.owner;
  }

  /** Whether somebody is there that could let this agent in. */
  get mayAsk(): boolean {
    const bad = this.#bad;
    return bad !== undefined && this.#foreign === undefined &&
      (!this.isAgain || this.#others(bad).some(({ owner }) => owner));
  }

  /** The changes to write when this agent is admitted again. */
  get changesOfReturn(): RecordChange[] {
    return this.#bad === undefined ? [] : [putReturn(this.#parts.membership.channelId, this.#deps.runtime.nowMs())];
  }

  /** This agent was let in again. */
  returned(): void {
    if (this.#bad !== undefined) this.#returnedMs = this.#deps.runtime.nowMs();
    this.clear();
  }

  /** The commit does not matter any more. */
  clear(): void {
    this.#bad = this.#founding = undefined;
  }

  /** In words, for `health()`. */
  get condition(): StoppedState | undefined {
    if (this.#foreign !== undefined) return foreignState(this.#foreign);
    const bad = this.#bad;
    if (bad === undefined) return undefined;
    const recoverable = this.#parts.membership.group.self.owner && this.#isOffered(bad);
    return { problem: problemOf(bad), action: this.#actionFor(bad), recoverable };
  }

  /**
   * Begins a new generation. Undefined when another owner was faster: its founding is in the log. Throws `StaticError` when this
   * agent may not, when it is too early, or when the relay cannot be reached; then the same call sends the same founding.
   */
  async found(permit: Permit): Promise<Begun | undefined> {
    const founding = await this.#candidateFor(this.checkOffered());
    const sequence = await this.#send(founding);
    return sequence === undefined ? undefined : await this.#promote(founding, sequence, permit);
  }

  /** Throws `StaticError` when this agent may not begin anew, or not yet. */
  checkOffered(): BadCommit {
    const bad = this.#bad;
    if (bad === undefined) {
      throw createError("not_allowed", "Cannot recover: the channel is not stopped at a commit; see health()");
    }
    if (this.#parts.membership.group.self.owner && this.#isOffered(bad)) return bad;
    throw createError("not_allowed", `Cannot recover: ${this.#actionFor(bad)}`);
  }

  /** Settles a founding from before a crash or a lost connection. It is never sent automatically. */
  async settle(permit: Permit): Promise<Begun | undefined> {
    const own = await this.findOwn();
    return own && await this.#promote(own.founding, own.sequence, permit);
  }

  /** A founding of ours that the log holds, and that is not entered yet. Throws `StaticError`. */
  async findOwn(): Promise<{ readonly founding: FoundingCandidate; readonly sequence: number } | undefined> {
    const founding = this.#ownFounding;
    const sequence = founding && await this.#find(founding);
    return founding === undefined || sequence === undefined ? undefined : { founding, sequence };
  }

  /**
   * Resolves when this agent is in the generation that somebody else has begun, which is on its way to us. Throws `StaticError`
   * when it does not follow, or when that does not arrive.
   */
  async followed(): Promise<void> {
    const { membership } = this.#parts;
    const { promise, resolve } = createDeferred<void>();
    this.#refusals.add(resolve);
    try {
      const next = foundingEpoch(generationOf(membership.epoch) + 1) + 1;
      if (this.#foreign === undefined) await Promise.race([membership.waitForEpoch(next, arrivalMs), promise]);
    } finally {
      this.#refusals.delete(resolve);
    }
    if (this.#foreign === undefined) return;
    const { problem, action } = foreignState(this.#foreign);
    throw createError("epoch_conflict", `Cannot recover: ${problem}. ${action}`);
  }

  /** A founding of somebody else. */
  async follow(entry: Founding, permit: Permit): Promise<Followed> {
    const { membership, health } = this.#parts;
    const verdict = judgeFounding(entry, this.#bad, membership, this.#deps);
    if (verdict.kind === "forged") {
      const text = `The relay delivered a false beginning of a new generation: ${verdict.reason}`;
      health.report("relay_lied", text);
      return "forged";
    }
    if (verdict.kind === "refused") {
      await this.#refuse(entry, verdict.reason);
      return "refused";
    }
    if (verdict.kind === "ahead") return "ahead";
    const opened = verdict.kind === "follow"
      ? await openFounding(entry, verdict.base, membership, this.#deps)
      : verdict.reason;
    if (typeof opened === "string") return { behind: opened };
    const { founding, sequence, sender: founder } = entry;
    const { blamed, without } = founding;
    await this.#enter({ ...opened, founder, blamed, without, sequence }, opened.used, permit);
    this.#tell(entry);
    this.#deps.keyPackages.renew().catch(() => {}); // the next connection does it again
    return { sequence, epoch: foundingEpoch(founding.generation) };
  }

  async #refuse({ sender: founder, founding: { generation } }: Founding, reason: string): Promise<void> {
    // It comes again with each connection.
    if (this.#foreign !== undefined && this.#foreign.generation <= generation) return;
    const foreign = { generation, founder, reason };
    await this.#deps.store.batch([putForeign(this.#parts.membership.channelId, foreign)]);
    this.#foreign = foreign;
    const text = `${foreignState(foreign).problem}. It stays in the generation before`;
    this.#parts.health.report("refused_recovery", text);
    for (const refused of this.#refusals) refused();
  }

  /**
   * A founding of ours, while the group is where it was made. A group that went on since then, after a stop that was taken back,
   * may have lost members and owners that the founding still has.
   */
  get #ownFounding(): FoundingCandidate | undefined {
    const founding = this.#founding;
    if (founding === undefined) return undefined;
    const { epoch, transcriptHash } = baseOf(this.#parts.membership.group.current);
    const { founding: made } = requestOf(founding);
    return made.baseEpoch === epoch && equalBytes(made.transcriptHash, transcriptHash) ? founding : undefined;
  }

  /** The one that was made before, if it is about this commit: the relay may have taken it. */
  async #candidateFor(bad: BadCommit): Promise<FoundingCandidate> {
    const before = this.#ownFounding;
    const { commitHash } = bad.declared;
    if (before !== undefined && equalBytes(requestOf(before).founding.badCommit, commitHash)) return before;
    const { membership } = this.#parts;
    const founding = await createFounding(membership, bad, this.#deps);
    await membership.durable.prepareFounding(founding);
    this.#founding = founding;
    return founding;
  }

  /**
   * Its place in the log; undefined when another one was first. A refusal says nothing about an earlier call whose reply was
   * lost, and the log never delivers a founding to its founder: so the log is asked before a refusal is believed.
   */
  async #send(founding: FoundingCandidate): Promise<number | undefined> {
    try {
      return (await this.#deps.session.call("FoundGeneration", requestOf(founding))).sequence;
    } catch (error) {
      if (!(error instanceof StaticError) || isCode(error, "transport_error", "connection_error", "internal")) {
        throw error;
      }
      const sequence = await this.#find(founding).catch(() => {
        throw error;
      });
      if (sequence !== undefined) return sequence;
      if (isCode(error, "epoch_conflict")) return undefined;
      // The relay will never take these bytes: the next call makes others.
      if (isCode(error, "invalid_request", "payload_too_large")) this.#founding = undefined;
      throw error;
    }
  }

  /** Where the log has it, if it does. */
  async #find(founding: FoundingCandidate): Promise<number | undefined> {
    const { commit } = await this.#parts.membership.findCommit(Number(founding.next.context.epoch) - 1);
    return commit !== undefined && equalBytes(commit.commitHash, founding.hash) ? commit.sequence : undefined;
  }

  async #promote(founding: FoundingCandidate, sequence: number, permit: Permit): Promise<Begun> {
    const request = requestOf(founding);
    const { blamed, without } = request.founding;
    await this.#enter({ ...founding, founder: this.#deps.agentId, blamed, without, sequence }, [], permit);
    this.#tell({ ...request, sender: this.#deps.agentId });
    return { sequence, epoch: Number(founding.next.context.epoch) - 1 };
  }

  /** The connection has shown that our store is the latest: else keys of the new generation may be used already. */
  async #enter(
    generation: Parameters<Membership["enterGeneration"]>[0],
    used: readonly RecordChange[],
    _permit: Permit,
  ): Promise<void> {
    const { membership } = this.#parts;
    const { channelId } = membership;
    const over = [deleteBadCommit(channelId), deleteReturn(channelId), deleteForeign(channelId)];
    await membership.enterGeneration(generation, () => [...over, ...used, this.#parts.onEntering()]);
    this.#returnedMs = undefined;
  }

  #tell({ founding, absent, sender }: Pick<NoticeBody<"DeliverFounding">, "founding" | "absent" | "sender">): void {
    const { health } = this.#parts;
    const could = this.#bad === undefined ? "this agent could follow it" : "this agent could not follow it";
    const away = absent.length === 0 ? "nobody is absent" : `absent until they come back: ${absent.join(", ")}`;
    const text = `${sender} began generation ${founding.generation} of the channel on epoch ${founding.baseEpoch}, ` +
      `because of a commit of ${founding.blamed}, which is out; ${could}; ${away}`;
    health.report("recovered", text);
    if (this.#unread > 0) {
      const lost =
        `${this.#unread} messages stand in the log behind the commit that nobody here could follow; they cannot be ` +
        "read any more, ask their senders for them";
      health.report("undecryptable", lost, { count: this.#unread });
    }
    this.clear();
  }

  #actionFor(bad: BadCommit): string {
    return actionFor(bad, this.#parts.membership.group, this.#isOffered(bad));
  }

  #isOffered(bad: BadCommit): boolean {
    const others = this.#others(bad);
    // A clock that was put back says nothing about the time that has passed.
    const elapsedMs = this.#deps.runtime.nowMs() - bad.sinceMs;
    return this.isAgain || others.every(({ agentId }) => this.#askers.has(agentId)) || elapsedMs < 0 ||
      elapsedMs >= patienceMs;
  }

  /** Without the blamed and this agent. */
  #others(bad: BadCommit): Member[] {
    const blamed = blamedOf(bad);
    const { agentId: self } = this.#deps;
    return this.#parts.membership.group.members().filter(({ agentId }) => agentId !== blamed && agentId !== self);
  }
}
