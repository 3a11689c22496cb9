/**
 * Fresh keys by the clock. A thief that copied an agent's directory reads along until that agent makes a commit with a path, so
 * each member makes one in every period, and one soon after a restart. Members agree on nothing for that: each goes by the age of
 * its own leaf, and draws that spread them keep the channel's rate below one commit in ten minutes.
 */
import { createError, isCode } from "../base/errors.ts";
import type { ChannelDeps } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { SeenLeaf } from "./key_age_records.ts";
import { createPace, type HealingPace } from "./healing_pace.ts";
import type { KeyAges } from "./key_ages.ts";
import type { Membership } from "./membership.ts";
import type { CommitRunner } from "./runner/commit_runner.ts";

const hourMs = 60 * 60_000;
/** However far away the moment is, it is worked out anew this often. */
const longestWaitMs = 6 * hourMs;

/** A process that found the channel with the leaf that it still has. */
export interface HealingStart {
  readonly atMs: number;
  /** From 0 to 1. */
  readonly draw: number;
}

/**
 * When a leaf is to be renewed. By the clock after nine tenths of the period or a little more: the share is of the leaf itself, so
 * it is the same after a restart, and another one for every leaf. After a start sooner, but never before keys have had their rest.
 */
export function healingMs(
  { atMs, leaf }: SeenLeaf,
  members: number,
  start: HealingStart | undefined,
  pace: HealingPace = createPace(),
): number {
  const byClock = atMs + (0.90 + 0.08 * Number.parseInt(leaf.slice(0, 4), 16) / 0x10000) * pace.periodMs(members);
  if (start === undefined) return Math.round(byClock);
  const rest = pace.restMs(members);
  return Math.round(Math.min(byClock, Math.max(atMs + rest, start.atMs) + start.draw * rest / 60));
}

export interface HealingParts {
  readonly membership: Membership;
  readonly commits: CommitRunner;
  readonly health: HealthLog;
  readonly ages: KeyAges;
}

export class Healing {
  readonly #deps: Pick<ChannelDeps, "runtime" | "healing" | "agentId" | "pace">;
  readonly #parts: HealingParts;
  readonly #startedMs: number;
  /** The leaf with which this process found the channel. */
  #startLeaf: string | undefined;
  readonly #draw: number;
  #isActive = false;
  #cancel: (() => void) | undefined;
  #healing: Promise<void> | undefined;

  constructor(parts: HealingParts, deps: Pick<ChannelDeps, "runtime" | "healing" | "agentId" | "pace">) {
    this.#parts = parts;
    this.#deps = deps;
    this.#startedMs = deps.runtime.nowMs();
    const [high = 0, low = 0] = deps.runtime.randomBytes(2);
    this.#draw = (high * 256 + low) / 0x10000;
    parts.membership.onMoved(({ committer }) => committer === deps.agentId && this.#ownMoved());
  }

  /** The keys of a commit from before lay on disk: as if this process had found them. */
  #ownMoved(): void {
    if (this.#parts.commits.isOfBefore) this.#startLeaf = undefined;
    if (this.#isActive) this.look();
  }

  /** From now on, until `stop`. */
  look(): void {
    this.#isActive = true;
    this.#cancel?.();
    const { runtime } = this.#deps;
    const waitMs = Math.min(Math.max(0, this.dueMs - runtime.nowMs()), longestWaitMs);
    this.#cancel = runtime.after(waitMs, () => this.#isActive && this.#fall());
  }

  stop(): void {
    this.#isActive = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** For a process that ends: what has been due for long is done before, because there may be no other moment. */
  async finish(): Promise<void> {
    const { runtime, healing } = this.#deps;
    const isOverdue = this.#isActive && this.#parts.ages.isOld && this.#parts.ages.own.leaf === this.#startLeaf;
    if (isOverdue && healing.take(runtime.nowMs()) === 0) this.#fall(0);
    await this.#healing;
  }

  /** When our keys are to be changed, by the local clock. */
  get dueMs(): number {
    const { membership, ages } = this.#parts;
    const { atMs, leaf } = ages.own;
    this.#startLeaf ??= leaf;
    const start = leaf === this.#startLeaf ? { atMs: this.#startedMs, draw: this.#draw } : undefined;
    // Keys from the future: the clock was set back, by more than clocks are corrected, and would keep them for ever.
    return atMs > this.#deps.runtime.nowMs() + hourMs
      ? 0
      : healingMs({ atMs, leaf }, membership.group.current.tree.memberCount, start, this.#deps.pace);
  }

  #fall(waitMs?: number): void {
    const { runtime, healing } = this.#deps;
    if (this.#healing !== undefined) return;
    if (waitMs === undefined) {
      if (this.dueMs > runtime.nowMs()) return this.look();
      const turnMs = healing.take(runtime.nowMs());
      if (turnMs > 0) {
        this.#cancel = runtime.after(turnMs, () => this.#isActive && this.#fall(turnMs));
        return;
      }
    }
    this.#healing = this.#heal().finally(() => this.#healing = undefined);
  }

  async #heal(): Promise<void> {
    const { commits, health, ages } = this.#parts;
    const { leaf } = ages.own;
    try {
      // Any commit of ours with a path does it.
      await commits.commit({ is: "heal", leaf });
      if (this.#isActive) this.look();
    } catch (error) {
      if (!this.#isActive) return;
      if (!isCode(error, "transport_error", "connection_error")) {
        const why = toStaticError(error, "Cannot commit").message;
        health.report("duty_failed", `This agent's keys were not changed, and it tries again: ${why}`);
      }
      this.#cancel = this.#deps.runtime.after(this.#deps.pace.retryMs, () => this.#isActive && this.#fall());
    }
  }
}

/** Fresh keys at once. Throws `StaticError`. */
export async function rotate(commits: Pick<CommitRunner, "commit">): Promise<void> {
  const committed = await commits.commit({ is: "rotate" });
  if (committed === undefined) throw createError("internal", "Cannot change the keys: no commit was made");
}
