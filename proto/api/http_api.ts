/**
 * The HTTP API, one function per operation, for the CLI, the relay and the SDK. Functions and not a
 * class, so that a browser's bundle holds only those that it calls. The calls about leases are in
 * `lease.ts`, because their schemas need zod.
 */
import { decodeBase64url } from "../base/base64url.ts";
import { type ApiAccess, type ApiOutcome, callApi, fieldOf, UnusableAnswer } from "./http_call.ts";
import { parseTokenGrant, rightsIn } from "./token_scopes.ts";

export interface Login {
  readonly email: string;
  readonly password: string;
}

/**
 * The place at which a password was good: with its token the next attempt does not count as a
 * stranger's.
 */
export interface KnownPlace {
  readonly device?: string | undefined;
}

/** A key at the moment of its creation, the only one at which it can be seen. */
export interface CreatedKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly apiKey: string;
}

export interface CreatedAccount extends KnownPlace {
  readonly accountId: string;
  readonly plan: string;
  readonly key: CreatedKey;
}

export interface ListedKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  /** Undefined when it was never used. */
  readonly lastUsedAtMs: number | undefined;
  readonly createdAtMs: number;
  readonly traits: ApiKeyOptions;
}

/** Properties of a key beyond its name, as the API names them; a plain key has none. */
export interface ApiKeyOptions {
  readonly kind?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly channels?:
    | readonly { readonly pattern: string; readonly allow: readonly string[] }[]
    | undefined;
  readonly channel_id?: string | undefined;
  readonly message_limit?: number | undefined;
}

export interface Usage {
  readonly plan: string;
  readonly period: { readonly startMs: number; readonly endMs: number };
  /** Null: without a limit. */
  readonly messages: {
    readonly used: number;
    readonly limit: number | null;
    readonly remaining: number | null;
  };
  readonly bytes: { readonly payload: number; readonly padding: number; readonly cover: number };
}

/** Claims of a token; none of them is verified. */
export interface TokenClaims {
  readonly accountId: string | undefined;
  readonly plan: string | undefined;
  readonly issuedAtMs: number | undefined;
  readonly expiresAtMs: number | undefined;
}

/** A token with its JSON, or an error body. */
const maxTokenAnswerLength = 32 * 1024;

/** `POST /v1/accounts`: an account and its first key. */
export function createAccount(
  api: ApiAccess,
  { email, password }: Login,
): Promise<ApiOutcome<CreatedAccount>> {
  return callApi(api, {
    method: "POST",
    path: "/v1/accounts",
    body: { email, password },
    secrets: [password],
    parse: createdAccountOf,
  });
}

export function createdAccountOf(json: unknown, device: string | undefined): CreatedAccount {
  return {
    device,
    accountId: textOf(json, "id"),
    plan: textOf(json, "plan"),
    key: createdKeyOf(fieldOf(json, "key"), textOf(json, "api_key")),
  };
}

/** `POST /v1/accounts/keys`: the way back in without a key. */
export function createKeyByPassword(
  api: ApiAccess,
  { email, password, name, device }: Login & KnownPlace & { readonly name: string },
): Promise<ApiOutcome<CreatedKey & KnownPlace>> {
  return callApi(api, {
    method: "POST",
    path: "/v1/accounts/keys",
    body: { email, password, name },
    secrets: [password],
    device,
    parse: (json, given) => ({ ...createdKeyOf(json, textOf(json, "api_key")), device: given }),
  });
}

/** `POST /v1/keys`. */
export function createApiKey(
  api: ApiAccess,
  { apiKey, name, traits }: {
    readonly apiKey: string;
    readonly name?: string | undefined;
    readonly traits?: ApiKeyOptions;
  },
): Promise<ApiOutcome<CreatedKey>> {
  return callApi(api, {
    method: "POST",
    path: "/v1/keys",
    credential: apiKey,
    body: { name, ...traits },
    parse: (json) => createdKeyOf(json, textOf(json, "key")),
  });
}

/** `GET /v1/keys`: the active keys, newest first. */
export function listApiKeys(api: ApiAccess, apiKey: string): Promise<ApiOutcome<ListedKey[]>> {
  return callApi(api, {
    method: "GET",
    path: "/v1/keys",
    credential: apiKey,
    parse: (json) => {
      const keys = fieldOf(json, "keys");
      if (!Array.isArray(keys)) throw missingField("keys");
      return keys.map((each: unknown) => ({
        id: textOf(each, "id"),
        prefix: textOf(each, "key_prefix"),
        name: textOf(each, "name"),
        lastUsedAtMs: fieldOf(each, "last_used_at") === null
          ? undefined
          : timeOf(each, "last_used_at"),
        createdAtMs: timeOf(each, "created_at"),
        traits: traitsOf(each),
      }));
    },
  });
}

/** `DELETE /v1/keys/:id`. */
export function revokeApiKey(
  api: ApiAccess,
  { apiKey, id }: { readonly apiKey: string; readonly id: string },
): Promise<ApiOutcome<void>> {
  const path = `/v1/keys/${encodeURIComponent(id)}`;
  return callApi(api, { method: "DELETE", path, credential: apiKey, parse: () => {} });
}

/** `POST /v1/tokens`: the key's token for the relay. */
export function createToken(api: ApiAccess, apiKey: string): Promise<ApiOutcome<string>> {
  return callApi(api, {
    method: "POST",
    path: "/v1/tokens",
    credential: apiKey,
    maxAnswerLength: maxTokenAnswerLength,
    parse: (json) => textOf(json, "token"),
  });
}

