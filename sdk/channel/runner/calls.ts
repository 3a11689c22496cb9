/** Calls that wait for a step, by their numbers. */
import type { RelaySession } from "../../session/relay_session.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";

export class Calls<Result = void> {
  readonly #waiting = new Map<number, Deferred<Result>>();
  #last = 0;

  /** `push` gives the event with the number to the room. */
  begin(push: (operation: number) => void): Promise<Result> {
    const operation = ++this.#last;
    const waiting = createDeferred<Result>();
    this.#waiting.set(operation, waiting);
    push(operation);
    return waiting.promise;
  }

  settle(operation: number, result: Result): void {
    this.#take(operation)?.resolve(result);
  }

  fail(operation: number, why: unknown): void {
    this.#take(operation)?.reject(why);
  }

  settleAll(result: Result): void {
    for (const operation of this.#waiting.keys()) this.settle(operation, result);
  }

  failAll(why: unknown): void {
    for (const operation of this.#waiting.keys()) this.fail(operation, why);
  }

  #take(operation: number): Deferred<Result> | undefined {
    const waiting = this.#waiting.get(operation);
    this.#waiting.delete(operation);
    return waiting;
  }
}

/**
 * Callers of messages on their way out. Each has a time, and none waits for the end of a
 * suspension: all are told of it at once.
 */
export class Callers {
  readonly #waiting = new Set<number>();
  readonly #expire: (order: number) => void;
  /** Listens no more. */
  readonly stop: () => void;
  #order = 0;

  constructor(session: RelaySession, expire: (order: number) => void) {
    this.#expire = expire;
    this.stop = session.onState(() => {
      if (session.suspension !== undefined) this.#expireAll();
    });
  }

  /** The number of the next message. */
  next(): number {
    return this.#order++;
  }

  /** `cancel` ends the time of this one. Returns how to end the waiting. */
  wait(order: number, cancel: () => void): () => void {
    this.#waiting.add(order);
    return () => {
      this.#waiting.delete(order);
      cancel();
    };
  }

  #expireAll(): void {
    const orders = [...this.#waiting];
    this.#waiting.clear();
    for (const order of orders) this.#expire(order);
  }
}
