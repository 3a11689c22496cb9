/**
 * How often each party has left something unfinished lately. Half of it is forgotten in ten
 * minutes.
 */
import { RecentMap } from "../../proto/mod.ts";

const halfLifeMs = 10 * 60 * 1_000;
const stepMs = 10_000;
/** More make no difference: an address gets another user one day. */
const maxFailures = 16;
/**
 * Less than this is nothing: ten minutes after one, and less than an hour after the most that there
 * can be.
 */
const negligible = 0.5;
const maxParties = 100_000;

interface FailureRecord {
  readonly count: number;
  readonly atMs: number;
}

export class Failures {
  readonly #records = new RecentMap<string, FailureRecord>();

  of(party: string, nowMs: number): number {
    const record = this.#records.get(party);
    if (record === undefined) return 0;
    // In steps: the order of many would change with every moment otherwise.
    const ageMs = Math.max(0, Math.floor((nowMs - record.atMs) / stepMs) * stepMs);
    const left = record.count * 0.5 ** (ageMs / halfLifeMs);
    return left < negligible ? 0 : left;
  }

  add(party: string, nowMs: number): void {
    this.#forget(nowMs);
    this.#records.set(party, {
      count: Math.min(maxFailures, this.of(party, nowMs) + 1),
      atMs: nowMs,
    });
  }

  /** The oldest two, when they are negligible; the oldest in any case when there are too many. */
  #forget(nowMs: number): void {
    let looks = 2;
    for (const party of this.#records.keys()) {
      const isFull = this.#records.size >= maxParties;
      if (!isFull && (looks-- === 0 || this.of(party, nowMs) > 0)) return;
      this.#records.delete(party);
    }
  }
}
