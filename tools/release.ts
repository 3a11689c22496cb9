/**
 * Makes a release: `deno task release 0.2.0`. Sets the version, closes the changelog's section,
 * runs the tests and the campaign `packages`, packs the npm packages and the wheel, writes the SBOM
 * and the checksums to `dist/release`, then commits and tags. The tag comes last, so that a failed
 * step leaves no trace: the tree is put back as it was. Nothing is pushed or published. `--collect
 * 0.2.0` only packs a version that is tagged, for a forge.
 */
import { createSbom } from "./sbom.ts";

/** Runs a program in the repository. Throws with its output when it fails. */
export type ProgramRunner = (command: string, ...args: readonly string[]) => Promise<string>;

export interface ReleasePlan {
  /** Folder of the repository, with a slash at its end. */
  readonly root: string;
  readonly version: string;
  /** Day of the release, as 2026-11-16. */
  readonly day: string;
  /** Regenerates files, tests and packs; returns the paths of the packages. */
  readonly build: (run: ProgramRunner) => Promise<readonly string[]>;
}

/** Files that name the version. In pages only the file names of packages are replaced. */
const versionFiles = ["proto/base/version.ts", "sdk/python/src/static_sdk/_version.py"];
const pages = [
  "README.md",
  "examples/README.md",
  "cli/README.md",
  "sdk/README.md",
  "sdk/python/README.md",
  "docs/operations.md",
];

/**
 * Returns the names of the files in `dist/release`. Throws before anything changes when the tree is
 * not ready.
 */
export async function release({ root, version, day, build }: ReleasePlan): Promise<string[]> {
  const run = runIn(root);
  const current = await currentVersion(root);
  const problems = await findProblems(run, current, version);
  if (problems.length > 0) throw new Error(`Cannot release ${version}: ${problems.join("; ")}`);
  try {
    await setVersion(root, current, version);
    const changelog = await Deno.readTextFile(`${root}CHANGELOG.md`);
    await Deno.writeTextFile(`${root}CHANGELOG.md`, closeSection(changelog, version, day));
    const files = await collect(root, version, await build(run));
    await run(
      "git",
      "commit",
      "--all",
      "--quiet",
      "-m",
      `release: ${version}`,
      "-m",
      "See CHANGELOG.md.",
    );
    await run("git", "tag", "--annotate", `v${version}`, "-m", `Static ${version}`);
    return files;
  } catch (error) {
    await run("git", "restore", "--staged", "--worktree", ".");
    throw error;
  }
}

/**
 * Returns the changelog with its unreleased entries below a heading of their own. Throws when there
 * are none.
 */
export function closeSection(changelog: string, version: string, day: string): string {
  const [, before = "", entries = ""] =
    /^([^]*?\n## Unreleased\n)([^]*?)(?=\n## |$)/.exec(changelog) ?? [];
  if (!/^- /m.test(entries)) {
    throw new Error("CHANGELOG.md has no entry below Unreleased. Write what has changed.");
  }
  return `${before}\n## ${version}, ${day}\n${changelog.slice(before.length)}`;
}

/**
 * Returns whether `next` is a later semantic version than `current`. A pre-release comes before its
 * release.
 */
export function isLater(next: string, current: string): boolean {
  const [a, b] = [parse(next), parse(current)];
  for (const index of [0, 1, 2]) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  if (a.suffix === b.suffix) return false;
  if (a.suffix === "" || b.suffix === "") return a.suffix === "";
  return a.suffix.localeCompare(b.suffix, "en", { numeric: true }) > 0;
}

function parse(version: string): { readonly numbers: readonly number[]; readonly suffix: string } {
  const [, numbers, suffix = ""] = /^(\d+\.\d+\.\d+)(-[\da-z.-]+)?$/.exec(version) ?? [];
  if (numbers === undefined) {
    throw new Error(`"${version}" is not a version. Write it as 1.2.3 or 1.2.3-rc.1.`);
  }
  return { numbers: numbers.split(".").map(Number), suffix };
}

async function findProblems(
  run: ProgramRunner,
  current: string,
  version: string,
): Promise<string[]> {
  const problems: string[] = [];
  if (!isLater(version, current)) problems.push(`it is not later than ${current}`);
  if (await run("git", "status", "--porcelain") !== "") {
    problems.push("files have changes that are not committed (commit or discard them)");
  }
  if (await run("git", "tag", "--list", `v${version}`) !== "") {
    problems.push(`the tag v${version} exists`);
  }
  return problems;
}

async function currentVersion(root: string): Promise<string> {
  const text = await Deno.readTextFile(`${root}proto/base/version.ts`);
  return /version = "([^"]+)"/.exec(text)?.[1] ?? "";
}

