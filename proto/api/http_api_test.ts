import { assert, assertEquals } from "@std/assert";
import { encodeBase64url } from "../base/base64url.ts";
import {
  createAccount,
  createApiKey,
  createKeyByPassword,
  createToken,
  listApiKeys,
  readHealth,
  readTokenClaims,
  readTokenKeys,
  readUsage,
  revokeApiKey,
  tokenCovers,
} from "./http_api.ts";
import type { ApiAccess, ApiOutcome } from "./http_call.ts";
import { parseChannelId, parseChannelName } from "../base/ids.ts";
import { listLeases, reportLeases, takeLease } from "./lease.ts";

const apiKey = "sk_test_key";
const key = { id: "k1", key_prefix: "sk_test_abcdefgh", name: "ci" };
const created = { id: "k1", prefix: "sk_test_abcdefgh", name: "ci", apiKey: "sk_test_new" };
const login = { email: "a@example.org", password: "correct horse" };
const usage = {
  plan: "free",
  period: { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" },
  messages: { used: 1, limit: null, remaining: null },
  bytes: { payload: 1, padding: 2, cover: 3 },
};
const [startMs, endMs] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)];
const accountId = "0b8a9f52-3a0f-4c0e-9d0c-111111111111";
const lease = {
  id: "0b8a9f52-3a0f-4c0e-9d0c-222222222222",
  fence: 3,
  account_id: accountId,
  granted: 100,
  consumed: 0,
  expires_at: "2026-11-15T08:35:00.000Z",
};
const request = { nonce: lease.id, relay_id: "r", account_id: accountId, messages: 100 };
const report = { lease_id: lease.id, fence: 3, consumed: 1, bytes: usage.bytes, close: true };
const batch = { relay_id: "r 1", reports: [report] };

interface Operation {
  readonly run: (api: ApiAccess) => Promise<ApiOutcome<unknown>>;
  readonly request: string;
  readonly body?: unknown;
  readonly answer: unknown;
  readonly value: unknown;
}

const leases = (api: ApiAccess): ApiAccess & { relaySecret: string } => ({
  ...api,
  relaySecret: "relay",
});

const operations: Readonly<Record<string, Operation>> = {
  createAccount: {
    run: (api) => createAccount(api, login),
    request: "POST /v1/accounts",
    body: login,
    answer: { id: "a1", plan: "free", api_key: "sk_test_new", key },
    value: { accountId: "a1", plan: "free", key: created, device: undefined },
  },
  createKeyByPassword: {
    run: (api) => createKeyByPassword(api, { ...login, name: "ci" }),
    request: "POST /v1/accounts/keys",
    body: { ...login, name: "ci" },
    answer: { ...key, api_key: "sk_test_new" },
    value: { ...created, device: undefined },
  },
  createApiKey: {
    run: (api) => createApiKey(api, { apiKey, name: "ci" }),
    request: "POST /v1/keys Bearer sk_test_key",
    body: { name: "ci" },
    answer: { ...key, key: "sk_test_new" },
    value: created,
  },
  listApiKeys: {
    run: (api) => listApiKeys(api, apiKey),
    request: "GET /v1/keys Bearer sk_test_key",
    answer: {
      keys: [
        { ...key, last_used_at: usage.period.end, created_at: usage.period.start },
        { ...key, last_used_at: null, created_at: usage.period.start },
      ],
    },
    value: [endMs, undefined].map((lastUsedAtMs) => ({
      id: "k1",
      prefix: "sk_test_abcdefgh",
      name: "ci",
      lastUsedAtMs,
      createdAtMs: startMs,
      traits: {},
    })),
  },
  createToken: {
    run: (api) => createToken(api, apiKey),
    request: "POST /v1/tokens Bearer sk_test_key",
    answer: { token: "a.b.c" },
    value: "a.b.c",
  },
  readUsage: {
    run: (api) => readUsage(api, apiKey),
    request: "GET /v1/usage Bearer sk_test_key",
    answer: usage,
    value: { ...usage, period: { startMs, endMs } },
  },
  readHealth: { run: readHealth, request: "GET /health", answer: { status: "ok" }, value: "ok" },
  takeLease: {
    run: (api) => takeLease(leases(api), request),
    request: "POST /internal/v1/leases Bearer relay",
    body: request,
    answer: { lease, plan: "free", period: usage.period },
    value: { lease, plan: "free", period: usage.period },
  },
  reportLeases: {
    run: (api) => reportLeases(leases(api), batch),
    request: "POST /internal/v1/leases/reports Bearer relay",
    body: batch,
    answer: { results: [{ lease_id: lease.id, outcome: "accepted" }] },
    value: { results: [{ lease_id: lease.id, outcome: "accepted" }] },
  },
  listLeases: {
    run: (api) => listLeases(leases(api), "r 1"),
    request: "GET /internal/v1/leases?relay_id=r%201 Bearer relay",
    answer: { leases: [lease] },
    value: { leases: [lease] },
  },
};

