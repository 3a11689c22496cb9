/**
 * A machine for tests: real files in a folder of its own, real network, and a terminal or pipes
 * that the test holds.
 */
import { startChild } from "../platform/child_program.ts";
import { files } from "../platform/files.ts";
import { inspectCertificate, openHttp } from "../platform/http.ts";
import type { CommandPlatform, Sink } from "../platform/platform.ts";
import { isRunning, runCommand } from "../platform/run_command.ts";
import { run } from "../run.ts";

export interface TestHostOptions {
  /** Credentials and agents are kept below it. */
  readonly folder: string;
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * The input, as a pipe or, with `terminal`, as if it were typed; a function types a line when it
   * is asked for one.
   */
  readonly input?: string | Uint8Array | (() => Promise<string>);
  readonly terminal?: boolean;
  /** Columns of the terminal; 80 when not given. */
  readonly columns?: number;
  /** Ctrl-C. */
  readonly interrupt?: AbortSignal;
  readonly nowMs?: () => number;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  /** Everything that has been printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly done: Promise<Outcome>;
}

/** The command runs in this process; what it prints can be watched. */
export function startCli(argv: readonly string[], options: TestHostOptions): Running {
  const {
    folder,
    variables = {},
    input,
    terminal = false,
    interrupt = new AbortController().signal,
  } = options;
  const [stdout, stderr] = [createSink(options), createSink(options)];
  const platform: CommandPlatform = {
    program: "static",
    hasHosts: true,
    variable: (name) => variables[name] || undefined,
    variableNames: Object.keys(variables),
    stdin: createInput(input ?? "", terminal),
    stdout: stdout.sink,
    stderr: stderr.sink,
    interrupted: interrupt,
    folders: {
      credentialsFile: files.join(folder, "config", "static", "credentials.json"),
      trustFile: files.join(folder, "config", "static", "trust.json"),
      agents: files.join(folder, "data", "static", "agents"),
      current: folder,
    },
    files,
    openHttp,
    deadline: (ms) => AbortSignal.timeout(ms),
    inspectCertificate,
    nowMs: options.nowMs ?? Date.now,
    pid: Deno.pid,
    isRunning,
    every: (ms, act) => {
      const timer = setInterval(act, ms);
      return () => clearInterval(timer);
    },
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    runCommand,
    startChild,
  };
  const done = run(argv, platform).then((code) => ({
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
  }));
  return { stdout: stdout.text, stderr: stderr.text, done };
}

function createSink(
  { terminal: isTerminal = false, columns = 80 }: TestHostOptions,
): { sink: Sink; text: () => string } {
  const decoder = new TextDecoder();
  let text = "";
  const write = (content: string | Uint8Array): Promise<void> => {
    text += typeof content === "string" ? content : decoder.decode(content);
    return Promise.resolve();
  };
  return { sink: { isTerminal, columns, write }, text: () => text };
}

const nothing = new Uint8Array(0);

function createInput(
  input: NonNullable<TestHostOptions["input"]>,
  isTerminal: boolean,
): CommandPlatform["stdin"] {
  const typing = typeof input === "function" ? input : undefined;
  let rest = typeof input === "string"
    ? new TextEncoder().encode(input)
    : input instanceof Uint8Array
    ? input
    : nothing;
  const take = (length: number): Uint8Array => {
    const taken = rest.subarray(0, length);
    rest = rest.subarray(length);
    return taken;
  };
  return {
    isTerminal,
    read: () => Promise.resolve(rest.length === 0 ? undefined : take(rest.length)),
    readLine: async ({ prompt } = {}) => {
      await prompt?.();
      if (typing !== undefined) return await typing();
      if (rest.length === 0) return undefined;
      const end = rest.indexOf(0x0a);
      const line = new TextDecoder().decode(take(end < 0 ? rest.length : end + 1));
      return line.replace(/\r?\n$/, "");
    },
  };
}
