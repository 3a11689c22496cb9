/** Which suites a change concerns: those whose files import, start or read something that has changed. */
import { importsOf, resolveImport } from "./check_imports.ts";
import { readSources, type SourceFile } from "./source.ts";
import { type Suite, suites } from "./suites.ts";
import { root } from "./suite_run.ts";
import { findTestFiles } from "./test_files.ts";

/** Checks of all files: a change of any TypeScript concerns them. */
const gatesOfCode = ["format", "lint", "types", "imports", "tidy", "generated"];
/** A change of a page. */
const suitesOfPages = ["format", "tidy", "docs", "project"];

/** Files that differ from a commit, those that git does not know yet included. Throws when git does not know the commit. */
export async function changedFiles(base: string): Promise<string[]> {
  const [tracked, untracked] = await Promise.all([
    git("diff", "--name-only", "--no-renames", base),
    git("ls-files", "--others", "--exclude-standard"),
  ]);
  return [...new Set([...tracked, ...untracked])].sort();
}

async function git(...args: readonly string[]): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: [...args], cwd: root }).output();
  if (!success) throw new Error(`git ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
}

/** In the order of the test command. A file that no test is known to use concerns all suites. */
export async function suitesOf(changed: readonly string[]): Promise<readonly Suite[]> {
  const users = usersOf(await readSources(root));
  const concerned = new Set<string>();
  for (const path of changed) {
    if (path.endsWith(".md")) { for (const name of suitesOfPages) concerned.add(name); }
    else {
      for (const name of await suitesOfFile(path, users)) concerned.add(name);
      if (path.endsWith(".ts")) { for (const name of gatesOfCode) concerned.add(name); }
    }
  }
  return suites.filter(({ name }) => concerned.has(name));
}

async function suitesOfFile(path: string, users: ReadonlyMap<string, ReadonlySet<string>>): Promise<string[]> {
  const reached = reachedFrom(path, users);
  const found: string[] = [];
  for (const { name, tests } of suites) {
    if (tests === undefined) continue;
    const files = await findTestFiles(root, tests);
    if (files.some((file) => reached.has(file))) found.push(name);
  }
  return found.length > 0 || isUnused(path) ? found : suites.map(({ name }) => name);
}

/** Files that nothing of the default run uses: they are looked at by the gates alone. */
function isUnused(path: string): boolean {
  return /^(bench|examples|tools|\.github)\/|_campaign\.ts$/.test(path);
}

/** By file, the files that name it: in an import, or as the path of a program or a worker. */
export function usersOf(sources: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Set(sources.map(({ path }) => path));
  const users = new Map<string, Set<string>>();
  for (const file of sources) {
    const imported = importsOf(file).flatMap(({ specifier }) => resolveImport(file.path, specifier) ?? []);
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

function reachedFrom(path: string, users: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set([path]);
  for (const each of reached) for (const user of users.get(each) ?? []) reached.add(user);
  return reached;
}
