/**
 * Our own commits, in two phases: prepared and on disk, sent, then accepted or discarded. Of two commits in one epoch the
 * relay takes the first; the loser follows the winner and plans again. When a reply is lost, the relay's log says whose
 * commit it was. One commit of ours is under way at a time.
 */
import { equalBytes, type JoinRequestId, type RequestBody } from "../../proto/mod.ts";
import { createDeferred } from "../base/deferred.ts";
import { createError, isCode } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import type { Change, PreparedCommit } from "../mls/group.ts";
import type { ChannelDeps } from "./deps.ts";
import { translating } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";

export interface Plan {
  readonly change: Change;
  readonly answers?: readonly JoinRequestId[];
  readonly rejoins?: RequestBody<"SendCommit">["rejoins"];
}

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
/** For the winner's commit to arrive. */
const catchUpMs = 30_000;

/** The relay has it. */
type Taken = { readonly sequence: number };
/** Another commit was first; the channel is at this epoch now. */
type Conflict = { readonly conflict: number };

export interface CommitterParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  /** A commit from before a crash whose fate is not known. */
  readonly candidate: PreparedCommit | undefined;
}

export class Committer {
  readonly #deps: ChannelDeps;
  readonly #membership: Membership;
  readonly #health: HealthLog;
  readonly #serial = new Serial();
  #candidate: PreparedCommit | undefined;
  /** Resolves when the commit under way is accepted, discarded or given up for now. */
  #underWay: Promise<void> | undefined;
  #recovering: Promise<void> | undefined;

  constructor({ membership, health, candidate }: CommitterParts, deps: ChannelDeps) {
    this.#deps = deps;
    this.#membership = membership;
    this.#health = health;
    this.#candidate = candidate;
  }

  /** While this is a promise, the next epoch may be ours though nobody has told us yet. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay;
  }

  /**
   * Commits what `plan` says, and members that are leaving on the way. `plan` is asked again in every epoch that another
   * commit began first; when it answers undefined there is nothing left to do.
   */
  commit(plan: () => Plan | undefined): Promise<Committed | undefined> {
    return this.#serial.run(() => translating("Cannot change the channel", () => this.#commit(plan)));
  }

  /**
   * Settles a commit from before a crash or a lost connection. Call when the relay can be reached. One that is under way
   * settles itself and may be waiting for the log: whoever reads the log must not wait for it.
   */
  async recover(): Promise<void> {
    if (this.#candidate === undefined || this.#underWay !== undefined) return;
    this.#recovering ??= this.#recover(this.#candidate).finally(() => this.#recovering = undefined);
    await this.#recovering;
  }

  async #commit(plan: () => Plan | undefined): Promise<Committed | undefined> {
    await this.recover();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const planned = plan();
      if (planned === undefined) return undefined;
      const result = await this.#attempt(planned);
      if (!("conflict" in result)) return result;
      await this.#membership.waitForEpoch(result.conflict, catchUpMs);
      const ms = jitter(this.#deps.runtime, Math.min(firstPauseMs * 2 ** Math.floor(attempt / 2), maxPauseMs));
      await pause(this.#deps.runtime, ms);
    }
    throw createError(
      "epoch_conflict",
      `Cannot change the channel: others were faster ${maxAttempts} times; try again`,
    );
  }

  async #attempt(planned: Plan): Promise<Committed | Conflict> {
    const { durable, leavers, lapsed } = this.#membership;
    // The relay takes no new members while some that are gone are still in the group.
    const gone = (planned.change.add?.length ?? 0) > 0 ? lapsed : [];
    const remove = [...new Set([...planned.change.remove ?? [], ...leavers.map(({ agentId }) => agentId), ...gone])];
    const prepared = await durable.prepare({ ...planned.change, remove });
    const { summary } = prepared;
    const why = this.#membership.trust.judge(summary.added, this.#membership.group.self);
    if (why !== undefined) {
      await durable.discard();
      throw createError("not_allowed", `Cannot add: ${why}; ask an owner of the channel to do it`);
    }
    return await this.#submit(prepared, {
      channelId: this.#membership.channelId,
      epoch: prepared.epoch,
      commit: prepared.message,
      added: [...summary.added],
      removed: [...summary.removed],
      welcomes: prepared.welcome === undefined ? [] : [{ recipients: [...summary.added], welcome: prepared.welcome }],
      ...(summary.owners !== undefined && { owners: { agentIds: [...summary.owners] } }),
      answers: [...planned.answers ?? []],
      leaves: leavers,
      rejoins: [...planned.rejoins ?? []],
    });
  }

  /** The candidate is durable; from here on a crash is settled by `recover`. */
  async #submit(prepared: PreparedCommit, body: RequestBody<"SendCommit">): Promise<Committed | Conflict> {
    this.#candidate = prepared;
    const { promise, resolve } = createDeferred<void>();
    this.#underWay = promise;
    try {
      for (let sends = 1;; sends++) {
        const answer = await this.#send(body, sends);
        const fate = answer ?? await this.#fateOf(prepared);
        if (fate === "unknown") continue; // the same bytes again: the relay knows them if it has taken them
        if ("conflict" in fate) await this.#discard();
        else await this.#accept(prepared, fate);
        return "conflict" in fate ? fate : { prepared, sequence: fate.sequence };
      }
    } finally {
      this.#underWay = undefined;
      resolve();
    }
  }

  /** Undefined when the reply was lost. Other refusals end the commit. */
  async #send(body: RequestBody<"SendCommit">, sends: number): Promise<Taken | Conflict | undefined> {
    try {
      return await this.#deps.session.call("SendCommit", body);
    } catch (error) {
      if (isCode(error, "epoch_conflict")) return { conflict: error.epoch ?? body.epoch + 1 };
      if (isCode(error, "transport_error", "connection_error", "internal") && sends < maxSends) return undefined;
      if (!isCode(error, "transport_error", "connection_error")) await this.#discard();
      throw error;
    }
  }

  async #recover(candidate: PreparedCommit): Promise<void> {
    const fate = await this.#fateOf(candidate);
    if (fate === "unknown" || "conflict" in fate) await this.#discard();
    else await this.#accept(candidate, fate);
  }

  /** Asks the log whose commit ended the epoch; unknown when none did. */
  async #fateOf(prepared: PreparedCommit): Promise<Taken | Conflict | "unknown"> {
    const { channelId } = this.#membership;
    const { commit, epoch } = await this.#deps.session.call("FindCommit", { channelId, epoch: prepared.epoch });
    if (commit === undefined) return epoch === prepared.epoch ? "unknown" : { conflict: epoch };
    return equalBytes(commit.commitHash, prepared.hash) ? { sequence: commit.sequence } : { conflict: epoch };
  }

  async #accept(prepared: PreparedCommit, { sequence }: Taken): Promise<void> {
    this.#candidate = undefined;
    if (this.#membership.epoch !== prepared.epoch) {
      const text = `The relay took our commit of epoch ${prepared.epoch}, but delivered another one of that epoch`;
      this.#health.report("relay_lied", text);
      throw createError("mls_error", `${text}; leave the channel and rejoin with a new invite token`);
    }
    await this.#membership.accept(prepared, sequence);
  }

  async #discard(): Promise<void> {
    this.#candidate = undefined;
    await this.#membership.durable.discard();
  }
}
