/** The HTTP API, one method per operation. Answers are read field by field; refusals become failures with what to do. */
import { Failure } from "../failure.ts";
import type { HttpAnswer, HttpRequest, Platform } from "../platform/platform.ts";

export interface NewKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly apiKey: string;
}

export interface ListedKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly lastUsedAt: string | undefined;
  readonly createdAt: string;
}

export interface Usage {
  readonly plan: string;
  readonly period: { readonly start: string; readonly end: string };
  readonly messages: { readonly used: number; readonly limit: number | null; readonly remaining: number | null };
  readonly bytes: { readonly payload: number; readonly padding: number; readonly cover: number };
}

export interface Login {
  readonly email: string;
  readonly password: string;
}

const timeoutMs = 20_000;

export class ApiClient {
  readonly url: string;
  readonly #platform: Platform;
  readonly #caCerts: readonly string[];

  constructor(
    platform: Platform,
    { apiUrl, caCerts }: { readonly apiUrl: string; readonly caCerts: readonly string[] },
  ) {
    this.#platform = platform;
    this.url = apiUrl;
    this.#caCerts = caCerts;
  }

  async signUp({ email, password }: Login): Promise<{ accountId: string; plan: string; key: NewKey }> {
    const body = await this.#call("POST", "/v1/accounts", { body: { email, password } });
    const apiKey = body.text("api_key");
    return { accountId: body.text("id"), plan: body.text("plan"), key: newKey(body.object("key"), apiKey) };
  }

  async createKeyByPassword(login: Login, name: string): Promise<NewKey> {
    const body = await this.#call("POST", "/v1/accounts/keys", { body: { ...login, name } });
    return newKey(body, body.text("api_key"));
  }

  async createKey(key: string, name: string | undefined): Promise<NewKey> {
    const body = await this.#call("POST", "/v1/keys", { key, body: name === undefined ? {} : { name } });
    return newKey(body, body.text("key"));
  }

  async listKeys(key: string): Promise<ListedKey[]> {
    const body = await this.#call("GET", "/v1/keys", { key });
    return body.list("keys").map((each) => ({
      id: each.text("id"),
      prefix: each.text("key_prefix"),
      name: each.text("name"),
      lastUsedAt: each.optionalText("last_used_at"),
      createdAt: each.text("created_at"),
    }));
  }

  async revokeKey(key: string, id: string): Promise<void> {
    await this.#call("DELETE", `/v1/keys/${encodeURIComponent(id)}`, { key });
  }

  async createToken(key: string): Promise<string> {
    return (await this.#call("POST", "/v1/tokens", { key })).text("token");
  }

  async readUsage(key: string): Promise<Usage> {
    const body = await this.#call("GET", "/v1/usage", { key });
    const [period, messages, bytes] = [body.object("period"), body.object("messages"), body.object("bytes")];
    return {
      plan: body.text("plan"),
      period: { start: period.text("start"), end: period.text("end") },
      messages: {
        used: messages.number("used"),
        limit: messages.optionalNumber("limit"),
        remaining: messages.optionalNumber("remaining"),
      },
      bytes: { payload: bytes.number("payload"), padding: bytes.number("padding"), cover: bytes.number("cover") },
    };
  }

  async checkHealth(): Promise<void> {
    const status = (await this.#call("GET", "/health")).text("status");
    if (status !== "ok") throw new Failure("connection_error", `The API at ${this.url} says "${status}" of itself`);
  }

  async #call(
    method: HttpRequest["method"],
    path: string,
    { key, body }: { readonly key?: string; readonly body?: Readonly<Record<string, string>> } = {},
  ): Promise<Fields> {
    const answer = await this.#send(`${this.url}${path}`, {
      method,
      headers: {
        accept: "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      caCerts: this.#caCerts,
      timeoutMs,
      signal: this.#platform.interrupted,
    });
    const fields = new Fields(parseObject(answer.text), this.url);
    if (answer.status >= 200 && answer.status < 300) return fields;
    throw refusal(answer, fields, this.url);
  }

