/**
 * Whether this agent's store is older than what the agent has done: restored from a backup, or copied. Its keys may be used
 * then, so nothing is sent with them. The relay says after each connection what it knows of us; what is durable before it
 * leaves is never behind that. What the relay says is no proof: an entry of the log with our signature is one.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { commitStatement, equalBytes, type ReplyBody } from "../../proto/mod.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import type { PreparedCommit } from "../mls/group.ts";
import type { RecordChange } from "../store/mod.ts";
import { type Anchor, isDiscarded, newAnchor, putAnchor, withDiscarded } from "./anchor.ts";
import type { ChannelDeps } from "./deps.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";

/** What the relay says of this agent. */
export type Claims = Pick<ReplyBody<"Subscribe">, "joinedSequence" | "sent" | "acknowledged">;
type OwnEntry = ReplyBody<"ReadOwn">;

/** What this agent knows of itself. */
export interface Memory {
  /** Of the last message that it may have sent. */
  readonly counter: number;
  /** The last entry that it may have acknowledged. */
  readonly position: number;
  /** Its commit under way. */
  readonly candidate: PreparedCommit | undefined;
}

/** Why the agent has to join anew. */
export interface Doubt {
  readonly reason: string;
  /** To be awaited before it asks: looks for a proof and reports. Not when the store is as it should be. */
  readonly settle?: (signal: AbortSignal) => Promise<void>;
  /** Members are asked one by one: an answer to all let this agent in with wrong keys. */
  readonly named?: boolean;
  /** Of the channel, that it wants into; its own when it is not given. */
  readonly generation?: number;
}

const hourMs = 60 * 60 * 1000;
/** Within an hour, until the relay is to blame. */
const maxUnproven = 3;
const retryMs = 1000;

export interface StoreAgeParts {
  readonly anchor: Anchor;
  readonly membership: Membership;
  readonly health: HealthLog;
}

export class StoreAge {
  readonly #deps: ChannelDeps;
  readonly #membership: Membership;
  readonly #health: HealthLog;
  #anchor: Anchor;
  /** The log holds something of ours that this store does not know. */
  #isProven = false;

  constructor({ anchor, membership, health }: StoreAgeParts, deps: ChannelDeps) {
    this.#anchor = anchor;
    this.#membership = membership;
    this.#health = health;
    this.#deps = deps;
  }

  /** A commit of ours is given up, and nobody knows whether the relay takes it yet. To be written in one with that. */
  discarded(prepared: PreparedCommit): RecordChange {
    this.#anchor = withDiscarded(this.#anchor, prepared);
    return putAnchor(this.#membership.channelId, this.#anchor);
  }

  /** A new membership, which is on disk already. */
  restart(joinedSequence: number): void {
    this.#anchor = newAnchor(joinedSequence, this.#anchor.unprovenMs);
    this.#isProven = false;
  }

  /** Undefined when the store is as new as what the agent did. */
  async compare(claims: Claims, memory: Memory): Promise<Doubt | undefined> {
    const { joinedSequence, sent, acknowledged } = claims;
    const { joinedSequence: known } = this.#anchor;
    // Whatever the relay says now.
    if (this.#isProven) return { reason: "its data directory is older than what it did" };
    if (known !== undefined && known !== joinedSequence) {
      // A membership in which this agent did nothing yet began while it was away.
      const isNew = sent === undefined && acknowledged < joinedSequence;
      return isNew ? { reason: "it was removed and added again" } : this.#behind(claims, "it has joined anew since");
    }
    if (sent?.commitHash !== undefined && sent.epoch >= this.#membership.epoch) {
      if (isDiscarded(this.#anchor, sent.commitHash)) {
        return { reason: "a commit of ours was taken that this agent had given up" };
      }
    }
    const what = this.#unknown(claims, memory);
    if (what !== undefined) return this.#behind(claims, what);
    if (known === undefined) await this.#save({ ...this.#anchor, joinedSequence });
    return undefined;
  }

  /** What the agent did, as the relay says, and does not know. */
  #unknown({ joinedSequence, sent, acknowledged }: Claims, memory: Memory): string | undefined {
    const { epoch } = this.#membership;
    // That it has taken its Welcome is known by being in the group.
    if (acknowledged > Math.max(memory.position, joinedSequence)) return `it has read up to entry ${acknowledged}`;
    if (sent === undefined) return undefined;
    if (sent.counter > memory.counter) return `it has sent ${sent.counter} messages`;
    if (sent.epoch > epoch) return `it has sent something in epoch ${sent.epoch}`;
    const isOther = sent.commitHash !== undefined && sent.epoch === epoch && !isCandidate(memory, sent.commitHash);
    return isOther ? `it has made the commit that ended epoch ${epoch}` : undefined;
  }

  #behind({ sent }: Claims, what: string): Doubt {
    const reason = `its data directory is older than what it did: the relay says that ${what}`;
    return { reason, settle: (signal) => this.#settle(reason, sent?.sequence, signal) };
  }

  async #settle(reason: string, sequence: number | undefined, signal: AbortSignal): Promise<void> {
    const entry = sequence === undefined ? {} : await this.#readOwn(sequence, signal);
    if (await this.#isUnknownOwn(entry)) {
      this.#isProven = true;
      const text =
        "This agent's data directory is older than what the agent has sent: it was restored from a backup, or " +
        "copied. Nothing is sent with its old keys; the agent joins the channel anew. Use a directory in one place only";
      return this.#health.report("store_rolled_back", text);
    }
    await this.#unproven(reason, signal);
  }

  async #unproven(reason: string, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    const text =
      `This agent joins the channel anew, because ${reason}. The log holds no proof: either the directory was ` +
      "restored from a backup, or copied, or the relay is wrong. Nothing is sent with keys that may be old";
    this.#health.report("store_unproven", text);
    const nowMs = runtime.nowMs();
    const recent = this.#anchor.unprovenMs.filter((timeMs) => timeMs <= nowMs && timeMs > nowMs - hourMs);
    if (recent.length >= maxUnproven) {
      const lie = `The relay has said ${maxUnproven} times within an hour, without a proof, that this agent's data ` +
        "directory is too old. The agent waits an hour before it joins the channel anew; ask the relay's operator";
      this.#health.report("relay_lied", lie);
      await pause(runtime, hourMs, signal);
    }
    const unprovenMs = [...recent, runtime.nowMs()].slice(-maxUnproven);
    if (!signal.aborted) await this.#save({ ...this.#anchor, unprovenMs });
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

  async #isUnknownOwn({ message, commit }: OwnEntry): Promise<boolean> {
    const { channelId, durable, epoch } = this.#membership;
    if (message !== undefined) return await durable.isUnknownOwn(message.ciphertext);
    if (commit === undefined || commit.epoch < epoch) return false;
    const { signatures, identity } = this.#deps;
    const commitHash = sha256(commit.commit);
    const statement = commitStatement({ ...commit, channelId, commitHash, owners: commit.owners?.agentIds });
    return !isDiscarded(this.#anchor, commitHash) &&
      signatures.verifyHandshake(identity.signatureKey, statement, commit.signature);
  }

  async #save(anchor: Anchor): Promise<void> {
    this.#anchor = anchor;
    await this.#deps.store.batch([putAnchor(this.#membership.channelId, anchor)]);
  }
}

function isCandidate({ candidate }: Memory, commitHash: Uint8Array): boolean {
  return candidate !== undefined && equalBytes(candidate.hash, commitHash);
}
