import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { commands, completionScript, exitCodes, shells } from "../../cli/mod.ts";
import { installed, runCommand, testWhen } from "../support/mod.ts";
import { User } from "./user.ts";

Deno.test("--help of every command shows how to use it, with examples, also as JSON", async () => {
  await using user = await User.create();
  for (const { path, examples } of commands) {
    const { stdout } = await user.run([...path.split(" "), "--help"]);
    assertStringIncludes(stdout, `\nUsage:\n  static ${path}`);
    assertStringIncludes(stdout, "\nExamples:\n");
    assertEquals((await user.json([...path.split(" "), "--help"])).examples, [...examples]);
  }
});

Deno.test("static alone shows every command and exit code; a group shows its own and ends with 2", async () => {
  await using user = await User.create();
  const { stdout } = await user.run([]);
  for (const { path } of commands) assertStringIncludes(stdout, `\n  ${path}  `);
  for (const { code, meaning } of Object.values(exitCodes)) {
    assertStringIncludes(stdout, `${code}  `, meaning);
  }
  const group = await user.run(["keys"], { code: 2 });
  assertMatch(group.stdout, /^Commands:\n {2}keys create {2}/);
  await user.run(["keys", "--help"]);
  assertMatch((await user.run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
});

Deno.test("completion refuses shells that it does not know", async () => {
  await using user = await User.create();
  await user.run(["completion", "tcsh"], { code: 2 });
  for (const shell of shells) assert((await user.run(["completion", shell])).stdout.length > 500);
});

/** The completions that bash offers after these words, the last of which is being typed. */
async function offered(script: string, ...words: readonly string[]): Promise<string[]> {
  const quoted = ["static", ...words].map((word) => `'${word}'`).join(" ");
  const probe =
    `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _static; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = await runCommand("bash", ["--norc", "--noprofile", "-u", "-c", probe]);
  return output.split("\n").filter((word) => word !== "");
}

testWhen(installed("bash"), "bash completes words of commands, then flags", async () => {
  const script = completionScript("bash", commands);
  assertEquals(await offered(script, "ch"), ["channel"]);
  assertEquals(await offered(script, "channel", "f"), ["fingerprint"]);
  assertEquals(await offered(script, "--json", "keys", "r"), ["revoke", "rotate"]);
  assertEquals(await offered(script, "channel", "invite", "a/b/c", "--e"), ["--expires"]);
  assertEquals(await offered(script, "usage", "--js"), ["--json"]);
  assertEquals(
    await offered(script, "channel", "send", "usage"),
    [],
    "an argument is not taken for a command",
  );
});

testWhen(installed("zsh"), "zsh reads its completion", async () => {
  await runCommand("zsh", ["-f", "-c", completionScript("zsh", commands)]);
});

testWhen(installed("fish"), "fish reads its completion", async () => {
  await runCommand("fish", ["--no-config", "-c", completionScript("fish", commands)]);
});
