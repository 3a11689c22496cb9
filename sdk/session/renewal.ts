/**
 * A fresh token for the open session, well before the old one expires: without it the relay ends
 * the session at that moment. Times are the relay's own (`expiresAtMs` against `relayTimeMs`), so
 * the local clock plays no part.
 */
import type { StaticError } from "../base/errors.ts";
import { waitMs } from "./retry_rule.ts";
import type { TokenSource } from "./tokens.ts";

export interface RenewalOptions {
  readonly tokens: TokenSource;
  /** The token that the session was opened with. */
  readonly token: string;
  readonly leftMs: number;
  /** Calls RenewToken; returns how long the new token lasts by the relay's clock. */
  readonly renew: (token: string) => Promise<number>;
  readonly toError: (error: unknown) => StaticError;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The last part of a token's life in which it is renewed, and a limit for it. */
const lastPart = 0.2;
const maxMarginMs = 10 * 60 * 1000;
/** A relay that names a short life cannot make us ask without pause. */
const minWaitMs = 1_000;
/** No timer may run longer. */
const maxWaitMs = 2 ** 31 - 1;
const retry = { minMs: 1_000, maxMs: 60_000 };

/** Returns a function to stop it. A token that cannot be renewed is used to its end. */
export function startRenewal(options: RenewalOptions): () => void {
  const { tokens, renew, toError, after, random } = options;
  if (!tokens.renewable) return () => {};
  let token = options.token;
  const stop = new AbortController();
  let cancel = (): void => {};

  const schedule = (leftMs: number): void => {
    const marginMs = Math.min(maxMarginMs, leftMs * lastPart);
    // Not all agents that started together should ask together.
    const ms = Math.min(maxWaitMs, Math.max(minWaitMs, leftMs - marginMs * (0.75 + random() / 4)));
    cancel = after(ms, () => void attempt(0));
  };
  const attempt = async (failures: number): Promise<void> => {
    try {
      const fresh = await tokens.get({ instead: token, signal: stop.signal });
      if (stop.signal.aborted) return;
      const leftMs = await renew(fresh);
      token = fresh;
      if (!stop.signal.aborted) schedule(leftMs);
    } catch (error) {
      // The session goes on with the old token; when that expires, opening the next session tells
      // what is wrong.
      if (stop.signal.aborted) return;
      const ms = waitMs(toError(error), failures, retry, random());
      cancel = after(ms, () => void attempt(failures + 1));
    }
  };
  schedule(options.leftMs);
  return () => {
    stop.abort();
    cancel();
  };
}
