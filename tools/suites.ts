/** The suites of the test command, in the order in which a mistake is cheapest to see. */
import { parseJunit, type SuiteResult } from "./junit.ts";
import { npmProjectFlags } from "./npm.ts";
import { withTemporaryFolder } from "./temporary_folder.ts";
import { findTestFiles, type TestPaths, writeTestPrograms } from "./test_files.ts";

export interface Suite {
  readonly name: string;
  /** Measures time, or loads the machine on purpose: nothing else may run beside it. */
  readonly alone: boolean;
  /** Has processes, sockets and deadlines of its own: on a machine that stands still it fails without a reason. */
  readonly processes: boolean;
  /** How much of two cores it takes at most, in files that run side by side. */
  readonly lanes: number;
  /** The files that it runs, when it runs files. */
  readonly tests?: TestPaths;
  /** `print` takes what the suite writes, as it comes. */
  readonly run: (print: Print) => Promise<SuiteResult>;
}

export type Print = (text: string) => void;

const root = new URL("../", import.meta.url).pathname.replace(/\/$/, "");

/** Modules that must work in a browser: checked against the DOM library, without Deno's types. */
const browserSafe = [
  "proto/mod.ts",
  "wasm/mod.ts",
  "sdk/platform/browser.ts",
  "sdk/mod.ts",
  "api/console/page/console.ts",
  "api/console/page/live/live.ts",
  "api/console/page/operator/operator.ts",
];

/** They measure, so they run alone; the rest of their folders does not. */
const timedApi = ["tests/api/timing_test.ts", "tests/api/fault_test.ts"];
const timedHostile = ["tests/hostile/busy_tenants_test.ts", "tests/hostile/tenants_test.ts"];
/** A minute of waiting for faults and for a heap to settle: it runs beside others. */
const longFaults = ["tests/faults/faults_test.ts", "tests/faults/memory_test.ts"];
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
  "story",
  "traffic",
].map((name) => `tests/${name}`);

export const suites: readonly Suite[] = [
  gate("format", ["fmt", "--check", "--quiet"]),
  gate("lint", ["lint", "--quiet"]),
  gate("types", ["check", "--quiet", "."]),
  gate("npm-types", ["check", ...npmProjectFlags, "tools/npm/"]),
  { name: "browser-types", alone: false, processes: false, lanes: 1, run: checkBrowserTypes },
  gate("imports", ["run", "--allow-read=.", "tools/check_imports.ts"]),
  gate("tidy", ["run", "--allow-read=.", "tools/tidy.ts"]),
  gate("generated", ["run", "-A", "tools/generate.ts", "--check"]),
  tests("tools", ["tools", "bench"]),
  // The longest first, so that none of them is left over at the end. A second lane is for suites whose files fill it.
  tests("scenario", ["tests/scenario"], { lanes: 2 }),
  tests("sdk-sessions", ["tests/sdk"], { processes: true, lanes: 2 }),
  tests("api-processes", ["tests/api"], { processes: true, without: timedApi, lanes: 2 }),
  tests("relay-processes", ["tests/relay"], { processes: true, lanes: 2 }),
  tests("relay", ["relay"]),
  tests("sdk", ["sdk"], { without: ["sdk/platform"] }),
  tests("http2", ["tests/http2"], { processes: true, lanes: 2, apart: true }),
  tests("project", ["tests"], { processes: true, without: ownSuites }),
  tests("python", ["tests/python"], { processes: true }),
  tests("console", ["tests/console"], { processes: true, lanes: 2, apart: true }),
  tests("faults", longFaults, { processes: true, apart: true }),
  tests("cli", ["cli", "tests/cli"], { processes: true }),
  tests("docs", ["tests/docs"], { processes: true }),
  tests("api", ["api"], { processes: true }),
  tests("faults-agents", ["tests/faults"], { processes: true, without: longFaults, apart: true }),
  tests("story", ["tests/story"], { processes: true }),
  tests("mcp", ["tests/mcp"], { processes: true }),
  tests("host", ["tests/host"], { processes: true }),
  tests("wasm", ["wasm"]),
  // In a process of its own, with one module that loads the native store: Deno may panic at the end otherwise.
  tests("sdk-platform", ["sdk/platform"]),
  tests("server", ["server"]),
  tests("proto", ["proto"]),
  tests("deploy", ["deploy"]),
  alone(tests("api-timing", timedApi, { processes: true, apart: true })),
  alone(tests("hostile", ["tests/hostile"], { processes: true, without: timedHostile, lanes: 2, apart: true })),
  alone(tests("hostile-tenants", timedHostile, { processes: true, apart: true })),
  alone(tests("traffic", ["tests/traffic"], { processes: true, apart: true })),
];

