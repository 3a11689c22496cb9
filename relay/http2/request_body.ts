/**
 * The body of one request as an async iterator: a queue that the connection fills and the handler empties. What was
 * taken is reported, which becomes window for the peer: a handler that does not read holds its client back.
 */
import type { Field } from "./field.ts";
import type { ServerRequestBody } from "./handler.ts";

/** Who is told what becomes of the bytes. */
export interface BodyOwner {
  /** The handler took them: the peer may send as many again. */
  taken(bytes: number): void;
  /** Nobody will read them: they no longer count against the connection. */
  dropped(bytes: number): void;
}

type Result = IteratorResult<Uint8Array, undefined>;
interface Waiter {
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: Error) => void;
}

const done: Result = { done: true, value: undefined };
/** So many small chunks become one: a flood of one-byte frames must not cost a hundred times its size. */
const mergedChunks = 32;
const mergedBytes = 16_384;

export class RequestBody implements ServerRequestBody {
  trailers: readonly Field[] = [];
  readonly #owner: BodyOwner;
  #chunks: Uint8Array[] = [];
  #first = 0;
  #unmerged = 0;
  #queuedBytes = 0;
  #waiters: Waiter[] | undefined;
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

  next(): Promise<Result> {
    const chunk = this.#chunks[this.#first];
    if (chunk !== undefined) return Promise.resolve(this.#take(chunk));
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#ended) return Promise.resolve(done);
    return new Promise((resolve, reject) => (this.#waiters ??= []).push({ resolve, reject }));
  }

  /** The handler wants no more: what is queued and what may still come is dropped, without granting new window. */
  return(): Promise<Result> {
    this.#drop();
    this.end();
    return Promise.resolve(done);
  }

  /** Whether the bytes found a taker or the queue; false when nobody will ever read them. */
  push(chunk: Uint8Array): boolean {
    if (this.#ended) return false;
    const waiter = this.#waiters?.shift();
    if (waiter !== undefined) {
      this.#owner.taken(chunk.length);
      waiter.resolve({ done: false, value: chunk });
      return true;
    }
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    if (++this.#unmerged === mergedChunks) this.#merge();
    return true;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const waiter of this.#waiters ?? []) waiter.resolve(done);
    this.#waiters = undefined;
  }

  /** The request was cut off: readers get the reason, and what is queued is dropped. */
  fail(reason: Error): void {
    if (this.#failure !== undefined || this.exhausted) return;
    this.#failure = reason;
    this.#drop();
    this.#ended = true;
    for (const waiter of this.#waiters ?? []) waiter.reject(reason);
    this.#waiters = undefined;
  }

  #take(chunk: Uint8Array): Result {
    if (++this.#first === this.#chunks.length) {
      this.#chunks = [];
      this.#first = 0;
      this.#unmerged = 0;
    }
    this.#queuedBytes -= chunk.length;
    this.#owner.taken(chunk.length);
    return { done: false, value: chunk };
  }

  #drop(): void {
    const bytes = this.#queuedBytes;
    this.#chunks = [];
    this.#first = 0;
    this.#queuedBytes = 0;
    if (bytes > 0) this.#owner.dropped(bytes);
  }

  #merge(): void {
    this.#unmerged = 0;
    const from = Math.max(this.#first, this.#chunks.length - mergedChunks);
    const small = this.#chunks.slice(from);
    const bytes = small.reduce((sum, chunk) => sum + chunk.length, 0);
    if (bytes > mergedBytes) return;
    const merged = new Uint8Array(bytes);
    let at = 0;
    for (const chunk of small) {
      merged.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks.splice(from, small.length, merged);
  }
}
