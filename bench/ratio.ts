/** What a benchmark found, for the table of `deno task bench`: one line of JSON each, in the file that the task names. Any runtime. */
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

export function reportRatio(comparison: Comparison): void {
  const file = process.env[resultsVariable];
  if (file === undefined || !Number.isFinite(comparison.ratio)) return;
  const { deno, node } = process.versions;
  const stored: StoredComparison = { ...comparison, runtime: deno === undefined ? `Node ${node}` : `Deno ${deno}` };
  appendFileSync(file, `${JSON.stringify(stored)}\n`);
}
