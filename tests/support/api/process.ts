/** The API as its own process, started the way an operator starts it: `api/main.ts` with the task's permissions. */
import { createCall, eventually, type TestApi, testEnvironment } from "./harness.ts";

export interface ApiProcess {
  readonly url: string;
  readonly call: TestApi["call"];
  readonly pid: number;
  metrics(): Promise<string>;
  /** Everything written to standard output and error so far. */
  output(): string;
  signal(name: Deno.Signal): void;
  /** Ends it if it still runs, whatever happened before. */
  stop(): Promise<void>;
  /** The exit code. */
  finished(): Promise<number>;
}

const repository = new URL("../../../", import.meta.url);

export async function startProcess(environment: Record<string, string>): Promise<ApiProcess> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", repository)));
  const [, ...args] = String(tasks.api).split(" ");
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd: repository,
    env: { ...testEnvironment, ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines = { text: "" };
  const reading = Promise.all([collect(child.stdout, lines), collect(child.stderr, lines)]);
  const state = { ended: false };
  const status = child.status.then(async ({ code }) => {
    await reading;
    state.ended = true;
    return code;
  });
  const url = await eventually(
    { withinMs: 60_000, what: "listening" },
    () => Promise.resolve({ url: /"url":"(http[^"]+)"/.exec(lines.text)?.[1], ...state, output: lines.text }),
    ({ url, ended }) => url !== undefined || ended,
  );
  if (url.url === undefined) throw new Error(`The API did not start: ${lines.text}`);
  return {
    url: url.url,
    call: createCall(url.url),
    pid: child.pid,
    metrics: async () => (await fetch(`${/"admin_url":"([^"]+)"/.exec(lines.text)?.[1]}/metrics`)).text(),
    output: () => lines.text,
    signal: (name) => child.kill(name),
    stop: async () => {
      if (!state.ended) child.kill("SIGKILL");
      await status;
    },
    finished: () => status,
  };
}

async function collect(stream: ReadableStream<Uint8Array>, into: { text: string }): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) into.text += text;
}
