/**
 * Builds the npm packages `static-sdk` and `static-cli` below `dist` and packs them: ES modules and
 * types by plain `tsc`, dependencies with the versions of `deno.json`, and one `#platform` and
 * `#hosts` per runtime by conditions. `deno task build:npm` prints where they are.
 */
import { version } from "../proto/mod.ts";
import { installPackages } from "./npm.ts";
import { bundleTypes } from "./public_types.ts";
import { filesBelow } from "./source.ts";

export interface NpmPackage {
  /** The unpacked package. */
  readonly folder: string;
  readonly tarball: string;
}

export interface PackageDefinition {
  readonly name: string;
  /** Modules that the package is made of; everything that these do not import stays outside. */
  readonly entries: readonly string[];
  readonly readme: string;
  /** Files of the package, each the text that a compiled module exports as `source`. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** Whether others compile against it. */
  readonly declaration: boolean;
  readonly manifest: Readonly<Record<string, unknown>>;
}

const sources = /^(cli|sdk|proto|wasm)\/(?!assembly\/).*(?<!_test)\.ts$/;
const repository = new URL("../", import.meta.url).pathname;

export const sdkPackage: PackageDefinition = {
  name: "static-sdk",
  entries: [
    "sdk/mod.ts",
    "sdk/a2a/mod.ts",
    "sdk/host/server/main.ts",
    "sdk/host/connect_host.ts",
    "sdk/host/no_hosts.ts",
    "sdk/platform/browser.ts",
    "sdk/platform/deno.ts",
    "sdk/platform/node.ts",
  ],
  readme: "sdk/README.md",
  scripts: { "sdk/browser_worker.js": "sdk/gen/browser_worker.js" },
  declaration: true,
  manifest: {
    description: "End-to-end encrypted channels for software agents",
    sideEffects: false,
    keywords: ["mls", "rfc9420", "end-to-end encryption", "agents", "messaging"],
    types: "./sdk/mod.d.ts",
    exports: {
      ".": { types: "./sdk/mod.d.ts", default: "./sdk/mod.js" },
      "./a2a": { types: "./sdk/a2a/mod.d.ts", default: "./sdk/a2a/mod.js" },
      "./browser_worker.js": "./sdk/browser_worker.js",
      "./package.json": "./package.json",
    },
    imports: {
      "#platform": {
        deno: "./sdk/platform/deno.js",
        browser: "./sdk/platform/browser.js",
        default: "./sdk/platform/node.js",
      },
      "#hosts": { browser: "./sdk/host/no_hosts.js", default: "./sdk/host/connect_host.js" },
    },
  },
};

/** The program carries the SDK of its own version, so that the two always fit. */
export const cliPackage: PackageDefinition = {
  name: "static-cli",
  entries: [
    "cli/main.ts",
    "sdk/host/server/main.ts",
    "sdk/host/connect_host.ts",
    "sdk/platform/node.ts",
  ],
  readme: "cli/README.md",
  declaration: false,
  manifest: {
    description: "The command line of Static: end-to-end encrypted channels for software agents",
    bin: { static: "cli/main.js" },
    imports: { "#platform": "./sdk/platform/node.js", "#hosts": "./sdk/host/connect_host.js" },
  },
};

