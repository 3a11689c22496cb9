/** Waits for a new session's first connection. */
import { createError } from "../base/errors.ts";
import type { RelaySession, SessionState } from "./relay_session.ts";

export interface FirstConnectionOptions {
  readonly nowMs: () => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A service that is busy or restarts says when to come again. For so long its word is taken, and the caller sees nothing of it;
 * a relay that said so and is out of reach then is restarting.
 */
const busyMs = 15_000;
const busyCodes: ReadonlySet<string> = new Set(["overloaded", "relay_draining"]);

/**
 * Resolves with the first connection. Rejects with why there is none when every way has been tried once, or when a service that
 * is busy stays so.
 */
export async function firstConnection(session: RelaySession, options: FirstConnectionOptions): Promise<void> {
  const { nowMs, signal } = options;
  const untilMs = nowMs() + busyMs;
  let isBusy = false;
  let stop = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (state: SessionState): void => {
        if (state.kind === "online") resolve();
        else if (state.kind === "ended") {
          reject(state.error ?? createError("connection_error", "The session was closed"));
        } else if (state.kind === "offline") {
          const { error, retryAtMs } = state;
          isBusy ||= busyCodes.has(error.code);
          const mayCome = busyCodes.has(error.code) || error.code === "connection_error";
          if (!isBusy || !mayCome || retryAtMs >= untilMs) reject(error);
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
