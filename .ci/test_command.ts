/**
 * The README's test command: every gate and every test of the project, time per suite, and one closing line
 * `N passed, N failed, N skipped`. Arguments pick suites by name: `deno task test proto tidy`.
 */
import { type SuiteResult, suites } from "./suites.ts";

const wanted = Deno.args;
const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) {
  console.error(`No suite named ${unknown.join(", ")}. Suites: ${suites.map((suite) => suite.name).join(", ")}`);
  Deno.exit(2);
}

const results: { name: string; seconds: number; result: SuiteResult }[] = [];
for (const suite of suites) {
  if (wanted.length > 0 && !wanted.includes(suite.name)) continue;
  console.log(`\n--- ${suite.name}`);
  const started = performance.now();
  const result = await suite.run();
  results.push({ name: suite.name, seconds: (performance.now() - started) / 1000, result });
}

console.log("\n--- time per suite");
for (const { name, seconds, result } of results) {
  const outcome = result.failed > 0 ? `${result.failed} FAILED` : `${result.passed} passed`;
  console.log(`${name.padEnd(16)} ${seconds.toFixed(1).padStart(7)} s   ${outcome}`);
}
const all = results.map(({ result }) => result);
const skipped = all.flatMap((result) => result.skipped);
const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
console.log(`${"total".padEnd(16)} ${total.toFixed(1).padStart(7)} s`);
if (skipped.length > 0) console.log(`\n--- skipped\n${skipped.join("\n")}`);

const passed = all.reduce((sum, result) => sum + result.passed, 0);
const failed = all.reduce((sum, result) => sum + result.failed, 0);
console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`);
Deno.exit(failed === 0 ? 0 : 1);