  async #send(url: string, request: HttpRequest): Promise<HttpAnswer> {
    try {
      return await this.#platform.request(url, request);
    } catch (cause) {
      request.signal.throwIfAborted();
      const why = describeNoAnswer(cause, timeoutMs);
      throw new Failure("connection_error", `Cannot reach the API at ${this.url}: ${why}`, {
        advice: "Is it running ({start})? If it is elsewhere: --api-url, or STATIC_API_URL",
        cause,
      });
    }
  }
}

/** An answer's object. What is missing shows that somebody else answered. */
class Fields {
  readonly #object: object;
  readonly #url: string;

  constructor(object: object, url: string) {
    this.#object = object;
    this.#url = url;
  }

  optionalText(name: string): string | undefined {
    const value: unknown = Reflect.get(this.#object, name);
    return typeof value === "string" ? value : undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name);
  }

  optionalNumber(name: string): number | null {
    const value: unknown = Reflect.get(this.#object, name);
    return typeof value === "number" ? value : null;
  }

  number(name: string): number {
    return this.optionalNumber(name) ?? this.#missing(name);
  }

  object(name: string): Fields {
    const value: unknown = Reflect.get(this.#object, name);
    return new Fields(typeof value === "object" && value !== null ? value : this.#missing(name), this.#url);
  }

  list(name: string): Fields[] {
    const value: unknown = Reflect.get(this.#object, name);
    if (!Array.isArray(value)) return this.#missing(name);
    return value.map((each: unknown) => new Fields(typeof each === "object" && each !== null ? each : {}, this.#url));
  }

  #missing(name: string): never {
    throw new Failure("connection_error", `${this.#url} answered without "${name}": it is not the API of Static`, {
      advice: "Check --api-url or STATIC_API_URL",
    });
  }
}

function newKey(fields: Fields, apiKey: string): NewKey {
  return { id: fields.text("id"), prefix: fields.text("key_prefix"), name: fields.text("name"), apiKey };
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Instead of what the API tells programs to do. */
const texts: Readonly<Record<string, string>> = { email_taken: "This e-mail address has an account already" };
export const keyAdvice = "Get a new key with: {} login. Check STATIC_API_KEY if it is set";

const advices: Readonly<Record<string, string>> = {
  auth_failed: "If you have no account at this address: {} signup",
  email_taken: "Get a key for it with: {} login",
  auth_key_invalid: keyAdvice,
  key_limit_reached: "See what is there with: {} keys list; revoke one with: {} keys revoke",
};

function refusal({ status, headers }: HttpAnswer, fields: Fields, url: string): Failure {
  const code = fields.optionalText("code");
  const text = texts[code ?? ""] ?? fields.optionalText("error");
  if (code === undefined || text === undefined) {
    return new Failure("connection_error", `${url} answered ${status}: it is not the API of Static, or not well`, {
      advice: "Check --api-url or STATIC_API_URL",
    });
  }
  const seconds = Number(headers["retry-after"]);
  const wait = seconds > 0 ? `Try again in ${seconds} s` : undefined;
  const advice = wait ?? advices[code];
  const details = code === "invalid_request" ? detailsOf(fields) : "";
  const id = status >= 500 ? ` (request ${fields.optionalText("request_id") ?? "unknown"})` : "";
  return new Failure(code, `${text}${details}${id}`, {
    ...(advice !== undefined && { advice }),
    ...(code === "internal" && { exit: "unavailable" }),
  });
}

/** Which field broke which rule: `password must have at least 8 characters`. */
function detailsOf(fields: Fields): string {
  try {
    return `: ${fields.list("details").map((each) => `${each.text("field")} ${each.text("problem")}`).join("; ")}`;
  } catch {
    return "";
  }
}

/** Why nothing came back, without the system's own names for it. */
export function describeNoAnswer(cause: unknown, timeoutMs: number): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === "TimeoutError") return `no answer within ${timeoutMs / 1000} s`;
  switch (Reflect.get(cause, "code")) {
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "there is no such host";
    case "ABORT_ERR":
      return `no answer within ${timeoutMs / 1000} s`;
  }
  return cause.message;
}
