/**
 * The types of the npm package in one file: what `sdk/mod.ts` exports and what that refers to, and
 * nothing else of the modules behind it. So nobody compiles against our insides, and the file can
 * be kept to what TypeScript 5.0 understands.
 */
import { dirname, join } from "node:path/posix";

interface TypeStatement {
  readonly text: string;
  readonly file: string;
}

interface SourceModule {
  /** By the name in the module. */
  readonly declared: ReadonlyMap<string, TypeStatement>;
  /** Names that are other modules': where they come from, and what they are called there. */
  readonly imported: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

/**
 * `await using` came with TypeScript 5.2; the same declaration twice is one, as in `@types/node`.
 */
const disposable = `declare global {
    interface SymbolConstructor {
        readonly asyncDispose: unique symbol;
    }
}
`;

/**
 * `read` has the declarations that tsc wrote, by path. Throws when two different things have one
 * name.
 */
export function bundleTypes(entry: string, read: (path: string) => string): string {
  const modules = new Map<string, SourceModule>();
  const moduleOf = (file: string): SourceModule => {
    const known = modules.get(file) ?? parseModule(file, read(file));
    modules.set(file, known);
    return known;
  };
  const found = new Map<string, TypeStatement>();
  const find = (name: string, file: string): void => {
    const { declared, imported } = moduleOf(file);
    const elsewhere = imported.get(name);
    if (elsewhere !== undefined) {
      if (elsewhere.name !== name && !moduleOf(elsewhere.file).imported.has(elsewhere.name)) {
        alias(name, elsewhere);
        return;
      }
      return find(elsewhere.name, elsewhere.file);
    }
    const statement = declared.get(name);
    if (statement === undefined || found.get(name) === statement) return;
    if (found.has(name)) {
      throw new Error(`Two things are called ${name}: in ${found.get(name)?.file} and ${file}`);
    }
    found.set(name, statement);
    for (const [used] of withoutComments(statement.text).matchAll(/[A-Za-z_$][\w$]*/g)) {
      if (used !== name && (declared.has(used) || imported.has(used))) find(used, file);
    }
  };
  /** Exported or imported under another name. */
  const alias = (
    name: string,
    { file, name: original }: { readonly file: string; readonly name: string },
  ): void => {
    find(original, file);
    found.set(name, { text: `export type ${name} = ${original};`, file });
  };
  const exported = [...moduleOf(entry).imported.keys()];
  for (const name of exported) find(name, entry);
  const statements = [...found].map(([name, { text }]) =>
    exported.includes(name) ? text : text.replace(/^export /m, "")
  );
  return oldEnough(`${disposable}${statements.join("\n")}\nexport {};\n`);
}

/** tsc writes each statement from the first column on, with its comment before it. */
function parseModule(file: string, text: string): SourceModule {
  const declared = new Map<string, TypeStatement>();
  const imported = new Map<string, { file: string; name: string }>();
  for (const whole of statementsOf(text)) {
    const [, names, from] =
      /(?:import|export) (?:type )?\{([^}]*)\} from "([^"]+)";/.exec(withoutComments(whole)) ??
        [];
    if (names !== undefined && from !== undefined) {
      const source = from.startsWith(".")
        ? join(dirname(file), from).replace(/\.ts$/, ".d.ts")
        : from;
      for (
        const each of names.split(",").map((part) => part.trim().replace(/^type /, "")).filter((
          part,
        ) => part !== "")
      ) {
        const [name = "", local = name] = each.split(" as ");
        imported.set(local, { file: source, name });
      }
      continue;
    }
    const [, name] = /(?:interface|class|type|const|function|enum) ([A-Za-z_$][\w$]*)/.exec(
      withoutComments(whole),
    ) ??
      [];
    if (name !== undefined) declared.set(name, { text: whole, file });
  }
  return { declared, imported };
}

/**
 * A statement begins in the first column, with its comment before it, and ends where all its braces
 * are closed.
 */
function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    lines.push(line);
    const code = withoutComments(lines.join("\n")).trim();
    const isWhole = /[;}]$/.test(code) && code.split("{").length === code.split("}").length;
    if (!isWhole) continue;
    statements.push(lines.join("\n"));
    lines = [];
  }
  return statements;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?(?:\*\/|$(?![^]))/g, "").replace(/\/\/.*$/gm, "");
}

/**
 * Types that TypeScript before 5.7 and 5.6 does not know: arrays by their buffers, and iterators by
 * what they return.
 */
function oldEnough(text: string): string {
  return text.replace(/Uint8Array<ArrayBuffer(?:Like)?>/g, "Uint8Array")
    .replace(/(AsyncIterableIterator<(?:[^<>]|<[^<>]*>)*?), undefined>/g, "$1>");
}