/** `out` is emptied first. */
export async function buildPackage(
  out: string,
  definition: PackageDefinition = sdkPackage,
): Promise<NpmPackage> {
  await Deno.remove(out, { recursive: true }).catch(() => {});
  const { name, readme } = definition;
  const folder = `${out}/npm`;
  await Deno.mkdir(folder, { recursive: true });
  const work = await Deno.makeTempDir({ prefix: "static-build-" });
  try {
    await copySources(work);
    await compile(work, folder, definition);
    if (definition.declaration) await keepPublicTypes(folder);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  await Deno.writeTextFile(
    `${folder}/package.json`,
    JSON.stringify(await describe(folder, definition), null, 2),
  );
  for (const [file, module] of Object.entries(definition.scripts ?? {})) {
    const { source }: { readonly source: string } = await import(`file://${folder}/${module}`);
    await Deno.writeTextFile(`${folder}/${file}`, source);
  }
  await Deno.copyFile(`${repository}LICENSE`, `${folder}/LICENSE`);
  await Deno.copyFile(repository + readme, `${folder}/README.md`);
  await run("npm", ["pack", "--silent", "--pack-destination", out], folder);
  return { folder, tarball: `${out}/${name}-${version}.tgz` };
}

/**
 * Every file that a package depends on, this one included: when none of them has changed, neither
 * has the package.
 */
export async function sourcesOf({ readme }: PackageDefinition): Promise<string[]> {
  const others = [
    readme,
    "LICENSE",
    "deno.json",
    "deno.lock",
    "tools/npm/deno.lock",
    "tools/build_npm.ts",
    "tools/public_types.ts",
  ];
  return [...await listSources(), ...others].map((path) => repository + path);
}

async function listSources(): Promise<string[]> {
  return (await filesBelow(repository)).filter((path) => sources.test(path));
}

async function copySources(work: string): Promise<void> {
  for (const path of await listSources()) {
    await Deno.mkdir(`${work}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    await Deno.copyFile(repository + path, `${work}/${path}`);
  }
}

/**
 * Types are checked once more here: against Node's and the DOM's, and a library no newer than Node
 * 20.
 */
async function compile(
  work: string,
  folder: string,
  { entries, declaration }: PackageDefinition,
): Promise<void> {
  const { compilerOptions } = await readConfig();
  await installPackages(work, ["typescript", "@types/node"]);
  await writeJson(`${work}/package.json`, { type: "module" });
  await writeJson(`${work}/tsconfig.json`, {
    compilerOptions: {
      ...compilerOptions,
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
      module: "nodenext",
      rewriteRelativeImportExtensions: true,
      declaration,
      // Symbols marked so are internal: programs that compile against the package do not see them.
      stripInternal: true,
      types: ["node"],
      paths: { "#platform": ["./sdk/platform/node.ts"], "#hosts": ["./sdk/host/connect_host.ts"] },
      rootDir: ".",
      outDir: folder,
      // Ours is checked; what dependencies declare is theirs.
      skipLibCheck: true,
    },
    files: entries,
  });
  await run(Deno.execPath(), ["run", "-A", "node_modules/typescript/bin/tsc", "-p", "."], work);
}

/** One file instead of one for each module; see `public_types.ts`. */
async function keepPublicTypes(folder: string): Promise<void> {
  const types = bundleTypes("sdk/mod.d.ts", (path) => Deno.readTextFileSync(`${folder}/${path}`));
  for (const path of await filesBelow(folder)) {
    // The parts of A2A over channels refer to the SDK by its public types alone.
    if (path.endsWith(".d.ts") && !path.startsWith("sdk/a2a/")) {
      await Deno.remove(`${folder}/${path}`);
    }
  }
  await Deno.writeTextFile(`${folder}/sdk/mod.d.ts`, types);
}

/**
 * For one entry alone: a program that uses it brings it along, and no other program installs it.
 */
const peers: ReadonlySet<string> = new Set(["@a2a-js/sdk"]);

/** The dependencies are what the compiled modules really import. */
async function describe(
  folder: string,
  { name, manifest }: PackageDefinition,
): Promise<Record<string, unknown>> {
  const { imports } = await readConfig();
  const used = new Set<string>();
  for (const path of await filesBelow(folder)) {
    if (!path.endsWith(".js")) continue;
    const text = await Deno.readTextFile(`${folder}/${path}`);
    for (const [, specifier = ""] of text.matchAll(/^(?:import|export)\b[^;"]*"([^"]+)";/gm)) {
      used.add(specifier);
    }
  }
  const dependencies = Object.entries(imports)
    .filter(([name]) =>
      [...used].some((specifier) => specifier === name || specifier.startsWith(`${name}/`))
    )
    .filter(([, target]) => target.startsWith("npm:"))
    .map(([name, target]) => [name, rangeOf(name, target.slice(target.lastIndexOf("@") + 1))]);
  const isPeer = ([each = ""]: readonly string[]): boolean => peers.has(each);
  const peerDependencies = Object.fromEntries(dependencies.filter(isPeer));
  const optional = Object.keys(peerDependencies).map((each) => [each, { optional: true }]);
  const common = {
    name,
    version,
    license: "Apache-2.0",
    type: "module",
    engines: { node: ">=20" },
  };
  return {
    ...common,
    ...manifest,
    dependencies: Object.fromEntries(dependencies.filter((each) => !isPeer(each))),
    ...(optional.length > 0 &&
      { peerDependencies, peerDependenciesMeta: Object.fromEntries(optional) }),
  };
}

/**
 * So that a fix reaches users without us. Of ts-mls we use modules behind its surface: no more than
 * its patches.
 */
function rangeOf(name: string, version: string): string {
  return `${name === "ts-mls" ? "~" : "^"}${version}`;
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
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    stdin: "null",
  }).output();
  if (success) return;
  const decoder = new TextDecoder();
  throw new Error(
    `${command} ${args.join(" ")} failed: ${decoder.decode(stdout)}${decoder.decode(stderr)}`,
  );
}

if (import.meta.main) {
  for (const definition of [sdkPackage, cliPackage]) {
    const { tarball } = await buildPackage(`${repository}dist/${definition.name}`, definition);
    console.log(tarball.slice(repository.length));
  }
}
