/**
 * A stream whose cells are scheduled in a thread of its own, for `constant` cover: this thread
 * encrypts and decrypts, and its work would move ticks that wait for it.
 */
import {
  type CellCounts,
  checkEnvelopeBytes,
  type CoverMode,
  envelopePrefixBytes,
  type Lane,
  limits,
} from "../../proto/mod.ts";
import type { OutletEvents, ThreadedStream } from "./outlet.ts";
import { reasonOf } from "./reason.ts";
import { tapped } from "./tap.ts";
import type { CellTap, Connector, ConnectTarget, StreamEnd, TransportName } from "./transport.ts";
import type { FromWorker, MessagePipe, ToWorker } from "./worker_messages.ts";

export interface StreamThread extends MessagePipe<ToWorker, FromWorker> {
  /** The thread failed as a whole. */
  onCrash(run: (message: string) => void): void;
  /** Ends it at once. After a close it ends without this. */
  terminate(): void;
}

type StartThread = (workerUrl: string | undefined) => StreamThread | Promise<StreamThread>;

/**
 * The connector, able to run in a thread. Where no thread can be started, cells are scheduled in
 * this one, unless the user said where the thread's script is: then the address is wrong, and
 * connecting fails. Browsers refuse some threads at once (another origin) and some later (a policy,
 * a missing file).
 */
export function withThread(connector: Connector, start: StartThread): Connector {
  return {
    ...connector,
    connectInThread: async (target, signal, { workerUrl, tap } = {}) => {
      try {
        const thread = await startThread(start, workerUrl);
        return await connectInThread(thread, {
          transport: connector.transport,
          target,
          signal,
          tap,
        });
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
        if (workerUrl !== undefined) {
          throw new Error(`Cannot start the worker at ${workerUrl}: ${error.message}`, {
            cause: error,
          });
        }
      }
      return await (tap === undefined ? connector : tapped(connector, tap)).connect(target, signal);
    },
  };
}

/** The thread failed, not the relay. */
class ThreadError extends Error {}

async function startThread(
  start: StartThread,
  workerUrl: string | undefined,
): Promise<StreamThread> {
  try {
    return await start(workerUrl);
  } catch (cause) {
    throw new ThreadError(reasonOf(cause), { cause });
  }
}

/** Resolves when the relay can be written to; rejects as `Connector.connect` does. */
async function connectInThread(
  thread: StreamThread,
  { transport, target, signal, tap }: {
    transport: TransportName;
    target: ConnectTarget;
    signal: AbortSignal;
    tap: CellTap | undefined;
  },
): Promise<WorkerStream> {
  if (signal.aborted) thread.terminate();
  signal.throwIfAborted();
  const stream = new WorkerStream(thread, tap);
  const abort = (): void => thread.terminate();
  signal.addEventListener("abort", abort);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    thread.post({ kind: "connect", transport, target, isTapped: tap !== undefined });
    await Promise.race([stream.connected, aborted]);
    return stream;
  } catch (error) {
    thread.terminate();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

class WorkerStream implements ThreadedStream {
  readonly connected: Promise<void>;
  readonly closed: Promise<StreamEnd>;
  readonly #thread: StreamThread;
  readonly #flushes = new Map<number, (flushed: boolean) => void>();
  #events: OutletEvents = { onWritten: () => {}, onFailed: () => {} };
  #chunk: ((bytes: Uint8Array | undefined) => void) | undefined;
  #settleClosed: (end: StreamEnd) => void = () => {};
  #pushedBytes = 0;
  #takenBytes = 0;
  #nextFlush = 1;
  #gone = false;
  readonly #tap: CellTap | undefined;
  #isClosed = false;
  #cellBytes: number = limits.cellBytes;
  #counts: CellCounts = { cells: 0, coverCells: 0, coverBytes: 0, paddingBytes: 0 };

  constructor(thread: StreamThread, tap: CellTap | undefined) {
    this.#thread = thread;
    this.#tap = tap;
    this.closed = new Promise((resolve) => this.#settleClosed = resolve);
    this.connected = new Promise((resolve, reject) => {
      thread.onCrash((message) => {
        reject(new ThreadError(message));
        this.#end({ message });
      });
      thread.listen((message) => {
        if (message.kind === "connected") resolve();
        else if (message.kind === "refused") reject(new Error(message.message));
        else this.#receive(message);
      });
    });
    this.connected.catch(() => {});
  }

  /** Sets the listener for writes from now on. */
  attach(events: OutletEvents): void {
    this.#events = events;
  }

  get pendingBytes(): number {
    return this.#pushedBytes - this.#takenBytes;
  }

  get counts(): CellCounts {
    return this.#counts;
  }

  push(lane: Lane, envelope: Uint8Array): void {
    checkEnvelopeBytes(envelope.length);
    this.#pushedBytes += envelope.length + envelopePrefixBytes;
    this.#thread.post({ kind: "push", lane, envelope });
  }

  offer(key: string, envelope: Uint8Array): void {
    this.#thread.post({ kind: "offer", key, envelope });
  }

  setCellBytes(cellBytes: number): void {
    this.#thread.post({ kind: "cellBytes", cellBytes });
  }

  configure(mode: CoverMode, intervalMs: number): void {
    this.#thread.post({ kind: "configure", mode, intervalMs });
  }

  setCovering(covering: boolean): void {
    this.#thread.post({ kind: "covering", covering });
  }

  flush(timeoutMs: number): Promise<boolean> {
    if (this.#gone) return Promise.resolve(false);
    const id = this.#nextFlush++;
    this.#thread.post({ kind: "flush", id, timeoutMs });
    return new Promise((resolve) => this.#flushes.set(id, resolve));
  }

  stop(): void {
    this.#thread.post({ kind: "stop" });
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#gone) return Promise.resolve(undefined);
    this.#thread.post({ kind: "read" });
    return new Promise((resolve) => this.#chunk = resolve);
  }

  /** Cells come from the other side of the thread; nobody writes them here. */
  write(): Promise<void> {
    return Promise.reject(new Error("cells of this stream are written by its thread"));
  }

  close(closeCode: number): void {
    this.#isClosed = true;
    this.#thread.post({ kind: "close", closeCode });
    this.#settleClosed({ message: "it was closed by this side" });
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case "chunk":
        // Pieces that come late must not be mixed with those of the next connection.
        if (message.bytes !== undefined && !this.#isClosed) {
          this.#tap?.(message.bytes, this.#cellBytes, "received");
        }
        return this.#chunk?.(message.bytes);
      case "sent":
        this.#cellBytes = message.cellBytes;
        return this.#tap?.(message.cells, message.cellBytes, "sent");
      case "written":
        this.#takenBytes = message.takenBytes;
        this.#counts = message.counts;
        return this.#events.onWritten();
      case "failed":
        return this.#events.onFailed();
      case "flushed":
        this.#flushes.get(message.id)?.(message.flushed);
        return void this.#flushes.delete(message.id);
      case "closed":
        return this.#settleClosed(message.end);
      case "connected":
      case "refused":
        return;
    }
  }

  /** The thread is gone without a word. */
  #end(end: StreamEnd): void {
    this.#gone = true;
    this.#settleClosed(end);
    this.#chunk?.(undefined);
    for (const settle of this.#flushes.values()) settle(false);
    this.#flushes.clear();
    this.#events.onFailed();
  }
}
