/**
 * A stream whose cells are scheduled in a thread of its own, for `constant` cover: this thread encrypts and decrypts, and its
 * work would move ticks that wait for it.
 */
import {
  type CellCounts,
  checkEnvelopeBytes,
  type CoverMode,
  envelopePrefixBytes,
  type Lane,
} from "../../proto/mod.ts";
import type { OutletEvents, ThreadedStream } from "./outlet.ts";
import type { Connector, StreamEnd, Target, TransportName } from "./transport.ts";
import type { FromWorker, MessagePipe, ToWorker } from "./worker_messages.ts";

export interface StreamThread extends MessagePipe<ToWorker, FromWorker> {
  /** The thread failed as a whole. */
  onCrash(run: (message: string) => void): void;
  /** Ends it at once. After a close it ends without this. */
  terminate(): void;
}

/** The connector, able to run in a thread. Where no thread can be started, cells are scheduled in this one. */
export function withThread(connector: Connector, start: () => StreamThread): Connector {
  return {
    ...connector,
    connectInThread: async (target, signal) => {
      const thread = startOrNot(start);
      if (thread === undefined) return await connector.connect(target, signal);
      return await connectInThread(thread, { transport: connector.transport, target, signal });
    },
  };
}

function startOrNot(start: () => StreamThread): StreamThread | undefined {
  try {
    return start();
  } catch {
    return undefined; // a page's security policy, a runtime without workers
  }
}

/** Resolves when the relay can be written to; rejects as `Connector.connect` does. */
async function connectInThread(
  thread: StreamThread,
  { transport, target, signal }: { transport: TransportName; target: Target; signal: AbortSignal },
): Promise<WorkerStream> {
  signal.throwIfAborted();
  const stream = new WorkerStream(thread);
  const abort = (): void => thread.terminate();
  signal.addEventListener("abort", abort);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    thread.post({ kind: "connect", transport, target });
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
  #counts: CellCounts = { cells: 0, coverCells: 0, coverBytes: 0, paddingBytes: 0 };

  constructor(thread: StreamThread) {
    this.#thread = thread;
    this.closed = new Promise((resolve) => this.#settleClosed = resolve);
    this.connected = new Promise((resolve, reject) => {
      thread.onCrash((message) => {
        reject(new Error(message));
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
    this.#thread.post({ kind: "close", closeCode });
    this.#settleClosed({ message: "it was closed by this side" });
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case "chunk":
        return this.#chunk?.(message.bytes);
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
