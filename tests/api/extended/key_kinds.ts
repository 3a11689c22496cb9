/** Keys with scopes, channels, limits and ends; publishable keys and guest passes; rotation. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createLocalJWKSet, errors, jwtVerify } from "jose";
import { type Answer, relaySecret, type TestApi } from "../../support/api/harness.ts";
import {
  assertFields,
  assertRefused,
  atLast,
  fullKey,
  type Guarantees,
} from "../contract/contract.ts";

const hourMs = 3_600_000;
const channelId = "AAAAAAAAAAAAAAAAAAAAAA";
const narrow = { pattern: "acme/ops/*", allow: ["send", "receive"] };

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const guest = (): object => ({
  kind: "guest",
  channel_id: channelId,
  expires_at: inMs(hourMs),
  message_limit: 5,
});

/** Every operation that a key may be used for, and the scope it needs. */
const operations: readonly (readonly [method: string, path: string, scope: string])[] = [
  ["POST", "/v1/tokens", "tokens"],
  ["GET", "/v1/keys", "keys:read"],
  ["POST", "/v1/keys", "keys:write"],
  ["POST", "/v1/keys/{id}/rotate", "keys:write"],
  ["DELETE", "/v1/keys/{id}", "keys:write"],
  ["GET", "/v1/usage", "usage:read"],
  ["POST", "/v1/badges", "badges"],
  ["GET", "/v1/badges", "badges"],
  ["GET", "/v1/account", "account"],
  ["PATCH", "/v1/account", "account"],
  ["DELETE", "/v1/account", "account"],
  ["POST", "/v1/account/password", "account"],
  ["POST", "/v1/account/verification", "account"],
  ["POST", "/v1/account/verification/confirm", "account"],
  ["DELETE", "/v1/account/sessions", "account"],
  ["GET", "/v1/account/sessions", "account"],
  ["DELETE", "/v1/account/sessions/{id}", "account"],
  ["GET", "/v1/account/events", "account"],
];
const scopes = ["tokens", "keys:read", "keys:write", "usage:read", "account", "badges"];

async function make(api: TestApi, key: string, body: object): Promise<Answer> {
  return await api.call("POST", "/v1/keys", { key, body });
}

async function claimsOf(api: TestApi, key: string): Promise<Record<string, unknown>> {
  const { json, text } = await api.call("POST", "/v1/tokens", { key });
  assert(json?.token !== undefined, text);
  return JSON.parse(atob(json.token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
}

/** The operations that the OpenAPI document opens to API keys. */
async function documentedForKeys(api: TestApi): Promise<string[]> {
  const { json } = await api.call("GET", "/openapi.json");
  const paths: Record<string, Record<string, { security?: object[] }>> = json.paths;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [] }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      security,
    }))
  );
  return all.filter(({ security }) => security.some((one) => "api_key" in one)).map(({ name }) =>
    name
  ).sort();
}

