/**
 * Bundles with esbuild. The argument is a list of options as JSON; prints, as JSON, the files that
 * each bundle is made of.
 */
import { basename, dirname } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import type { BundleOptions } from "../bundle.ts";

/** Some files are told instead of read. */
function replace(texts: Readonly<Record<string, string>>): Plugin {
  return {
    name: "replace",
    setup: ({ onLoad }) => {
      for (const [end, contents] of Object.entries(texts)) {
        onLoad(
          { filter: new RegExp(`${end.replaceAll(".", "\\.")}$`) },
          () => ({ contents, loader: "js" }),
        );
      }
    },
  };
}

/** A module with a bundle of its own is imported by its address. */
function apart(addresses: Readonly<Record<string, string>>): Plugin {
  return {
    name: "apart",
    setup: ({ onResolve }) => {
      onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
        if (kind === "entry-point") return undefined;
        const { pathname } = new URL(path, `file://${resolveDir}/`);
        const found = Object.entries(addresses).find(([end]) => pathname.endsWith(`/${end}`));
        return found === undefined ? undefined : { path: found[1], external: true };
      });
    },
  };
}

/**
 * Nothing of ours, or that we depend on, does anything by being imported, except the entry itself.
 */
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

async function bundle(options: BundleOptions): Promise<readonly string[]> {
  const {
    entry,
    file,
    runtime,
    format,
    target,
    alias,
    external,
    nodePaths,
    banner,
    minify,
    split,
    onlyWhatIsUsed,
  } = options;
  const plugins = [replace(options.replace ?? {}), apart(options.apart ?? {})];
  const { metafile } = await build({
    ...(typeof entry === "string"
      ? { entryPoints: [entry] }
      : { stdin: { contents: entry.text, resolveDir: entry.folder } }),
    ...(split === true
      ? { outdir: dirname(file), entryNames: basename(file, ".js"), splitting: true }
      : { outfile: file }),
    bundle: true,
    metafile: true,
    platform: runtime,
    format: format ?? "esm",
    target,
    minify: minify === true,
    logLevel: "silent",
    ...(alias === undefined ? {} : { alias }),
    ...(external === undefined ? {} : { external: [...external] }),
    ...(nodePaths === undefined ? {} : { nodePaths: [...nodePaths] }),
    ...(banner === undefined ? {} : { banner: { js: banner } }),
    plugins: onlyWhatIsUsed === true ? [...plugins, dropUnused] : plugins,
    ...(onlyWhatIsUsed === true ? { legalComments: "none" } : {}),
  });
  return Object.keys(metafile.inputs);
}

const all: readonly BundleOptions[] = JSON.parse(Deno.args[0] ?? "[]");
const inputs = await Promise.all(all.map(bundle));
await stop();
console.log(JSON.stringify(inputs));
