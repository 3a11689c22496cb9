/**
 * The client interface of the operations suite, for every protocol: calls, deliveries, and the
 * reason of its end. No runtime's own API.
 */
import {
  type CallName,
  type ErrorBody,
  type NoticeBody,
  type NoticeEnvelope,
  type NoticeName,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";

export interface RelayClient {
  /** Rejects with `CallFailed`. */
  call<Name extends CallName>(operation: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>>;
  readonly notices: NoticeLog;
  /** The code with which the relay ended the session; undefined for an ordinary end. */
  readonly ended: Promise<string | undefined>;
  /** For a client that opens further sessions by itself: how its agent answers their challenges. */
  authenticateWith?(answer: (relayNonce: Uint8Array) => RequestBody<"Authenticate">): void;
  /** Breaks the connection without a goodbye. */
  close(): void;
}

export class CallFailed extends Error {
  override readonly name = "CallFailed";
  readonly code: string;
  readonly epoch: number | undefined;

  constructor({ code, message, epoch }: ErrorBody) {
    super(`${code}: ${message}`);
    this.code = code;
    this.epoch = epoch;
  }
}

const patienceMs = 60_000;

interface Waiting {
  readonly seen: (notice: NoticeEnvelope) => boolean;
}

/** Everything that was pushed, in order. */
export class NoticeLog {
  readonly #all: NoticeEnvelope[] = [];
  readonly #waiting = new Set<Waiting>();

  /** Hears of each as it comes. */
  onAdded: (notice: NoticeEnvelope) => void = () => {};

  add(notice: NoticeEnvelope): void {
    this.#all.push(notice);
    this.onAdded(notice);
    for (const waiting of this.#waiting) if (waiting.seen(notice)) this.#waiting.delete(waiting);
  }

  of<Name extends NoticeName>(operation: Name): NoticeBody<Name>[] {
    const found = this.#all.filter((notice) => notice.operation === operation);
    return found.map(({ body }) => body as NoticeBody<Name>);
  }

  /** The first `count` notices of this name, as soon as they are there. */
  async first<Name extends NoticeName>(
    operation: Name,
    count: number,
  ): Promise<NoticeBody<Name>[]> {
    if (this.of(operation).length < count) {
      await this.#until(() => this.of(operation).length >= count, operation, count);
    }
    return this.of(operation).slice(0, count);
  }

  #until(done: () => boolean, operation: string, count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        const got = this.#all.map((notice) => notice.operation).join(", ");
        reject(new Error(`${count} × ${operation} did not come in ${patienceMs} ms; got: ${got}`));
      }, patienceMs);
      const waiting: Waiting = {
        seen: () => {
          if (!done()) return false;
          clearTimeout(timer);
          resolve();
          return true;
        },
      };
      this.#waiting.add(waiting);
    });
  }
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** `Promise.withResolvers`, which Node 20 does not have. */
export function deferred<T>(): Deferred<T> {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((onResolve, onReject) =>
    [resolve, reject] = [onResolve, onReject]
  );
  return { promise, resolve, reject };
}
