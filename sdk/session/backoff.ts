/**
 * How long to wait before the next attempt: doubling, with jitter so that the clients of a restarted relay do not come back
 * at once, and never before the time that the relay itself named.
 */
import type { StaticError } from "../base/errors.ts";

export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** A relay cannot send its clients away for longer than this. */
const maxNamedMs = 10 * 60 * 1000;

export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** It worked for a while: the next failure is a first one again. */
  reset(): void {
    this.#failures = 0;
  }

  nextMs({ code, retryAfterMs }: Pick<StaticError, "code" | "retryAfterMs">): number {
    const { minMs, maxMs, random } = this.#options;
    const limitMs = Math.min(maxMs, minMs * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 30);
    const ownMs = limitMs * (0.5 + random() / 2);
    if (retryAfterMs === undefined) return ownMs;
    const namedMs = Math.min(retryAfterMs, maxNamedMs);
    // A relay that goes away spreads its clients over the time it names; any other asks to be left alone until then.
    return code === "relay_draining" ? Math.max(ownMs, namedMs * random()) : namedMs + ownMs;
  }
}
