/**
 * Reads the project's own TypeScript for the rule checkers: which files there are, and their code
 * without comments.
 */

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the contents of strings blanked, line for line. */
  readonly code: string;
}

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly what: string;
}

const generated = /(^|\/)gen\//;
const skippedFolders = new Set([".git", ".static", "node_modules", "dist", "coverage"]);

export function createSourceFile(path: string, text: string): SourceFile {
  return { path, text, code: blankCommentsAndStrings(text) };
}

/** Tests, and what only tests import: `testing/` folders beside the code. */
export function isTest(path: string): boolean {
  return /_(?:test|campaign)\.ts$/.test(path) || path.startsWith("tests/") ||
    path.includes("/testing/");
}

/** Every file of ours below `root`; generated code is left out, its generator is what we write. */
export async function listFiles(root: string): Promise<string[]> {
  return (await filesBelow(root)).filter((path) => !generated.test(path));
}

/** Generated code too. */
export async function filesBelow(root: string, folder = ""): Promise<string[]> {
  const paths: string[] = [];
  for await (const entry of Deno.readDir(`${root}/${folder}`)) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory && !skippedFolders.has(entry.name)) {
      paths.push(...await filesBelow(root, path));
    } else if (entry.isFile) paths.push(path);
  }
  return paths.sort();
}

export async function readSources(root: string): Promise<SourceFile[]> {
  const paths = (await listFiles(root)).filter((path) => path.endsWith(".ts"));
  return await Promise.all(
    paths.map(async (path) => createSourceFile(path, await Deno.readTextFile(`${root}/${path}`))),
  );
}

/** The rest of a file from `index` on, as a line number for messages. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** Prints violations and returns the exit code. */
export function report(name: string, violations: readonly Violation[], files: number): number {
  for (const { path, line, rule, what } of violations) {
    console.error(`${path}:${line}  ${rule}: ${what}`);
  }
  console.log(`${name}: ${files} files, ${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}

const token =
  /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`|(?<=[=(,:[!&|?{};]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/g;

/**
 * One pass over comments, strings, templates and regular expressions. A template's `${}` is blanked
 * with it: the rules look for forbidden names, and code hidden there would still be seen by lint
 * and review.
 */
function blankCommentsAndStrings(text: string): string {
  return text.replace(token, (match) => {
    const [open, close] = match.startsWith("/")
      ? ["", ""]
      : [match.charAt(0), match.charAt(match.length - 1)];
    const inner = match.slice(open.length, match.length - close.length);
    return open + inner.replace(/[^\n]/g, " ") + close;
  });
}