export const keyKindGuarantees: Guarantees = {
  "A key with scopes may do exactly what they say: operation by scope": async ({ api }) => {
    const { apiKey } = await api.signUp();
    assertEquals(
      await documentedForKeys(api),
      operations.map(([method, path]) => `${method} ${path}`).sort(),
    );
    const use = (method: string, path: string, key: string): Promise<Answer> =>
      api.call(method, path.replace("{id}", crypto.randomUUID()), { key });
    for (const scope of scopes) {
      const { json } = await make(api, apiKey, { scopes: [scope] });
      for (const [method, path, needed] of operations) {
        const answer = await use(method, path, json.key);
        if (scope === needed) {
          assert(
            answer.status !== 403 || answer.json.error.includes("more than itself"),
            answer.text,
          );
        } else assertRefused(answer, 403, "not_allowed");
      }
    }
    for (const kind of [{ kind: "publishable", channels: [narrow] }, guest()]) {
      const { json } = await make(api, apiKey, kind);
      assertMatch(json.key, fullKey);
      for (const [method, path, needed] of operations) {
        const { status } = await use(method, path, json.key);
        assertEquals(status, needed === "tokens" ? 200 : 403, `${method} ${path}`);
      }
    }
  },

  "A relay from before scopes refuses tokens that have them": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const narrowed =
      (await make(api, apiKey, { kind: "publishable", channels: [narrow] })).json.key;
    const keys = createLocalJWKSet((await api.call("GET", "/.well-known/jwks.json")).json);
    const tokenOf = async (key: string): Promise<string> =>
      (await api.call("POST", "/v1/tokens", { key })).json.token;
    await jwtVerify(await tokenOf(apiKey), keys);
    await assertRejects(
      async () => jwtVerify(await tokenOf(narrowed), keys),
      errors.JOSENotSupported,
    );
    await jwtVerify(await tokenOf(narrowed), keys, { crit: { static: true } });
  },

  "Tokens of plain keys have five claims, all others one more": async ({ api }) => {
    const { apiKey, id } = await api.signUp();
    const plain = ["exp", "iat", "iss", "plan", "sub"];
    assertFields(await claimsOf(api, apiKey), plain);
    const expiring = (await make(api, apiKey, { expires_at: inMs(hourMs) })).json;
    assertFields(await claimsOf(api, expiring.key), plain);
    const cases: [object, string[]][] = [
      [{ scopes: ["tokens"] }, ["*:send,receive,create,invite"]],
      [{ message_limit: 7 }, ["*:send,receive,create,invite"]],
      [{ scopes: ["tokens"], channels: [narrow] }, ["acme/ops/*:send,receive"]],
      [{ kind: "publishable", channels: [narrow] }, ["acme/ops/*:send,receive"]],
      [guest(), [`#${channelId}:send,receive`]],
    ];
    for (const [body, wanted] of cases) {
      const { json } = await make(api, apiKey, body);
      const claims = await claimsOf(api, json.key);
      assertFields(claims, [...plain, "static"]);
      const isPublic = "kind" in body && body.kind === "publishable";
      const claim = { key: json.id, scopes: wanted, ...(isPublic && { public: true }) };
      assertEquals([claims.sub, claims.static], [id, claim]);
    }
  },

  "A publishable key has a limit of messages, given or not; other keys have the one that they are given":
    async (
      { api },
    ) => {
      const { apiKey } = await api.signUp();
      const publishable = { kind: "publishable", channels: [narrow] };
      for (
        const [body, limit] of [
          [publishable, 1_000],
          [{ ...publishable, message_limit: 7 }, 7],
          [{ ...publishable, message_limit: 50_000 }, 50_000],
          [{ channels: [narrow] }, undefined],
        ] as const
      ) {
        const { json } = await make(api, apiKey, body);
        assertEquals(json.message_limit, limit);
        const { json: { keys } } = await api.call("GET", "/v1/keys", { key: apiKey });
        assertEquals(keys.find(({ id }: { id: string }) => id === json.id).message_limit, limit);
      }
    },

  "A token with as many scopes as there may be stays within 4 KiB": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const allow = ["send", "receive", "create", "invite"];
    const channels = (pattern: string): object[] =>
      Array.from(
        { length: 32 },
        (_, index) => ({ pattern: pattern.replace("0", String(index)), allow }),
      );
    assertRefused(
      await make(api, apiKey, {
        kind: "publishable",
        channels: channels(`${"a".repeat(60)}0/${"b".repeat(60)}/*`),
      }),
      400,
      "invalid_request",
    );
    for (let length = 40; length > 0; length -= 4) {
      const { status, json } = await make(api, apiKey, {
        channels: channels(`${"a".repeat(length)}0/ops/*`),
      });
      if (status === 400) continue;
      const { json: { token } } = await api.call("POST", "/v1/tokens", { key: json.key });
      assert(token.length <= 4096, `${token.length}`);
      assert(token.length > 3000, "the limit is far from what a token may have");
      return;
    }
    throw new Error("no 32 channels were accepted");
  },

  "An expired key stops at once, is not listed, and leaves its place; its tokens live on": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    const { json } = await make(api, apiKey, { name: "short", expires_at: inMs(hourMs) });
    assertEquals((await api.call("POST", "/v1/tokens", { key: json.key })).status, 200);
    api.clock.aheadMs += 2 * hourMs;
    try {
      assertRefused(
        await api.call("POST", "/v1/tokens", { key: json.key }),
        401,
        "auth_key_invalid",
      );
      const { json: { keys } } = await api.call("GET", "/v1/keys", { key: apiKey });
      assertEquals(keys.map(({ name }: { name: string }) => name), ["default"]);
    } finally {
      api.clock.aheadMs -= 2 * hourMs;
    }
  },

  "Rotation: both keys work until the overlap ends, then only the successor, with the same powers":
    async ({ api }) => {
      const { apiKey } = await api.signUp();
      const old =
        (await make(api, apiKey, { name: "ci", channels: [narrow], message_limit: 9 })).json;
      const answer = await api.call("POST", `/v1/keys/${old.id}/rotate`, {
        key: apiKey,
        body: { overlap_seconds: 60 },
      });
      assertEquals(answer.status, 200, answer.text);
      const { id, key, replaces, ...same } = answer.json;
      assertEquals(replaces.id, old.id);
      assertEquals([same.name, same.scopes, same.channels, same.message_limit], ["ci", ["tokens"], [
        narrow,
      ], 9]);
      assert(id !== old.id && key !== old.key);
      // Counted together, so that a rotation is no way around a limit.
      assertEquals((await claimsOf(api, key)).static, (await claimsOf(api, old.key)).static);
      api.clock.aheadMs += 61_000;
      try {
        assertRefused(
          await api.call("POST", "/v1/tokens", { key: old.key }),
          401,
          "auth_key_invalid",
        );
        assertEquals((await api.call("POST", "/v1/tokens", { key })).status, 200);
      } finally {
        api.clock.aheadMs -= 61_000;
      }
    },

  "Other tenants' keys cannot be rotated, and a revoked one neither": async ({ api }) => {
    const [mine, theirs] = [await api.signUp(), await api.signUp()];
    const rotate = (id: string): Promise<Answer> =>
      api.call("POST", `/v1/keys/${id}/rotate`, { key: mine.apiKey });
    assertRefused(await rotate(theirs.keyId), 404, "not_found", "Not found");
    assertRefused(await rotate("x"), 404, "not_found", "Not found");
    const { json } = await make(api, mine.apiKey, {});
    await api.call("DELETE", `/v1/keys/${json.id}`, { key: mine.apiKey });
    assertRefused(await rotate(json.id), 404, "not_found", "Not found");
  },

  "No key makes or rotates one that may do more than itself": async ({ api }) => {
    const { apiKey, keyId } = await api.signUp();
    const maker =
      (await make(api, apiKey, { scopes: ["tokens", "keys:write"], channels: [narrow] })).json.key;
    for (
      const wanted of [{}, guest(), { scopes: ["tokens"] }, { scopes: ["account"] }, {
        channels: [{ ...narrow, pattern: "*" }],
      }]
    ) {
      assertRefused(await make(api, maker, wanted), 403, "not_allowed");
    }
    assertRefused(
      await api.call("POST", `/v1/keys/${keyId}/rotate`, { key: maker }),
      403,
      "not_allowed",
    );
    assertEquals((await make(api, maker, { kind: "publishable", channels: [narrow] })).status, 200);
    const limited =
      (await make(api, apiKey, { scopes: ["tokens", "keys:write"], message_limit: 5 })).json;
    assertRefused(await make(api, limited.key, { scopes: ["tokens"] }), 403, "not_allowed");
    assertEquals(
      (await api.call("POST", `/v1/keys/${limited.id}/rotate`, { key: limited.key })).status,
      200,
    );
  },

  "What makes no sense is refused with the field that does not": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const cases: [object, string][] = [
      [{ kind: "root" }, "kind"],
      [{ kind: "publishable" }, "channels"],
      [{ kind: "publishable", channels: [narrow], scopes: ["account"] }, "scopes"],
      [{ kind: "guest" }, "channel_id"],
      [{ ...guest(), channel_id: "short" }, "channel_id"],
      [{ ...guest(), expires_at: inMs(31 * 24 * hourMs) }, "expires_at"],
      [{ ...guest(), channels: [narrow] }, "channels"],
      [{ channel_id: channelId }, "channel_id"],
      [{ scopes: [] }, "scopes"],
      [{ scopes: ["tokens", "tokens"] }, "scopes"],
      [{ scopes: ["everything"] }, "scopes.0"],
      [{ scopes: ["account"], channels: [narrow] }, "channels"],
      [{ channels: [{ pattern: "acme/ops", allow: ["send"] }] }, "channels.0.pattern"],
      [{ channels: [{ pattern: "*", allow: [] }] }, "channels.0.allow"],
      [{ channels: [{ ...narrow, more: 1 }] }, "more"],
      [{ channels: Array(33).fill(narrow) }, "channels"],
      [{ expires_at: inMs(-1) }, "expires_at"],
      [{ expires_at: "tomorrow" }, "expires_at"],
      [{ message_limit: 0 }, "message_limit"],
      [{ message_limit: 1.5 }, "message_limit"],
    ];
    for (const [body, field] of cases) {
      const answer = await make(api, apiKey, body);
      assertRefused(answer, 400, "invalid_request");
      const fields = answer.json.details.map((detail: { field: string }) => detail.field);
      assert(fields.includes(field), `${JSON.stringify(body)}: ${answer.text}`);
    }
    const overlap = { overlap_seconds: -1 };
    const { json: { keys: [first] } } = await api.call("GET", "/v1/keys", { key: apiKey });
    const answer = await api.call("POST", `/v1/keys/${first.id}/rotate`, {
      key: apiKey,
      body: overlap,
    });
    assertRefused(answer, 400, "invalid_request");
  },

  "The relay's secret opens none of these": async ({ api }) => {
    for (const [method, path] of operations) {
      assertRefused(await api.call(method, path, { key: relaySecret }), 401, "auth_key_invalid");
    }
  },
};

/** The database decides between requests at the same time. */
export const keyKindRaces: Guarantees = {
  "Of many rotations of one key at once exactly one wins, and the others are told": async (
    { api },
  ) => {
    const { apiKey, keyId } = await api.signUp();
    const path = `/v1/keys/${keyId}/rotate`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call("POST", path, { key: apiKey })),
    );
    assertEquals(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assertRefused(answer, 409, "conflict");
    }
    assertEquals((await api.call("GET", "/v1/keys", { key: apiKey })).json.keys.length, 2);
  },

  "Guest passes are counted apart from keys, and both are bounded": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const many = (body: object): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 105 }, () => atLast(() => make(api, apiKey, body))));
    assert((await many(guest())).every(({ status }) => status === 200));
    const keys = await many({});
    for (const answer of keys) {
      if (answer.status !== 200) assertRefused(answer, 409, "key_limit_reached");
    }
    const listed: { kind: string }[] =
      (await api.call("GET", "/v1/keys", { key: apiKey })).json.keys;
    assertEquals(listed.filter(({ kind }) => kind !== "guest").length, 100);
    assert(keys.filter(({ status }) => status === 200).length <= 99);
  },
};
