/**
 * Style rules that a formatter and a linter do not know; each exists because CONTRIBUTING.md asks
 * for it.
 */
import {
  createSourceFile,
  isTest,
  lineAt,
  listFiles,
  report,
  type SourceFile,
  type Violation,
} from "./source.ts";
import { type Ceilings, checkSizes, listPath, lowered } from "./tidy/ceilings.ts";
import { measure } from "./tidy/sizes.ts";
import { measureTypeNames } from "./tidy/type_names.ts";
import { unlimitedWaits } from "./unlimited_waits.ts";

/** Lines of comments are no longer than this; the formatter breaks code. */
const maxColumns = 100;
const textFile =
  /\.(ts|py|md|json|sql|proto|yaml|yml|service|sh)$|(^|\/)(run|Dockerfile[\w.]*|LICENSE)$/;

/** Spelled in pieces so that this file does not break its own rule. */
const machinePaths = new RegExp(["/wo" + "rk/", "(?<!\\.)/ro" + "ot/"].join("|"));
const packageHosts = new RegExp(["registry\\.npm" + "js", "deb\\.deb" + "ian"].join("|"));
/** Strangers fetch test files from the public addresses in this table. */
const publicSources = "tools/fetch/sources.ts";
const unfinished = new RegExp("\\b(TO" + "DO|FIX" + "ME|XX" + "X|HA" + "CK)\\b");

/**
 * Clauses with who or what as their subject, and "answers" for "returns": CONTRIBUTING.md has
 * twenty pairs.
 */
const stopsReader =
  /^(What|Who|Whose|Whoever|Answers)\b|\b[Ww]hoever\b|(?<=\. )(Answers (?=the |when |whether |what |where )|Who |Whose |What (?!follows|remains))/;
const plainAdvice = "say it with the thing itself as the subject; functions return";

/**
 * Rooms of the channel whose control is a machine: promises and timers stand in a folder `runner`.
 */
const machineRooms =
  /^sdk\/channel\/(?:commits|connection|group|leaving|messages|names|order|reading|recovery|root|upkeep)\/(?!(?:.*\/)?runner\/)/;
const waits = /\b(?:async|await|Promise|setTimeout|setInterval|queueMicrotask)\b/g;
/** In two pieces: tools that look for uses of files by their paths must not find one here. */
const permitMaker = ["sdk/channel/connection", "judge_connection.ts"].join("/");

type TidyFinding = { readonly index: number; readonly what: string };
type TidyRule = {
  readonly name: string;
  readonly applies: (file: SourceFile) => boolean;
  readonly find: (file: SourceFile) => TidyFinding[];
};

const typescript = (file: SourceFile): boolean => file.path.endsWith(".ts");
const python = (file: SourceFile): boolean => file.path.endsWith(".py");
const product = (file: SourceFile): boolean => typescript(file) && !isTest(file.path);

