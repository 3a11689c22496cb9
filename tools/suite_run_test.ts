import { assertEquals, assertStringIncludes } from "@std/assert";
import type { SuiteResult } from "./junit.ts";
import { runTests } from "./suite_run.ts";

/** Runs one test file with this text. */
async function run(
  text: string,
  maxMinutes = 1,
): Promise<{ readonly result: SuiteResult; readonly output: string }> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/planted_test.ts`, text);
    let output = "";
    const files = [`${folder}/planted_test.ts`];
    const result = await runTests(
      { name: "planted", files, lanes: 1, apart: false, maxMinutes },
      (part) => output += part,
    );
    return { result, output };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("passed, failed and skipped tests are counted", async () => {
  const { result } = await run(`
    Deno.test("a", () => {});
    Deno.test("b", () => { throw new Error("no"); });
    Deno.test({ name: "c [skipped: none here]", ignore: true, fn: () => {} });`);
  assertEquals([result.passed, result.failed, result.skipped], [1, 1, ["c [skipped: none here]"]]);
});

Deno.test("a module that does not load, an error outside of tests and a file left behind are failures", async () => {
  const outside = `Deno.test("a", () => {}); setTimeout(() => { throw new Error("outside"); }, 0);`;
  const leaves = `Deno.test("a", async () => void await Deno.makeTempFile());`;
  for (const text of [`import "./nothing.ts";`, `throw new Error("at once");`, outside, leaves]) {
    const { result, output } = await run(text);
    assertEquals([result.failed > 0, result.isUnjudged], [true, undefined], output);
  }
});

Deno.test("a process that a signal or the time limit ends gives no verdict", async () => {
  const killed = await run(`Deno.test("a", () => Deno.kill(Deno.pid, "SIGKILL"));`);
  assertEquals([killed.result.isUnjudged, killed.result.failed], [true, 0]);
  assertStringIncludes(killed.output, "SIGKILL");
  const late = await run(
    `Deno.test("a", () => new Promise(() => setInterval(() => {}, 1000)));`,
    0.05,
  );
  assertEquals([late.result.isUnjudged, late.result.failed], [true, 0]);
});
