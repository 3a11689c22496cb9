/**
 * An agent whose store may be older than its actions: restored from a backup, or copied. Its keys may be used already, so nothing is
 * sent with them, and it joins anew. The relay's word, which `judgeConnection` judges, is not a proof; an entry of the log with our
 * signature is one. However the relay or a member give it reasons, it comes back a few times only.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { commitStatement, type ReplyBody } from "../../proto/mod.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import type { DurableGroup } from "../mls/durable_group.ts";
import type { PreparedCommit } from "../mls/group.ts";
import type { RecordChange } from "../store/mod.ts";
import { type Anchor, putAnchor, withDiscarded } from "./anchor.ts";
import type { ChannelDeps } from "./deps.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";

type Sent = NonNullable<ReplyBody<"Subscribe">["sent"]>;
type OwnEntry = ReplyBody<"ReadOwn">;

/** Why the agent has to join anew. */
export interface Doubt {
  readonly reason: string;
  /** To be awaited before it asks: looks for a proof, reports, and waits when the relay has given too many reasons. */
  readonly settle?: (signal: AbortSignal) => Promise<void>;
  /** Members are asked one by one: an answer to all let this agent in with wrong keys. */
  readonly named?: boolean;
  /** Of the channel, that it wants into; its own when it is not given. */
  readonly generation?: number;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** By nothing but the relay's word, within an hour, until the relay is to blame. */
const maxByWord = 3;
/** Ways back within a day, for whatever reason. Each costs the channel a commit, and messages are lost to this agent. */
const maxADay = 12;
const retryMs = 1000;

const rolledBack =
  "This agent's data directory is older than what the agent has sent: it was restored from a backup, or copied. Nothing is " +
  "sent with its old keys; the agent joins the channel anew. Use a directory in one place only";

/** As far as it is asked here. */
type Standing = Pick<Membership, "channelId" | "epoch"> & { readonly durable: Pick<DurableGroup, "isUnknownOwn"> };

export interface StoreAgeParts {
  readonly anchor: Anchor;
  readonly membership: Standing;
  readonly health: HealthLog;
}

export type StoreAgeDeps = Pick<ChannelDeps, "store" | "runtime" | "session" | "signatures" | "identity">;

export class StoreAge {
  readonly #deps: StoreAgeDeps;
  readonly #membership: Standing;
  readonly #health: HealthLog;
  #anchor: Anchor;
  #isProven = false;
  /** Where our membership began, as the relay said last. */
  #claimed: number | undefined;
  #pausesUntilMs: number | undefined;

  constructor({ anchor, membership, health }: StoreAgeParts, deps: StoreAgeDeps) {
    this.#anchor = anchor;
    this.#membership = membership;
    this.#health = health;
    this.#deps = deps;
  }

