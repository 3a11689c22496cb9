/**
 * The body of one request as an async iterator: a queue that the connection fills and the handler
 * empties. Bytes that were taken become window for the peer: a handler that does not read holds its
 * client back. Frames that arrived together are taken together, because each step of an async
 * pipeline costs more than copying some kilobytes.
 */
import type { Field } from "../../proto/http2/mod.ts";
import type { ServerRequestBody } from "./handler.ts";

/** The receiver of reports about the bytes. */
export interface BodyOwner {
  /** The handler took them: the peer may send as many again. */
  taken(bytes: number): void;
  /** Nobody will read them: they no longer count against the connection. */
  dropped(bytes: number): void;
}

type ChunkResult = IteratorResult<Uint8Array, undefined>;
interface Waiter {
  readonly resolve: (result: ChunkResult) => void;
  readonly reject: (reason: Error) => void;
}

const done: ChunkResult = { done: true, value: undefined };
/** So much is taken at once. */
const takenBytes = 65_536;
/**
 * So many small chunks become one already in the queue: one-byte frames must not cost a hundred
 * times their size.
 */
const mergedChunks = 32;
const mergedBytes = 16_384;

export class StreamRequestBody implements ServerRequestBody {
  trailers: readonly Field[] = [];
  readonly #owner: BodyOwner;
  #chunks: Uint8Array[] = [];
  #unmerged = 0;
  #queuedBytes = 0;
  #waiters: Waiter[] = [];
  #delivering = false;
  #ended = false;
  #failure: Error | undefined;

  constructor(owner: BodyOwner) {
    this.#owner = owner;
  }

  /** Bytes that arrived and were not taken. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Ended, and all of it taken. */
  get exhausted(): boolean {
    return this.#ended && this.#chunks.length === 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<ChunkResult> {
    if (this.#chunks.length > 0 && !this.#delivering) {
      return Promise.resolve({ done: false, value: this.#take() });
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.exhausted) return Promise.resolve(done);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /**
   * The handler wants no more: what is queued and what may still come is dropped, without granting
   * new window.
   */
  return(): Promise<ChunkResult> {
    this.#drop();
    this.end();
    return Promise.resolve(done);
  }

  /** Whether the bytes were queued; false when nobody will ever read them. */
  push(chunk: Uint8Array): boolean {
    if (this.#ended) return false;
    const awaited = this.#waiters.length > 0;
    this.#chunks.push(awaited ? chunk : detached(chunk));
    this.#queuedBytes += chunk.length;
    if (++this.#unmerged === mergedChunks && !awaited) this.#merge();
    this.#deliverSoon();
    return true;
  }

  end(): void {
    this.#ended = true;
    this.#deliverSoon();
  }

  /** The request was cut off: readers get the reason, and what is queued is dropped. */
  fail(reason: Error): void {
    if (this.#failure !== undefined || this.exhausted) return;
    this.#failure = reason;
    this.#drop();
    this.end();
  }

  /** In a microtask, so that all frames of one socket read are in the queue by then. */
  #deliverSoon(): void {
    if (this.#waiters.length === 0 || this.#delivering) return;
    this.#delivering = true;
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    this.#delivering = false;
    while (this.#waiters.length > 0 && this.#chunks.length > 0) {
      this.#waiters.shift()?.resolve({ done: false, value: this.#take() });
    }
    // Nobody waits for the rest, so it must not keep its buffers alive.
    if (this.#chunks.length > 0) {
      this.#chunks = this.#chunks.map(detached);
      this.#merge();
    }
    if (!this.#ended) return;
    for (const waiter of this.#waiters) {
      if (this.#failure === undefined) waiter.resolve(done);
      else waiter.reject(this.#failure);
    }
    this.#waiters = [];
  }

  #take(): Uint8Array {
    const [first = new Uint8Array(0)] = this.#chunks;
    let [count, bytes] = [1, first.length];
    for (; count < this.#chunks.length; count++) {
      const next = this.#chunks[count]?.length ?? 0;
      if (bytes + next > takenBytes) break;
      bytes += next;
    }
    const taken = count === 1 ? first : concatenate(this.#chunks.slice(0, count), bytes);
    if (count === this.#chunks.length) {
      this.#chunks = [];
      this.#unmerged = 0;
    } else {
      this.#chunks.splice(0, count);
    }
    this.#queuedBytes -= bytes;
    this.#owner.taken(bytes);
    return taken;
  }

  #drop(): void {
    const bytes = this.#queuedBytes;
    this.#chunks = [];
    this.#queuedBytes = 0;
    if (bytes > 0) this.#owner.dropped(bytes);
  }

  #merge(): void {
    this.#unmerged = 0;
    const from = Math.max(0, this.#chunks.length - mergedChunks);
    const small = this.#chunks.slice(from);
    const bytes = small.reduce((sum, chunk) => sum + chunk.length, 0);
    if (bytes <= mergedBytes) this.#chunks.splice(from, small.length, concatenate(small, bytes));
  }
}

/**
 * A small part of a large buffer is copied before it waits, or one byte could keep a whole read of
 * the socket alive.
 */
function detached(chunk: Uint8Array): Uint8Array {
  return chunk.length * 2 >= chunk.buffer.byteLength ? chunk : chunk.slice();
}

function concatenate(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
