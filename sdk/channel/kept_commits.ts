/**
 * The latest commits that this agent has followed or made, as their authors signed them. A relay that was restored from a backup
 * has a log that ends before them, and nobody could go on in it: any member puts them back. The relay takes only what fits to the
 * end of its log and was signed by a member, so that nothing else can be put there in this way.
 */
import { decodeClientEnvelope, encodeRequest } from "../../proto/mod.ts";
import { isCode, StaticError } from "../base/errors.ts";
import type { RecordChange } from "../store/mod.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Membership } from "./membership.ts";
import { commitsKind } from "./records.ts";
import type { KeptCommit } from "./signed_commit.ts";

/** More are lost only with a backup that is older than this many changes of the channel. */
const maxKept = 32;
/** A larger commit, of a group of thousands, is not kept; a log that was set back behind it cannot be mended so. */
const maxBytes = 128 * 1024;

export class KeptCommits {
  readonly #membership: Membership;
  readonly #deps: ChannelDeps;

  constructor(membership: Membership, deps: ChannelDeps) {
    this.#membership = membership;
    this.#deps = deps;
  }

  /** What to write in one with a commit. */
  keep(commit: KeptCommit): RecordChange[] {
    const kind = commitsKind(commit.channelId);
    const value = encodeRequest(1, "SendCommit", commit);
    const id = placeOf(commit.epoch);
    return [value.length > maxBytes ? { type: "delete", kind, id } : { type: "put", kind, id, value }];
  }

  /**
   * Puts back what the log has lost from this epoch on. Returns how many commits it holds again; fewer than were lost when one is
   * not kept, or the relay refuses it. Throws `StaticError` when the relay cannot be asked.
   */
  async putBack(epoch: number): Promise<number> {
    let mended = 0;
    for (let at = epoch; at < this.#membership.epoch; at++, mended++) {
      const commit = await this.#read(at);
      if (commit === undefined || !await this.#send(commit)) break;
    }
    return mended;
  }

  async #read(epoch: number): Promise<KeptCommit | undefined> {
    const record = await this.#deps.store.get(commitsKind(this.#membership.channelId), placeOf(epoch));
    if (record === undefined) return undefined;
    const envelope = decodeClientEnvelope(record);
    if (envelope.operation !== "SendCommit") throw new TypeError("A kept commit is another request");
    return envelope.body.epoch === epoch ? envelope.body : undefined;
  }

  /** Returns whether the log holds the commit now. */
  async #send(commit: KeptCommit): Promise<boolean> {
    try {
      await this.#deps.session.call("SendCommit", commit);
      return true;
    } catch (error) {
      if (!(error instanceof StaticError) || isCode(error, "transport_error", "connection_error")) throw error;
      // Another member was faster, or made another commit; what follows shows which.
      return isCode(error, "epoch_conflict");
    }
  }
}

/** Each takes the place of the one that is too old. */
function placeOf(epoch: number): string {
  return String(epoch % maxKept);
}
