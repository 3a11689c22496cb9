/**
 * One call of the HTTP API over a `fetch` that the caller brings, with its outcome as a value. An
 * answer is read up to a limit, a redirect is never followed, because it would take a credential to
 * an address that nobody configured, and no outcome contains a secret that was sent, even if the
 * other side repeats it.
 */

/**
 * The standard `fetch`, as far as it is used. Certificates and connections are its owner's matter.
 */
export type HttpFetch = (
  url: string,
  init: RequestInit,
) => Promise<Pick<Response, "status" | "headers" | "body">>;

export interface ApiAccess {
  /** Address of the API, as `parseApiUrl` returns it. */
  readonly url: string;
  readonly fetch: HttpFetch;
  /** Ends the call: the caller's deadline, or its own end. */
  readonly signal: AbortSignal;
}

export type ApiOutcome<T> =
  | { readonly outcome: "done"; readonly value: T }
  | ApiRefusal
  /**
   * A success whose body is not what the API sends: something else answers at this address.
   * `problem` ends a sentence.
   */
  | { readonly outcome: "unusable"; readonly status: number; readonly problem: string }
  /** No answer: no connection, an end in the middle, or the signal. */
  | { readonly outcome: "unreachable"; readonly cause: unknown };

export interface ApiRefusal {
  readonly outcome: "refused";
  readonly status: number;
  /** Undefined when the answer is not in the API's form: a proxy's page, for instance. */
  readonly code: string | undefined;
  /** The API's own public text. */
  readonly text: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** Which field of the request broke which rule. */
  readonly details: readonly { readonly field: string; readonly problem: string }[];
}

export interface ApiCall<T> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** An API key, or the relay's secret. */
  readonly credential?: string;
  readonly body?: unknown;
  /** Secrets in the body. */
  readonly secrets?: readonly string[];
  /** The token of a known place, with a password. */
  readonly device?: string | undefined;
  readonly maxAnswerLength?: number;
  /**
   * Takes the answer's JSON, undefined when it is none, and the token that makes this place a known
   * one. Throws `UnusableAnswer`.
   */
  readonly parse: (json: unknown, device: string | undefined) => T;
}

/** The largest answer of the API lists a hundred keys, or the leases of a relay. */
const defaultAnswerLength = 1024 * 1024;
const maxTextLength = 1000;
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Characters that a header can carry. The runtimes' own refusals quote the value. */
const headerValue = /^[\x21-\x7e]+$/;
const deviceHeader = "static-device";
const maxDeviceLength = 512;

/** Of an answer that is not what the API sends; the message ends a sentence. */
export class UnusableAnswer extends Error {
  override readonly name = "UnusableAnswer";
}

/**
 * Only `https:`, or `http:` to this machine: a credential must not travel in clear. Without a slash
 * at its end.
 */
export function parseApiUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && !(url?.protocol === "http:" && isLoopback(url.href))) {
    return undefined;
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/**
 * Whether a key that is good at one of these addresses may be sent to the other. Addresses of the
 * same API may be written in several ways; one that cannot be used at all is the same only letter
 * by letter.
 */
export function isSameApi(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  if (one === other) return true;
  const url = parseApiUrl(one);
  return url !== undefined && url === parseApiUrl(other);
}

/** Whether this address is on this machine. */
export function isLoopback(url: string): boolean {
  return loopback.test(new URL(url).hostname);
}

/**
 * Never rejects because of the other side. Throws `TypeError` for a credential that no header can
 * carry.
 */
export async function callApi<T>(
  { url, fetch: send, signal }: ApiAccess,
  call: ApiCall<T>,
): Promise<ApiOutcome<T>> {
  const { credential, body, device, parse } = call;
  if (credential !== undefined && !headerValue.test(credential)) {
    throw new TypeError(
      "Cannot call the API: the credential has characters that a header cannot carry",
    );
  }
  let answer: HttpAnswer;
  try {
    const response = await send(url + call.path, {
      method: call.method,
      headers: {
        accept: "application/json",
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(isDevice(device) && { [deviceHeader]: device }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "error",
      credentials: "omit",
      cache: "no-store",
      signal,
    });
    const text = await readBoundedText(response, call.maxAnswerLength ?? defaultAnswerLength);
    answer = { status: response.status, headers: response.headers, text };
  } catch (cause) {
    return { outcome: "unreachable", cause };
  }
  if (answer.status < 200 || answer.status > 299) {
    const secrets = [credential, device, ...call.secrets ?? []];
    return refusalOf(answer, secrets.filter((secret) => secret !== undefined));
  }
  try {
    if (answer.text === undefined) throw new UnusableAnswer("an answer that is too long");
    const given = answer.headers.get(deviceHeader);
    return {
      outcome: "done",
      value: parse(parseJson(answer.text), isDevice(given) ? given : undefined),
    };
  } catch (error) {
    if (!(error instanceof UnusableAnswer)) throw error;
    return { outcome: "unusable", status: answer.status, problem: error.message };
  }
}

/** One that a header can carry, and a file may keep. */
function isDevice(text: string | null | undefined): text is string {
  return typeof text === "string" && text.length <= maxDeviceLength && headerValue.test(text);
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when it was too long to be read. */
  readonly text: string | undefined;
}

function refusalOf(
  { status, headers, text = "" }: HttpAnswer,
  secrets: readonly string[],
): ApiRefusal {
  const body = parseJson(text);
  const clean = (value: unknown): string | undefined => {
    if (typeof value !== "string") return undefined;
    return secrets.reduce(
      (rest, secret) => secret === "" ? rest : rest.replaceAll(secret, "[secret]"),
      value,
    ).slice(
      0,
      maxTextLength,
    );
  };
  const details = fieldOf(body, "details");
  const retryAfter = headers.get("retry-after");
  const retryAfterS = retryAfter === null ? NaN : Number(retryAfter);
  return {
    outcome: "refused",
    status,
    code: clean(fieldOf(body, "code")),
    text: clean(fieldOf(body, "error")),
    requestId: clean(fieldOf(body, "request_id")),
    retryAfterMs: retryAfterS >= 0 ? retryAfterS * 1000 : undefined,
    details: !Array.isArray(details) ? [] : details.map((each: unknown) => ({
      field: clean(fieldOf(each, "field")) ?? "",
      problem: clean(fieldOf(each, "problem")) ?? "",
    })),
  };
}

/**
 * Undefined when the body is longer than that: then it is not what was asked for, and the rest is
 * not read.
 */
export async function readBoundedText(
  { body }: Pick<Response, "body">,
  maxLength: number,
): Promise<string | undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) {
      text += decoder.decode(next.value, { stream: true });
      if (text.length > maxLength) return undefined;
    }
    return text;
  } finally {
    await reader.cancel();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // some proxy's own page
  }
}

/** A field of whatever the JSON is; undefined when it is no object. */
export function fieldOf(json: unknown, name: string): unknown {
  return typeof json === "object" && json !== null ? Reflect.get(json, name) : undefined;
}
