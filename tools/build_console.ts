/**
 * `deno task build`: bundles the console, whose files the API reads. They are in a folder of
 * `dist/console/` that is named after everything that they are made of, so that a second call finds
 * it and makes nothing, and `dist/console/current` has its name. Both appear as a whole, also when
 * several processes build at once. Shared code (preact, htm) and rarely needed code (the plot) are
 * files of their own.
 */
import { fileURLToPath } from "node:url";
import { bundleAll, type BundleOptions, createProject } from "./bundle.ts";
import { filesBelow, isTest } from "./source.ts";

interface BundleEntry {
  readonly name: string;
  readonly entry: string;
}

const files: readonly BundleEntry[] = [
  { name: "ui.js", entry: "api/console/page/ui.ts" },
  { name: "shared.js", entry: "api/console/page/shared.ts" },
  { name: "plot.js", entry: "api/console/page/plot.ts" },
  { name: "console.js", entry: "api/console/page/console.ts" },
  { name: "operator.js", entry: "api/console/page/operator/operator.ts" },
  { name: "live.js", entry: "api/console/page/live/live.ts" },
  { name: "worker.js", entry: "sdk/platform/browser_worker.ts" },
  { name: "console.css", entry: "api/console/page/style.css" },
];

/** Packages of `tools/npm`. */
const packages = ["esbuild", "htm", "preact", "uplot"];
const notices =
  "/*! With preact (MIT, Jason Miller), htm (Apache-2.0, Google) and uPlot (MIT, Leon Sorokin). */";
const apart = {
  "page/ui.ts": "./ui.js",
  "page/plot.ts": "./plot.js",
  "page/live/live.ts": "./live.js",
};
const shared = Object.fromEntries(
  ["context", "elements", "frame", "service"].map((name) => [`page/${name}.ts`, "./shared.js"]),
);

/**
 * The SDK's worker is a file, because the policy of the console allows no other; and its agents
 * have no passphrase.
 */
const replace = {
  "sdk/gen/browser_worker.ts": 'export const source = "";',
  "sdk/store/argon2.ts": "export const argon2id = undefined;",
};

/**
 * Everything that decides what the files are: sources, versions of packages, and what bundles them.
 */
const folders = ["api/console/page", "proto", "sdk", "wasm"];
const others = [
  "api/console/icon.ts",
  "deno.json",
  "deno.lock",
  "tools/build_console.ts",
  "tools/bundle.ts",
  "tools/npm.ts",
  "tools/npm/bundle.ts",
  "tools/npm/deno.json",
  "tools/npm/deno.lock",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const place = `${root}dist/console`;

export interface BuiltConsole {
  /** From the repository. */
  readonly folder: string;
  /** False when everything was there. */
  readonly isNew: boolean;
}

/** Throws when the files cannot be made or kept. */
export async function buildConsole(): Promise<BuiltConsole> {
  const name = await hashInputs();
  const folder = `dist/console/${name}`;
  if (await currentName() === name) return { folder, isNew: false };
  await Deno.mkdir(place, { recursive: true });
  using lock = await Deno.open(`${place}/lock`, { create: true, write: true });
  await lock.lock(true);
  const before = await currentName();
  // Another process was building it.
  if (before === name) return { folder, isNew: false };
  await removeAllBut(before);
  await Deno.mkdir(`${place}/making`);
  await bundleFiles(`${place}/making`);
  if (await hashInputs() !== name) {
    throw new Error("The console's sources changed while they were bundled. Run it again.");
  }
  await Deno.rename(`${place}/making`, `${place}/${name}`);
  await Deno.writeTextFile(`${place}/next`, name);
  await Deno.rename(`${place}/next`, `${place}/current`);
  await removeAllBut(name);
  return { folder, isNew: true };
}

async function currentName(): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(`${place}/current`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Also removes what a process left that was ended. */
async function removeAllBut(name = ""): Promise<void> {
  for await (const entry of Deno.readDir(place)) {
    if (!["lock", "current", name].includes(entry.name)) {
      await Deno.remove(`${place}/${entry.name}`, { recursive: true });
    }
  }
}

async function listInputs(): Promise<string[]> {
  const found = await Promise.all(folders.map((folder) => filesBelow(root, folder)));
  return [...found.flat().filter((path) => /\.(ts|css)$/.test(path) && !isTest(path)), ...others]
    .sort();
}

async function hashInputs(): Promise<string> {
  const lines = (await listInputs()).map(async (path) =>
    `${await sha256(await Deno.readFile(root + path))} ${path}\n`
  );
  const text = `Deno ${Deno.version.deno}\n${(await Promise.all(lines)).join("")}`;
  return (await sha256(new TextEncoder().encode(text))).slice(0, 16);
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function bundleFiles(folder: string): Promise<void> {
  await using project = await createProject(packages);
  const nodePaths = [`${project.folder}/node_modules`];
  const used = (await bundleAll(files.map((file) => optionsOf(file, folder, nodePaths)), project))
    .flat();
  // Else it could change without a new build.
  const known = new Set(await listInputs());
  const unknown = used.filter((path) => !path.includes("node_modules/") && !known.has(path));
  if (unknown.length > 0) {
    throw new Error(`The name of a build must depend on ${unknown.join(", ")}, too`);
  }
}

function optionsOf(
  { name, entry }: BundleEntry,
  folder: string,
  nodePaths: readonly string[],
): BundleOptions {
  return {
    entry,
    file: `${folder}/${name}`,
    minify: true,
    runtime: "browser",
    target: "chrome115",
    nodePaths,
    apart: { ...apart, ...(name === "shared.js" ? {} : shared) },
    alias: {
      "#platform": `${root}sdk/platform/browser.ts`,
      "#hosts": `${root}sdk/host/no_hosts.ts`,
      "static-sdk": `${root}sdk/mod.ts`,
    },
    replace,
    // This option makes the worker's file half as large, and the others no smaller.
    ...(name === "worker.js" ? { onlyWhatIsUsed: true } : {}),
    ...(name.endsWith(".css") || name === "worker.js" ? {} : { banner: notices }),
  };
}

if (import.meta.main) {
  const { folder, isNew } = await buildConsole();
  console.log(`${folder} ${isNew ? "is built" : "is current"}`);
}
