/**
 * Sessions of a model: the protocol's own client package, which starts `static mcp` as a harness
 * does.
 */
import { npmProjectFlags } from "../../tools/npm.ts";
import { TextLineStream } from "../support/lines.ts";

export interface SessionOptions {
  /** Of the command, after `static mcp`. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The protocol's present revision, or the one before. */
  readonly mode?: "auto" | "legacy";
  /** Every byte that the server sends is added to it. */
  readonly record: string;
  /**
   * A person's answers to the server's questions: none at all declines. Left out, the client cannot
   * ask.
   */
  readonly answers?: Readonly<Record<string, string>>;
}

interface Line {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
  readonly heard: readonly unknown[];
}

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
}

/** When the client gives a call up. */
export interface Patience {
  readonly cancelAfterMs?: number;
  readonly timeoutMs?: number;
}

// deno-lint-ignore no-explicit-any
export type Result = any; // what a tool returns is looked into by tests

/**
 * Above the minute after which the client itself gives up: beyond it a test says what it waits for
 * instead of hanging.
 */
const maxAnswerMs = 90_000;

const root = new URL("../../", import.meta.url).pathname;
const rights = ["-N", "-R", "-W", "-E", "-S", "--allow-ffi", "--allow-run"];
/** The program `static`, from its sources. */
export const program: readonly string[] = [
  "run",
  "--quiet",
  "--no-check",
  ...rights,
  `${root}cli/main.ts`,
];

export class McpSession implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, PromiseWithResolvers<Line>>();
  #count = 0;
  /** Notifications of the server so far. */
  heard: readonly unknown[] = [];
  /** The server's first answer. */
  opened: Result;

  private constructor() {
    const script = `${root}tools/npm/mcp_client.ts`;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", ...npmProjectFlags, script],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    void this.#read();
  }

  static async open(
    { words, env, mode = "legacy", record, answers }: SessionOptions,
  ): Promise<McpSession> {
    const session = new McpSession();
    // The server's output is compared byte for byte.
    const args = [
      "-c",
      '"$@" | tee -a "$RECORD"',
      "sh",
      Deno.execPath(),
      ...program,
      "mcp",
      ...words,
    ];
    const all = { ...env, RECORD: record };
    session.opened = await session.#ask({
      op: "connect",
      command: "sh",
      args,
      env: all,
      mode,
      answers,
    });
    return session;
  }

  /** Returns the tool's result. Throws with its text when it reports a failure. */
  async call(
    name: string,
    given: Readonly<Record<string, unknown>> = {},
    how: Patience = {},
  ): Promise<Result> {
    const asked = { op: "call", name, arguments: given, ...how };
    const result: ToolResult = await this.#ask(asked) as ToolResult; // cast: of the protocol
    const text = result.content[0]?.text ?? "";
    if (result.isError === true) throw new Error(text);
    return JSON.parse(text);
  }

  async ask(
    op: "tools" | "resources" | "read" | "subscribe" | "heard",
    uri?: string,
  ): Promise<Result> {
    return await this.#ask({ op, uri });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ask({ op: "close" }).catch(() => {});
    await this.#input.close().catch(() => {});
    await within(maxAnswerMs, "the client's end", this.#child.status);
  }

  async #ask(question: Readonly<Record<string, unknown>>): Promise<unknown> {
    const id = ++this.#count;
    const answered = Promise.withResolvers<Line>();
    this.#waiting.set(id, answered);
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify({ id, ...question })}\n`));
    const { answer, error, heard } = await within(
      maxAnswerMs,
      `the client's answer to ${question["op"]}`,
      answered.promise,
    );
    this.heard = heard;
    if (error !== undefined) throw new Error(error);
    return answer;
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    for await (const text of lines) {
      const line: Line = JSON.parse(text);
      this.#waiting.get(line.id)?.resolve(line);
      this.#waiting.delete(line.id);
    }
    for (const waiting of this.#waiting.values()) waiting.reject(new Error("The client has ended"));
  }
}

async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`${what} has not come within ${ms} ms`)),
    ms,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
