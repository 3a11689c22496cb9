/**
 * Bounds the work under way: so many requests at once, and so many more that wait for their turn,
 * in order. Closed while there is no connection.
 */
import { createError } from "../base/errors.ts";

export interface CallGateOptions {
  readonly underWay: number;
  readonly waiting: number;
  /** Whether the network takes more. */
  readonly hasRoom: () => boolean;
}

interface QueuedCall {
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

export class CallGate {
  readonly #options: CallGateOptions;
  /** In the order in which they came; a Set, so that one that gives up is removed at once. */
  readonly #waiting = new Set<QueuedCall>();
  #underWay = 0;
  #open = false;
  #end: unknown;

  constructor(options: CallGateOptions) {
    this.#options = options;
  }

  /**
   * Starts the call when it is its turn, and returns its result. Rejects with the signal's reason
   * while it waits, and with `overloaded` when too many wait already.
   */
  pass<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#waiting.size === 0 && this.#mayStart()) return this.#start(start);
    if (this.#waiting.size < this.#options.waiting) return this.#wait(start, signal);
    const text =
      `${this.#options.waiting} calls are waiting for the relay already; wait for some before making more`;
    return Promise.reject(createError("overloaded", text));
  }

  /** Calls have begun or wait. */
  get isWanted(): boolean {
    return this.#underWay + this.#waiting.size > 0;
  }

  open(): void {
    this.#open = true;
    this.admit();
  }

  close(): void {
    this.#open = false;
  }

  /** No call will start again. */
  end(reason: unknown): void {
    this.close();
    this.#end = reason;
    for (const { refuse } of [...this.#waiting]) refuse(reason);
  }

  /** Starts as many as there is room for. */
  admit(): void {
    for (const { start } of this.#waiting) {
      if (!this.#mayStart()) return;
      start();
    }
  }

  #start<T>(start: () => Promise<T>): Promise<T> {
    this.#underWay++;
    return start().finally(() => {
      this.#underWay--;
      this.admit();
    });
  }

  #wait<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        signal.removeEventListener("abort", abort);
        this.#waiting.delete(waiting);
      };
      const waiting: QueuedCall = {
        start: () => {
          stopWaiting();
          resolve(this.#start(start));
        },
        refuse: (reason) => {
          stopWaiting();
          reject(reason);
        },
      };
      const abort = (): void => waiting.refuse(signal.reason);
      signal.addEventListener("abort", abort);
      this.#waiting.add(waiting);
    });
  }

  #mayStart(): boolean {
    return this.#open && this.#underWay < this.#options.underWay && this.#options.hasRoom();
  }
}
