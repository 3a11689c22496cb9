/**
 * Bundles the threads in which streams schedule their cells, as text: so they start in every runtime and from every bundle,
 * and need no permission to read files.
 */
import { bundle, createProject } from "./bundle.ts";

export type WorkerRuntime = "deno" | "node" | "browser";

export async function generateWorker(runtime: WorkerRuntime): Promise<string> {
  const entry = `sdk/platform/${runtime}_worker.ts`;
  await using project = await createProject();
  const file = `${project.folder}/worker.js`;
  await bundle({
    entry,
    file,
    minify: true,
    runtime: runtime === "node" ? "node" : "browser",
    // Node starts a script, the others a module.
    format: runtime === "node" ? "cjs" : "esm",
    target: runtime === "browser" ? "chrome115" : "es2022",
    nodePaths: [`${project.folder}/node_modules`],
    onlyWhatIsUsed: true,
  });
  const text = await Deno.readTextFile(file);
  const lines = text.match(/[^]{1,110}/g)?.map((line) => `  ${JSON.stringify(line)}`).join(" +\n");
  return `/** Built from ${entry} by tools/generate_workers.ts; do not edit. */\nexport const source =\n${lines};\n`;
}
