/**
 * Bundles the pages of the console, as text: the API serves them from memory and needs neither a bundler nor their
 * packages. Shared code (preact, htm) and rarely needed code (the plot) are files of their own.
 */
import { bundle, createProject, type Project } from "./bundle.ts";

export interface ConsoleBundle {
  readonly name: string;
  readonly entry: string;
}

export const consoleBundles: readonly ConsoleBundle[] = [
  { name: "ui", entry: "api/console/page/ui.ts" },
  { name: "shared", entry: "api/console/page/shared.ts" },
  { name: "plot", entry: "api/console/page/plot.ts" },
  { name: "console", entry: "api/console/page/console.ts" },
  { name: "operator", entry: "api/console/page/operator/operator.ts" },
  { name: "live", entry: "api/console/page/live/live.ts" },
  { name: "worker", entry: "sdk/platform/browser_worker.ts" },
  { name: "style", entry: "api/console/page/style.css" },
];

/** Of `tools/npm`. */
const packages = ["htm", "preact", "uplot"];
const notices = "/*! With preact (MIT, Jason Miller), htm (Apache-2.0, Google) and uPlot (MIT, Leon Sorokin). */";
const apart = { "page/ui.ts": "./ui.js", "page/plot.ts": "./plot.js", "page/live/live.ts": "./live.js" };
const shared = Object.fromEntries(
  ["context", "elements", "frame", "service"].map((name) => [`page/${name}.ts`, "./shared.js"]),
);
const lineLength = 110;

/** The SDK's worker is a file, because the policy of the console allows no other; and its agents have no passphrase. */
const replace = {
  "sdk/gen/browser_worker.ts": 'export const source = "";',
  "sdk/store/argon2.ts": "export const argon2id = undefined;",
};

/** All bundles are made at the first call, in one project. */
export function createConsoleGenerator(): (one: ConsoleBundle) => Promise<string> {
  const made: { all?: Promise<ReadonlyMap<string, string>> } = {};
  return async ({ name }) => (await (made.all ??= generateAll())).get(name) ?? "";
}

async function generateAll(): Promise<ReadonlyMap<string, string>> {
  await using project = await createProject(packages);
  const texts = await Promise.all(consoleBundles.map(async (one) => [one.name, await generate(one, project)] as const));
  return new Map(texts);
}

async function generate({ name, entry }: ConsoleBundle, project: Project): Promise<string> {
  const isStyle = entry.endsWith(".css");
  const file = `${project.folder}/${name}${isStyle ? ".css" : ".js"}`;
  await bundle({
    entry,
    file,
    // The SDK is large and changes often.
    ...(name === "live" ? { byLine: true } : { minify: true }),
    runtime: "browser",
    format: "esm",
    target: "chrome115",
    nodePaths: [`${project.folder}/node_modules`],
    apart: { ...apart, ...(name === "shared" ? {} : shared) },
    alias: {
      "#platform": ours("sdk/platform/browser.ts"),
      "#hosts": ours("sdk/no_hosts.ts"),
      "static-sdk": ours("sdk/mod.ts"),
    },
    replace,
    ...(isStyle ? {} : { onlyWhatIsUsed: true }),
    ...(isStyle || name === "worker" ? {} : { banner: notices }),
  });
  const text = await Deno.readTextFile(file);
  const pieces = name === "live"
    ? withoutPaths(text).match(/[^\n]*\n/g)
    : text.match(new RegExp(`[^]{1,${lineLength}}`, "g"));
  // A list, because a sum of thousands of texts is too deep for compilers.
  const lines = pieces?.map((piece) => `  ${JSON.stringify(piece)},\n`).join("");
  return `/** Built from ${entry} by tools/generate_console.ts; do not edit. */\nexport const text = [\n${lines}].join("");\n`;
}

/** Comments that name a module: some are in a folder with another name each time. */
function withoutPaths(text: string): string {
  return text.replaceAll(/^\/\/ \S+\.\w+\n/gm, "");
}

function ours(file: string): string {
  return new URL(`../${file}`, import.meta.url).pathname;
}
