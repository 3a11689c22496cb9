/**
 * Work that several callers wait for at once. A caller may leave; when the last has left, the work
 * itself is given up.
 */
import { createDeferred } from "../base/deferred.ts";

interface Round<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export class SharedWork<T> {
  readonly #work: (signal: AbortSignal) => Promise<T>;
  #round: Round<T> | undefined;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work;
  }

  /**
   * The result of the work under way, or of work that begins now. Rejects with the signal's reason
   * when that is first.
   */
  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const round = this.#round ??= this.#begin();
    const { promise: left, reject } = createDeferred<never>();
    const leave = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", leave);
    round.waiting++;
    try {
      return await Promise.race([round.result, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
      round.waiting--;
      if (round.waiting === 0) this.#end(round);
    }
  }

  #begin(): Round<T> {
    const controller = new AbortController();
    const round: Round<T> = { result: this.#work(controller.signal), controller, waiting: 0 };
    round.result.then(() => this.#forget(round), () => this.#forget(round));
    return round;
  }

  #forget(round: Round<T>): void {
    if (this.#round === round) this.#round = undefined;
  }

  #end(round: Round<T>): void {
    this.#forget(round);
    round.controller.abort(new DOMException("Nobody waits for it any more", "AbortError"));
  }
}