async function setVersion(root: string, current: string, version: string): Promise<void> {
  for (const path of versionFiles) await replaceIn(root + path, `"${current}"`, `"${version}"`);
  for (const path of pages) {
    for (const name of ["static-sdk", "static-cli", "static_sdk"]) {
      await replaceIn(root + path, `${name}-${current}`, `${name}-${version}`);
    }
  }
}

async function replaceIn(path: string, from: string, to: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  if (text.includes(from)) await Deno.writeTextFile(path, text.replaceAll(from, to));
}

/** Copies the packages to `dist/release`, with the SBOM and the checksums of all. */
async function collect(
  root: string,
  version: string,
  packages: readonly string[],
): Promise<string[]> {
  const out = `${root}dist/release`;
  await Deno.remove(out, { recursive: true }).catch(() => {});
  await Deno.mkdir(out, { recursive: true });
  const names = packages.map((path) => path.slice(path.lastIndexOf("/") + 1));
  for (const [index, path] of packages.entries()) {
    await Deno.copyFile(root + path, `${out}/${names[index]}`);
  }
  const sbom = `static-${version}.cdx.json`;
  const lock = JSON.parse(await Deno.readTextFile(`${root}deno.lock`));
  await Deno.writeTextFile(
    `${out}/${sbom}`,
    JSON.stringify(createSbom(lock, version), null, 2) + "\n",
  );
  const listed = [...names, sbom].sort();
  const sums = await Promise.all(
    listed.map(async (name) => `${await sha256(`${out}/${name}`)}  ${name}\n`),
  );
  await Deno.writeTextFile(`${out}/SHA256SUMS`, sums.join(""));
  return [...listed, "SHA256SUMS"];
}

async function sha256(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(path))).toHex();
}

function runIn(root: string): ProgramRunner {
  return async (command, ...args) => {
    const child = new Deno.Command(command, { args: [...args], cwd: root, stdin: "null" });
    const { success, stdout, stderr } = await child.output();
    const [printed, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    if (!success) throw new Error(`${command} ${args.join(" ")} failed:\n${printed}${errors}`);
    return printed ?? "";
  };
}

/** As child processes, because modules that this process has loaded carry the version before. */
function buildWith({ skipTests }: { readonly skipTests: boolean }): ReleasePlan["build"] {
  return async (run) => {
    const deno = (...args: readonly string[]): Promise<string> =>
      run(Deno.execPath(), "task", "--quiet", ...args);
    await deno("generate");
    await deno("build");
    if (!skipTests) {
      await deno("test");
      await deno("stress", "packages");
    }
    const printed = [await deno("build:npm"), await deno("build:python")].join("\n");
    return printed.split("\n").filter((line) => /\.(tgz|whl)$/.test(line));
  };
}

/** Packs the version that the tree has. */
async function collectTagged(root: string, version: string): Promise<string[]> {
  const current = await currentVersion(root);
  if (current !== version) {
    throw new Error(`Cannot collect ${version}: the tree is at ${current}. Check out v${version}.`);
  }
  return await collect(root, version, await buildWith({ skipTests: true })(runIn(root)));
}

async function main(args: readonly string[]): Promise<string> {
  const [version = ""] = args.filter((arg) => !arg.startsWith("--"));
  const flags = args.filter((arg) => arg.startsWith("--"));
  if (
    flags.some((flag) => !["--skip-tests", "--collect"].includes(flag)) ||
    args.length !== flags.length + 1
  ) {
    throw new Error("Usage: deno task release VERSION [--skip-tests | --collect]");
  }
  const root = new URL("../", import.meta.url).pathname;
  const list = (files: readonly string[]): string =>
    files.map((name) => `dist/release/${name}\n`).join("");
  if (flags.includes("--collect")) return list(await collectTagged(root, version));
  const build = buildWith({ skipTests: flags.includes("--skip-tests") });
  const files = await release({ root, version, day: new Date().toISOString().slice(0, 10), build });
  return `${list(files)}Tagged v${version}. To publish: git push --follow-tags\n`;
}

if (import.meta.main) {
  try {
    await Deno.stdout.write(new TextEncoder().encode(await main(Deno.args)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    Deno.exit(1);
  }
}
