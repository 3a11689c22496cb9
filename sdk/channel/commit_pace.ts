/**
 * How often this agent may make a commit in one epoch. Each takes the next key of a chain, also one that the relay refuses, and
 * nobody can follow a commit whose key is too far ahead of the last one that was seen: its honest author would be blamed. So a
 * relay that refuses commit after commit must not be able to use them up.
 */
import { createError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { maxSkippedGenerations, type SecretTree } from "../mls/secret_tree.ts";

/** Commits of an epoch that may follow each other at once. */
const free = 500;
/** Between two commits behind that: twice as long after each hundred. All of them take three weeks. */
const firstRestMs = 10 * 60_000;
const doubledEvery = 100;

/** As far as it is looked at here. */
export interface PacedEpoch {
  readonly ownLeaf: number;
  readonly tree: { readonly memberCount: number };
  readonly secretTree: Pick<SecretTree, "generation">;
}

export class CommitPace {
  readonly #runtime: Pick<Runtime, "nowMs">;
  #last: { readonly epoch: PacedEpoch; readonly atMs: number } | undefined;

  constructor(runtime: Pick<Runtime, "nowMs">) {
    this.#runtime = runtime;
  }

  /** A commit is to be made in this epoch. Throws `StaticError` when it has to wait. */
  take(epoch: PacedEpoch): void {
    if (epoch.tree.memberCount === 1) return; // nobody has to follow
    const used = epoch.secretTree.generation(epoch.ownLeaf, "handshake");
    const what = `Cannot change the channel: none of ${used} commits of this agent in this epoch was taken`;
    if (used > maxSkippedGenerations) {
      throw createError(
        "overloaded",
        `${what}, and members could not follow one more; ask another member to change it`,
      );
    }
    const nowMs = this.#runtime.nowMs();
    const last = this.#last?.epoch === epoch ? this.#last.atMs : undefined;
    const waitMs = last === undefined ? 0 : restMs(used) - Math.abs(nowMs - last);
    if (waitMs > 0) {
      const minutes = Math.ceil(waitMs / 60_000);
      throw createError("overloaded", `${what}; try again in ${minutes} min`, { retryAfterMs: waitMs });
    }
    this.#last = { epoch, atMs: nowMs };
  }
}

/** Before another commit, when so many were made in the epoch. */
export function restMs(used: number): number {
  return used < free ? 0 : firstRestMs * 2 ** Math.floor((used - free) / doubledEvery);
}
