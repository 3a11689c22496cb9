// The real command, in a process of its own, with suites and a machine that the test has planted in the place of ours.
import { assertEquals, assertStringIncludes } from "@std/assert";

const command = new URL("test_command.ts", import.meta.url);

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** `suite` is the body of `run` of a suite with processes; `machine` is the module that tells how much time the host takes. */
async function runCommand({ suite, machine = stolen(0), args = [] }: {
  readonly suite: string;
  readonly machine?: string;
  readonly args?: readonly string[];
}): Promise<Ended> {
  const folder = await Deno.makeTempDir({ prefix: "planted-" });
  try {
    const plant = async (name: string, text: string): Promise<string> => {
      await Deno.writeTextFile(`${folder}/${name}`, text);
      return new URL(`file://${folder}/${name}`).href;
    };
    const run = `run: async (print) => { ${suite} }`;
    const suites = `export const suites = [{ name: "planted", alone: false, processes: true, lanes: 1, ${run} }];`;
    const imports = {
      [new URL("suites.ts", command).href]: await plant("suites.ts", suites),
      [new URL("stolen_time.ts", command).href]: await plant("stolen_time.ts", machine),
    };
    const map = await plant("map.json", JSON.stringify({ imports }));
    const flags = ["run", "-A", "--no-check", "--quiet", "--no-config", `--import-map=${map}`];
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

function stolen(share: number): string {
  return `export const watchStolenTime = () => () => ${share};`;
}

/** With each look at it an hour is over, so that nothing waits for better times. */
const starved = `
  const now = performance.now.bind(performance);
  let hours = 0;
  performance.now = () => now() + hours * 3_600_000;
  export const watchStolenTime = () => () => (hours++, 0.9);`;
const fails = `print("the reason\\n"); return { passed: 2, failed: 1, skipped: [], times: [] };`;
const passes = `return { passed: 2, failed: 0, skipped: ["a browser [skipped: none here]"], times: [] };`;

Deno.test("a suite that fails in every try is a failure, however much of the machine's time the host takes", async () => {
  for (const share of [0, 0.4]) {
    const { code, output } = await runCommand({ suite: fails, machine: stolen(share) });
    assertStringIncludes(output, "--- why planted failed");
    assertStringIncludes(output, "2 passed, 1 failed, 0 skipped");
    assertEquals(code, 1, output);
  }
});

Deno.test("a test that could not judge is listed, and the command does not say that all is well", async () => {
  const tells =
    `await Deno.writeTextFile(Deno.env.get("STATIC_TEST_UNJUDGED"), "a siege [no time]\\n", { append: true });`;
  const { code, output } = await runCommand({ suite: tells + passes });
  assertStringIncludes(output, "--- not judged\na siege [no time]");
  assertStringIncludes(output, "2 passed, 0 failed, 2 skipped");
  assertEquals(code, 3, output);
});

Deno.test("a suite that never got to run is listed, and the command does not say that all is well", async () => {
  const { code, output } = await runCommand({ suite: passes, machine: starved });
  assertStringIncludes(output, "--- not judged\nsuite planted [not run: the host took 90 %");
  assertStringIncludes(output, "0 passed, 0 failed, 1 skipped");
  assertEquals(code, 3, output);
});

Deno.test("tests that this machine cannot run are skipped, and no reason to fail", async () => {
  const { code, output } = await runCommand({ suite: passes });
  assertStringIncludes(output, "2 passed, 0 failed, 1 skipped");
  assertEquals(code, 0, output);
});

Deno.test("a suite that does not exist is refused with 2", async () => {
  assertEquals((await runCommand({ suite: passes, args: ["plantd"] })).code, 2);
});
