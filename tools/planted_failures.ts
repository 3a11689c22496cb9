/**
 * Checks that the test command cannot lie: a failure is planted in each suite, in a copy of the last commit, and the command must end
 * with 1. The other tests of the suite are left out of the copy, so that this takes minutes. Names pick suites.
 */
import { exitCodes } from "./exit_code.ts";
import { root } from "./suite_run.ts";
import { type Suite, suites } from "./suites.ts";
import { findTestFiles } from "./test_files.ts";

/** Gates look at files: a file that each of them must refuse. */
const plants: Readonly<Record<string, { readonly path: string; readonly text: string }>> = {
  format: { path: "proto/planted.ts", text: "/** Planted. */\nexport const planted   =  1\n" },
  lint: { path: "proto/planted.ts", text: "/** Planted. */\nexport function planted() {\n  return 1 == 1;\n}\n" },
  types: { path: "proto/planted.ts", text: '/** Planted. */\nexport const planted: number = "one";\n' },
  imports: { path: "proto/planted.ts", text: '/** Planted. */\nexport { startRelay } from "../relay/mod.ts";\n' },
  tidy: { path: "proto/planted.ts", text: "export const planted = 1;\n" },
  generated: { path: "docs/cli.md", text: "# Planted\n" },
};
const failingTest = 'Deno.test("planted", () => {\n  throw new Error("planted");\n});\n';

const folder = await Deno.makeTempDir({ prefix: "planted-failures-" });
const missed: string[] = [];
try {
  await git(".", "clone", "--quiet", "--local", "--no-hardlinks", root, folder);
  const chosen = suites.filter(({ name }) => Deno.args.length === 0 || Deno.args.includes(name));
  for (const suite of chosen) {
    await plant(suite);
    const code = await runSuite(suite.name);
    console.log(`${suite.name.padEnd(16)} ends with ${code}`);
    if (code !== exitCodes.failed) missed.push(suite.name);
    await git(folder, "reset", "--quiet", "--hard");
    await git(folder, "clean", "--quiet", "-fd");
  }
  console.log(`\n${chosen.length} suites, ${missed.length} that did not end with 1: ${missed.join(", ") || "none"}`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(missed.length === 0 ? 0 : 1);

async function plant({ name, tests }: Suite): Promise<void> {
  const planted = plants[name];
  if (planted !== undefined) return await Deno.writeTextFile(`${folder}/${planted.path}`, planted.text);
  if (tests === undefined) throw new Error(`Nothing is known to plant in ${name}`);
  for (const file of await findTestFiles(folder, tests)) await Deno.remove(`${folder}/${file}`);
  const [place = ""] = tests.paths;
  await Deno.writeTextFile(`${folder}/${place}/planted_test.ts`, failingTest);
}

async function runSuite(name: string): Promise<number> {
  const args = ["run", "-A", "tools/test_command.ts", name];
  return (await new Deno.Command(Deno.execPath(), { args, cwd: folder, stdout: "null", stderr: "null" }).output()).code;
}

async function git(cwd: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("git", { args: [...args], cwd }).output();
  if (!success) throw new Error(`git ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
}
