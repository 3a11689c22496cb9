/**
 * How often members change their keys. Tests go through a day in seconds; a program cannot choose
 * another pace.
 */
import type { SeenLeaf } from "./key_age_records.ts";

const minuteMs = 60_000;

/** Within which every member that is online changes its keys. */
export function periodMs(members: number): number {
  return Math.max(24 * 60 * minuteMs, members * 10.08 * minuteMs);
}

/**
 * So long keys stay as they are, whatever happens: all members together make no more than one
 * commit in ten minutes.
 */
export function restMs(members: number): number {
  return Math.max(60 * minuteMs, members * 10 * minuteMs);
}

export interface HealingPace {
  readonly periodMs: (members: number) => number;
  readonly restMs: (members: number) => number;
  /** Between two healing commits of one agent, over all its channels. */
  readonly turnMs: number;
  /** After a commit that failed. */
  readonly retryMs: number;
}

/** `times` as fast as in earnest. */
export function createPace(times = 1): HealingPace {
  return {
    periodMs: (members) => periodMs(members) / times,
    restMs: (members) => restMs(members) / times,
    turnMs: 10_000 / times,
    retryMs: 10 * minuteMs / times,
  };
}

/** A process that found the channel with the leaf that it still has. */
export interface HealingStart {
  readonly atMs: number;
  /** From 0 to 1. */
  readonly draw: number;
}

/**
 * When a leaf is to be renewed. By the clock after nine tenths of the period or a little more: the
 * share is of the leaf itself, so it is the same after a restart, and another one for every leaf.
 * After a start sooner, but never before keys have had their rest.
 */
export function healingMs(
  { atMs, leaf }: SeenLeaf,
  members: number,
  start: HealingStart | undefined,
  pace: HealingPace = createPace(),
): number {
  const byClock = atMs +
    (0.90 + 0.08 * Number.parseInt(leaf.slice(0, 4), 16) / 0x10000) * pace.periodMs(members);
  if (start === undefined) return Math.round(byClock);
  const rest = pace.restMs(members);
  return Math.round(Math.min(byClock, Math.max(atMs + rest, start.atMs) + start.draw * rest / 60));
}
