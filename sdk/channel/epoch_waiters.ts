/** Those who wait for the group to reach an epoch, each with its own patience. */
import type { StaticError } from "../base/errors.ts";
import { pause, type Runtime } from "../base/runtime.ts";

interface Waiter {
  readonly epoch: number;
  readonly resolve: (what: "arrived") => void;
  readonly reject: (error: StaticError) => void;
}

export class EpochWaiters {
  readonly #runtime: Runtime;
  readonly #waiters = new Set<Waiter>();
  /** Why no further epoch will come. */
  #over: StaticError | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async wait(epoch: number, timeoutMs: number): Promise<"arrived" | "late"> {
    if (this.#over !== undefined) throw this.#over;
    const stop = new AbortController();
    const arrived = new Promise<"arrived">((resolve, reject) => {
      const waiter: Waiter = { epoch, resolve, reject };
      this.#waiters.add(waiter);
      stop.signal.addEventListener("abort", () => this.#waiters.delete(waiter));
    });
    try {
      const late = pause(this.#runtime, timeoutMs, stop.signal).then(() => "late" as const);
      return await Promise.race([arrived, late]);
    } finally {
      stop.abort();
    }
  }

  /** The group is at this epoch. */
  wake(epoch: number): void {
    for (const waiter of this.#waiters) {
      if (epoch < waiter.epoch) continue;
      this.#waiters.delete(waiter);
      waiter.resolve("arrived");
    }
  }

  end(error: StaticError): void {
    this.#over = error;
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }
}
