/** Tokens, and every way to be refused one. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createLocalJWKSet, jwtVerify } from "jose";
import { encodeApiKey } from "../../../proto/mod.ts";
import { assertFields, assertRefused, type Guarantees } from "./contract.ts";

const unknownKey = encodeApiKey({
  environment: "live",
  lookup: "00000000",
  secret: "0".repeat(32),
});
const protectedOperations = [
  ["POST", "/v1/tokens"],
  ["GET", "/v1/keys"],
  ["POST", "/v1/keys"],
  ["DELETE", "/v1/keys/0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11"],
  ["GET", "/v1/usage"],
] as const;

export const tokenGuarantees: Guarantees = {
  "A token verifies with the published keys and has exactly the five claims for one hour": async (
    { api },
  ) => {
    const { id, apiKey } = await api.signUp();
    const { status, json } = await api.call("POST", "/v1/tokens", { key: apiKey });
    assertEquals(status, 200);
    assertFields(json, ["token"]);
    const jwks = await api.call("GET", "/.well-known/jwks.json");
    assertMatch(jwks.headers.get("cache-control") ?? "", /max-age=300/);
    for (const key of jwks.json.keys) assertFields(key, ["kty", "crv", "kid", "x", "alg", "use"]);
    const { payload, protectedHeader } = await jwtVerify(json.token, createLocalJWKSet(jwks.json));
    assertFields(payload, ["sub", "plan", "iss", "iat", "exp"]);
    assertEquals([payload.sub, payload.plan, payload.iss], [id, "free", "static-api"]);
    assertEquals((payload.exp ?? 0) - (payload.iat ?? 0), 3600);
    assert(Math.abs((payload.iat ?? 0) - Date.now() / 1000) < 5);
    assertFields(protectedHeader, ["alg", "typ", "kid"]);
    assertEquals([protectedHeader.alg, protectedHeader.typ], ["EdDSA", "JWT"]);
  },

  "A token stays valid after its key was revoked": async ({ api }) => {
    const { apiKey, keyId } = await api.signUp();
    const { json: { token } } = await api.call("POST", "/v1/tokens", { key: apiKey });
    await api.call("DELETE", `/v1/keys/${keyId}`, { key: apiKey });
    const jwks = await api.call("GET", "/.well-known/jwks.json");
    assertEquals((await jwtVerify(token, createLocalJWKSet(jwks.json))).payload.iss, "static-api");
  },

  "A body that POST /v1/tokens does not need is ignored": async ({ api }) => {
    const { apiKey } = await api.signUp();
    assertEquals((await api.call("POST", "/v1/tokens", { key: apiKey, body: {} })).status, 200);
    assertEquals(
      (await api.call("POST", "/v1/tokens", { key: apiKey, raw: "not json" })).status,
      200,
    );
  },

  "Every protected operation needs a key: without one 401 auth_failed, with an unknown one 401 auth_key_invalid":
    async (
      { api },
    ) => {
      for (const [method, path] of protectedOperations) {
        assertRefused(await api.call(method, path), 401, "auth_failed");
        assertRefused(await api.call(method, path, { key: unknownKey }), 401, "auth_key_invalid");
      }
    },

  "A malformed Authorization header is 401 auth_failed": async ({ api }) => {
    for (
      const authorization of [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        unknownKey,
        `Bearer ${unknownKey} x`,
        "Bearer a b",
      ]
    ) {
      assertRefused(
        await api.call("POST", "/v1/tokens", { headers: { authorization } }),
        401,
        "auth_failed",
      );
    }
  },

  "The scheme's name is accepted in any case": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const headers = { authorization: `bearer ${apiKey}` };
    assertEquals((await api.call("POST", "/v1/tokens", { headers })).status, 200);
  },

  "A key with a wrong checksum, secret or form is 401 auth_key_invalid": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const wrongChecksum = apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
    const wrongSecret = encodeApiKey({
      environment: "live",
      lookup: apiKey.slice(8, 16),
      secret: "0".repeat(32),
    });
    for (
      const key of [
        wrongChecksum,
        wrongSecret,
        apiKey.slice(0, -1),
        `${apiKey}0`,
        "x",
        "x".repeat(5000),
      ]
    ) {
      assertRefused(await api.call("POST", "/v1/tokens", { key }), 401, "auth_key_invalid");
    }
  },

  "A key of the other environment is refused with the environment that was expected": async (
    { api },
  ) => {
    const key = encodeApiKey({ environment: "test", lookup: "00000000", secret: "0".repeat(32) });
    const answer = await api.call("POST", "/v1/tokens", { key });
    assertRefused(answer, 401, "auth_key_invalid");
    assertStringIncludes(answer.json.error, "sk_live_");
  },

  "A token is no API key: our own, a foreign one and one with alg none are 401 auth_key_invalid":
    async ({ api }) => {
      const { apiKey } = await api.signUp();
      const { json: { token } } = await api.call("POST", "/v1/tokens", { key: apiKey });
      const [, payload] = token.split(".");
      const none = `${btoa('{"alg":"none","typ":"JWT"}').replaceAll("=", "")}.${payload}.`;
      const foreign =
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dyt0CoTl4WoVjAHI9Q_CwSKhl6d_9rhM3NrXuJttkao";
      for (const key of [token, none, foreign]) {
        const answer = await api.call("POST", "/v1/tokens", { key });
        assertRefused(answer, 401, "auth_key_invalid");
        assertStringIncludes(answer.json.error, "token");
      }
    },

  "The relay's secret opens no account's operations, and an API key no internal one": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    assertRefused(
      await api.call("GET", "/v1/keys", { key: api.relaySecret }),
      401,
      "auth_key_invalid",
    );
    for (const key of [apiKey, `${api.relaySecret}x`, api.relaySecret.slice(1)]) {
      assertRefused(
        await api.call("GET", "/internal/v1/leases?relay_id=r", { key }),
        401,
        "auth_failed",
      );
    }
    assertRefused(await api.call("GET", "/internal/v1/leases?relay_id=r"), 401, "auth_failed");
  },
};
