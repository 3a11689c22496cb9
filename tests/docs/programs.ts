/** The examples' programs, as a reader starts them in the repository. */
import type { Stack } from "../support/stack.ts";

const repository = new URL("../../", import.meta.url);

/** For one line of a program. */
const printedMs = 5 * 60_000;

export interface Running {
  output(): string;
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  ended(): Promise<number>;
  kill(): void;
}

export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Running {
  const child = new Deno.Command(command, {
    args: [...args],
    cwd: repository,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  let onText = (): void => {};
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      onText();
    }
  };
  const ended = Promise.all([child.status, collect(child.stdout), collect(child.stderr)]).then((
    [{ code }],
  ) => code);
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    onText = () => {
      const match = pattern.exec(output);
      if (match !== null) resolve(match);
    };
    onText();
    const fail = (why: string): void =>
      reject(new Error(`${pattern} did not appear; ${why}: ${output}`));
    void ended.then((code) => fail(`exit code ${code}`));
    const timer = setTimeout(() => fail(`${printedMs / 60_000} minutes`), printedMs);
    return await promise.finally(() => clearTimeout(timer));
  };
  return { output: () => output, printed, ended: () => ended, kill: () => child.kill("SIGTERM") };
}

/** Where the service is. */
export function environmentOf(
  { quicUrl, grpcUrl, api, account, caFile }: Stack,
): Readonly<Record<string, string>> {
  return {
    STATIC_RELAY_URL: `${quicUrl},${grpcUrl}`,
    STATIC_API_URL: api.url,
    STATIC_API_KEY: account.apiKey,
    STATIC_CA_FILE: caFile,
    STATIC_DATA_DIR: caFile.slice(0, caFile.lastIndexOf("/")),
  };
}

export async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "static-examples-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
