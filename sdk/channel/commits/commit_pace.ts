/**
 * How often this agent may make a commit in one epoch. Each takes the next key of a chain, also one
 * that the relay refuses, and nobody can follow a commit whose key is too far ahead of the last one
 * that was seen: its honest author would be blamed. So a relay that refuses commit after commit
 * must not be able to use them up.
 */

/** Commits of an epoch that may follow each other at once. */
const free = 500;
/**
 * Between two commits behind that: twice as long after each hundred. All of them take three weeks.
 */
const firstRestMs = 10 * 60_000;
const doubledEvery = 100;

/** Before another commit, when so many were made in the epoch. */
export function restMs(used: number): number {
  return used < free ? 0 : firstRestMs * 2 ** Math.floor((used - free) / doubledEvery);
}