/** The answer to one call, and what was asked. */
async function run(
  call: Operation["run"],
  answer: unknown,
): Promise<{ request: string; body: unknown; outcome: ApiOutcome<unknown> }> {
  let [request, body]: [string, unknown] = ["", undefined];
  const outcome = await call({
    url: "",
    signal: new AbortController().signal,
    fetch: (url, init) => {
      const authorization = new Headers(init.headers).get("authorization");
      request = [init.method, url, ...(authorization === null ? [] : [authorization])].join(" ");
      body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
      return Promise.resolve(
        answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer),
      );
    },
  });
  return { request, body, outcome };
}

/** Every answer that lacks one field, at any depth. */
function* withoutOneField(json: unknown): Generator<unknown> {
  if (typeof json !== "object" || json === null) return;
  for (const [name, value] of Object.entries(json)) {
    const rest = Object.entries(json).filter(([other]) => other !== name);
    if (!Array.isArray(json)) yield Object.fromEntries(rest);
    for (const lesser of withoutOneField(value)) {
      yield Array.isArray(json) ? [lesser] : { ...json, [name]: lesser };
    }
  }
}

for (const [name, operation] of Object.entries(operations)) {
  Deno.test(`${name}() asks as the interface says and returns what the API answers`, async () => {
    const { request, body, outcome } = await run(operation.run, operation.answer);
    assertEquals([request, body], [operation.request, operation.body]);
    assertEquals(outcome, { outcome: "done", value: operation.value });
  });

  Deno.test(`${name}() takes no answer in which a field is missing or has another type`, async () => {
    const answers = [...withoutOneField(operation.answer), undefined, null, "text", 5, []];
    for (const answer of answers) {
      const { outcome } = await run(operation.run, answer);
      assertEquals(outcome.outcome, "unusable", JSON.stringify(answer));
    }
    assert(answers.length > 5);
  });
}

Deno.test("revokeApiKey() needs no body in the answer, and an id cannot leave its place in the path", async () => {
  const { request, outcome } = await run(
    (api) => revokeApiKey(api, { apiKey, id: "../accounts?x" }),
    undefined,
  );
  assertEquals(request, "DELETE /v1/keys/..%2Faccounts%3Fx Bearer sk_test_key");
  assertEquals(outcome, { outcome: "done", value: undefined });
});

Deno.test("readTokenKeys() returns the key set as it came", async () => {
  const { request, outcome } = await run(readTokenKeys, { keys: [{ kid: "1" }] });
  assertEquals(request, "GET /.well-known/jwks.json");
  assertEquals(outcome, { outcome: "done", value: { keys: [{ kid: "1" }] } });
});

Deno.test("tokenCovers() tells the channels of a narrow token from others, and takes any other token for one of all", () => {
  const encode = (claims: unknown): string =>
    `e30.${encodeBase64url(new TextEncoder().encode(JSON.stringify(claims)))}.signature`;
  const channel = {
    name: parseChannelName("acme/ops/deploy"),
    channelId: parseChannelId("A".repeat(22)),
  };
  const pass = encode({ static: { key: null, scopes: [`#${channel.channelId}:send,receive`] } });
  assertEquals(tokenCovers(pass, channel), true);
  assertEquals(
    tokenCovers(pass, { ...channel, channelId: parseChannelId("B".repeat(21) + "A") }),
    false,
  );
  const scoped = encode({ static: { key: null, scopes: ["acme/ops/*:receive"] } });
  assertEquals(tokenCovers(scoped, channel), true);
  assertEquals(
    tokenCovers(scoped, { ...channel, name: parseChannelName("acme/other/deploy") }),
    false,
  );
  for (const token of ["", "opaque", encode({ sub: accountId }), encode({ static: "other" })]) {
    assertEquals(tokenCovers(token, channel), true, token);
  }
});

Deno.test("readTokenClaims() returns the claims of the interface, and none of what is no token", () => {
  const encode = (claims: unknown): string =>
    encodeBase64url(new TextEncoder().encode(JSON.stringify(claims)));
  const claims = { sub: accountId, plan: "dev", iss: "static-api", iat: 1000, exp: 4600 };
  const read = { accountId, plan: "dev", issuedAtMs: 1_000_000, expiresAtMs: 4_600_000 };
  assertEquals(readTokenClaims(`e30.${encode(claims)}.signature`), read);
  const none = {
    accountId: undefined,
    plan: undefined,
    issuedAtMs: undefined,
    expiresAtMs: undefined,
  };
  for (
    const token of ["", "opaque", "a.b.c", `a.${encode(null)}.c`, `a.${encode({ exp: "1" })}.c`]
  ) {
    assertEquals(readTokenClaims(token), none, token);
  }
});
