/**
 * Checks that the test command sees mistakes: each of the lists is planted alone in a copy of the
 * last commit, and a suite must fail because of it. The suites whose tests use the file come first,
 * those of its nearest users before others, one at a time; only a fault that they all miss is tried
 * with the rest of the default run. Gates are left out: a fault that only they see is caught by no
 * test. A failure counts if the files of its tests fail again, and pass without the fault: an
 * unsteady test catches nothing. Names pick faults, or lists of them (`everywhere`, `heart`). It
 * exits with 1 when a fault survived.
 *
 * Every verdict is written at once to `planted-faults-COMMIT.json` in the temporary folder
 * (`TMPDIR`). A second call for the same commit goes on there. Delete the file to begin anew.
 */
import { tmpdir } from "node:os";
import { nearestSuites } from "./changed_suites.ts";
import { git, resetClone, runFilesIn, runSuiteIn, withClone } from "./clone.ts";
import { exitCodes } from "./exit_code.ts";
import { faultsEverywhere } from "./faults_everywhere.ts";
import { heartFaults } from "./heart_faults.ts";
import { type PlantedFault, withFault } from "./planted_fault.ts";
import { root } from "./suite_run.ts";
import { suites } from "./suites.ts";

interface Trial {
  /** Suites that did not fail. */
  readonly missedBy: readonly string[];
  readonly caught?: { readonly suite: string; readonly test: string };
  /** The time of all suites so far. */
  readonly seconds: number;
}

/** Each with the names that pick it. */
const faults = Object.entries({ everywhere: faultsEverywhere, heart: heartFaults }).flatMap((
  [list, faults],
) => faults.map((fault) => ({ fault, names: [list, fault.name] })));
const unknown = Deno.args.filter((name) => !faults.some(({ names }) => names.includes(name)));
if (unknown.length > 0) {
  const known = new Set(faults.flatMap(({ names }) => names));
  console.error(`No fault named ${unknown.join(", ")}. Names: ${[...known].join(", ")}`);
  Deno.exit(exitCodes.wrongArguments);
}
const chosen = faults.filter(({ names }) =>
  Deno.args.length === 0 || names.some((name) => Deno.args.includes(name))
)
  .map(({ fault }) => fault);
const commit = (await git(root, "rev-parse", "HEAD")).trim();
const resultFile = `${tmpdir()}/planted-faults-${commit}.json`;
const trials = await readTrials();
/** The suite of tools tests no product code, but that the list of faults fits it. */
const judges = suites.filter(({ name, tests }) => tests !== undefined && name !== "tools");

const survived: string[] = [];
await withClone(async (folder) => {
  for (const fault of chosen) {
    await tryFault(folder, fault);
    const { caught, seconds } = trialOf(fault);
    const verdict = caught === undefined ? "SURVIVED" : `caught by ${caught.suite}: ${caught.test}`;
    console.log(`${fault.name.padEnd(48)} ${seconds.toFixed(0).padStart(5)} s  ${verdict}`);
    if (caught === undefined) survived.push(fault.name);
  }
});
console.log(
  `\n${chosen.length} faults, ${survived.length} survived: ${survived.join(", ") || "none"}`,
);
console.log(`Written to ${resultFile}`);
Deno.exit(survived.length === 0 ? exitCodes.passed : exitCodes.failed);

/** Until a suite fails because of it, or none is left. */
async function tryFault(folder: string, fault: PlantedFault): Promise<void> {
  const near = (await nearestSuites(fault.path)).filter((suite) => judges.includes(suite));
  for (const { name } of new Set([...near, ...judges])) {
    const { missedBy, caught, seconds } = trialOf(fault);
    if (caught !== undefined) return;
    if (missedBy.includes(name)) continue;
    const began = performance.now();
    const test = await failureBy(folder, fault, name);
    trials.set(fault.name, {
      missedBy: test === undefined ? [...missedBy, name] : missedBy,
      ...(test !== undefined && { caught: { suite: name, test } }),
      seconds: seconds + (performance.now() - began) / 1000,
    });
    await Deno.writeTextFile(resultFile, JSON.stringify(Object.fromEntries(trials), null, 2));
  }
}

/** The name of the test that the fault makes fail, if one does. */
async function failureBy(
  folder: string,
  fault: PlantedFault,
  suite: string,
): Promise<string | undefined> {
  const file = `${folder}/${fault.path}`;
  await Deno.writeTextFile(file, withFault(await Deno.readTextFile(file), fault));
  try {
    const first = await runSuiteIn(folder, suite);
    if (first.code !== exitCodes.failed) return undefined;
    const files = [...new Set(failuresIn(first.output).map(({ path }) => path))];
    // A step may stand in a file that several tests share.
    const areTests = files.length > 0 && files.every((path) => path.endsWith("_test.ts"));
    const repeat = (): ReturnType<typeof runSuiteIn> =>
      areTests ? runFilesIn(folder, files) : runSuiteIn(folder, suite);
    const again = await repeat();
    if (again.code !== exitCodes.failed) return undefined;
    await resetClone(folder);
    if ((await repeat()).code === exitCodes.failed) return undefined;
    return failuresIn(again.output)[0]?.test ?? "outside of any test";
  } finally {
    await resetClone(folder);
  }
}

function failuresIn(output: string): readonly { readonly test: string; readonly path: string }[] {
  return Array.from(
    output.matchAll(/^(.+) => \.\/(.+):\d+:\d+$/gm),
    ([, test = "", path = ""]) => ({ test, path }),
  );
}

function trialOf({ name }: PlantedFault): Trial {
  return trials.get(name) ?? { missedBy: [], seconds: 0 };
}

async function readTrials(): Promise<Map<string, Trial>> {
  try {
    return new Map(Object.entries(JSON.parse(await Deno.readTextFile(resultFile))));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Map();
    throw error;
  }
}
