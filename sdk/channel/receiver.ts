/**
 * One message at a time, for callers that ask with a time limit. A message is taken for somebody who waits, and never kept: of
 * several who wait, each gets another one, in the order in which they asked. While nobody waits, loops go on as if nobody had
 * ever asked here.
 */
import type { Runtime } from "../base/runtime.ts";
import type { Envelope } from "../content/envelope.ts";
import type { OneByOne } from "./runner/inbox_runner.ts";

/** How long to wait for one message. */
export interface ReceiveOptions {
  /** Until it is over; for ever when not given. */
  readonly timeoutMs?: number;
  /** Gives up; the call then rejects with its reason. */
  readonly signal?: AbortSignal;
}

type Next = IteratorResult<Envelope, undefined>;

interface Waiting {
  readonly give: (next: Next) => void;
  readonly fail: (error: unknown) => void;
}

export class Receiver {
  readonly #messages: OneByOne;
  readonly #runtime: Runtime;
  /** In the order in which they asked. */
  readonly #waiting = new Set<Waiting>();
  /** The error with which the channel ended. */
  #failure: { readonly error: unknown } | undefined;
  #isServing = false;

  constructor(messages: OneByOne, runtime: Runtime) {
    this.#messages = messages;
    this.#runtime = runtime;
  }

  /** Undefined when none arrives in time. Asking acknowledges what was given before. Rejects with the signal's reason. */
  receive({ timeoutMs, signal }: ReceiveOptions = {}): Promise<Next | undefined> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        cancel();
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(waiting);
        if (this.#waiting.size === 0) this.#messages.park();
        finish();
      };
      const waiting: Waiting = {
        give: (next) => settle(() => resolve(next)),
        fail: (error) => settle(() => reject(error)),
      };
      const abort = (): void => waiting.fail(signal?.reason);
      const late = (): void => settle(() => resolve(undefined));
      const cancel = timeoutMs === undefined ? () => {} : this.#runtime.after(timeoutMs, late);
      signal?.addEventListener("abort", abort);
      this.#waiting.add(waiting);
      // At once: a caller that asks and then gives up has asked.
      const written = this.#messages.acknowledge();
      if (!this.#isServing) void this.#serve(written);
    });
  }

  /** Marks the messages given as processed. */
  async finish(): Promise<void> {
    // A waiting caller has asked already, and learns of the channel's end.
    if (this.#waiting.size === 0) await this.#messages.finish();
  }

  async #serve(written: Promise<void> | undefined): Promise<void> {
    this.#isServing = true;
    try {
      await written;
      for (let first = this.#first; first !== undefined; first = this.#first) {
        const next = this.#messages.poll();
        if (next === undefined) await this.#messages.news();
        else if (next.done === true) { for (const { give } of [...this.#waiting]) give(next); }
        else {
          first.give(next);
          if (this.#waiting.size > 0) await this.#messages.acknowledge();
        }
      }
    } catch (error) {
      this.#failure = { error };
      for (const { fail } of [...this.#waiting]) fail(error);
    } finally {
      this.#isServing = false;
    }
  }

  get #first(): Waiting | undefined {
    const [first] = this.#waiting;
    return first;
  }
}
