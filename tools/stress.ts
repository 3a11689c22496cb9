/**
 * Campaigns: `deno task stress` lists them, `deno task stress NAME…` runs some, `deno task stress
 * all` runs all.
 * Each ends with one line: what was tried, how often, the seed, what was found. `STATIC_TEST_SEED`
 * repeats one.
 * A test that this machine cannot run is not judged. The exit codes are those of the test command.
 */
import { type Campaign, campaigns } from "./campaigns.ts";
import { exitCodeOf, exitCodes, type TestVerdict } from "./exit_code.ts";
import { refuseUnknownVariables } from "./refuse_variables.ts";
import { makeRunFolder, removeRunFolder } from "./run_folder.ts";
import { root, runTests } from "./suite_run.ts";
import { findTestFiles } from "./test_files.ts";

/** A night. */
const maxMinutes = 10 * 60;

refuseUnknownVariables();
const unknown = Deno.args.filter((name) =>
  name !== "all" && !campaigns.some((campaign) => campaign.name === name)
);
if (Deno.args.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`No campaign named ${unknown.join(", ")}`);
  console.log("deno task stress NAME… runs campaigns; deno task stress all runs all of them.\n");
  for (const { name, what } of campaigns) console.log(`${name.padEnd(16)} ${what}`);
  Deno.exit(unknown.length > 0 ? exitCodes.wrongArguments : exitCodes.passed);
}

const chosen = campaigns.filter(({ name }) =>
  Deno.args.includes("all") || Deno.args.includes(name)
);
const ended: { readonly line: string; readonly code: TestVerdict }[] = [];
const shared = await makeRunFolder();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(
    signal,
    () => removeRunFolder(shared).finally(() => Deno.exit(exitCodes.notJudged)),
  );
}
for (const campaign of chosen) ended.push(await run(campaign));
await removeRunFolder(shared);
if (ended.length > 1) console.log(`\n--- campaigns\n${ended.map(({ line }) => line).join("\n")}`);
const codes = ended.map(({ code }) => code);
Deno.exit(exitCodeOf({
  failed: codes.filter((code) => code === exitCodes.failed).length,
  notJudged: codes.filter((code) => code === exitCodes.notJudged).length,
}));

async function run({ name, paths }: Campaign): Promise<{ line: string; code: TestVerdict }> {
  const seed = Deno.env.get("STATIC_TEST_SEED") ??
    String(crypto.getRandomValues(new Uint32Array(1))[0]);
  const tried = `${shared}/tried`;
  await Deno.writeTextFile(tried, "");
  const began = performance.now();
  console.log(`\n--- ${name}, seed ${seed}`);
  const files = await findTestFiles(root, { paths, kinds: ["test", "campaign"] });
  const env = { STATIC_STRESS: "1", STATIC_TEST_SEED: seed };
  const print = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(text));
  const result = await runTests({
    name,
    files,
    lanes: 1,
    apart: true,
    env,
    maxMinutes,
    shows: true,
  }, print);
  const { passed, failed, skipped, isUnjudged = false } = result;
  const code = exitCodeOf({ failed, notJudged: skipped.length + (isUnjudged ? 1 : 0) });
  const counts = (await Deno.readTextFile(tried)).split("\n").filter((line) => line !== "");
  const what = [`${passed + failed} tests`, ...counts].join(", ");
  const found = isUnjudged ? "cut off" : failed > 0 ? `${failed} FAILED` : "nothing found";
  const lacking = skipped.length > 0 ? `, ${skipped.length} not judged: ${skipped.join("; ")}` : "";
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const line =
    `campaign ${name}: ${what}, seed ${seed}, ${minutes} min: ${found}${lacking} (exit ${code})`;
  console.log(`\n${line}`);
  return { line, code };
}
