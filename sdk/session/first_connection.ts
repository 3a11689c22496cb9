/** The time of `connect`: what it waits for, first at the API and then at the relay. */
import { createError, StaticError } from "../base/errors.ts";
import { pause, type Runtime, uniform } from "../base/runtime.ts";
import type { RelaySession, SessionState } from "./relay_session.ts";
import { afterFailure, attemptMs, refusalOf, startAttempts } from "./retry_rule.ts";

/**
 * A service that is busy or restarts is asked again for so long, and the caller sees nothing of it.
 */
export const patienceMs = 60_000;

const retryTimes = { minMs: 500, maxMs: 15_000 };

export interface ConnectDeadline {
  readonly untilMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks again while the service says that it is busy. Each time ends with the time there is. Throws
 * what it said last, and the signal's reason.
 */
export async function whileBusy<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  { untilMs, signal }: ConnectDeadline,
  runtime: Runtime,
): Promise<T> {
  let attempts = startAttempts(untilMs);
  for (;;) {
    try {
      return await askWithin(attemptMs(attempts, runtime.nowMs()), ask, signal, runtime);
    } catch (error) {
      if (!(error instanceof StaticError)) throw error;
      const moment = { nowMs: runtime.nowMs(), random: uniform(runtime) };
      const verdict = afterFailure(attempts, refusalOf(error), retryTimes, moment);
      if (verdict.kind === "tell") throw error;
      attempts = verdict.attempts;
      await pause(runtime, verdict.ms, signal);
      signal?.throwIfAborted();
    }
  }
}

async function askWithin<T>(
  ms: number,
  ask: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
  { after }: Pick<Runtime, "after">,
): Promise<T> {
  const late = new AbortController();
  const text = `The API has not answered within the ${
    patienceMs / 1000
  } s of connect; try again later`;
  const cancel = after(ms, () => late.abort(createError("connection_error", text)));
  try {
    return await ask(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  } finally {
    cancel();
  }
}

/**
 * Resolves with the first connection of a session. Rejects with why it has ended without one, and
 * with the signal's reason.
 */
export async function firstConnection(session: RelaySession, signal?: AbortSignal): Promise<void> {
  let stop = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (state: SessionState): void => {
        if (state.kind === "online") resolve();
        else if (state.kind === "ended") {
          reject(state.error ?? createError("connection_error", "The session was closed"));
        }
      };
      const abort = (): void => reject(signal?.reason);
      const forget = session.onState(look);
      signal?.addEventListener("abort", abort);
      stop = () => {
        forget();
        signal?.removeEventListener("abort", abort);
      };
      if (signal?.aborted === true) abort();
      look(session.state);
    });
  } finally {
    stop();
  }
}
