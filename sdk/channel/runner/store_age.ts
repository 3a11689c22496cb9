/**
 * An agent whose store may be older than its actions: restored from a backup, or copied. Its keys
 * may be used already, so nothing is sent with them, and it joins anew. The relay's word, which
 * `judgeConnection` judges, is not a proof; an entry of the log with our signature is one.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { commitStatement, type ReplyBody } from "../../../proto/mod.ts";
import type { DurableGroup } from "../../mls/durable_group.ts";
import type { PreparedCommit } from "../../mls/group.ts";
import type { RecordChange } from "../../store/mod.ts";
import { type Anchor, putAnchor, withDiscarded } from "../connection/anchor.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";

export type ReadOwnReply = ReplyBody<"ReadOwn">;

/** As far as it is asked here. */
type MembershipState = Pick<Membership, "channelId" | "epoch"> & {
  readonly durable: Pick<DurableGroup, "isUnknownOwn">;
};

export interface StoreAgeParts {
  readonly anchor: Anchor;
  readonly membership: MembershipState;
}

export type StoreAgeDeps = Pick<ChannelDeps, "signatures" | "identity">;

export class StoreAge {
  readonly #deps: StoreAgeDeps;
  readonly #membership: MembershipState;
  #anchor: Anchor;
  /** Where our membership began, as the relay said last. */
  #claimed: number | undefined;

  constructor({ anchor, membership }: StoreAgeParts, deps: StoreAgeDeps) {
    this.#anchor = anchor;
    this.#membership = membership;
    this.#deps = deps;
  }

  /**
   * A commit of ours is given up, and nobody knows whether the relay takes it yet. Returns the
   * change to write in one with that. It is asked for in the turn of the write: the anchor may have
   * been written in between.
   */
  discarded(prepared: Pick<PreparedCommit, "epoch" | "hash">): () => RecordChange {
    this.#anchor = withDiscarded(this.#anchor, prepared);
    return () => putAnchor(this.#membership.channelId, this.#anchor);
  }

  /** A new membership, which is on disk already. */
  restart(anchor: Anchor): void {
    this.#anchor = anchor;
  }

  /**
   * A new generation has begun. Members that could follow the commit which stopped us may have
   * brought us in anew meanwhile, and that is undone: where our membership began is for the relay
   * to say again. To be written in one with the generation, and asked for in the turn of that
   * write.
   */
  begunAnew(): RecordChange {
    this.#anchor = { ...this.#anchor, joinedSequence: undefined };
    return putAnchor(this.#membership.channelId, this.#anchor);
  }

  /** Where the membership began whose leaf we have, or of the leaf that we were told to have. */
  joinedSequence({ isTold }: { readonly isTold: boolean }): number | undefined {
    return isTold ? this.#claimed : this.#anchor.joinedSequence;
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

  /**
   * Whether an entry is ours and was made by another process than those of this store. A message is
   * bound to keys of our epoch. Of a commit only its epoch tells: in ours there must be none of
   * ours whose fate we do not know, and in earlier memberships we have been in no such epoch.
   */
  async isUnknownOwn({ message, commit }: ReadOwnReply, isOpen: boolean): Promise<boolean> {
    const { channelId, durable, epoch } = this.#membership;
    if (message !== undefined) return await durable.isUnknownOwn(message.ciphertext);
    if (commit === undefined || commit.epoch < epoch || commit.epoch <= this.#anchor.formerEpoch) {
      return false;
    }
    const isKnown = isOpen || this.#anchor.discarded.some((known) => known.epoch === epoch);
    if (commit.epoch === epoch && isKnown) return false;
    const { signatures, identity } = this.#deps;
    const commitHash = sha256(commit.commit);
    const statement = commitStatement({
      ...commit,
      channelId,
      commitHash,
      owners: commit.owners?.agentIds,
    });
    return signatures.verifyHandshake(identity.signatureKey, statement, commit.signature);
  }
}
