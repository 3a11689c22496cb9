/** The machine that the CLI really runs on, under Node or Deno. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { exitCodes } from "../exit_codes.ts";
import { startChild } from "./child_program.ts";
import { files, findFolders } from "./files.ts";
import { inspectCertificate, openHttp } from "./http.ts";
import { openInput } from "./input.ts";
import type { CommandPlatform, Sink } from "./platform.ts";
import { isRunning, runCommand } from "./run_command.ts";

const sameSignalMs = 1_000;

export interface Host extends CommandPlatform {
  /** The command line after the program's name. */
  readonly arguments: readonly string[];
}

export function openHost(): Host {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("interrupted"));
  listenForSignals(interrupt);
  return {
    arguments: process.argv.slice(2),
    program: programName(),
    hasHosts: process.platform !== "win32",
    variable,
    variableNames: variableNames(),
    stdin: openInput(interrupt, interruption.signal),
    stdout: openSink(process.stdout, interrupt),
    stderr: openSink(process.stderr, interrupt),
    interrupted: interruption.signal,
    folders: findFolders(variable),
    files,
    openHttp,
    deadline: (ms) => AbortSignal.timeout(ms),
    inspectCertificate,
    nowMs: Date.now,
    pid: process.pid,
    isRunning,
    every: (ms, run) => {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
    randomBytes: (length) => randomBytes(length),
    runCommand,
    startChild,
  };
}

/**
 * The first signal interrupts, a later one ends the program. Those of the first second are the same
 * one: a Ctrl-C reaches every process of a terminal, and `deno task` passes on what it is told.
 */
function listenForSignals(interrupt: () => void): void {
  let firstMs: number | undefined;
  const hear = (): void => {
    const nowMs = performance.now();
    firstMs ??= nowMs;
    if (firstMs === nowMs) interrupt();
    else if (nowMs - firstMs > sameSignalMs) exit(exitCodes.interrupted.code);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, hear);
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

/** None where Deno lets this program read only some. */
function variableNames(): readonly string[] {
  try {
    return Object.keys(process.env);
  } catch {
    return [];
  }
}

/**
 * Deno tells its tasks where they were called, in `INIT_CWD`. Programs that npx has brought are not
 * in the user's PATH.
 */
function programName(): string {
  const named = variable("STATIC_PROGRAM");
  if (named !== undefined) return named;
  const byNpx = variable("npm_command") === "exec";
  const { deno } = process.versions;
  if (deno === undefined) return byNpx ? "npx static-cli" : "static";
  if (variable("INIT_CWD") === undefined) return "static";
  return `${byNpx ? `npx -y deno@${deno}` : "deno"} task static`;
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
