/** Bundles with esbuild; the argument is the options as JSON. */
import { basename, dirname } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import type { BundleOptions } from "../bundle.ts";

const options: BundleOptions = JSON.parse(Deno.args[0] ?? "{}");
const { entry, file, runtime, format, target, alias, external, nodePaths, banner, minify, split, onlyWhatIsUsed } =
  options;

/** Some files are told instead of read. */
const replace: Plugin = {
  name: "replace",
  setup: ({ onLoad }) => {
    for (const [end, contents] of Object.entries(options.replace ?? {})) {
      onLoad({ filter: new RegExp(`${end.replaceAll(".", "\\.")}$`) }, () => ({ contents, loader: "js" }));
    }
  },
};

/** A module with a bundle of its own is imported by its address. */
const apart: Plugin = {
  name: "apart",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
      if (kind === "entry-point") return undefined;
      const { pathname } = new URL(path, `file://${resolveDir}/`);
      const found = Object.entries(options.apart ?? {}).find(([end]) => pathname.endsWith(`/${end}`));
      return found === undefined ? undefined : { path: found[1], external: true };
    });
  },
};

/** Nothing of ours, or that we depend on, does anything by being imported, except the entry itself. */
const dropUnused: Plugin = {
  name: "only what is used",
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /./ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (pluginData === "resolved") return undefined;
      const found = await resolve(path, { importer, kind, resolveDir, pluginData: "resolved" });
      return { ...found, sideEffects: kind === "entry-point" };
    });
  },
};

await build({
  ...(typeof entry === "string"
    ? { entryPoints: [entry] }
    : { stdin: { contents: entry.text, resolveDir: entry.folder } }),
  ...(split === true
    ? { outdir: dirname(file), entryNames: basename(file, ".js"), splitting: true }
    : { outfile: file }),
  bundle: true,
  platform: runtime,
  format: format ?? "esm",
  target,
  minify: minify === true,
  ...(options.byLine === true ? { minifySyntax: true } : {}),
  logLevel: "silent",
  ...(alias === undefined ? {} : { alias }),
  ...(external === undefined ? {} : { external: [...external] }),
  ...(nodePaths === undefined ? {} : { nodePaths: [...nodePaths] }),
  ...(banner === undefined ? {} : { banner: { js: banner } }),
  plugins: onlyWhatIsUsed === true ? [replace, apart, dropUnused] : [replace, apart],
  ...(onlyWhatIsUsed === true ? { legalComments: "none" } : {}),
});
await stop();
