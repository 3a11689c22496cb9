/** The part of `Platform` that channels need besides the relay and the store. */

export interface Runtime {
  /** Milliseconds since 1970 by the local clock, which may be wrong. */
  nowMs(): number;
  /** Runs once after the time; returns a function to cancel it. */
  after(ms: number, run: () => void): () => void;
  /**
   * Resolves in a later turn of the event loop. Not given: long work is done at once, and meanwhile
   * nothing else happens.
   */
  readonly rest?: () => Promise<void>;
  /** Fit for keys. */
  randomBytes(length: number): Uint8Array<ArrayBuffer>;
  /** Shows a mistake of the program to its programmer, on the console; to nobody when not given. */
  show?(text: string): void;
}

/** Resolves after the time, or at once when the signal is aborted. */
export function pause(runtime: Runtime, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = runtime.after(ms, done);
    signal?.addEventListener("abort", done);
  });
}

/** Uniform in [0, 1). */
export function uniform({ randomBytes }: Pick<Runtime, "randomBytes">): number {
  return new DataView(randomBytes(4).buffer).getUint32(0) / 2 ** 32;
}

/**
 * Between half and one and a half of it, so that agents that failed together do not try again
 * together.
 */
export function jitter(runtime: Runtime, ms: number): number {
  const [byte = 0] = runtime.randomBytes(1);
  return Math.round(ms * (0.5 + byte / 255));
}

/**
 * The same runtime with timers that end together, so that a closed client leaves none behind.
 * Pending timers then run at once, so that nothing waits for ever.
 */
export function withOwnTimers(
  runtime: Runtime,
): { readonly runtime: Runtime; readonly endAll: () => void } {
  const pending = new Map<() => void, () => void>();
  let ended = false;
  return {
    runtime: {
      nowMs: () => runtime.nowMs(),
      randomBytes: (length) => runtime.randomBytes(length),
      ...(runtime.rest && { rest: runtime.rest }),
      show: (text) => runtime.show?.(text),
      after: (ms, run) => {
        if (ended) return () => {};
        const cancel = runtime.after(ms, () => {
          pending.delete(cancel);
          run();
        });
        pending.set(cancel, run);
        return () => {
          pending.delete(cancel);
          cancel();
        };
      },
    },
    endAll: () => {
      ended = true;
      const timers = [...pending];
      pending.clear();
      for (const [cancel, run] of timers) {
        cancel();
        run();
      }
    },
  };
}
