/** How often members change their keys. Tests go through a day in seconds; a program cannot choose another pace. */

const minuteMs = 60_000;

/** Within which every member that is online changes its keys. */
export function periodMs(members: number): number {
  return Math.max(24 * 60 * minuteMs, members * 10.08 * minuteMs);
}

/** So long keys stay as they are, whatever happens: all members together make no more than one commit in ten minutes. */
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
