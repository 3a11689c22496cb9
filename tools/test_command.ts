/**
 * The README's test command: every gate and every test of the project, time per suite, the slowest tests, and one closing
 * line `N passed, N failed, N skipped`. Arguments pick suites by name: `deno task test proto tidy`.
 *
 * It exits with 0 when everything passed, 1 when something failed, 2 when a suite that was named does not exist, and 3 when
 * nothing failed but something could not be judged: a suite that this machine did not let run, or a test that wrote a line to the
 * file STATIC_TEST_UNJUDGED. A suite that failed is never taken out of the results.
 */
import { exitCodeOf, exitCodes } from "./exit_code.ts";
import { slowestOf, type SuiteResult } from "./junit.ts";
import { childProcessorTime } from "./processor_time.ts";
import { watchStolenTime } from "./stolen_time.ts";
import { type Suite, suites } from "./suites.ts";

const wanted = Deno.args;
const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) {
  console.error(`No suite named ${unknown.join(", ")}. Suites: ${suites.map((suite) => suite.name).join(", ")}`);
  Deno.exit(exitCodes.noSuchSuite);
}

interface Finished {
  readonly suite: Suite;
  readonly seconds: number;
  /** Of all its processes: what the run costs when the cores are shared. */
  readonly processorSeconds: number | undefined;
  readonly result: SuiteResult;
  readonly output: string;
}

/** Tests wait more than they compute: four lanes keep two cores busy, and none of them waits for long. */
const lanesAtMost = 4;
/** The host of this virtual machine takes more of its time than this, as a share: then three lanes are as much as it bears. */
const stolenAtMost = 0.05;
const lanesWhenStolen = 3;
/** Above this share, suites with processes of their own wait for better times. */
const waitsAbove = 0.5;
/** Minutes of the whole run after which nothing waits any more. */
const waitsUntil = 50;
const starvedPauseMs = 15_000;
const started = performance.now();
const finished: Finished[] = [];
const processorTime = childProcessorTime();
const stolenShare = watchStolenTime();
/** An empty database cluster that tests copy; see `tests/support/postgres.ts`. */
const clusters = await Deno.makeTempDir({ prefix: "clusters-" });
Deno.env.set("STATIC_TEST_CLUSTERS", clusters);
/** Tests that ran and could not judge say so here: what they print is not shown. */
const unjudgedList = await Deno.makeTempFile({ prefix: "unjudged-" });
Deno.env.set("STATIC_TEST_UNJUDGED", unjudgedList);
/** Suites that a starved machine did not let run. */
const notRun: string[] = [];
const chosen = suites.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
await runBeside(chosen.filter(({ alone }) => !alone));
for (const suite of chosen.filter(({ alone }) => alone)) {
  if (!await isFit(suite)) continue;
  write(`\n--- ${suite.name}\n`);
  await run(suite, write);
}

/** Starts each suite as soon as its lanes are free, in this order as far as they fit. Each is shown as a whole when it is done. */
async function runBeside(waiting: Suite[]): Promise<void> {
  const single = chosen.length === 1;
  const running = new Map<Suite, Promise<void>>();
  const lanesTaken = (): number => [...running.keys()].reduce((sum, { lanes }) => sum + lanes, 0);
  let stolenLately = watchStolenTime();
  const begin = async (suite: Suite): Promise<void> => {
    const output = await isFit(suite) ? (await run(suite, single ? write : () => {})).output : "not run\n";
    running.delete(suite);
    if (!single) write(`\n--- ${suite.name}\n${output}`);
  };
  while (waiting.length > 0 || running.size > 0) {
    const most = stolenLately() > stolenAtMost ? lanesWhenStolen : lanesAtMost;
    const next = waiting.find(({ lanes }) => running.size === 0 || lanesTaken() + lanes <= most);
    if (next === undefined) {
      stolenLately = watchStolenTime();
      await Promise.race(running.values());
      continue;
    }
    waiting.splice(waiting.indexOf(next), 1);
    running.set(next, begin(next));
  }
}

/** More than these are no accident of a busy machine; one whose time is stolen has more accidents. */
const [unsteadyAtMost, triesAgain] = stolenShare() > stolenAtMost ? [12, 3] : [4, 1];
const unsteady = await tryAgain();
await Deno.remove(clusters, { recursive: true });
const unjudgedLines = (await Deno.readTextFile(unjudgedList)).split("\n").filter((line) => line !== "");
await Deno.remove(unjudgedList);

/**
 * Runs failed suites again, with nothing beside them: a test that waits too long for two busy cores passes then, a fault of the
 * code does not. Returns the first results of those that passed. They are shown with their reasons: an unsteady test is to be mended.
 */