/** `GET /v1/usage`: the month against the plan's limit. */
export function readUsage(api: ApiAccess, apiKey: string): Promise<ApiOutcome<Usage>> {
  return callApi(api, { method: "GET", path: "/v1/usage", credential: apiKey, parse: usageOf });
}

/**
 * `GET /health`, of the API and of the relay: the word that it has for itself, "ok" when it is
 * well.
 */
export function readHealth(api: ApiAccess): Promise<ApiOutcome<string>> {
  return callApi(api, { method: "GET", path: "/health", parse: (json) => textOf(json, "status") });
}

/** `GET /.well-known/jwks.json`: the keys that verify tokens, as they came. */
export function readTokenKeys(api: ApiAccess): Promise<ApiOutcome<unknown>> {
  return callApi(api, { method: "GET", path: "/.well-known/jwks.json", parse: (json) => json });
}

/** The claims of a token from the API; of anything else, none. */
export function readTokenClaims(token: string): TokenClaims {
  const json = decodeClaims(token);
  const [accountId, plan, iat, exp] = ["sub", "plan", "iat", "exp"].map((name) =>
    fieldOf(json, name)
  );
  return {
    accountId: typeof accountId === "string" ? accountId : undefined,
    plan: typeof plan === "string" ? plan : undefined,
    issuedAtMs: typeof iat === "number" ? iat * 1000 : undefined,
    expiresAtMs: typeof exp === "number" ? exp * 1000 : undefined,
  };
}

/**
 * Whether the bearer of a token may know of a channel. True of a token that cannot be read: the
 * relay decides.
 */
export function tokenCovers(token: string, channel: Parameters<typeof rightsIn>[1]): boolean {
  const grant = parseTokenGrant(fieldOf(decodeClaims(token), "static"));
  return grant === undefined || rightsIn(grant.scopes, channel).size > 0;
}

function decodeClaims(token: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(decodeBase64url(token.split(".")[1] ?? "")));
  } catch {
    return undefined; // an opaque token, of somebody else's making
  }
}

function usageOf(json: unknown): Usage {
  const [period, messages, bytes] = ["period", "messages", "bytes"].map((name) =>
    fieldOf(json, name)
  );
  return {
    plan: textOf(json, "plan"),
    period: { startMs: timeOf(period, "start"), endMs: timeOf(period, "end") },
    messages: {
      used: countOf(messages, "used"),
      limit: fieldOf(messages, "limit") === null ? null : countOf(messages, "limit"),
      remaining: fieldOf(messages, "remaining") === null ? null : countOf(messages, "remaining"),
    },
    bytes: {
      payload: countOf(bytes, "payload"),
      padding: countOf(bytes, "padding"),
      cover: countOf(bytes, "cover"),
    },
  };
}

export function createdKeyOf(json: unknown, apiKey: string): CreatedKey {
  return {
    id: textOf(json, "id"),
    prefix: textOf(json, "key_prefix"),
    name: textOf(json, "name"),
    apiKey,
  };
}

function traitsOf(json: unknown): ApiKeyOptions {
  const names = ["kind", "expires_at", "scopes", "channels", "channel_id", "message_limit"];
  return Object.fromEntries(names.flatMap((name) => {
    const value = fieldOf(json, name);
    return value === undefined || value === null ? [] : [[name, value]];
  }));
}

/** Response of `GET /.well-known/static`. */
export interface ServiceDiscovery {
  /** As `endpoint` takes them: separated by commas. Undefined when none is known. */
  readonly relayUrl: string | undefined;
  /** Of a private installation. */
  readonly ca: { readonly pem: string; readonly sha256: string } | undefined;
  readonly certificateHashes: readonly string[];
  /** Where messages of a development machine lie. */
  readonly mailFolder: string | undefined;
}

/** `GET /.well-known/static`. */
export function readDiscovery(api: ApiAccess): Promise<ApiOutcome<ServiceDiscovery>> {
  return callApi(api, {
    method: "GET",
    path: "/.well-known/static",
    parse: (json) => {
      const ca = fieldOf(json, "ca");
      const urls = textsOf(fieldOf(fieldOf(json, "relay"), "urls"));
      const folder = fieldOf(fieldOf(json, "mail"), "folder");
      return {
        relayUrl: urls.length === 0 ? undefined : urls.join(","),
        ca: ca === null ? undefined : { pem: textOf(ca, "pem"), sha256: textOf(ca, "sha256") },
        certificateHashes: textsOf(fieldOf(json, "certificate_hashes")),
        mailFolder: typeof folder === "string" ? folder : undefined,
      };
    },
  });
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw missingField("a list");
  }
  return value;
}

export function textOf(json: unknown, name: string): string {
  const value = fieldOf(json, name);
  if (typeof value !== "string") throw missingField(name);
  return value;
}

function countOf(json: unknown, name: string): number {
  const value = fieldOf(json, name);
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw missingField(name);
  }
  return value;
}

export function timeOf(json: unknown, name: string): number {
  const timeMs = Date.parse(textOf(json, name));
  if (Number.isNaN(timeMs)) throw missingField(name);
  return timeMs;
}

export function missingField(name: string): UnusableAnswer {
  return new UnusableAnswer(`an answer without "${name}"`);
}
