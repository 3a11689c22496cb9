/**
 * A part of the service as a process of its own: what it prints, how it ends, and where it listens.
 */
import { eventually } from "./eventually.ts";

export interface PartProcess extends AsyncDisposable {
  readonly pid: number;
  /** Everything written to standard output and error so far. */
  output(): string;
  /** Nothing happens when it has ended. */
  signal(name: Deno.Signal): void;
  /**
   * The exit code, once everything that it printed has arrived. Throws if it had an error of a
   * socket that nobody took care of.
   */
  finished(): Promise<number>;
  /** Ends it if it still runs, whatever happened before. */
  stop(): Promise<void>;
}

/** The fields of its log's `listening` line. */
export type Listening = Readonly<Record<string, string>>;

/** For a machine that has much else to do; a test that waits in vain is told what was printed. */
export const startMs = 60_000;
const repository = new URL("../../", import.meta.url);

export interface SpawnOptions {
  /** The most files, and so sockets, that it may have open. */
  readonly openFiles?: number;
}

/** Deno with these arguments, in the repository's root. */
export function spawnPart(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { openFiles }: SpawnOptions = {},
): PartProcess {
  const limit = openFiles === undefined ? "" : `ulimit -n ${openFiles}; `;
  const child = new Deno.Command("sh", {
    args: ["-c", `${limit}exec "$@"`, "sh", Deno.execPath(), ...args],
    cwd: repository,
    env: { ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let [output, ended] = ["", false];
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) output += text;
  };
  const reading = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const finished = child.status.then(async ({ code }) => {
    ended = true;
    await reading;
    if (output.includes('"event":"unowned_socket_error"')) {
      throw new Error(`A socket had no owner: ${output}`);
    }
    return code;
  });
  const signal = (name: Deno.Signal): void => {
    if (ended) return;
    try {
      child.kill(name);
    } catch (error) {
      // It has ended, and its status is not told yet.
      if (!(error instanceof TypeError)) throw error;
    }
  };
  const stop = async (): Promise<void> => {
    signal("SIGKILL");
    await finished;
  };
  return {
    pid: child.pid,
    output: () => output,
    signal,
    finished: () => finished,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Throws what was printed when it ends before it listens. */
export async function untilListening(part: PartProcess): Promise<Listening> {
  const state = { ended: false };
  const end = (): void => void (state.ended = true);
  part.finished().then(end, end);
  const { listening } = await eventually(
    { withinMs: startMs, what: "listening" },
    () =>
      Promise.resolve({ listening: listeningLine(part.output()), ...state, output: part.output() }),
    ({ listening, ended }) => listening !== undefined || ended,
  );
  if (listening === undefined) {
    throw new Error(`The process ended before it listened: ${part.output()}`);
  }
  return listening;
}

/** The metrics on a part's admin port. */
export async function readMetrics({ admin_url: url }: Listening): Promise<string> {
  return await (await fetch(`${url}/metrics`)).text();
}

function listeningLine(text: string): Listening | undefined {
  const line = text.split("\n").slice(0, -1).find((line) => line.includes('"event":"listening"'));
  return line === undefined ? undefined : JSON.parse(line);
}
