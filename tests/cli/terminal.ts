/**
 * A terminal: a shell on a pseudo-terminal of `script`, typed into and read as a person would. The
 * shell is always bash, whatever `SHELL` says: on a Ctrl-C others end themselves instead of telling
 * how the command ended.
 */
import { assert } from "@std/assert";
import { eventually } from "../support/mod.ts";

const repository = new URL("../../", import.meta.url);
// deno-lint-ignore no-control-regex
const decoration = /\x1b\[[\d;?]*[A-Za-z]|\r/g;

export class Terminal implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #keys: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  #screen = "";
  /** Up to where it has been read by `see`. */
  #seen = 0;

  /** Runs a command, `bash` for instance. */
  constructor(command: string, variables: Readonly<Record<string, string>>) {
    this.#child = new Deno.Command("script", {
      args: [
        "--quiet",
        "--flush",
        "--return",
        "--command",
        `exec bash --norc -c ${quoted(command)}`,
        "/dev/null",
      ],
      cwd: repository,
      env: { SHELL: "/bin/sh", TERM: "xterm", ...variables },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#keys = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Everything that was ever shown, without colours. */
  get screen(): string {
    return this.#screen.replace(decoration, "");
  }

  /** Everything as it was written, colours included. */
  get raw(): string {
    return this.#screen;
  }

  async type(text: string): Promise<void> {
    await this.#keys.write(new TextEncoder().encode(text));
  }

  /** Waits until it is shown, after the last match, and returns the match. */
  async see(pattern: RegExp, withinMs = 120_000): Promise<RegExpExecArray> {
    const { match } = await eventually({ withinMs, what: `${pattern} on the terminal` }, () => {
      const fresh = this.screen.slice(this.#seen);
      return Promise.resolve({ match: pattern.exec(fresh), fresh });
    }, ({ match }) => match !== null);
    assert(match !== null);
    this.#seen += match.index + match[0].length;
    return match;
  }

  /** The exit code, once the command has ended. */
  async end(): Promise<number> {
    const { code } = await this.#child.status;
    await this.#reading;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keys.close().catch(() => {});
    try {
      this.#child.kill("SIGTERM");
    } catch {
      // It has ended by itself.
    }
    await this.end();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      this.#screen += text;
    }
  }
}

/** As one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
