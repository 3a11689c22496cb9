/** The table of a whole run of the benchmarks, for the terminal and for bench/README.md. */
import type { StoredComparison, Unmatched } from "./ratio.ts";

export interface Machine {
  readonly date: string;
  readonly arch: string;
  readonly os: string;
  readonly cores: number;
  readonly deno: string;
  /**
   * The load of the last minute at the start: above the number of cores, other work disturbed the
   * figures.
   */
  readonly load: number;
  readonly syncMs: number;
}

export interface Results {
  readonly machine: Machine;
  readonly results: readonly StoredComparison[];
}

export function describe({ date, arch, os, cores, deno, load, syncMs }: Machine): string {
  return `${date.slice(0, 10)}, ${arch} ${os}, ${cores} cores, Deno ${deno}, load ${
    load.toFixed(1)
  } at start, ` +
    `fdatasync ${syncMs.toFixed(2)} ms`;
}

/** In Markdown. A ratio above 1 means that we are better. */
export function tableOf(results: readonly (StoredComparison | Unmatched)[]): string {
  const rows = results.map((result) => {
    const { bench, what, unit, ours, peer, runtime } = result;
    const name = `${bench}: ${what}${runtime.startsWith("Node") ? " (Node)" : ""}`;
    if ("reason" in result) return [name, `${format(ours)} ${unit}`, peer, result.reason, "", ""];
    const { theirs, ratio, target } = result;
    const promised = target === undefined
      ? ""
      : `${Number(target.toFixed(2))}${ratio < target ? ", short" : ""}`;
    return [
      name,
      `${format(ours)} ${unit}`,
      peer,
      `${format(theirs)} ${unit}`,
      ratio.toFixed(2),
      promised,
    ];
  });
  const lines = [
    ["benchmark", "ours", "peer", "theirs", "ratio", "promised"],
    Array(6).fill("---"),
    ...rows,
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** The newest results that are checked in. */
export async function newestResults(): Promise<Results> {
  const folder = new URL("results/", import.meta.url);
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".json")) names.push(name);
  const newest = names.sort().at(-1);
  if (newest === undefined) {
    throw new Error("There are no results of benchmarks; run: deno task bench");
  }
  return JSON.parse(await Deno.readTextFile(new URL(newest, folder)));
}