async function tryAgain(): Promise<readonly Finished[]> {
  const failed = finished.filter(({ result }) => result.failed > 0);
  if (failed.length > unsteadyAtMost) return [];
  const passed: Finished[] = [];
  for (const first of failed) {
    for (let tries = 0; tries < triesAgain && !passed.includes(first); tries++) {
      if (first.suite.processes && !await isCalm()) break;
      write(`\n--- ${first.suite.name}, again and alone\n`);
      const again = await run(first.suite, write);
      if (again.result.failed === 0) passed.push(first);
      finished.splice(finished.indexOf(again.result.failed === 0 ? first : again), 1);
    }
  }
  return passed;
}

async function run(suite: Suite, print: (text: string) => void): Promise<Finished> {
  const began = performance.now();
  let output = "";
  const result = await suite.run((text) => {
    output += text;
    print(text);
  });
  const processorSeconds = processorTime();
  const seconds = (performance.now() - began) / 1000;
  const done = { suite, seconds, processorSeconds, result, output };
  finished.push(done);
  return done;
}

/** Whether the suite can say something now. One that cannot is listed; a suite that was named runs in any case. */
async function isFit(suite: Suite): Promise<boolean> {
  if (!suite.processes || wanted.length > 0 || await isCalm()) return true;
  notRun.push(`suite ${suite.name} [not run: ${taken(stolenShare())}]`);
  return false;
}

/** Waits for better times on a machine that is starved; false when there are none. */
async function isCalm(): Promise<boolean> {
  while (true) {
    const stolen = watchStolenTime();
    const until = performance.now() + 500;
    while (performance.now() < until); // only who wants to run is stolen from
    if (stolen() < waitsAbove) return true;
    if (performance.now() - started > waitsUntil * 60_000) return false;
    await new Promise((resolve) => setTimeout(resolve, starvedPauseMs)); // wait: for the host of this machine
  }
}

function taken(share: number): string {
  return `the host took ${(100 * share).toFixed(0)} % of the time that this machine wanted`;
}

function timeOf(name: string, seconds: number, processorSeconds: number | undefined): string {
  const processor = processorSeconds === undefined ? "" : `${processorSeconds.toFixed(1).padStart(8)} s of processor`;
  return `${name.padEnd(16)} ${seconds.toFixed(1).padStart(7)} s${processor}`;
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

/** Readers who look only at the end of a long log find the reasons there. */
const reasonsAtMost = 6000;
/** Seconds. */
const totalAtMost = 12 * 60;
const slowestShown = 5;
const results = suites.flatMap((suite) => finished.find((one) => one.suite === suite) ?? []);
for (const { suite: { name }, result, output } of [...results, ...unsteady]) {
  if (result.failed === 0) continue;
  const errors = output.lastIndexOf(" ERRORS ");
  const reasons = errors === -1 ? output.slice(-reasonsAtMost) : output.slice(errors).slice(0, reasonsAtMost);
  console.log(`\n--- why ${name} failed\n${reasons}`);
}
for (const { suite: { name } } of unsteady) {
  console.log(`\nUNSTEADY: ${name} failed beside other suites and passed alone; the reason stands above, mend it`);
}

console.log("\n--- time per suite");
for (const { suite: { name }, seconds, processorSeconds, result } of results) {
  const outcome = result.failed > 0 ? `${result.failed} FAILED` : `${result.passed} passed`;
  console.log(`${timeOf(name, seconds, processorSeconds)}   ${outcome}`);
}
const all = results.map(({ result }) => result);
const skipped = all.flatMap((result) => result.skipped);
const notJudged = [...notRun, ...unjudgedLines];
const total = (performance.now() - started) / 1000;
const processorTotal = results.reduce((sum, { processorSeconds = 0 }) => sum + processorSeconds, 0);
console.log(timeOf("total", total, processorTotal));
if (stolenShare() > stolenAtMost) {
  console.log(`Times are too long: ${taken(stolenShare())}`);
}
if (wanted.length === 0 && total > totalAtMost) {
  console.log(
    `WARNING: the whole run may take ${totalAtMost / 60} minutes on 2 cores; move what is long to deno task stress`,
  );
}
const times = results.flatMap(({ suite, result }) => result.times.map((time) => ({ ...time, suite: suite.name })));
if (times.length > 0) console.log("\n--- slowest tests");
for (const { name, seconds, suite } of slowestOf(times, slowestShown)) {
  console.log(`${suite.padEnd(16)} ${seconds.toFixed(1).padStart(7)} s   ${name}`);
}
if (skipped.length > 0) console.log(`\n--- skipped\n${skipped.join("\n")}`);
if (notJudged.length > 0) console.log(`\n--- not judged\n${notJudged.join("\n")}`);

const passed = all.reduce((sum, result) => sum + result.passed, 0);
const failed = all.reduce((sum, result) => sum + result.failed, 0);
console.log(`\n${passed} passed, ${failed} failed, ${skipped.length + notJudged.length} skipped`);
Deno.exit(exitCodeOf({ failed, notJudged: notJudged.length }));
