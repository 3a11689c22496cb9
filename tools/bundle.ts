/**
 * Bundles TypeScript of ours for another runtime. Dependencies come from a `node_modules` that Deno fills from its own cache
 * and the lock file, in a temporary folder: nothing is downloaded twice, and nothing appears in the checkout.
 */
import { build, stop } from "esbuild";

export interface Project {
  readonly folder: string;
  /** Answers the path of the bundle. `external` names packages that stay outside it. */
  bundle(entry: URL, platform: "node" | "browser", external?: readonly string[]): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What loads files of its own cannot be bundled; Node finds it in the project's `node_modules`, beside the bundle. */
const external = ["classic-level", "mls-ts"];

/** Large, and no runtime needs them. */
const tools = ["typescript", "assemblyscript", "@types/node"];

export async function createProject(): Promise<Project> {
  const folder = await Deno.makeTempDir({ prefix: "static-runtime-" });
  const { imports } = JSON.parse(await Deno.readTextFile(root("deno.json")));
  const packages = Object.entries(imports).filter(([name, target]) =>
    String(target).startsWith("npm:") && !tools.includes(name)
  );
  const config = { imports: Object.fromEntries(packages), nodeModulesDir: "auto" };
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(config));
  await Deno.copyFile(root("deno.lock"), `${folder}/deno.lock`);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args: ["install", "--quiet"], cwd: folder })
    .output();
  if (!success) throw new Error(`Cannot prepare node_modules: ${new TextDecoder().decode(stderr)}`);
  return {
    folder,
    bundle: (entry, platform, more = []) => bundle(folder, entry, platform, [...external, ...more]),
    [Symbol.asyncDispose]: async () => {
      await stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function bundle(
  folder: string,
  entry: URL,
  platform: "node" | "browser",
  outside: readonly string[],
): Promise<string> {
  const outfile = `${folder}/${platform}.mjs`;
  await build({
    entryPoints: [entry.pathname],
    outfile,
    bundle: true,
    platform,
    format: "esm",
    target: platform === "node" ? "node20" : "chrome115",
    external: platform === "node" ? [...outside] : [],
    nodePaths: [`${folder}/node_modules`],
    alias: {
      "#platform": root(`sdk/platform/${platform}.ts`).pathname,
      "static-sdk": root("sdk/mod.ts").pathname,
    },
    // CommonJS dependencies ask for Node's built-in modules by `require`, which ES modules do not have.
    ...(platform === "node"
      ? {
        banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      }
      : {}),
    logLevel: "silent",
  });
  return outfile;
}

function root(file: string): URL {
  return new URL(`../${file}`, import.meta.url);
}
