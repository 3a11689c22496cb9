/**
 * `POST {apiUrl}/v1/tokens`: an API key for a JWT. The key goes into one header of one request and
 * nowhere else.
 */
import {
  type ApiOutcome,
  type ApiRefusal,
  createToken,
  type HttpFetch,
  parseApiKey,
} from "../../proto/mod.ts";
import { codeOfHttp, createError, type StaticError } from "../base/errors.ts";
import type { HttpClient } from "../transport/transport.ts";

export interface ExchangeDeps {
  /** The runtime's HTTP; opened for each exchange, because there is one an hour. */
  readonly openHttp: () => HttpClient;
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
}

const timeoutMs = 15_000;
const maxQuoteLength = 200;

/**
 * `apiUrl` as `parseApiUrl` returns it. Rejects with the signal's reason when that is aborted
 * first.
 */
export async function exchangeKey(
  apiKey: string,
  apiUrl: string,
  deps: ExchangeDeps,
  signal: AbortSignal,
): Promise<string> {
  if (parseApiKey(apiKey) === undefined) {
    const text =
      "The API key is incomplete or mistyped: a key begins with sk_live_ or sk_test_ and ends in a checksum";
    throw createError("auth_key_invalid", text);
  }
  const answer = await askInTime(apiKey, apiUrl, deps, signal);
  const { origin } = new URL(apiUrl);
  switch (answer.outcome) {
    case "done":
      return answer.value;
    case "refused":
      throw refusal(answer, origin);
    case "unusable": {
      const text = `${origin} answered without a token; is apiUrl the address of the API?`;
      throw createError("connection_error", text);
    }
    case "unreachable": {
      signal.throwIfAborted();
      const text =
        `Cannot reach the API at ${origin}: check apiUrl, the network, and that the API is running`;
      throw createError("connection_error", text, {
        cause: answer.cause,
        unreachable: { service: "api", url: origin },
      });
    }
  }
}

/** The deadline is on the injected clock, so `AbortSignal.timeout` will not do. */
async function askInTime(
  apiKey: string,
  url: string,
  deps: ExchangeDeps,
  signal: AbortSignal,
): Promise<ApiOutcome<string>> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", abort);
  const http = deps.openHttp();
  const cancel = deps.after(
    timeoutMs,
    () => controller.abort(new Error(`No answer within ${timeoutMs / 1000} s`)),
  );
  try {
    const send: HttpFetch = (url, init) => http.request(url, init);
    return await createToken({ url, fetch: send, signal: controller.signal }, apiKey);
  } finally {
    cancel();
    signal.removeEventListener("abort", abort);
    http.close();
  }
}

function refusal({ status, code, text, retryAfterMs }: ApiRefusal, origin: string): StaticError {
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  const said = text === undefined ? "" : ` (${text.slice(0, maxQuoteLength)})`;
  if (status === 401) {
    return createError(
      code === "auth_failed" ? "auth_failed" : "auth_key_invalid",
      `The API at ${origin} does not accept the API key${said}; create a new one or check its environment`,
    );
  }
  if (status === 403 && code === "account_suspended") {
    return createError("account_suspended", `The API at ${origin} gives no token${said}`, options);
  }
  const busy = status === 429 || status === 503 ? codeOfHttp(status, code) : undefined;
  if (busy !== undefined) {
    return createError(
      busy,
      `The API at ${origin} gives no token now${said}; try again later`,
      options,
    );
  }
  return createError(
    "connection_error",
    `The API at ${origin} returned HTTP status ${status}; check apiUrl or try again`,
    options,
  );
}
