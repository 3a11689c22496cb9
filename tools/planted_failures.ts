/**
 * Checks that the test command cannot lie: a failure is planted in each suite, in a copy of the
 * last commit, and the command must end with 1. The other tests of the suite are left out of the
 * copy, so that this takes minutes. Names pick suites.
 */
import { resetClone, runSuiteIn, withClone } from "./clone.ts";
import { exitCodes } from "./exit_code.ts";
import { type Suite, suites } from "./suites.ts";
import { findTestFiles } from "./test_files.ts";

/** Gates look at files: a file that each of them must refuse. */
const plants: Readonly<Record<string, { readonly path: string; readonly text: string }>> = {
  format: { path: "proto/planted.ts", text: "/** Planted. */\nexport const planted   =  1\n" },
  lint: {
    path: "proto/planted.ts",
    text: "/** Planted. */\nexport function planted() {\n  return 1 == 1;\n}\n",
  },
  types: {
    path: "proto/planted.ts",
    text: '/** Planted. */\nexport const planted: number = "one";\n',
  },
  imports: {
    path: "proto/planted.ts",
    text: '/** Planted. */\nexport { startRelay } from "../relay/mod.ts";\n',
  },
  tidy: { path: "proto/planted.ts", text: "export const planted = 1;\n" },
  generated: { path: "docs/cli.md", text: "# Planted\n" },
};
const failingTest = 'Deno.test("planted", () => {\n  throw new Error("planted");\n});\n';

const missed: string[] = [];
await withClone(async (folder) => {
  const chosen = suites.filter(({ name }) => Deno.args.length === 0 || Deno.args.includes(name));
  for (const suite of chosen) {
    await plant(folder, suite);
    const { code } = await runSuiteIn(folder, suite.name);
    console.log(`${suite.name.padEnd(16)} ends with ${code}`);
    if (code !== exitCodes.failed) missed.push(suite.name);
    await resetClone(folder);
  }
  console.log(
    `\n${chosen.length} suites, ${missed.length} that did not end with 1: ${
      missed.join(", ") || "none"
    }`,
  );
});
Deno.exit(missed.length === 0 ? 0 : 1);

async function plant(folder: string, { name, tests }: Suite): Promise<void> {
  const planted = plants[name];
  if (planted !== undefined) {
    return await Deno.writeTextFile(`${folder}/${planted.path}`, planted.text);
  }
  if (tests === undefined) throw new Error(`Nothing is known to plant in ${name}`);
  for (const file of await findTestFiles(folder, tests)) await Deno.remove(`${folder}/${file}`);
  const [place = ""] = tests.paths;
  await Deno.writeTextFile(`${folder}/${place}/planted_test.ts`, failingTest);
}
