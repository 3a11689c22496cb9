/**
 * Bundles the threads in which streams schedule their cells, as text: so they start in every
 * runtime and from every bundle, and need no permission to read files.
 */
import { bundle, createProject, type Project } from "./bundle.ts";

export type WorkerRuntime = "deno" | "node" | "browser";

const runtimes = ["deno", "node", "browser"] as const;

/** All bundles are made at the first call, in one project. */
export function createWorkerGenerator(): (runtime: WorkerRuntime) => Promise<string> {
  const made: { all?: Promise<ReadonlyMap<WorkerRuntime, string>> } = {};
  return async (runtime) => (await (made.all ??= generateAll())).get(runtime) ?? "";
}

async function generateAll(): Promise<ReadonlyMap<WorkerRuntime, string>> {
  await using project = await createProject();
  const made = new Map<WorkerRuntime, string>();
  for (const runtime of runtimes) made.set(runtime, await generate(runtime, project));
  return made;
}

async function generate(runtime: WorkerRuntime, project: Project): Promise<string> {
  const entry = `sdk/platform/${runtime}_worker.ts`;
  const file = `${project.folder}/${runtime}_worker.js`;
  await bundle({
    entry,
    file,
    minify: true,
    runtime: runtime === "browser" ? "browser" : "node",
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
