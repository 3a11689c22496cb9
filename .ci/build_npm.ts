/**
 * Builds the npm package `static-sdk` into `dist/npm` and packs it: ES modules and types by plain `tsc`, dependencies with
 * the versions of `deno.json`, and one `#platform` per runtime by conditions. `deno task build:npm` prints where it is.
 */
import { listFiles } from "./source.ts";

export interface NpmPackage {
  /** The unpacked package. */
  readonly folder: string;
  readonly tarball: string;
}

const name = "static-sdk";
const version = "0.1.0";
/** What the package is made of; everything that these do not import stays outside. */
const entries = ["sdk/mod.ts", "sdk/platform/browser.ts", "sdk/platform/deno.ts", "sdk/platform/node.ts"];
const sources = /^(sdk|proto|wasm)\/(?!assembly\/).*(?<!_test)\.ts$/;
const repository = new URL("../", import.meta.url).pathname;

const manifest = {
  name,
  version,
  description: "End-to-end encrypted channels for software agents",
  license: "Apache-2.0",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  exports: { ".": { types: "./sdk/mod.d.ts", default: "./sdk/mod.js" } },
  imports: {
    "#platform": {
      deno: "./sdk/platform/deno.js",
      browser: "./sdk/platform/browser.js",
      default: "./sdk/platform/node.js",
    },
  },
};

/** `out` is emptied first. */
export async function buildPackage(out: string): Promise<NpmPackage> {
  await Deno.remove(out, { recursive: true }).catch(() => {});
  const folder = `${out}/npm`;
  await Deno.mkdir(folder, { recursive: true });
  const work = await Deno.makeTempDir({ prefix: "static-build-" });
  try {
    await copySources(work);
    await compile(work, folder);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify(await describe(folder), null, 2));
  await Deno.copyFile(`${repository}LICENSE`, `${folder}/LICENSE`);
  await Deno.copyFile(`${repository}sdk/README.md`, `${folder}/README.md`);
  await run("npm", ["pack", "--silent", "--pack-destination", out], folder);
  return { folder, tarball: `${out}/${name}-${version}.tgz` };
}

async function copySources(work: string): Promise<void> {
  const generated = ["proto/gen/relay_pb.ts", ...await generatedWasm()];
  const paths = [...await listFiles(repository), ...generated].filter((path) => sources.test(path));
  for (const path of paths) {
    await Deno.mkdir(`${work}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    await Deno.copyFile(repository + path, `${work}/${path}`);
  }
}

async function generatedWasm(): Promise<string[]> {
  const files = await Array.fromAsync(Deno.readDir(`${repository}wasm/gen`));
  return files.map(({ name }) => `wasm/gen/${name}`);
}

/** Types are checked once more here: against Node's and the DOM's, and a library no newer than Node 20. */
async function compile(work: string, folder: string): Promise<void> {
  const { imports, compilerOptions } = await readConfig();
  const packages = Object.entries(imports).filter(([, target]) => target.startsWith("npm:"));
  await writeJson(`${work}/deno.json`, { imports: Object.fromEntries(packages), nodeModulesDir: "auto" });
  await Deno.copyFile(`${repository}deno.lock`, `${work}/deno.lock`);
  await run(Deno.execPath(), ["install", "--quiet"], work);
  await writeJson(`${work}/package.json`, { type: "module" });
  await writeJson(`${work}/tsconfig.json`, {
    compilerOptions: {
      ...compilerOptions,
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
      module: "nodenext",
      rewriteRelativeImportExtensions: true,
      declaration: true,
      types: ["node"],
      paths: { "#platform": ["./sdk/platform/node.ts"] },
      rootDir: ".",
      outDir: folder,
      // Ours is checked; what dependencies declare is theirs.
      skipLibCheck: true,
    },
    files: entries,
  });
  await run(Deno.execPath(), ["run", "-A", "node_modules/typescript/bin/tsc", "-p", "."], work);
}

/** The dependencies are what the compiled modules really import. */
async function describe(folder: string): Promise<Record<string, unknown>> {
  const { imports } = await readConfig();
  const used = new Set<string>();
  for (const path of await listFiles(folder)) {
    if (!path.endsWith(".js")) continue;
    const text = await Deno.readTextFile(`${folder}/${path}`);
    for (const [, specifier = ""] of text.matchAll(/^(?:import|export)\b[^;"]*"([^"]+)";/gm)) used.add(specifier);
  }
  const dependencies = Object.entries(imports)
    .filter(([name]) => [...used].some((specifier) => specifier === name || specifier.startsWith(`${name}/`)))
    .filter(([, target]) => target.startsWith("npm:"))
    .map(([name, target]) => [name, target.slice(target.lastIndexOf("@") + 1)]);
  return { ...manifest, dependencies: Object.fromEntries(dependencies) };
}

interface DenoConfig {
  readonly imports: Readonly<Record<string, string>>;
  readonly compilerOptions: Readonly<Record<string, unknown>>;
}

async function readConfig(): Promise<DenoConfig> {
  return JSON.parse(await Deno.readTextFile(`${repository}deno.json`));
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, JSON.stringify(value));
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, stdin: "null" }).output();
  if (success) return;
  const decoder = new TextDecoder();
  throw new Error(`${command} ${args.join(" ")} failed: ${decoder.decode(stdout)}${decoder.decode(stderr)}`);
}

if (import.meta.main) {
  const { tarball } = await buildPackage(`${repository}dist`);
  console.log(tarball.slice(repository.length));
}
