/**
 * How large the product's files, functions, classes and folders are. Deno's linter parses
 * TypeScript; Python is counted by its lines.
 */
import { dirname } from "node:path/posix";
import type { SourceFile } from "../source.ts";
import type { MeasuredSize } from "./ceilings.ts";

interface Diagnostic {
  readonly filename: string;
  readonly range: { readonly start: { readonly line: number } };
  readonly message: string;
}

/**
 * `product` is TypeScript and Python that is not for tests, with paths relative to the current
 * folder.
 */
export async function measure(product: readonly SourceFile[]): Promise<MeasuredSize[]> {
  const typescript = product.filter(({ path }) => path.endsWith(".ts"));
  const python = product.filter(({ path }) => path.endsWith(".py"));
  return [
    ...await measureTypescript(typescript.map(({ path }) => path)),
    ...python.map(({ path, text }) => sizedFile("file_statements", path, pythonStatements(text))),
    ...measureFolders(product.map(({ path }) => path)),
  ];
}

async function measureTypescript(paths: readonly string[]): Promise<MeasuredSize[]> {
  const root = `file://${Deno.cwd()}/`;
  const args = ["lint", "--quiet", "--json", "--config", "tools/tidy/sizes.json", ...paths];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, stderr: "piped" })
    .output();
  const { diagnostics, errors } = JSON.parse(new TextDecoder().decode(stdout));
  if (diagnostics.length === 0 || errors.length > 0) {
    throw new Error(
      `The linter measured nothing: ${JSON.stringify(errors)} ${new TextDecoder().decode(stderr)}`,
    );
  }
  return diagnostics.map(({ filename, range, message }: Diagnostic) => ({
    path: decodeURI(filename).slice(root.length),
    line: range.start.line,
    ...JSON.parse(message),
  }));
}

export function measureFolders(paths: readonly string[]): MeasuredSize[] {
  const files = new Map<string, number>();
  for (const path of paths) files.set(dirname(path), (files.get(dirname(path)) ?? 0) + 1);
  return Array.from(files, ([folder, size]) => sizedFile("folder_files", folder, size));
}

/** Lines that begin a statement: not in a comment, a text or brackets. Imports are none. */
export function pythonStatements(text: string): number {
  const code = text.replace(/("""|''')[^]*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g, "");
  let [open, count] = [0, 0];
  for (const line of code.split("\n")) {
    if (open === 0 && line.trim() !== "" && !/^\s*(?:(?:from|import)\s|\)|\]|\})/.test(line)) {
      count++;
    }
    open += (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0);
  }
  return count;
}

function sizedFile(
  rule: "file_statements" | "folder_files",
  path: string,
  size: number,
): MeasuredSize {
  return { rule, path, line: 1, place: "", size };
}
