/**
 * `deno task bench` runs every benchmark, each beside its peers in the same run, prints one table
 * of ratios and writes it to `bench/results/<date>.json` with the machine and the time that its
 * disk takes to confirm a write. With names as arguments (`deno task bench aes mls`) it runs only
 * those and renews their rows in today's file, if there is one.
 */
import { resultsVariable, type StoredComparison, type Unmatched } from "./ratio.ts";
import { refuseUnknownVariables } from "../tools/refuse_variables.ts";
import { describe, type Machine, type Results, tableOf } from "./table.ts";

const benchmarks: Readonly<Record<string, readonly string[]>> = {
  aes: [],
  mls: ["2", "10", "100"],
  confirmations: ["1000"],
  proto: [],
  store: [],
  http2: [],
  api: [],
  engine: [],
  relay: [],
  e2e: ["10", "100"],
  host: [],
  python: [],
};

async function describeMachine(folder: string): Promise<Machine> {
  return {
    date: new Date().toISOString(),
    arch: Deno.build.arch,
    os: Deno.build.os,
    cores: navigator.hardwareConcurrency,
    deno: Deno.version.deno,
    load: Deno.loadavg()[0] ?? NaN,
    syncMs: await measureSync(`${folder}/sync`),
  };
}

/** Median of writing and confirming 4 KiB. */
async function measureSync(path: string): Promise<number> {
  using file = await Deno.open(path, { create: true, write: true });
  const times: number[] = [];
  for (let round = 0; round < 50; round++) {
    await file.write(new Uint8Array(4_096));
    const start = performance.now();
    await file.syncData();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[25] ?? NaN;
}

async function run(name: string, resultsFile: string): Promise<boolean> {
  console.log(`\n=== ${name}`);
  const script = new URL(`${name}.ts`, import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", script, ...benchmarks[name] ?? []],
    env: { [resultsVariable]: resultsFile },
    stdin: "null",
  }).spawn();
  return (await child.status).success;
}

async function save(found: Results): Promise<void> {
  const file = new URL(`results/${found.machine.date.slice(0, 10)}.json`, import.meta.url);
  const today: Results | undefined = await Deno.readTextFile(file).then(
    JSON.parse,
    () => undefined,
  );
  const partial = Deno.args.length > 0;
  if (partial && today === undefined) return;
  const renewed = Object.keys(benchmarks).flatMap((name) => {
    const rows = (from: Results | undefined): readonly StoredComparison[] =>
      from?.results.filter(({ bench }) => bench === name) ?? [];
    return partial && !Deno.args.includes(name) ? rows(today) : rows(found);
  });
  const results: Results = {
    machine: partial && today ? today.machine : found.machine,
    results: renewed,
  };
  await Deno.mkdir(new URL(".", file), { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
}

refuseUnknownVariables();
const unknown = Deno.args.filter((name) => !(name in benchmarks));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(", ")}; there are ${Object.keys(benchmarks).join(", ")}`,
  );
  Deno.exit(1);
}
const folder = await Deno.makeTempDir({ prefix: "static-bench-" });
const resultsFile = `${folder}/results`;
await Deno.writeTextFile(resultsFile, "");
const machine = await describeMachine(folder);
const failed: string[] = [];
for (const name of Deno.args.length > 0 ? Deno.args : Object.keys(benchmarks)) {
  if (!await run(name, resultsFile)) failed.push(name);
}
const lines = (await Deno.readTextFile(resultsFile)).split("\n").filter((line) => line !== "");
const reported: (StoredComparison | Unmatched)[] = lines.map((line) => JSON.parse(line));
await Deno.remove(folder, { recursive: true });
console.log(`\n${describe(machine)}\n${tableOf(reported)}`);
await save({ machine, results: reported.flatMap((result) => "reason" in result ? [] : [result]) });
if (failed.length > 0) {
  console.error(`These benchmarks failed: ${failed.join(", ")}`);
  Deno.exit(1);
}