  /**
   * A commit of ours is given up, and nobody knows whether the relay takes it yet. Returns the change to write in one with that. It
   * is asked for in the turn of the write: the anchor may have been written in between.
   */
  discarded(prepared: Pick<PreparedCommit, "epoch" | "hash">): () => RecordChange {
    this.#anchor = withDiscarded(this.#anchor, prepared);
    return () => putAnchor(this.#membership.channelId, this.#anchor);
  }

  /** Before it asks to join anew, which it did too often. */
  get pausesUntilMs(): number | undefined {
    return this.#pausesUntilMs;
  }

  /** A new membership, which is on disk already. */
  restart(anchor: Anchor): void {
    this.#anchor = anchor;
    this.#isProven = false;
  }

  /**
   * A new generation has begun. Members that could follow the commit which stopped us may have brought us in anew meanwhile, and
   * that is undone: where our membership began is for the relay to say again. To be written in one with the generation, and
   * asked for in the turn of that write.
   */
  begunAnew(): RecordChange {
    this.#anchor = { ...this.#anchor, joinedSequence: undefined };
    return putAnchor(this.#membership.channelId, this.#anchor);
  }

  /** Where the membership began whose leaf we have, or of the leaf that we were told to have. */
  joinedSequence({ isTold }: { readonly isTold: boolean }): number | undefined {
    return isTold ? this.#claimed : this.#anchor.joinedSequence;
  }

  /** By nothing but what the relay says. It gains no more than three rejoins in an hour by all that it says. */
  byWord(reason: string): Doubt {
    return { reason, settle: (signal) => this.#limitByWord(signal) };
  }

  /** A relay, or a member, that gives it reasons to join anew gains twelve of them in a day by all that it does. */
  counted(doubt: Doubt): Doubt {
    return doubt.settle === undefined ? { ...doubt, settle: (signal) => this.#limit(signal) } : doubt;
  }

  /** The relay has said where our membership began. */
  told(joinedSequence: number): void {
    this.#claimed = joinedSequence;
  }

  /** Returns the change to write: more is known of our membership. */
  noted(anchor: Anchor): RecordChange {
    this.#anchor = anchor;
    return putAnchor(this.#membership.channelId, anchor);
  }

  get anchor(): Anchor {
    return this.#anchor;
  }

  /** The log holds something of ours that this store does not know. */
  get isProven(): boolean {
    return this.#isProven;
  }

  /** The relay knows more of us than this store. `sent`: the last of it. `isOpen`: it may have taken a commit that we know. */
  behind(reason: string, sent: Sent | undefined, isOpen: boolean): Doubt {
    if (this.#isProven) return { reason };
    const settle = async (signal: AbortSignal): Promise<void> => {
      const entry = sent === undefined ? {} : await this.#readOwn(sent.sequence, signal);
      if (signal.aborted) return;
      this.#isProven = await this.#isUnknownOwn(entry, isOpen);
      if (this.#isProven) this.#health.report("store_rolled_back", rolledBack);
      else this.#reportUnproven(reason);
      await this.#limitByWord(signal);
    };
    return { reason, settle };
  }

  #reportUnproven(reason: string): void {
    const text =
      `This agent joins the channel anew, because ${reason}. The log holds no proof: either the directory was ` +
      "restored from a backup, or copied, or the relay is wrong. Nothing is sent with keys that may be old";
    this.#health.report("store_unproven", text);
  }

  async #limitByWord(signal: AbortSignal): Promise<void> {
    if (this.#since(hourMs).length >= maxByWord) {
      const lie =
        `The relay has given this agent reasons to join anew ${maxByWord} times within an hour. The agent waits ` +
        "an hour before it joins the channel anew; ask the relay's operator";
      this.#health.report("relay_lied", lie);
      await this.#pause(hourMs, signal);
    }
    await this.#limit(signal);
  }

  /** Returns when the agent may ask to join anew, and counts that. */
  async #limit(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    const [first, ...others] = this.#since(dayMs);
    if (first !== undefined && others.length >= maxADay - 1) {
      const waitMs = first + dayMs - runtime.nowMs();
      const text =
        `This agent has joined the channel anew ${maxADay} times within a day, because of the relay or of a member. It ` +
        `waits ${
          Math.ceil(waitMs / hourMs)
        } h before it does so again, unless it leaves the channel and joins with a new invite token`;
      this.#health.report("rejoined", text);
      await this.#pause(waitMs, signal);
    }
    if (signal.aborted) return;
    await this.#save({ ...this.#anchor, cameBackMs: [...this.#since(dayMs), runtime.nowMs()].slice(-maxADay) });
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    this.#pausesUntilMs = runtime.nowMs() + ms;
    await pause(runtime, ms, signal);
    this.#pausesUntilMs = undefined;
  }

  /** When this agent began to join anew, the latest last. A clock that was set back forgets what was later. */
  #since(ms: number): number[] {
    const nowMs = this.#deps.runtime.nowMs();
    return this.#anchor.cameBackMs.filter((timeMs) => timeMs <= nowMs && timeMs > nowMs - ms);
  }

  /** Nothing, when the log does not hold it any more, or the relay does not say. */
  async #readOwn(sequence: number, signal: AbortSignal): Promise<OwnEntry> {
    const { session, runtime } = this.#deps;
    while (!signal.aborted) {
      try {
        return await session.call("ReadOwn", { channelId: this.#membership.channelId, sequence });
      } catch (error) {
        if (!(error instanceof StaticError)) throw error;
        if (!isCode(error, "transport_error", "connection_error") || session.state.kind === "ended") return {};
        await pause(runtime, jitter(runtime, retryMs), signal);
      }
    }
    return {};
  }

  /**
   * Whether an entry is ours and was made by another process than those of this store. A message is bound to keys of our epoch.
   * Of a commit only its epoch tells: in ours there must be none of ours whose fate we do not know, and in earlier memberships
   * we have been in no such epoch.
   */
  async #isUnknownOwn({ message, commit }: OwnEntry, isOpen: boolean): Promise<boolean> {
    const { channelId, durable, epoch } = this.#membership;
    if (message !== undefined) return await durable.isUnknownOwn(message.ciphertext);
    if (commit === undefined || commit.epoch < epoch || commit.epoch <= this.#anchor.formerEpoch) return false;
    const isKnown = isOpen || this.#anchor.discarded.some((known) => known.epoch === epoch);
    if (commit.epoch === epoch && isKnown) return false;
    const { signatures, identity } = this.#deps;
    const commitHash = sha256(commit.commit);
    const statement = commitStatement({ ...commit, channelId, commitHash, owners: commit.owners?.agentIds });
    return signatures.verifyHandshake(identity.signatureKey, statement, commit.signature);
  }

  async #save(anchor: Anchor): Promise<void> {
    this.#anchor = anchor;
    await this.#deps.store.batch([putAnchor(this.#membership.channelId, anchor)]);
  }
}
