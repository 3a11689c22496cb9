/**
 * Starts the server under test, asks it for its statistics, and makes sure that it ended the way it
 * should.
 */
import type { Budgets } from "../../../server/http2/mod.ts";
import { createCertificate, type TestCertificate } from "../mod.ts";

export interface ProcessStats {
  readonly sockets: number;
  readonly connections: number;
  readonly streams: number;
  readonly rss: number;
  readonly cpuUs: number;
  /** Exceptions of handlers; a fault of the server would be here too. */
  readonly faults: readonly string[];
}

/** Fills freed memory, so that any use of it shows at once. */
export const perturbed = { MALLOC_PERTURB_: "165" };

export class ServerProcess implements AsyncDisposable {
  readonly port: number;
  readonly certificate: TestCertificate;
  readonly certFile: string;
  readonly keyFile: string;
  readonly #folder: string;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;

  private constructor(parts: {
    port: number;
    certificate: TestCertificate;
    folder: string;
    child: Deno.ChildProcess;
    lines: AsyncIterator<string>;
  }) {
    this.port = parts.port;
    this.certificate = parts.certificate;
    this.certFile = `${parts.folder}/cert.pem`;
    this.keyFile = `${parts.folder}/key.pem`;
    this.#folder = parts.folder;
    this.#child = parts.child;
    this.#input = parts.child.stdin.getWriter();
    this.#lines = parts.lines;
  }

  static async start(
    options: { budgets?: Partial<Budgets>; env?: Record<string, string> } = {},
  ): Promise<ServerProcess> {
    const certificate = await createCertificate();
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/cert.pem`, certificate.cert);
    await Deno.writeTextFile(`${folder}/key.pem`, certificate.key, { mode: 0o600 });
    const script = new URL("echo_server.ts", import.meta.url).pathname;
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--quiet",
        script,
        `${folder}/cert.pem`,
        `${folder}/key.pem`,
        JSON.stringify(options.budgets ?? {}),
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      env: options.env ?? {},
    }).spawn();
    const lines = linesOf(child.stdout);
    const first = await lines.next();
    if (first.done) {
      throw new Error("Cannot start the server under test: it ended before it listened");
    }
    return new ServerProcess({ port: Number(first.value), certificate, folder, child, lines });
  }

  get origin(): string {
    return `https://localhost:${this.port}`;
  }

  async stats(): Promise<ProcessStats> {
    await this.#input.write(new TextEncoder().encode("stats\n"));
    const line = await this.#lines.next();
    if (line.done) throw new Error("The server under test has died");
    return JSON.parse(line.value);
  }

  /** Asks again until the statistics are as wanted; the caller's test times out otherwise. */
  async until(
    wanted: (stats: ProcessStats) => boolean,
    what: string,
    seconds = 20,
  ): Promise<ProcessStats> {
    const deadline = performance.now() + seconds * 1_000;
    for (;;) {
      const stats = await this.stats();
      if (wanted(stats)) return stats;
      if (performance.now() > deadline) {
        throw new Error(`not ${what} after ${seconds} s: ${JSON.stringify(stats)}`);
      }
      // wait: for the server's own timers and its peers; polled because it is another process
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends it gracefully and checks that it went by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close().catch(() => {});
    const { code, signal } = await this.#child.status;
    await this.#lines.return?.();
    await Deno.remove(this.#folder, { recursive: true });
    if (code !== 0) {
      throw new Error(`The server under test ended with code ${code}, signal ${signal}`);
    }
  }
}

export async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}
