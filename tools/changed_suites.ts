/**
 * Which suites a change concerns: those whose files import, start or read something that has
 * changed.
 */
import { resolveImport } from "./check_imports.ts";
import { git } from "./clone.ts";
import { importsOf } from "./import_statements.ts";
import { readSources, type SourceFile } from "./source.ts";
import { type Suite, suites } from "./suites.ts";
import { root } from "./suite_run.ts";
import { findTestFiles } from "./test_files.ts";

/** Checks of all files: a change of any code concerns them. */
const gatesOfCode = ["format", "lint", "types", "imports", "tidy", "generated"];
/** A change of a page. */
const suitesOfPages = ["format", "types", "tidy", "docs", "project"];

/**
 * Files that differ from a commit, those that git does not know yet included. Throws when git does
 * not know the commit.
 */
export async function changedFiles(base: string): Promise<string[]> {
  const [tracked, untracked] = await Promise.all([
    git(root, "diff", "--name-only", "--no-renames", base),
    git(root, "ls-files", "--others", "--exclude-standard"),
  ]);
  return [...new Set(`${tracked}${untracked}`.split("\n").filter((line) => line !== ""))].sort();
}

/** In the order of the test command. A file that no test is known to use concerns all suites. */
export async function suitesOf(changed: readonly string[]): Promise<readonly Suite[]> {
  const users = usersOf(await readSources(root));
  const concerned = new Set<string>();
  for (const path of changed) {
    if (path.endsWith(".md")) { for (const name of suitesOfPages) concerned.add(name); }
    else {
      for (const name of await suitesOfFile(path, users)) concerned.add(name);
      if (/\.(ts|py)$/.test(path)) { for (const name of gatesOfCode) concerned.add(name); }
    }
  }
  return suites.filter(({ name }) => concerned.has(name));
}

async function suitesOfFile(path: string, users: Users): Promise<string[]> {
  const found = await usingSuites(path, users);
  return found.length > 0 || isUnused(path)
    ? found.map(({ name }) => name)
    : suites.map(({ name }) => name);
}

/** Suites whose tests use a file: first the one beside it, then those of its nearest users. */
export async function nearestSuites(path: string): Promise<readonly Suite[]> {
  return await usingSuites(path, usersOf(await readSources(root)));
}

async function usingSuites(path: string, users: Users): Promise<readonly Suite[]> {
  const steps = stepsFrom(path, users);
  const found: { readonly suite: Suite; readonly distance: number }[] = [];
  for (const suite of suites) {
    const files = suite.tests === undefined ? [] : await findTestFiles(root, suite.tests);
    const distance = Math.min(...files.map((file) => steps.get(file) ?? Infinity));
    const isBeside = suite.tests?.paths.some((folder) => path.startsWith(`${folder}/`));
    if (distance < Infinity) found.push({ suite, distance: isBeside ? 0 : distance });
  }
  return found.sort((a, b) => a.distance - b.distance).map(({ suite }) => suite);
}

/** Files that nothing of the default run uses: they are looked at by the gates alone. */
function isUnused(path: string): boolean {
  return /^(bench|examples|tools|\.github)\/|_campaign\.ts$/.test(path);
}

type Users = ReadonlyMap<string, ReadonlySet<string>>;

/** By file, the files that name it: in an import, or as the path of a program or a worker. */
export function usersOf(sources: readonly SourceFile[]): Users {
  const known = new Set(sources.map(({ path }) => path));
  const users = new Map<string, Set<string>>();
  for (const file of sources) {
    const imported = importsOf(file).flatMap(({ specifier }) =>
      resolveImport(file.path, specifier) ?? []
    );
    for (const path of [...imported, ...pathsIn(file)]) {
      if (known.has(path)) users.set(path, (users.get(path) ?? new Set()).add(file.path));
    }
  }
  return users;
}

/** `"../x.ts"` from here, and `"relay/main.ts"` from the top. */
function pathsIn({ path, text }: SourceFile): string[] {
  return Array.from(text.matchAll(/["'`]([\w./-]+\.ts)["'`]/g), ([, named = ""]) => [
    new URL(named, `file:///${path}`).pathname.slice(1),
    named,
  ]).flat();
}

/** By file that uses this one, however far away, how far that is. */
function stepsFrom(path: string, users: Users): ReadonlyMap<string, number> {
  const steps = new Map([[path, 0]]);
  for (const [each, distance] of steps) {
    for (const user of [...users.get(each) ?? [], ...(isPython(each) ? usersOfPython : [])]) {
      if (!steps.has(user)) steps.set(user, distance + 1);
    }
  }
  return steps;
}

/** Python is packed and run as folders, which no file imports. */
function isPython(path: string): boolean {
  return path.startsWith("sdk/python/") && path.endsWith(".py");
}
const usersOfPython = [
  "tests/python/python_tests.ts",
  "tools/build_python.ts",
  "tools/pages/sdk_page.ts",
];
