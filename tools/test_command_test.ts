// The real command, in a process of its own, with suites and a machine that the test has planted in
// the place of ours.
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";

const command = new URL("test_command.ts", import.meta.url);

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** `suite` is the body of `run` of a suite. */
async function runCommand({ suite, args = [] }: {
  readonly suite: string;
  readonly args?: readonly string[];
}): Promise<Ended> {
  const folder = await Deno.makeTempDir({ prefix: "planted-" });
  try {
    const plant = async (name: string, text: string): Promise<string> => {
      await Deno.writeTextFile(`${folder}/${name}`, text);
      return new URL(`file://${folder}/${name}`).href;
    };
    const run = `run: async (print) => { ${suite} }`;
    const other =
      `{ name: "other", lanes: 1, run: () => Promise.resolve({ passed: 1, failed: 0, skipped: [], times: [] }) }`;
    const suites =
      `let tries = 0;\nexport const suites = [{ name: "planted", lanes: 1, ${run} }, ${other}];`;
    const { imports: ours } = JSON.parse(await Deno.readTextFile(new URL("../deno.json", command)));
    const imports = {
      ...Object.fromEntries(
        Object.entries(ours).filter(([, target]) => String(target).startsWith("npm:")),
      ),
      [new URL("suites.ts", command).href]: await plant("suites.ts", suites),
    };
    await plant("deno.json", JSON.stringify({ imports }));
    const flags = [
      "run",
      "-A",
      "--no-check",
      "--quiet",
      "--no-lock",
      `--config=${folder}/deno.json`,
    ];
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [...flags, command.href, ...args],
      stdin: "null",
      stderr: "inherit",
    }).output();
    return { code, output: new TextDecoder().decode(stdout) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const fails = `print("the reason\\n"); return { passed: 2, failed: 1, skipped: [], times: [] };`;
const passes =
  `return { passed: 2, failed: 0, skipped: ["a browser [skipped: none here]"], times: [] };`;

Deno.test("a suite that fails twice is a failure", async () => {
  const { code, output } = await runCommand({ suite: fails });
  assertStringIncludes(output, "--- planted failed\nthe reason");
  assertStringIncludes(output, "3 passed, 1 failed, 0 skipped");
  assertEquals(code, 1, output);
});

Deno.test("Ctrl-C ends the command without a verdict, and removes what the tests of the run share", async () => {
  const interrupt =
    `console.log(Deno.env.get("STATIC_TEST_RUN")); Deno.kill(Deno.pid, "SIGINT"); await new Promise(() => {});`;
  const { code, output } = await runCommand({ suite: interrupt });
  const [, folder = ""] = /^(\/.+\/run-\w+)$/m.exec(output) ?? [];
  assertEquals([code, folder !== ""], [3, true], output);
  await assertRejects(() => Deno.stat(folder), Deno.errors.NotFound);
});

Deno.test("a suite that fails beside others and passes alone is named as unsteady, with the first reason", async () => {
  const { code, output } = await runCommand({ suite: `if (tries++ === 0) { ${fails} } ${passes}` });
  assertStringIncludes(output, "UNSTEADY, mend it\nthe reason");
  assertStringIncludes(output, "UNSTEADY: planted");
  assertEquals(code, 0, output);
});

Deno.test("a suite that was ended from outside is listed, and the command does not say that all is well", async () => {
  const { code, output } = await runCommand({
    suite: `return { passed: 1, failed: 0, skipped: [], times: [], isUnjudged: true };`,
  });
  assertStringIncludes(output, "--- not judged\nsuite planted was cut off");
  assertStringIncludes(output, "2 passed, 0 failed, 1 skipped");
  assertEquals(code, 3, output);
});

Deno.test("tests that this machine cannot run are skipped, and no reason to fail unless the run must be complete", async () => {
  for (const [args, expected] of [[[], 0], [["--complete"], 3]] as const) {
    const { code, output } = await runCommand({ suite: passes, args });
    assertStringIncludes(output, "3 passed, 0 failed, 1 skipped");
    assertEquals(code, expected, output);
  }
});

Deno.test("a suite that does not exist is refused with 2", async () => {
  assertEquals((await runCommand({ suite: passes, args: ["plantd"] })).code, 2);
});
