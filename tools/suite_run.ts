/**
 * Runs the test files of a suite or a campaign in processes of their own, and reads what came of
 * it.
 */
import { parseJunit, type SuiteResult } from "./junit.ts";
import { withTemporaryFolder } from "./temporary_folder.ts";
import { writeTestPrograms } from "./test_files.ts";

export type TextPrinter = (text: string) => void;

export const root = new URL("../", import.meta.url).pathname.replace(/\/$/, "");

export interface TestRun {
  readonly name: string;
  readonly files: readonly string[];
  /** How many of the files run side by side. */
  readonly lanes: number;
  /**
   * Each file in an isolate of its own, because it changes what its isolate shares, or loads native
   * code.
   */
  readonly apart: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly maxMinutes: number;
  /** Shows the lines that tests print, not only their verdicts. */
  readonly shows?: boolean;
}

export async function runTests(
  { name, files, lanes, apart, env = {}, maxMinutes, shows = false }: TestRun,
  print: TextPrinter,
): Promise<SuiteResult> {
  const folder = await Deno.makeTempDir({ prefix: "suite-" });
  try {
    const programs = await writeTestPrograms({
      root,
      folder,
      files,
      lanes: apart ? files.length : lanes,
    });
    const report = `${folder}/report.xml`;
    const flags = ["-A", "--no-check", `--config=${root}/deno.json`, `--junit-path=${report}`];
    if (!shows) flags.push("--quiet");
    if (lanes > 1) flags.push("--parallel");
    const { result: ended, names } = await withTemporaryFolder((TMPDIR) =>
      runDeno(["test", ...flags, ...programs], { env: { ...env, TMPDIR }, maxMinutes }, print)
    );
    const result = await readReport(report, ended);
    if (names.length > 0) {
      print(`\n${name} left behind in the temporary folder: ${names.join(", ")}\n`);
    }
    // A crash outside any test (a module that does not load, a leaked resource) must count too.
    const unseen = ended === "failed" && result.failed === 0 ? 1 : 0;
    return { ...result, failed: result.failed + unseen + (names.length > 0 ? 1 : 0) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * A process that was ended from outside has written no report: there is no verdict. One that gave
 * up by itself has failed.
 */
async function readReport(path: string, ended: RunEnd): Promise<SuiteResult> {
  const nothing = { passed: 0, failed: 0, skipped: [], times: [] };
  try {
    return {
      ...parseJunit(await Deno.readTextFile(path)),
      ...(ended === "cut off" && { isUnjudged: true }),
    };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { ...nothing, ...(ended === "cut off" && { isUnjudged: true }) };
  }
}

/** `cut off`: a signal or the time limit ended it. */
export type RunEnd = "passed" | "failed" | "cut off";

export async function runDeno(
  args: readonly string[],
  { env = {}, maxMinutes }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly maxMinutes: number;
  },
  print: TextPrinter,
): Promise<RunEnd> {
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
  const timer = setTimeout(() => resolve("late"), maxMinutes * 60_000);
  const outcome = await Promise.race([finished, late]);
  clearTimeout(timer);
  if (outcome === "late") {
    print(`\nEnded after ${maxMinutes} minutes: a test waits for something that does not come\n`);
    child.kill("SIGKILL");
    return "cut off";
  }
  const [{ success, signal }] = outcome;
  if (signal !== null) print(`\nThe process was ended by ${signal}\n`);
  return signal !== null ? "cut off" : success ? "passed" : "failed";
}
