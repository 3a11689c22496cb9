/**
 * The README's test command: every gate and every test of the project that a change must pass, and
 * one closing line `N passed, N failed, N skipped`.
 *
 *   deno task test                     everything
 *   deno task test proto tidy          some suites
 *   deno task test --changed [BASE]    suites whose files import something that has changed since BASE (HEAD unless given)
 *   deno task test --complete          a test that this machine cannot run is not judged
 *
 * It exits with 0 when everything passed, 1 when something failed, 2 for wrong arguments, and 3
 * when nothing failed but something was not judged: a suite or the command was ended from outside,
 * or with `--complete` a test was skipped.
 */
import { changedFiles, suitesOf } from "./changed_suites.ts";
import { baselineShare, Calibration, shareAtMost, shareWanted } from "./calibration.ts";
import { exitCodeOf, exitCodes } from "./exit_code.ts";
import { slowestOf, type SuiteResult } from "./junit.ts";
import { childProcessorTime } from "./processor_time.ts";
import { makeRunFolder, removeRunFolder } from "./run_folder.ts";
import { refuseUnknownVariables } from "./refuse_variables.ts";
import { type Suite, suites } from "./suites.ts";
import { parseTestArguments } from "./test_arguments.ts";

interface FinishedSuite {
  readonly suite: Suite;
  readonly seconds: number;
  /** The time of all its processes: what the run costs when the cores are shared. */
  readonly processorSeconds: number | undefined;
  readonly result: SuiteResult;
  readonly output: string;
}

refuseUnknownVariables();
const given = parseTestArguments(Deno.args, suites.map(({ name }) => name));
if ("problem" in given) {
  console.error(given.problem);
  Deno.exit(exitCodes.wrongArguments);
}
const { names, changedSince, isComplete } = given;
const chosen = await choose();

/**
 * Tests wait more than they compute: with two lanes for each core the cores are busy, and no test
 * waits for long.
 */
const lanesAtMost = 2 * Math.max(2, navigator.hardwareConcurrency);
/** A machine gets what it lacks from one of two places. */
const mendsSkips =
  "To run them too: `.ci/run --install-only` installs Debian's packages, `deno task fetch` brings vectors and nats-server";
/** More failed suites than this are no accident of a busy machine. */
const unsteadyAtMost = 4;

/** Measures this machine, when the whole run is measured. */
const calibration = chosen.length === suites.length ? new Calibration() : undefined;
const started = performance.now();
const processorTime = childProcessorTime();
const finished: FinishedSuite[] = [];
const shared = await makeRunFolder();
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, giveUp);
await runBeside([...chosen]);
const unsteady = await tryAgain();
await removeRunFolder(shared);
report();

async function choose(): Promise<readonly Suite[]> {
  if (changedSince === undefined) {
    return names.length === 0 ? suites : suites.filter(({ name }) => names.includes(name));
  }
  const files = await changedFiles(changedSince);
  const found = await suitesOf(files);
  console.log(
    `${files.length} files have changed since ${changedSince}: ${
      found.map(({ name }) => name).join(" ")
    }`,
  );
  return found;
}

/** Ends the process; nothing that tests share is left behind. */
async function giveUp(): Promise<void> {
  await removeRunFolder(shared).finally(() => Deno.exit(exitCodes.notJudged));
}

/**
 * Starts each suite as soon as its lanes are free, in this order: a suite with two lanes would wait
 * for the end if others overtook it. Each is shown as a whole when it is done.
 */
async function runBeside(waiting: Suite[]): Promise<void> {
  const single = chosen.length === 1;
  const running = new Map<Suite, Promise<void>>();
  const lanesTaken = (): number => [...running.keys()].reduce((sum, { lanes }) => sum + lanes, 0);
  const begin = async (suite: Suite): Promise<void> => {
    const { output } = await run(suite, single ? write : () => {});
    running.delete(suite);
    if (!single) write(`\n--- ${suite.name}\n${output}`);
  };
  while (waiting.length > 0 || running.size > 0) {
    const [next] = waiting;
    if (next === undefined || (running.size > 0 && lanesTaken() + next.lanes > lanesAtMost)) {
      await Promise.race(running.values());
      continue;
    }
    waiting.shift();
    running.set(next, begin(next));
  }
}

/**
 * Runs failed suites once more, with nothing beside them. Returns the first results of those that
 * passed then: they are shown with their reasons, because an unsteady test is to be mended.
 */
async function tryAgain(): Promise<readonly FinishedSuite[]> {
  const failed = finished.filter(({ result }) => result.failed > 0);
  if (failed.length > unsteadyAtMost || chosen.length === 1) return [];
  const passed: FinishedSuite[] = [];
  for (const first of failed) {
    write(`\n--- ${first.suite.name}, again and alone\n`);
    const again = await run(first.suite, write);
    const isPassed = again.result.failed === 0 && again.result.isUnjudged !== true;
    if (isPassed) passed.push(first);
    finished.splice(finished.indexOf(isPassed ? first : again), 1);
  }
  return passed;
}