/** One command that either passes or fails, counted as one test. */
function gate(name: string, args: readonly string[]): Suite {
  return {
    name,
    alone: false,
    processes: false,
    lanes: 1,
    run: async (print) => {
      const ok = await runDeno(args, print);
      return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [], times: [] };
    },
  };
}

/** Same dependencies as `deno.json`, the browser's library instead of Deno's. */
async function checkBrowserTypes(print: Print): Promise<SuiteResult> {
  const { imports, compilerOptions } = JSON.parse(await Deno.readTextFile("deno.json"));
  const { imports: tools } = JSON.parse(await Deno.readTextFile("tools/npm/deno.json"));
  const lib = ["esnext", "dom", "dom.iterable", "dom.asynciterable"];
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const platform = new URL("../sdk/platform/browser.ts", import.meta.url).href;
    const hosts = new URL("../sdk/no_hosts.ts", import.meta.url).href;
    const sdk = new URL("../sdk/mod.ts", import.meta.url).href;
    const ours = { "#platform": platform, "#hosts": hosts, "static-sdk": sdk };
    const options = { imports: { ...tools, ...imports, ...ours }, compilerOptions: { ...compilerOptions, lib } };
    await Deno.writeTextFile(config, JSON.stringify(options));
    return await gate("browser-types", ["check", "--quiet", "--no-lock", "--config", config, ...browserSafe]).run(
      print,
    );
  } finally {
    await Deno.remove(config);
  }
}

interface TestOptions {
  readonly without?: readonly string[];
  /** How many of its files run side by side: for suites that wait for processes. */
  readonly lanes?: number;
  /** Each file in an isolate of its own, because it changes what its isolate shares, or loads native code. */
  readonly apart?: boolean;
  readonly processes?: boolean;
}

/** Folders of tests. Types were checked by their own suite. */
function tests(
  name: string,
  paths: readonly string[],
  { without = [], lanes = 1, apart = false, processes = false }: TestOptions = {},
): Suite {
  const selection = { paths, without };
  return {
    name,
    alone: false,
    processes,
    lanes,
    tests: selection,
    run: async (print) => {
      const folder = await Deno.makeTempDir({ prefix: "suite-" });
      try {
        const files = await findTestFiles(root, selection);
        const programs = await writeTestPrograms({ root, folder, files, lanes: apart ? files.length : lanes });
        const report = `${folder}/report.xml`;
        const flags = ["-A", "--no-check", "--quiet", `--config=${root}/deno.json`, `--junit-path=${report}`];
        if (lanes > 1) flags.push("--parallel");
        const { result: ok, names } = await withTemporaryFolder((folder) =>
          runDeno(["test", ...flags, ...programs], print, { TMPDIR: folder })
        );
        const result = await readReport(report);
        if (names.length > 0) print(`\n${name} left behind in the temporary folder: ${names.join(", ")}\n`);
        // A crash outside any test (a module that does not load, a leaked resource) must count too.
        const unseen = (ok || result.failed > 0 ? 0 : 1) + (names.length > 0 ? 1 : 0);
        return { ...result, failed: result.failed + unseen };
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  };
}

/** A run that was ended before its time has written none: all of it counts as failed. */
async function readReport(path: string): Promise<SuiteResult> {
  try {
    return parseJunit(await Deno.readTextFile(path));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { passed: 0, failed: 1, skipped: [], times: [] };
  }
}

function alone(suite: Suite): Suite {
  return { ...suite, alone: true };
}

/** Far beyond any suite, even on a machine that stands still at times: a test that waits in vain must not hold up the rest. */
const maxSuiteMinutes = 25;

async function runDeno(args: readonly string[], print: Print, env: Record<string, string> = {}): Promise<boolean> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const child = command.spawn();
  const collect = async (output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of output.pipeThrough(new TextDecoderStream())) print(text);
  };
  const finished = Promise.all([child.status, collect(child.stdout), collect(child.stderr)]);
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), maxSuiteMinutes * 60_000);
  const outcome = await Promise.race([finished, late]);
  clearTimeout(timer);
  if (outcome !== "late") return outcome[0].success;
  print(`\nEnded after ${maxSuiteMinutes} minutes: a test waits for something that does not come\n`);
  child.kill("SIGKILL");
  return false;
}
