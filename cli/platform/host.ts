/** The machine that the CLI really runs on, under Node or Deno. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { files, findFolders } from "./files.ts";
import { inspectCertificate, request } from "./http.ts";
import { openInput } from "./input.ts";
import type { Platform, Sink } from "./platform.ts";

export interface Host extends Platform {
  /** What stands on the command line after the program. */
  readonly arguments: readonly string[];
}

export function openHost(): Host {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("interrupted"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  return {
    arguments: process.argv.slice(2),
    program: programName(),
    variable,
    stdin: openInput(interrupt, interruption.signal),
    stdout: openSink(process.stdout, interrupt),
    stderr: openSink(process.stderr, interrupt),
    interrupted: interruption.signal,
    folders: findFolders(variable),
    files,
    request,
    inspectCertificate,
    nowMs: Date.now,
    every: (ms, run) => {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
    randomBytes: (length) => randomBytes(length),
  };
}

/** Whatever fails where nobody waits for it. */
export function onUnexpected(report: (error: unknown) => void): void {
  process.once("uncaughtException", report);
  process.once("unhandledRejection", report);
}

export function exit(code: number): never {
  process.exit(code);
}

function variable(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** `STATIC_COMMAND` is set by the task that starts the CLI. What npx has brought is not in the user's PATH. */
function programName(): string {
  const byNpx = variable("npm_command") === "exec";
  const { deno } = process.versions;
  if (deno === undefined) return byNpx ? "npx static-cli" : "static";
  const task = variable("STATIC_COMMAND") ?? "static";
  return byNpx ? task.replace(/^deno\b/, `npx -y deno@${deno}`) : task;
}

/** A reader that has gone away (`… | head -1`) ends the program as quietly as Ctrl-C does. */
function openSink(stream: typeof process.stdout | typeof process.stderr, onGone: () => void): Sink {
  stream.on("error", onGone);
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || 80;
    },
    write: (content) =>
      new Promise((resolve) => {
        // A failure has been told to `onGone`; nobody is left to be told anything else.
        stream.write(content, () => resolve());
      }),
  };
}
