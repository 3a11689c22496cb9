// The pages' programs as a reader checks them: in a project of their own that has the npm package. Also those that are not run.
import { assertGreater } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { installPackage, packageTools } from "../support/runtime/npm_package.ts";
import { readPages } from "../../tools/pages/markdown.ts";

testWhen(packageTools, "the pages' programs have no type errors against the npm package", async () => {
  await using project = await installPackage();
  const folder = `${project.folder}/reader`;
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ nodeModulesDir: "manual" }));
  await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify({ type: "module" }));
  const programs = readPages().flatMap(({ blocks }) => blocks)
    .filter(({ language, text }) => language === "ts" && /\bfrom "static-sdk/.test(text));
  const files = programs.map(({ page, line }) => `${page.replace(/\W+/g, "_")}_${line}.ts`);
  assertGreater(files.length, 5);
  for (const [index, { text }] of programs.entries()) await Deno.writeTextFile(`${folder}/${files[index]}`, text);
  await runCommand(Deno.execPath(), ["check", "--quiet", ...files], { cwd: folder });
  tried(`${files.length} programs of the pages`);
});
