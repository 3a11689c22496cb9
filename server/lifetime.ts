/** The life of a process: it starts, runs until it is asked to stop, and ends with an exit code. */
import { isSocketError } from "../proto/mod.ts";
import { createLog, describeError, type LogFields } from "./log.ts";
import { StartFailed } from "./start_failed.ts";

/** A terminal and a task runner may each deliver the same Ctrl-C. */
const sameSignalMs = 1_000;

/**
 * Resolves at the first SIGTERM or SIGINT, so that everything can end in order; another one means
 * "at once". Call it before anything starts, so that no moment is left in which a signal would
 * simply end the process.
 */
export function untilAskedToStop(endAtOnce: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstMs: number | undefined;
  const asked = (): void => {
    firstMs ??= performance.now();
    if (performance.now() - firstMs > sameSignalMs) endAtOnce();
    resolve();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, asked);
  return promise;
}

export interface GuardOptions {
  readonly writeLog: (line: string) => void;
  /** Ends the process as failed. */
  readonly end: () => void;
}

/**
 * Decides about errors that nobody caught: rejections, and those out of timers and of events. One
 * of a socket is a defect, because every socket has an owner, but one that strangers can cause: it
 * is counted and logged, and the process goes on. Any other leaves unknown what still works: it is
 * logged, and the process ends, so that its supervisor starts a new one. Returns how many of
 * sockets there were.
 */
export function guardProcess({ writeLog, end }: GuardOptions): () => number {
  let count = 0;
  const log = createLog({ write: writeLog, nowMs: Date.now });
  const tell = (event: string, fields: LogFields): void => log("error", event, fields);
  const caught = (error: unknown): void => {
    if (isSocketError(error)) {
      count++;
      return tell("unowned_socket_error", { error: describeError(error) });
    }
    tell("fault", { where: "uncaught", effect: "the process ends", error: describeError(error) });
    end();
  };
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    caught(event.reason);
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    caught(event.error);
  });
  return () => count;
}

export interface RunningProcess {
  /**
   * Resolves when it cannot go on: nothing is left to close in order, and only a new process helps.
   */
  readonly failed?: Promise<Error>;
  close(): Promise<void>;
}

/**
 * Starts, waits until `asked` resolves, closes. Returns the exit code; what went wrong is told on
 * standard error.
 */
export async function runUntil(
  asked: Promise<void>,
  start: () => Promise<RunningProcess>,
  tell: (what: unknown) => void = console.error,
): Promise<0 | 1> {
  try {
    const running = await start();
    const failure = await Promise.race([asked, running.failed ?? asked]);
    if (failure === undefined) {
      await running.close();
      return 0;
    }
    tell(failure.message);
  } catch (error) {
    tell(explain(error));
  }
  return 1;
}

/**
 * For standard error: words for what the operator can mend, the whole error for a fault of ours.
 */
export function explain(error: unknown): unknown {
  return error instanceof StartFailed ? error.message : error;
}
