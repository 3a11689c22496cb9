/**
 * Bundles TypeScript of ours for another runtime. Dependencies come from a `node_modules` that Deno
 * fills from its own cache and the lock file, in a temporary folder: nothing is downloaded twice,
 * and nothing appears in the checkout.
 */
import { installPackages, runNpmScript } from "./npm.ts";

export interface BundleOptions {
  /**
   * A file, whose path may be that in the repository, or a text whose imports are looked up from a
   * folder.
   */
  readonly entry: string | { readonly text: string; readonly folder: string };
  /** Where the bundle is written. */
  readonly file: string;
  readonly runtime: "node" | "browser";
  readonly target: string;
  readonly format?: "esm" | "cjs";
  readonly alias?: Readonly<Record<string, string>>;
  /** Packages that stay outside. */
  readonly external?: readonly string[];
  readonly nodePaths?: readonly string[];
  /** Code that stands before everything else. */
  readonly banner?: string;
  readonly minify?: boolean;
  /** Text instead of a file, by how the file's path ends. */
  readonly replace?: Readonly<Record<string, string>>;
  /**
   * Modules that are a file of their own: by how an import ends, the address under which the bundle
   * finds it.
   */
  readonly apart?: Readonly<Record<string, string>>;
  /**
   * Modules that are imported when they are needed become files of its own, in the same folder; the
   * bundle's name ends with `.js`.
   */
  readonly split?: boolean;
  /** Leaves out modules of which nothing is used, as if none did anything by being imported. */
  readonly onlyWhatIsUsed?: boolean;
}

export interface Project {
  readonly folder: string;
  /** Returns the path of the bundle. `external` names packages that stay outside it. */
  bundle(entry: URL, platform: "node" | "browser", external?: readonly string[]): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A package that loads its own files cannot be bundled; Node finds it in the project's
 * `node_modules`, beside the bundle.
 */
const external = ["classic-level"];

export async function bundle(options: BundleOptions): Promise<void> {
  await bundleAll([options]);
}

/**
 * Returns the files that each bundle is made of. A project that has esbuild is the bundler's:
 * otherwise Deno downloads everything that `tools/npm` names.
 */
export async function bundleAll(
  all: readonly BundleOptions[],
  project?: Pick<Project, "folder">,
): Promise<readonly (readonly string[])[]> {
  return JSON.parse(new TextDecoder().decode(
    await runNpmScript("bundle.ts", {
      args: [JSON.stringify(all)],
      ...(project !== undefined && { project: project.folder }),
    }),
  ));
}

/** `packages` are names of `tools/npm/deno.json`, installed beside the project's own. */
export async function createProject(packages: readonly string[] = []): Promise<Project> {
  const folder = await Deno.makeTempDir({ prefix: "static-runtime-" });
  await installPackages(folder, packages);
  return {
    folder,
    bundle: (entry, platform, more = []) =>
      bundleInto(folder, entry, platform, [...external, ...packages, ...more]),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function bundleInto(
  folder: string,
  entry: URL,
  platform: "node" | "browser",
  outside: readonly string[],
): Promise<string> {
  const file = `${folder}/${platform}.mjs`;
  await bundle({
    entry: entry.pathname,
    file,
    runtime: platform,
    target: platform === "node" ? "node20" : "chrome115",
    external: platform === "node" ? outside : [],
    nodePaths: [`${folder}/node_modules`],
    alias: {
      "#platform": root(`sdk/platform/${platform}.ts`).pathname,
      "#hosts":
        root(platform === "node" ? "sdk/host/connect_host.ts" : "sdk/host/no_hosts.ts").pathname,
      "static-sdk": root("sdk/mod.ts").pathname,
    },
    // CommonJS dependencies ask for Node's built-in modules by `require`, which ES modules do not
    // have.
    ...(platform === "node"
      ? {
        banner:
          'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      }
      : {}),
  });
  return file;
}

function root(file: string): URL {
  return new URL(`../${file}`, import.meta.url);
}
