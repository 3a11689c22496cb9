/**
 * Lines of the log to standard output, in batches. The process never waits for their reader: a
 * pipe that nobody reads and a full disk cost lines, which are counted, and nothing else.
 */
import { shownJson } from "../proto/mod.ts";
import { after, within } from "./timers.ts";
import { waits } from "./waits.ts";

export interface LogState {
  /** Lines that nobody took, so far. */
  readonly lostLines: number;
  /** How long the oldest line has waited to be taken. */
  readonly waitingMs: number;
}

export interface LogOutput {
  write(line: string): void;
  state(): LogState;
  /** Writes all that waits at once, for a process that ends in this moment. */
  flush(): void;
  /** Resolves when all lines were taken, or their reader is too slow. */
  close(): Promise<void>;
}

export interface LogOutputDeps {
  /** Returns how many of the bytes were taken. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  readonly writeSync: (bytes: Uint8Array) => number;
  /** A clock that is never set. */
  readonly nowMs: () => number;
}

/** So that a busy process makes one call for many lines. */
const batchMs = 50;
/** The most that waits for a reader that is behind: some minutes of a busy process. */
const maxWaiting = 4 * 1024 * 1024;

interface LineBatch {
  readonly lines: readonly string[];
  /** Lost before them, which a line of its own tells. */
  readonly lost: number;
  readonly sinceMs: number;
}

/** The log of this process. */
export function openLogOutput(): LogOutput {
  return createLogOutput({
    write: (bytes) => Deno.stdout.write(bytes),
    writeSync: (bytes) => Deno.stdout.writeSync(bytes),
    nowMs: () => performance.now(),
  });
}

export function createLogOutput(deps: LogOutputDeps): LogOutput {
  const lines = new WaitingLines(deps.nowMs);
  /** Handed to the reader, and not taken yet. */
  let given: LineBatch | undefined;
  let running: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  const next = (): LineBatch | undefined => {
    cancel?.();
    cancel = undefined;
    return lines.takeAll();
  };
  const send = async (): Promise<void> => {
    for (given = next(); given !== undefined; given = next()) {
      try {
        let rest = bytesOf(given);
        while (rest.length > 0) rest = rest.subarray(await deps.write(rest));
      } catch {
        lines.lose(given);
      }
    }
  };
  const start = (): void => {
    if (given === undefined) running = send();
  };
  return {
    write: (line) => {
      lines.add(line);
      if (given === undefined) cancel ??= after(batchMs, start);
    },
    state: () => {
      const sinceMs = given?.sinceMs ?? lines.sinceMs;
      const waitingMs = sinceMs === undefined ? 0 : deps.nowMs() - sinceMs;
      return { lostLines: lines.lost, waitingMs };
    },
    flush: () => {
      // A call that waits would keep the process from ending.
      if (given !== undefined && deps.nowMs() - given.sinceMs > waits.logTaken.ms) return;
      const batch = next();
      if (batch === undefined) return;
      try {
        let rest = bytesOf(batch);
        while (rest.length > 0) rest = rest.subarray(deps.writeSync(rest));
      } catch {
        lines.lose(batch);
      }
    },
    close: async () => {
      start();
      await within(waits.logTaken.ms, running);
    },
  };
}

/** Lines until they are handed to their reader, and the count of those that were lost. */
class WaitingLines {
  readonly #nowMs: () => number;
  #lines: string[] = [];
  #length = 0;
  #sinceMs: number | undefined;
  /** How many of the lost lines no line of the log has told of. */
  #untold = 0;
  lost = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Since when the oldest line waits. */
  get sinceMs(): number | undefined {
    return this.#sinceMs;
  }

  add(line: string): void {
    if (this.#length + line.length > maxWaiting) return this.#count(1);
    this.#sinceMs ??= this.#nowMs();
    this.#lines.push(line);
    this.#length += line.length;
  }

  takeAll(): LineBatch | undefined {
    if (this.#sinceMs === undefined) return undefined;
    const batch = { lines: this.#lines, lost: this.#untold, sinceMs: this.#sinceMs };
    this.#lines = [];
    this.#length = this.#untold = 0;
    this.#sinceMs = undefined;
    return batch;
  }

  /** Nobody took these. */
  lose({ lines, lost }: LineBatch): void {
    this.#count(lines.length);
    this.#untold += lost;
  }

  #count(lines: number): void {
    this.lost += lines;
    this.#untold += lines;
  }
}

function bytesOf({ lines, lost }: LineBatch): Uint8Array {
  const time = new Date().toISOString();
  const told = { time, level: "warn", event: "log_lines_lost", lines: lost };
  const all = lost === 0 ? lines : [shownJson(told), ...lines];
  return new TextEncoder().encode(`${all.join("\n")}\n`);
}
