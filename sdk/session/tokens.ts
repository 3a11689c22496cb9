/**
 * Where the session's JWT comes from: an API key exchanged at the API, a function of the user, or
 * one fixed token. How long a token lasts is taken from the token itself (exp - iat) and counted
 * from the moment it was received, so a wrong local clock does not matter; and an API that is down
 * does not matter while a token is still good.
 */
import { limits, parseApiUrl, readTokenClaims } from "../../proto/mod.ts";
import { createDeferred } from "../base/deferred.ts";
import { createError, StaticError } from "../base/errors.ts";
import { SharedWork } from "./shared_work.ts";
import { type ExchangeDeps, exchangeKey } from "./token_exchange.ts";

export interface TokenSource {
  /**
   * A token that should still be good. `instead` names one that was refused or is about to expire:
   * then another is had, or the reason why not is thrown. Throws `AuthError` when asking again is
   * useless, `TransportError` when it is not, and the signal's reason when that is aborted first.
   */
  get(
    options?: { readonly instead?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<string>;
  /** Whether there can ever be another one. */
  readonly renewable: boolean;
}

/** Credentials for the relay: an API key, or a token. */
export interface TokenOptions {
  /**
   * Exchanged for tokens at the API; `STATIC_API_KEY` or the credentials file when neither it nor
   * `token` is given.
   */
  readonly apiKey?: string | undefined;
  /** Address of the API. Needed with `apiKey`. */
  readonly apiUrl?: string | undefined;
  /** Instead of a key: a token, or a function that fetches one. */
  readonly token?: (string | (() => string | Promise<string>)) | undefined;
}

/** With less than this left, a new token is had if possible. */
const comfortMs = 60_000;
/** The lifetime of the API's tokens, also assumed for a token that cannot be read. */
const usualLifetimeMs = 60 * 60 * 1000;
/**
 * The time limit of the function that a user gave as `token`: one that never answers must not keep
 * the agent offline for ever.
 */
const askMs = 30_000;

/** Throws `StaticError` for options that cannot work. */
export function createTokenSource(options: TokenOptions, deps: ExchangeDeps): TokenSource {
  const { apiKey, apiUrl, token } = options;
  if (token !== undefined) {
    return typeof token === "string"
      ? fixedToken(token)
      : cached((signal) => askUser(token, signal, deps), deps.nowMs);
  }
  if (apiKey === undefined) return noToken();
  if (apiUrl === undefined) {
    throw createError(
      "invalid_request",
      "Cannot use apiKey without apiUrl: give the address of the API",
    );
  }
  const url = parseApiUrl(apiUrl);
  if (url === undefined) {
    const text =
      "Cannot use apiUrl: give https://host (http:// only for a service on this machine)";
    throw createError("invalid_request", text);
  }
  return cached((signal) => exchangeKey(apiKey, url, deps, signal), deps.nowMs);
}

/** Local operations work without a token; whatever needs the relay does not. */
function noToken(): TokenSource {
  const text = "Cannot reach the relay without a credential: give apiKey and apiUrl, or token";
  return { renewable: false, get: () => Promise.reject(createError("auth_failed", text)) };
}

function fixedToken(token: string): TokenSource {
  return {
    renewable: false,
    get: ({ instead } = {}) => {
      if (instead !== token) return Promise.resolve(checkToken(token));
      const text =
        "The relay did not accept the token: it is expired or not for this relay; give a fresh one, a " +
        "function that fetches one, or apiKey";
      return Promise.reject(createError("auth_failed", text));
    },
  };
}

/** Remembers the last token, and lets everybody who needs a new one wait for the same exchange. */
function cached(
  fetchToken: (signal: AbortSignal) => Promise<string>,
  nowMs: () => number,
): TokenSource {
  let held: { readonly token: string; readonly untilMs: number } | undefined;
  const exchange = new SharedWork(async (signal) => {
    const token = checkToken(await fetchToken(signal));
    held = { token, untilMs: nowMs() + lifetimeMsOf(token, nowMs()) };
    return token;
  });
  return {
    renewable: true,
    get: async ({ instead, signal } = {}) => {
      const known = held?.token === instead ? undefined : held;
      const leftMs = known === undefined ? 0 : known.untilMs - nowMs();
      if (known !== undefined && leftMs > comfortMs) return known.token;
      try {
        return await exchange.join(signal);
      } catch (error) {
        // An issued token stays valid until it expires, even if the API is down or the key is
        // revoked.
        if (known !== undefined && leftMs > 0) return known.token;
        throw error;
      }
    },
  };
}

async function askUser(
  token: () => string | Promise<string>,
  signal: AbortSignal,
  { after }: Pick<ExchangeDeps, "after">,
): Promise<string> {
  const { promise: silence, reject } = createDeferred<never>();
  const text = `The function given as \`token\` has not answered within ${
    askMs / 1000
  } s; look at what it waits for`;
  const cancel = after(askMs, () => reject(createError("connection_error", text)));
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([token(), silence]);
  } catch (cause) {
    if (cause instanceof StaticError || cause === signal.reason) throw cause;
    throw createError("connection_error", "The function given as `token` failed; see the cause", {
      cause,
    });
  } finally {
    cancel();
    signal.removeEventListener("abort", abort);
  }
}

/** How long a token lasts that was issued just now, by the clock of its issuer. */
function lifetimeMsOf(token: string, nowMs: number): number {
  const { issuedAtMs = nowMs, expiresAtMs } = readTokenClaims(token);
  return expiresAtMs === undefined ? usualLifetimeMs : expiresAtMs - issuedAtMs;
}

/** A token must fit into the handshake. */
function checkToken(token: unknown): string {
  if (typeof token === "string" && token.length > 0 && token.length <= limits.tokenBytes) {
    return token;
  }
  throw createError(
    "auth_failed",
    `A token is text of 1 to ${limits.tokenBytes} characters; check the code that fetches it`,
  );
}
