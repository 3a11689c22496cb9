/**
 * The processor time of a run, comparable between machines: a fixed piece of work is measured
 * first, and the run is told as a share of what it took at commit 2718463c, before it was made
 * shorter.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import process from "node:process";

/**
 * At 2718463c the run took 1,464 s of processor, on a machine where the work below takes 55 ms
 * beside it (and 30 ms alone).
 */
const baselineWorks = 1_464 / 0.055;
/** Parts of the baseline: what the run should take, and when it takes too much. */
export const shareWanted = 0.58;
export const shareAtMost = 0.65;

/** Rounds in which the engine gets to know the work; they are not counted. */
const warmUps = 5;

/**
 * The work is measured all through the run: cores that are shared, or slowed by heat, slow it as
 * they slow the tests.
 */
export class Calibration {
  readonly #seconds: number[] = [];

  constructor() {
    for (let round = 0; round < warmUps; round++) work();
  }

  measure(): void {
    this.#seconds.push(secondsOf(work));
  }

  /** The median: one round beside something else says nothing. */
  get workSeconds(): number {
    const sorted = this.#seconds.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  }
}

export function baselineShare(processorSeconds: number, workSeconds: number): number {
  return processorSeconds / (baselineWorks * workSeconds);
}

function secondsOf(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Hashing, objects and texts, as the tests have them. */
function work(): void {
  const bytes = new Uint8Array(1 << 16);
  for (let round = 0; round < 24; round++) bytes.set(sha256(bytes), round);
  const known = new Map<string, { readonly text: string; readonly index: number }>();
  for (let index = 0; index < 60_000; index++) {
    known.set(`key ${index % 5_000}`, { text: `text ${index}`, index });
  }
  const texts = JSON.stringify([...known.values()].toSorted((a, b) => b.index - a.index));
  if (JSON.parse(texts).length !== 5_000) throw new Error("The work was not done");
}
