/**
 * Our own commits by their hashes: their bytes and requests until they have ended, and their
 * records on disk. The group moves with the write of one that is entered; a write whose turn comes
 * when the group has moved otherwise changes nothing.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { generationOf, type RequestBody } from "../../../proto/mod.ts";
import type { DurableGroup } from "../../mls/durable_group.ts";
import type { PreparedCommit } from "../../mls/group.ts";
import type { RecordChange } from "../../store/mod.ts";
import { requestOf } from "../commits/commit_request.ts";
import type { CommitCandidate, CommitWrite } from "../commits/own_commit_state.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";
import type { PlannedChange } from "../commits/plan.ts";
import { accept } from "./group_moves.ts";

export interface MadeCommit {
  readonly prepared: PreparedCommit;
  readonly request: RequestBody<"SendCommit">;
}

/**
 * The end of a write. `moved`: another commit was followed first; `over`: our group is another one.
 */
export type WriteOutcome = "done" | "moved" | "over";

export interface OwnCommitParts {
  readonly membership: Membership;
  /**
   * Only the hash of this one is kept. Returns the change to write with that, asked for in the
   * write's turn.
   */
  readonly onDiscarded: (prepared: PreparedCommit) => () => RecordChange;
}

export class KeptOwnCommits {
  readonly #parts: OwnCommitParts;
  readonly #deps: Pick<ChannelDeps, "signatures" | "identity">;
  readonly #made = new Map<string, MadeCommit>();

  constructor(parts: OwnCommitParts, deps: Pick<ChannelDeps, "signatures" | "identity">) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Called in the epoch that the commit ends. */
  make(prepared: PreparedCommit, answers: PlannedChange["answers"] = []): MadeCommit {
    return { prepared, request: requestOf(prepared, answers, this.#parts.membership, this.#deps) };
  }

  keep(made: MadeCommit): void {
    this.#made.set(bytesToHex(made.prepared.hash), made);
  }

  of({ hash }: Pick<CommitCandidate, "hash">): MadeCommit {
    const made = this.#made.get(bytesToHex(hash));
    if (made === undefined) throw new TypeError("A commit is asked for that has ended");
    return made;
  }

  /** All but these have ended. */
  forgetOthers(held: readonly CommitCandidate[]): void {
    if (this.#made.size === 0) return;
    const hashes = new Set(held.map(({ hash }) => bytesToHex(hash)));
    for (const hash of this.#made.keys()) if (!hashes.has(hash)) this.#made.delete(hash);
  }

  async write(write: CommitWrite): Promise<WriteOutcome> {
    const { durable } = this.#parts.membership;
    try {
      if (write.type === "entered") return await this.#enter(write);
      await this.#writeOf(durable, write);
      return "done";
    } catch (fault) {
      // Another membership has taken this one's place: nothing of it is written any more.
      if (durable.isRetired) return "over";
      throw fault;
    }
  }

  async #enter(
    { candidate, sequence }: Extract<CommitWrite, { type: "entered" }>,
  ): Promise<WriteOutcome> {
    const { membership } = this.#parts;
    const { prepared, request } = this.of(candidate);
    const signed = { ...request, welcomes: [], answers: [] };
    if (await accept(prepared, { sequence, signed }, membership)) return "done";
    return generationOf(membership.epoch) === generationOf(candidate.epoch) ? "moved" : "over";
  }

  async #writeOf(
    durable: DurableGroup,
    write: Exclude<CommitWrite, { type: "entered" }>,
  ): Promise<void> {
    switch (write.type) {
      case "prepared":
        return void await durable.keep(this.of(write.candidate).prepared);
      case "lost":
        return await durable.discardAll(this.#discarded(write.ours));
      case "refused":
        return await durable.discard(this.#discarded([write.candidate]));
      case "given": {
        const dropped = write.dropped && this.of(write.dropped).prepared;
        const alongside = dropped && this.#parts.onDiscarded(dropped);
        return await durable.give(this.of(write.candidate).prepared, dropped, alongside);
      }
    }
  }

  #discarded(candidates: readonly CommitCandidate[]): () => RecordChange[] {
    const changes = candidates.map((each) => this.#parts.onDiscarded(this.of(each).prepared));
    // The last one has all of them.
    return () => changes.slice(-1).map((change) => change());
  }
}
