/** `POST {apiUrl}/v1/tokens`: an API key for a JWT. The key goes into one header of one request and nowhere else. */
import { parseApiKey } from "../../proto/mod.ts";
import { createError, type StaticError } from "../base/errors.ts";
import { readBoundedText } from "../transport/bounded_text.ts";
import type { HttpClient } from "../transport/transport.ts";

export interface ExchangeDeps {
  /** The runtime's HTTP; opened for each exchange, because there is one an hour. */
  readonly openHttp: () => HttpClient;
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
}

const timeoutMs = 15_000;
/** A token and its JSON, or an error body. */
const maxAnswerLength = 32 * 1024;
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** A key must not travel in clear, except to a service on this machine. Throws `invalid_request`. */
export function parseApiUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && loopback.test(url.hostname))) return url;
  throw createError(
    "invalid_request",
    "Cannot use apiUrl: give https://host (http:// only for a service on this machine)",
  );
}

/** Rejects with the signal's reason when that is aborted first. */
export async function exchangeKey(
  apiKey: string,
  apiUrl: URL,
  deps: ExchangeDeps,
  signal: AbortSignal,
): Promise<string> {
  if (parseApiKey(apiKey) === undefined) {
    const text = "The API key is incomplete or mistyped: a key begins with sk_live_ or sk_test_ and ends in a checksum";
    throw createError("auth_key_invalid", text);
  }
  const url = new URL(`${apiUrl.pathname.replace(/\/+$/, "")}/v1/tokens`, apiUrl.origin).href;
  const { status, retryAfterMs, body } = await post({ url, apiKey, origin: apiUrl.origin }, deps, signal);
  if (status !== 200) throw refusal(status, body, retryAfterMs, apiUrl.origin);
  if (typeof body.token === "string") return body.token;
  throw createError("connection_error", `${apiUrl.origin} answered without a token; is apiUrl the address of the API?`);
}

interface Answer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly body: { readonly token?: unknown; readonly code?: unknown; readonly error?: unknown };
}

async function post(
  { url, apiKey, origin }: { readonly url: string; readonly apiKey: string; readonly origin: string },
  deps: ExchangeDeps,
  signal: AbortSignal,
): Promise<Answer> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", abort);
  const http = deps.openHttp();
  const cancel = deps.after(timeoutMs, () => controller.abort(new Error(`No answer within ${timeoutMs / 1000} s`)));
  try {
    const response = await http.request(url, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}` },
      // A redirect would take the key to an address that nobody configured.
      redirect: "error",
      signal: controller.signal,
    });
    const retryAfterS = Number(response.headers.get("retry-after") ?? NaN);
    return {
      status: response.status,
      retryAfterMs: retryAfterS >= 0 ? retryAfterS * 1000 : undefined,
      body: parseObject(await readBoundedText(response, maxAnswerLength) ?? ""),
    };
  } catch (cause) {
    signal.throwIfAborted();
    const text = `Cannot reach the API at ${origin}: check apiUrl, the network, and that the API is running`;
    throw createError("connection_error", text, { cause });
  } finally {
    cancel();
    signal.removeEventListener("abort", abort);
    http.close();
  }
}

function parseObject(text: string): Answer["body"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // some proxy's own page
  }
}

function refusal(status: number, body: Answer["body"], retryAfterMs: number | undefined, origin: string): StaticError {
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  const said = typeof body.error === "string" ? ` (${body.error.slice(0, 200)})` : "";
  if (status === 401) {
    const code = body.code === "auth_failed" ? "auth_failed" : "auth_key_invalid";
    return createError(
      code,
      `The API at ${origin} does not accept the API key${said}; create a new one or check its environment`,
    );
  }
  if (status === 429 || status === 503) {
    const code = status === 429 ? "rate_limited" : "overloaded";
    return createError(code, `The API at ${origin} is too busy to give a token${said}; try again later`, options);
  }
  return createError("connection_error", `The API at ${origin} answered ${status}; check apiUrl or try again`, options);
}
