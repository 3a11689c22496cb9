/**
 * The latest commits that this agent has followed or made, as their authors signed them. A relay
 * that was restored from a backup has a log that ends before them, and nobody could go on in it:
 * any member puts them back. The relay takes only what fits to the end of its log and was signed by
 * a member, so that nothing else can be put there in this way.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeClientEnvelope, encodeRequest, equalBytes } from "../../../proto/mod.ts";
import { isCode, StaticError, TransportError } from "../../base/errors.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { RestoredCommits } from "../connection/link_state.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";
import { commitsKind } from "../channel_kinds.ts";
import type { KeptCommit } from "../group/signed_commit.ts";
import { findCommit } from "./find_commit.ts";

/** More are lost only with a backup that is older than this many changes of the channel. */
const maxKept = 32;
/**
 * A larger commit, of a group of thousands, is not kept; a log that was set back behind it cannot
 * be mended so.
 */
const maxBytes = 128 * 1024;

export class KeptCommits {
  readonly #membership: Membership;
  readonly #deps: ChannelDeps;

  constructor(membership: Membership, deps: ChannelDeps) {
    this.#membership = membership;
    this.#deps = deps;
  }

  /** The changes to write together with a commit. */
  keep(commit: KeptCommit): RecordChange[] {
    const kind = commitsKind(commit.channelId);
    const value = encodeRequest(1, "SendCommit", commit);
    const id = placeOf(commit.epoch);
    return [
      value.length > maxBytes ? { type: "delete", kind, id } : { type: "put", kind, id, value },
    ];
  }

  /** SHA-256 of the commit that ended an epoch, as long as it is kept. */
  async hashOf(epoch: number): Promise<Uint8Array | undefined> {
    const commit = await this.#read(epoch);
    return commit && sha256(commit.commit);
  }

  /**
   * Puts back what the log has lost from this epoch on. Throws `StaticError` when the relay cannot
   * be asked, or is busy.
   */
  async putBack(epoch: number): Promise<RestoredCommits> {
    let putBack: RestoredCommits = { commits: 0, own: 0, sequence: 0 };
    for (let at = epoch; at < this.#membership.epoch; at++) {
      const commit = await this.#read(at);
      const sent = commit && await this.#send(commit);
      if (sent === undefined) break;
      const { commits, own } = putBack;
      putBack = { commits: commits + 1, own: own + sent.own, sequence: sent.sequence };
    }
    return putBack;
  }

  async #read(epoch: number): Promise<KeptCommit | undefined> {
    const record = await this.#deps.store.get(
      commitsKind(this.#membership.channelId),
      placeOf(epoch),
    );
    if (record === undefined) return undefined;
    const envelope = decodeClientEnvelope(record);
    if (envelope.operation !== "SendCommit") {
      throw new TypeError("A kept commit is another request");
    }
    return envelope.body.epoch === epoch ? envelope.body : undefined;
  }

  /** Returns where the log holds the commit now; undefined when it does not. */
  async #send(commit: KeptCommit): Promise<Pick<RestoredCommits, "own" | "sequence"> | undefined> {
    const { session, identity: { signatureKey, identity } } = this.#deps;
    // One of our own by which somebody came back: without its author the relay takes it for a new
    // one.
    const author = commit.removed.length === 0 ? {} : { author: { signatureKey, identity } };
    try {
      const { sequence, duplicate } = await session.call("SendCommit", { ...author, ...commit });
      return { sequence, own: duplicate ? 0 : 1 };
    } catch (error) {
      // One that a busy relay did not take may be taken a little later.
      if (!(error instanceof StaticError) || error instanceof TransportError) throw error;
      return isCode(error, "epoch_conflict") ? await this.#find(commit) : undefined;
    }
  }

  /** Another member was faster, with this commit or with another one. */
  async #find(
    { epoch, commit }: KeptCommit,
  ): Promise<Pick<RestoredCommits, "own" | "sequence"> | undefined> {
    const found = (await findCommit(this.#membership, epoch, this.#deps)).commit;
    if (found === undefined || !equalBytes(found.commitHash, sha256(commit))) return undefined;
    return { sequence: found.sequence, own: 0 };
  }
}

/** Each takes the place of the one that is too old. */
function placeOf(epoch: number): string {
  return String(epoch % maxKept);
}
