/** The suites of the test command, in the order in which a mistake is cheapest to see. */
import type { SuiteResult } from "./junit.ts";
import { readProgramPages, writePrograms } from "./pages/programs.ts";
import { listFiles } from "./source.ts";
import { root, runDeno, runTests, type TextPrinter } from "./suite_run.ts";
import { findTestFiles, type TestPaths } from "./test_files.ts";

export interface Suite {
  readonly name: string;
  /** How much of two cores it takes at most, in files that run side by side. */
  readonly lanes: number;
  /** The files that it runs, when it runs files. */
  readonly tests?: TestPaths;
  /** `print` takes what the suite writes, as it comes. */
  readonly run: (print: TextPrinter) => Promise<SuiteResult>;
}

/** Far beyond any suite: a test that waits in vain must not hold up the rest. */
const maxMinutes = 25;

/** Folders of tests/ that are suites of their own. */
const ownSuites = [
  "api",
  "cli",
  "console",
  "docs",
  "faults",
  "host",
  "hostile",
  "http2",
  "mcp",
  "python",
  "relay",
  "scenario",
  "sdk",
  "small_worlds",
  "story",
  "traffic",
].map((name) => `tests/${name}`);

export const suites: readonly Suite[] = [
  gate("format", ["fmt", "--check", "--quiet"]),
  gate("lint", ["lint", "--quiet"]),
  { name: "types", lanes: 1, run: checkTypes },
  gate("imports", ["run", "--allow-read=.", "tools/check_imports.ts"]),
  gate("tidy", ["run", "--allow-read=.", `--allow-run=${Deno.execPath()}`, "tools/tidy.ts"]),
  gate("generated", ["run", "-A", "tools/generate.ts", "--check"]),
  tests("tools", ["tools", "bench"]),
  // The longest first, so that none of them is left over at the end. A second lane is for suites
  // whose files fill it.
  tests("scenario", ["tests/scenario"], { lanes: 2 }),
  tests("sdk-sessions", ["tests/sdk"]),
  tests("api-processes", ["tests/api"], { lanes: 2 }),
  tests("relay-processes", ["tests/relay"], { lanes: 2 }),
  tests("relay", ["relay"], { lanes: 2 }),
  tests("sdk", ["sdk"], { without: ["sdk/platform"] }),
  tests("small-worlds", ["tests/small_worlds"]),
  tests("http2", ["tests/http2"]),
  tests("project", ["tests"], { without: ownSuites }),
  tests("python", ["tests/python"]),
  tests("console", ["tests/console"], { lanes: 2 }),
  tests("faults", ["tests/faults"], { apart: true }),
  tests("cli", ["cli", "tests/cli"]),
  tests("docs", ["tests/docs"]),
  tests("api", ["api"]),
  tests("story", ["tests/story"]),
  tests("mcp", ["tests/mcp"]),
  tests("host", ["tests/host"]),
  tests("wasm", ["wasm"]),
  // In a process of its own, with one module that loads the native store: Deno may panic at the end
  // otherwise.
  tests("sdk-platform", ["sdk/platform"]),
  tests("server", ["server"]),
  tests("proto", ["proto"]),
  tests("deploy", ["deploy"]),
  tests("hostile", ["tests/hostile"], { apart: true }),
  tests("traffic", ["tests/traffic"], { apart: true }),
];

/** One command that either passes or fails, counted as one test. */
function gate(name: string, args: readonly string[]): Suite {
  return {
    name,
    lanes: 1,
    run: async (print) => {
      const ended = await runDeno(args, { maxMinutes }, print);
      const counts = { passed: ended === "passed" ? 1 : 0, failed: ended === "failed" ? 1 : 0 };
      return {
        ...counts,
        skipped: [],
        times: [],
        ...(ended === "cut off" && { isUnjudged: true }),
      };
    },
  };
}

/** Always the same one: Deno checks nothing anew when no file has changed. */
const programsOfPages = `${root}/dist/page_programs`;

/**
 * Everything at once, the browser's pages, `tools/npm` and the programs of the documentation
 * included: with the dependencies of both projects, and with the types of browsers and Deno.
 * Browser code that would need Deno is found by `tools/check_imports.ts`.
 */
async function checkTypes(print: TextPrinter): Promise<SuiteResult> {
  const { imports, compilerOptions, unstable } = JSON.parse(await Deno.readTextFile("deno.json"));
  const { imports: tools } = JSON.parse(await Deno.readTextFile("tools/npm/deno.json"));
  const lib = ["esnext", "dom", "dom.iterable", "dom.asynciterable", "deno.ns", "deno.unstable"];
  const types = [`file://${root}/tools/fetch_client.d.ts`];
  const absolute = Object.entries({ ...tools, ...imports }).map((
    [name, target],
  ) => [name, String(target).replace(/^\.\//, `file://${root}/`)]);
  const programs = await writePrograms(programsOfPages, readProgramPages());
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const options = {
      imports: Object.fromEntries(absolute),
      compilerOptions: { ...compilerOptions, lib, types },
      unstable,
    };
    await Deno.writeTextFile(config, JSON.stringify(options));
    const files = (await listFiles(root)).filter((path) =>
      path.endsWith(".ts") && !untyped.test(path)
    );
    const args = [
      "check",
      "--quiet",
      "--no-lock",
      "--config",
      config,
      ...files,
      ...programs.values(),
    ];
    return await gate("types", args).run(print);
  } finally {
    await Deno.remove(config);
    await Deno.remove(programsOfPages, { recursive: true });
  }
}

/** AssemblyScript, and a package of its own that stands for a foreign client. */
const untyped = /^(?:wasm\/assembly|tests\/support\/http2\/peers)\/|\.d\.ts$/;

interface TestOptions {
  readonly without?: readonly string[];
  /** How many of its files run side by side: for suites that wait for processes. */
  readonly lanes?: number;
  /**
   * Each file in an isolate of its own, because it changes what its isolate shares, or loads native
   * code.
   */
  readonly apart?: boolean;
}

/** Folders of tests. Types were checked by their own suite. */
function tests(
  name: string,
  paths: readonly string[],
  { without = [], lanes = 1, apart = false }: TestOptions = {},
): Suite {
  const selection = { paths, without };
  return {
    name,
    lanes,
    tests: selection,
    run: async (print) => {
      const files = await findTestFiles(root, selection);
      return await runTests({ name, files, lanes, apart, maxMinutes }, print);
    },
  };
}
