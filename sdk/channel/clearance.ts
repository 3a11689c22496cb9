/**
 * Permission to act under our present leaf. Each connection has to grant it anew, after it has shown that our store is
 * as new as our actions. Commits wait for it.
 */
import { createDeferred } from "../base/deferred.ts";
import { createError, type StaticError } from "../base/errors.ts";
import { pause } from "../base/runtime.ts";
import type { ChannelDeps } from "./deps.ts";

const waitMs = 30_000;

export class Clearance {
  readonly #deps: Pick<ChannelDeps, "runtime" | "session">;
  #given = createDeferred<void>();
  #isGiven = false;
  #ended: StaticError | undefined;

  constructor(deps: Pick<ChannelDeps, "runtime" | "session">) {
    this.#deps = deps;
  }

  give(): void {
    this.#isGiven = true;
    this.#given.resolve();
  }

  /** Waiting callers check again whether the wait still makes sense. */
  withdraw(): void {
    this.#isGiven = false;
    this.#given.resolve();
    this.#given = createDeferred<void>();
  }

  /** It will not be given any more. */
  end(error: StaticError): void {
    this.#ended ??= error;
    this.#given.resolve();
  }

  /** Resolves while it is given. */
  async wait(): Promise<void> {
    if (this.#isGiven) return;
    const stop = new AbortController();
    const late = pause(this.#deps.runtime, waitMs, stop.signal).then(() => "late");
    try {
      while (!this.#isGiven) {
        if (this.#ended !== undefined) throw this.#ended;
        if (this.#deps.session.state.kind === "ended") throw createError("transport_error", "The client was closed");
        if (await Promise.race([this.#given.promise, late]) === "late") throw this.#tooLate();
      }
    } finally {
      stop.abort();
    }
  }

  #tooLate(): StaticError {
    return this.#deps.session.state.kind === "online"
      ? createError("mls_error", "This agent is not in step with the channel; see health(), then try again")
      : createError("connection_error", "The relay cannot be reached; try again later");
  }
}
