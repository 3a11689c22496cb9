/**
 * One message at a time, for callers that ask with a time limit. A message that arrives when nobody waits any more is kept for
 * the next who asks; of several who wait, each gets another one, in the order in which they asked.
 */
import type { Runtime } from "../base/runtime.ts";
import type { Envelope } from "../content/envelope.ts";
import type { InboxReader } from "./inbox.ts";

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
  readonly #reader: InboxReader;
  readonly #runtime: Runtime;
  /** In the order in which they asked. */
  readonly #waiting = new Set<Waiting>();
  #kept: Next | undefined;
  /** The channel ended with an error that nobody was there to hear. */
  #failure: { readonly error: unknown } | undefined;
  /** One question to the channel is under way, for whoever is first when it is answered. */
  #asking = false;

  constructor(reader: InboxReader, runtime: Runtime) {
    this.#reader = reader;
    this.#runtime = runtime;
  }

  /** Undefined when none arrives in time. Asking acknowledges what was given before. Rejects with the signal's reason. */
  receive({ timeoutMs, signal }: ReceiveOptions = {}): Promise<Next | undefined> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const kept = this.#kept;
    if (kept !== undefined) {
      this.#kept = undefined;
      return Promise.resolve(kept);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        cancel();
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(waiting);
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
      this.#ask();
    });
  }

  /** What was given counts as done with. */
  async finish(): Promise<void> {
    // Whoever waits has asked already, and a message that nobody took stays for the next time.
    if (!this.#asking && this.#kept === undefined) await this.#reader.finish();
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    this.#reader.next().then((next) => this.#answer(next), (error) => this.#fail(error));
  }

  #answer(next: Next): void {
    this.#asking = false;
    const [first] = this.#waiting;
    if (next.done === true) {
      for (const { give } of [...this.#waiting]) give(next);
    } else if (first === undefined) {
      this.#kept = next;
    } else {
      first.give(next);
      if (this.#waiting.size > 0) this.#ask();
    }
  }

  #fail(error: unknown): void {
    this.#asking = false;
    if (this.#waiting.size === 0) this.#failure = { error };
    for (const { fail } of [...this.#waiting]) fail(error);
  }
}
