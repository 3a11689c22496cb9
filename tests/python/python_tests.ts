/** Runs tests of `sdk/python/tests` in a Python. Each prints a line when it has ended. */

export interface PythonRun {
  readonly interpreter: string;
  /** Modules of `sdk/python/tests`. */
  readonly suites: readonly string[];
  /** Before the name of each test. */
  readonly label: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PythonResult {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly text: string;
}

const tests = new URL("../../sdk/python/tests", import.meta.url).pathname;

export async function runPythonTests(
  { interpreter, suites, label, env = {} }: PythonRun,
): Promise<PythonResult[]> {
  const { code, stdout, stderr } = await new Deno.Command(interpreter, {
    args: ["-B", "-W", "error::ResourceWarning", tests, ...suites],
    env: { ...env },
    stdin: "null",
  }).output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  const lines = (output ?? "").split("\n").filter((line) => line.startsWith("{"));
  const results = lines.map((line): PythonResult => JSON.parse(line));
  const isTold = code === 0 || results.some(({ outcome }) => outcome === "failed");
  if (!isTold || results.length === 0) {
    results.push({
      name: `${suites.join(" ")} ran`,
      outcome: "failed",
      text: `exit code ${code}: ${output}${errors}`,
    });
  }
  return results.map((result) => ({ ...result, name: `${label}: ${result.name}` }));
}

/** One step for each. */
export async function showResults(
  t: Deno.TestContext,
  results: readonly PythonResult[],
): Promise<void> {
  for (const { name, outcome, text } of results) {
    await t.step({
      name: outcome === "skipped" ? `${name} [skipped: ${text}]` : name,
      ignore: outcome === "skipped",
      fn: () => {
        if (outcome === "failed") throw new Error(text);
      },
    });
  }
}
