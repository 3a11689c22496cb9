/** Calls that wait for a step, by their numbers. */
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