const rules: readonly TidyRule[] = [
  {
    name: "name",
    applies: typescript,
    find: ({ path }) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (!/^[a-z0-9]+(_[a-z0-9]+)*(\.d)?\.ts$/.test(name)) {
        return [{ index: 0, what: `${name} is not snake_case` }];
      }
      if (/^(utils?|helpers?|data|misc|common|stuff)(_test)?\.ts$/.test(name)) {
        return [{ index: 0, what: `${name} names no subject` }];
      }
      return [];
    },
  },
  {
    name: "doc",
    applies: product,
    find: ({ text }) =>
      /^(#![^\n]*\n)?\/\*\*/.test(text)
        ? []
        : [{ index: 0, what: "open the module with what it is for" }],
  },
  {
    name: "doc",
    applies: python,
    find: ({ text }) =>
      text.startsWith('"""') ? [] : [{ index: 0, what: "open the module with what it is for" }],
  },
  {
    name: "columns",
    applies: (file) => typescript(file) || python(file),
    find: wideComments,
  },
  {
    name: "cast",
    applies: product,
    find: (file) =>
      matches(
        file.code,
        /(?<!\*)\s\bas (?!const\b)(?=[\w{[(])/g,
        "say why: end the line or the one above with // cast: …",
      )
        .filter(({ index }) =>
          !isRenaming(file.code, index) && !explained(file.text, index, "// cast: ")
        ),
  },
  {
    name: "suppress",
    applies: typescript,
    find: ({ text }) =>
      matches(text, new RegExp("@ts-" + "(ignore|nocheck)", "g"), "fix the type instead"),
  },
  {
    name: "focus",
    applies: (file) => typescript(file) && isTest(file.path),
    find: ({ code }) =>
      matches(
        code,
        /\bDeno\.test\.(only|ignore)\b|\b(only|ignore): true\b/g,
        "use testWhen, or delete it",
      ),
  },
  {
    name: "sleep",
    applies: (file) => typescript(file) && isTest(file.path),
    find: (file) =>
      matches(
        file.code,
        /new Promise\(\(?\w+\)? => setTimeout\(/g,
        "wait for a condition, or say why with // wait: …",
      )
        .filter(({ index }) => !explained(file.text, index, "// wait: ")),
  },
  { name: "wait", applies: product, find: unlimitedWaits },
  {
    name: "machine_wait",
    applies: (file) => product(file) && machineRooms.test(file.path),
    find: ({ code }) =>
      matches(code, waits, "a machine never waits: say it as an effect, the runner carries it out"),
  },
  {
    name: "permit",
    applies: (file) => typescript(file) && file.path !== permitMaker,
    find: ({ code }) =>
      matches(code, /\bas\s+Permit\b|<Permit>\s*[\w({[]/g, `${permitMaker} alone makes a permit`),
  },
  {
    name: "unfinished",
    applies: (file) => typescript(file) || python(file),
    find: ({ text }) => first(text, unfinished, "finish it or write it in an issue"),
  },
  {
    name: "prose",
    applies: (file) => typescript(file) || python(file),
    find: (file) =>
      (python(file) ? pythonComments : comments)(file.text).flatMap(({ index, words }) =>
        first(words, stopsReader, plainAdvice, index)
      ),
  },
  {
    name: "fragment",
    // Tables of the protocol's fields have many, which generated pages show.
    applies: (file) => product(file) && !file.path.startsWith("proto/"),
    find: ({ text }) =>
      comments(text).flatMap(({ index, words }) =>
        first(words, /^Of\b/, "a reader looks for the subject; begin with it", index)
      ),
  },
  {
    name: "machine",
    applies: () => true,
    find: ({ path, text }) => [
      ...first(text, machinePaths, "a path of one machine"),
      ...(path === publicSources
        ? []
        : first(text, packageHosts, `only ${publicSources} names hosts of packages`)),
    ],
  },
];

export function tidy(file: SourceFile): Violation[] {
  return rules.filter((rule) => rule.applies(file)).flatMap((rule) =>
    rule.find(file).map(({ index, what }) => ({
      path: file.path,
      line: lineAt(file.text, index),
      rule: rule.name,
      what,
    }))
  );
}

/**
 * Lines of comments. Examples, indented tables and words that are too long alone, such as
 * addresses, may be wider.
 */
function wideComments(file: SourceFile): TidyFinding[] {
  const found = (python(file) ? pythonComments : comments)(file.text);
  return found.flatMap(({ index, words }) => {
    const start = file.text.lastIndexOf("\n", index - 1) + 1;
    const prose = file.text.slice(start, index + words.length).replace(/```[^]*?```/g, "");
    const wide = prose.split("\n").find((line) =>
      line.length > maxColumns && /\S\s+\S+\s+\S/.test(line) && !/^\s*\* {3}|# type: /.test(line)
    );
    return wide === undefined
      ? []
      : [{ index, what: `${wide.length} columns, the limit is ${maxColumns}` }];
  });
}

/** `import { a as b }` and `export * as c` rename, they do not cast. */
function isRenaming(code: string, index: number): boolean {
  const statement = code.slice(
    Math.max(code.lastIndexOf(";", index), code.lastIndexOf("*/", index)) + 1,
    index,
  );
  return /^\s*(import|export)\b(?![^]*[=(])/.test(statement);
}

/** The formatter may put three lines between a reason and the place. */
function explained(text: string, index: number, marker: string): boolean {
  const line = lineAt(text, index + 1);
  return text.split("\n").slice(Math.max(0, line - 4), line + 3).some((near) =>
    near.includes(marker)
  );
}

function matches(text: string, pattern: RegExp, what: string): TidyFinding[] {
  return Array.from(text.matchAll(pattern), ({ index }) => ({ index, what }));
}

function first(text: string, pattern: RegExp, what: string, at = 0): TidyFinding[] {
  const match = pattern.exec(text);
  return match === null ? [] : [{ index: at + match.index, what: `${match[0]}: ${what}` }];
}

/**
 * Comments with their words, without the marks at the beginning of each. Lines of `//` are comments
 * of their own.
 */
function comments(text: string): { readonly index: number; readonly words: string }[] {
  return Array.from(
    text.matchAll(/(?<=^|\s)(?:\/\*\*?\s*(?:\*\s)?|\/\/ )([^]*?)(?=\*\/|\n(?!\s*\*)|$)/g),
    (match) => ({
      index: match.index + match[0].length - (match[1] ?? "").length,
      words: match[1] ?? "",
    }),
  );
}

/** Docstrings and comments of Python; a docstring begins its line. */
function pythonComments(text: string): ReturnType<typeof comments> {
  return Array.from(
    text.matchAll(/(?<=^[ \t]*)"""([^]*?)"""|(?<=^[ \t]*| {2})# (.*)$/gm),
    (match) => ({ index: match.index, words: match[1] ?? match[2] ?? "" }),
  );
}

/**
 * The product's own code: programs in other languages, and what only tests import, are none of it.
 */
function isMeasured(file: SourceFile): boolean {
  return (product(file) && !/^wasm\/assembly\/|\.d\.ts$/.test(file.path)) ||
    (python(file) && !/(^|\/)tests\//.test(file.path));
}

if (import.meta.main) {
  const paths = (await listFiles(".")).filter((path) => textFile.test(path));
  const files = await Promise.all(
    paths.map(async (path) => createSourceFile(path, await Deno.readTextFile(path))),
  );
  const measured = files.filter(isMeasured);
  const sizes = [...await measure(measured), ...measureTypeNames(measured)];
  const list: Ceilings[] = JSON.parse(await Deno.readTextFile(listPath));
  if (Deno.args.includes("--lower")) {
    await Deno.writeTextFile(listPath, `${JSON.stringify(lowered(sizes, list), null, 2)}\n`);
  } else {
    Deno.exit(report("tidy", [...files.flatMap(tidy), ...checkSizes(sizes, list)], files.length));
  }
}
