// The pages' programs as a reader checks them: in a project of their own that has the npm package.
// Also those that are not run.
import { assertGreater } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { installPackage, packageTools } from "../support/runtime/npm_package.ts";
import { compilers, compileWith, typescripts } from "../support/runtime/typescript.ts";
import { fileOf, isSample, readProgramPages } from "../../tools/pages/programs.ts";

/**
 * Compiled with the samples: if the package's types had become `any`, this would be no mistake, and
 * every sample would pass.
 */
const mistaken = `import { StaticClient } from "static-sdk";

// @ts-expect-error a folder has a name
await StaticClient.connect({ dataDir: 5, identity: "x" });
`;

testWhen(
  packageTools,
  "the pages' programs have no type errors against the npm package",
  async (t) => {
    await using project = await installPackage([...typescripts, "@types/node"]);
    const folder = `${project.folder}/reader`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ nodeModulesDir: "manual" }));
    await Deno.writeTextFile(
      `${folder}/package.json`,
      JSON.stringify({ type: "module", dependencies: { "@types/node": "*" } }),
    );
    const samples = readProgramPages().flatMap(({ blocks }) => blocks).filter(isSample);
    assertGreater(samples.length, 9);
    const programs = new Map([
      ["mistaken.ts", mistaken],
      ...samples.map((each) => [fileOf(each), each.text] as const),
    ]);
    for (const [file, text] of programs) await Deno.writeTextFile(`${folder}/${file}`, text);
    const files = [...programs.keys()];

    await t.step("checked by Deno", async () => {
      await runCommand(Deno.execPath(), ["check", "--quiet", ...files], { cwd: folder });
    });
    for (const compiler of compilers) {
      const { typescript, moduleResolution } = compiler;
      await t.step(`compiled by ${typescript}, ${moduleResolution}`, async () => {
        // Programs of Node, and A2A's types, name those of Node.
        await compileWith(compiler, { folder, files, types: ["node"] });
      });
    }
    tried(`${samples.length} programs of the pages, ${compilers.length} compilers`);
  },
);
