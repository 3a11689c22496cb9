/**
 * Results of a benchmark, for the table of `deno task bench`: one line of JSON each, in the file
 * that the task names. Any runtime.
 */
import { appendFileSync } from "node:fs";
import process from "node:process";

/** Names the file; without it a benchmark only prints. */
export const resultsVariable = "STATIC_BENCH_RESULTS";

export interface Comparison {
  readonly bench: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: string;
  readonly theirs: number;
  /** Above 1, we are better. */
  readonly ratio: number;
  /** The ratio that was promised. */
  readonly target?: number;
}

export interface StoredComparison extends Comparison {
  readonly runtime: string;
}

/**
 * A comparison without its peer, because this machine lacks it. It stands in the table and is not
 * kept.
 */
export interface Unmatched extends Pick<Comparison, "bench" | "what" | "unit" | "ours" | "peer"> {
  /** The missing part. */
  readonly reason: string;
  readonly runtime: string;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

export function reportRatio(comparison: Comparison): void {
  if (Number.isFinite(comparison.ratio)) report(comparison);
}

export function reportUnmatched(figures: Omit<Unmatched, "runtime">): void {
  report(figures);
}

function report(figures: Comparison | Omit<Unmatched, "runtime">): void {
  const file = process.env[resultsVariable];
  if (file === undefined) return;
  const { deno, node } = process.versions;
  const stored = { ...figures, runtime: deno === undefined ? `Node ${node}` : `Deno ${deno}` };
  appendFileSync(file, `${JSON.stringify(stored)}\n`);
}