async function run(suite: Suite, print: (text: string) => void): Promise<FinishedSuite> {
  const began = performance.now();
  let output = "";
  const result = await suite.run((text) => {
    output += text;
    print(text);
  });
  const processorSeconds = processorTime();
  calibration?.measure();
  const seconds = (performance.now() - began) / 1000;
  const done = { suite, seconds, processorSeconds, result, output };
  finished.push(done);
  return done;
}

/** Readers who look only at the end of a long log find everything there. Ends the process. */
function report(): never {
  const results = suites.flatMap((suite) => finished.find((one) => one.suite === suite) ?? []);
  for (const one of results) if (one.result.failed > 0) explain(one, "failed");
  for (const one of unsteady) {
    explain(one, "failed beside other suites and passed alone: UNSTEADY, mend it");
  }
  reportTimes(results);
  const all = results.map(({ result }) => result);
  const skipped = all.flatMap((result) => result.skipped);
  const cutOff = results.filter(({ result }) => result.isUnjudged).map(({ suite }) =>
    `suite ${suite.name} was cut off`
  );
  if (skipped.length > 0) console.log(`\n--- skipped\n${skipped.join("\n")}\n${mendsSkips}`);
  const notJudged = isComplete ? [...cutOff, ...skipped] : cutOff;
  if (notJudged.length > 0) console.log(`\n--- not judged\n${notJudged.join("\n")}`);
  const passed = all.reduce((sum, result) => sum + result.passed, 0);
  const failed = all.reduce((sum, result) => sum + result.failed, 0);
  for (const { suite } of unsteady) {
    console.log(`\nUNSTEADY: ${suite.name}; the reason stands above`);
  }
  console.log(`\n${passed} passed, ${failed} failed, ${skipped.length + cutOff.length} skipped`);
  Deno.exit(exitCodeOf({ failed, notJudged: notJudged.length }));
}

function explain({ suite: { name }, output }: FinishedSuite, what: string): void {
  const maxCharacters = 6000;
  const errors = output.lastIndexOf(" ERRORS ");
  const reasons = errors === -1
    ? output.slice(-maxCharacters)
    : output.slice(errors).slice(0, maxCharacters);
  console.log(`\n--- ${name} ${what}\n${reasons}`);
}

function reportTimes(results: readonly FinishedSuite[]): void {
  const [largestShown, slowestShown] = [10, 5];
  const costOf = ({ processorSeconds, seconds }: FinishedSuite): number =>
    processorSeconds ?? seconds;
  console.log(`\n--- the ${Math.min(largestShown, results.length)} largest suites`);
  for (const one of results.toSorted((a, b) => costOf(b) - costOf(a)).slice(0, largestShown)) {
    const { suite: { name }, seconds, processorSeconds, result } = one;
    const outcome = result.failed > 0 ? `${result.failed} FAILED` : `${result.passed} passed`;
    console.log(`${timeOf(name, seconds, processorSeconds)}   ${outcome}`);
  }
  const total = (performance.now() - started) / 1000;
  const processorTotal = results.reduce(
    (sum, { processorSeconds = 0 }) => sum + processorSeconds,
    0,
  );
  console.log(timeOf("total", total, processorTotal));
  if (calibration !== undefined && processorTotal > 0) {
    const { workSeconds } = calibration;
    const share = baselineShare(processorTotal, workSeconds);
    console.log(
      `A fixed piece of work took ${(workSeconds * 1000).toFixed(1)} ms of processor beside it`,
    );
    console.log(
      `This is ${share.toFixed(2)} of what the run took at first, and ${shareWanted} is wanted`,
    );
    if (share > shareAtMost) {
      console.log("WARNING: that is too much; move what is long to a campaign (deno task stress)");
    }
  }
  const times = results.flatMap(({ suite, result }) =>
    result.times.map((time) => ({ ...time, suite: suite.name }))
  );
  if (times.length > 0) console.log("\n--- slowest tests");
  for (const { name, seconds, suite } of slowestOf(times, slowestShown)) {
    console.log(`${suite.padEnd(16)} ${seconds.toFixed(1).padStart(7)} s   ${name}`);
  }
}

function timeOf(name: string, seconds: number, processorSeconds: number | undefined): string {
  const processor = processorSeconds === undefined
    ? ""
    : `${processorSeconds.toFixed(1).padStart(8)} s of processor`;
  return `${name.padEnd(16)} ${seconds.toFixed(1).padStart(7)} s${processor}`;
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
