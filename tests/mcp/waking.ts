/** `static wake --stdout` as a harness runs it: a process, and the lines that it prints. */
import { eventually } from "../support/mod.ts";
import { TextLineStream } from "../support/lines.ts";
import { program } from "./session.ts";

/** Every wake is this, whatever anybody sends. */
export const sentence =
  "Static: something waits for this agent. Call the tool wait of the server static until it returns no messages.";

export class Wakes implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  readonly #errors: Promise<string>;
  /** Every line so far. */
  readonly lines: string[] = [];
  readonly #hungUp = new AbortController();
  #seen = 0;

  /** `into`: a file for its output, instead of `lines`. */
  constructor(
    env: Readonly<Record<string, string>>,
    words: readonly string[] = ["--stdout"],
    into = "&1",
  ) {
    const end = words.includes("--") ? words.indexOf("--") : words.length;
    const all = [...words.slice(0, end), "--agent", "bot", ...words.slice(end)];
    this.#child = new Deno.Command("sh", {
      args: ["-c", `exec "$@" >${into}`, "sh", Deno.execPath(), ...program, "wake", ...all],
      env: { ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = this.#read();
    this.#errors = new Response(this.#child.stderr).text();
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
      { signal: this.#hungUp.signal },
    );
    for await (const line of lines) this.lines.push(line);
  }

  /** Nobody reads what it prints from now on. */
  async hangUp(): Promise<void> {
    this.#hungUp.abort();
    await this.#reading.catch(() => {});
  }

  /** Its end, which nobody asks it for. */
  get ended(): Promise<{ readonly success: boolean; readonly said: string }> {
    return this.#child.status.then(async ({ success }) => ({ success, said: await this.#errors }));
  }

  /** Waits for one more, and says `again` until it is there. */
  async next(what: string, again: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    const found = async (): Promise<number> => {
      await again();
      return this.lines.length;
    };
    await eventually({ what, withinMs: 60_000 }, found, (count) => count > this.#seen);
    this.#seen = this.lines.length;
  }

  /** How many have come that nobody waited for. */
  get more(): number {
    return this.lines.length - this.#seen;
  }

  /** Returns its standard error. */
  async end(): Promise<string> {
    try {
      this.#child.kill("SIGINT");
    } catch {
      // It has ended by itself.
    }
    await this.#child.status;
    await this.#reading;
    return await this.#errors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
