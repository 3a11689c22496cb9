/**
 * Bundles the threads in which streams schedule their cells, as text: so they start in every runtime and from every bundle,
 * and need no permission to read files.
 */
import { build, type Plugin } from "esbuild";
import { createProject } from "./bundle.ts";

export type WorkerRuntime = "deno" | "node" | "browser";

export async function generateWorker(runtime: WorkerRuntime): Promise<string> {
  const entry = `sdk/platform/${runtime}_worker.ts`;
  await using project = await createProject();
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    legalComments: "none",
    charset: "ascii",
    platform: runtime === "node" ? "node" : "browser",
    // Node starts a script, the others a module.
    format: runtime === "node" ? "cjs" : "esm",
    target: runtime === "browser" ? "chrome115" : "es2022",
    nodePaths: [`${project.folder}/node_modules`],
    logLevel: "silent",
    plugins: [onlyWhatIsUsed],
  });
  const text = outputFiles[0]?.text ?? "";
  const lines = text.match(/[^]{1,110}/g)?.map((line) => `  ${JSON.stringify(line)}`).join(" +\n");
  return `/** Built from ${entry} by tools/generate_workers.ts; do not edit. */\nexport const source =\n${lines};\n`;
}

/** Nothing of ours, or that we depend on, does anything by being imported, except the entry itself. */
const onlyWhatIsUsed: Plugin = {
  name: "only what is used",
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /./ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (pluginData === "resolved") return undefined;
      const found = await resolve(path, { importer, kind, resolveDir, pluginData: "resolved" });
      return { ...found, sideEffects: kind === "entry-point" };
    });
  },
};
