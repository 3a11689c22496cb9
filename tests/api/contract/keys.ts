/** API keys: fields, order, and the interface's table of states. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { inCampaign } from "../../support/campaign.ts";
import { eventually } from "../../support/mod.ts";
import {
  assertFields,
  assertRefused,
  atLast,
  fullKey,
  type Guarantees,
  isoTimestamp,
  uuid,
} from "./contract.ts";

export const keyGuarantees: Guarantees = {
  "(none) → active: POST /v1/keys answers 200 with the full key, once": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const { status, json } = await api.call("POST", "/v1/keys", {
      key: apiKey,
      body: { name: "  ci  " },
    });
    assertEquals(status, 200);
    assertFields(json, ["id", "key_prefix", "name", "key"]);
    assertMatch(json.id, uuid);
    assertMatch(json.key, fullKey);
    assertEquals([json.name, json.key_prefix], ["ci", json.key.slice(0, 16)]);
    const list = await api.call("GET", "/v1/keys", { key: json.key });
    assertEquals(list.status, 200);
    assert(!list.text.includes(json.key) && !list.text.includes("argon2"));
  },

  "A key without a name is called default, whether the body is empty, {} or absent": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    for (
      const options of [{}, { body: {} }, {
        raw: "",
        headers: { "content-type": "application/json" },
      }]
    ) {
      const { status, json } = await api.call("POST", "/v1/keys", { key: apiKey, ...options });
      assertEquals([status, json.name], [200, "default"]);
    }
  },

  "GET /v1/keys lists the account's active keys with exactly five fields, newest first": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    await api.signUp();
    for (const name of ["second", "third"]) {
      await api.call("POST", "/v1/keys", { key: apiKey, body: { name } });
    }
    const { status, json } = await api.call("GET", "/v1/keys", { key: apiKey });
    assertEquals(status, 200);
    assertFields(json, ["keys"]);
    assertEquals(json.keys.map((key: { name: string }) => key.name), [
      "third",
      "second",
      "default",
    ]);
    for (const key of json.keys) {
      assertFields(key, ["id", "key_prefix", "name", "last_used_at", "created_at"]);
      assertMatch(key.created_at, isoTimestamp);
    }
  },

  "Keys created in the same millisecond are listed by id": async ({ api, backend }) => {
    const { id, apiKey } = await api.signUp();
    for (let i = 0; i < 3; i++) await api.call("POST", "/v1/keys", { key: apiKey });
    const sql = backend.sql();
    await sql`UPDATE api_keys SET created_at = '2026-01-01T00:00:00Z' WHERE account_id = ${id}`;
    await sql.end();
    const ids = (await api.call("GET", "/v1/keys", { key: apiKey })).json.keys.map((
      key: { id: string },
    ) => key.id);
    assertEquals(ids, [...ids].sort());
  },

  "active → revoked: DELETE answers 204 without a body and the key stops at once; the record stays":
    async (
      { api, backend },
    ) => {
      const { apiKey, id } = await api.signUp();
      const { json: created } = await api.call("POST", "/v1/keys", { key: apiKey });
      const { json: { token } } = await api.call("POST", "/v1/tokens", { key: created.key });
      const deleted = await api.call("DELETE", `/v1/keys/${created.id.toUpperCase()}`, {
        key: apiKey,
      });
      assertEquals([deleted.status, deleted.text], [204, ""]);
      assertRefused(
        await api.call("POST", "/v1/tokens", { key: created.key }),
        401,
        "auth_key_invalid",
      );
      const { json } = await api.call("GET", "/v1/keys", { key: apiKey });
      assertEquals(json.keys.map((key: { id: string }) => key.id).includes(created.id), false);
      assert(typeof token === "string");
      const sql = backend.sql();
      const rows =
        await sql`SELECT revoked_at FROM api_keys WHERE id = ${created.id} AND account_id = ${id}`;
      await sql.end();
      assert(rows[0]?.revoked_at instanceof Date);
    },

  "A key that is revoked while its request to create another one is on its way creates nothing":
    async ({ api }) => {
      const { apiKey } = await api.signUp();
      const { json: stolen } = await api.call("POST", "/v1/keys", {
        key: apiKey,
        body: { name: "stolen" },
      });
      const rest = Promise.withResolvers<void>();
      const body = new ReadableStream({
        start: (stream) => stream.enqueue(new TextEncoder().encode('{"name":')),
        pull: async (stream) => {
          await rest.promise;
          stream.enqueue(new TextEncoder().encode('"hidden"}'));
          stream.close();
        },
      });
      const creating = api.call("POST", "/v1/keys", {
        key: stolen.key,
        raw: body,
        headers: { "content-type": "application/json" },
      });
      assertEquals(
        (await api.call("DELETE", `/v1/keys/${stolen.id}`, { key: apiKey })).status,
        204,
      );
      rest.resolve();
      assertRefused(await creating, 401, "auth_key_invalid");
      const { json } = await api.call("GET", "/v1/keys", { key: apiKey });
      assertEquals(json.keys.map(({ name }: { name: string }) => name), ["default"]);
    },

  "revoked → revoked: a second DELETE answers 404 and changes nothing": async (
    { api, backend },
  ) => {
    const { apiKey } = await api.signUp();
    const { json: { id } } = await api.call("POST", "/v1/keys", { key: apiKey });
    await api.call("DELETE", `/v1/keys/${id}`, { key: apiKey });
    const sql = backend.sql();
    const [before] = await sql`SELECT revoked_at FROM api_keys WHERE id = ${id}`;
    assertRefused(
      await api.call("DELETE", `/v1/keys/${id}`, { key: apiKey }),
      404,
      "not_found",
      "Not found",
    );
    const [after] = await sql`SELECT revoked_at FROM api_keys WHERE id = ${id}`;
    await sql.end();
    assertEquals(after, before);
  },

  "DELETE answers 404 for another account's key, which keeps working, for an unknown id and for no UUID":
    async (
      { api },
    ) => {
      const [mine, other] = [await api.signUp(), await api.signUp()];
      const absent = "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11";
      for (const id of [other.keyId, absent, "42", "%00", "..%2f", `${absent}x`]) {
        assertRefused(
          await api.call("DELETE", `/v1/keys/${id}`, { key: mine.apiKey }),
          404,
          "not_found",
          "Not found",
        );
      }
      assertEquals((await api.call("POST", "/v1/tokens", { key: other.apiKey })).status, 200);
    },

  "A key may revoke itself; the account is reached again with its password": async ({ api }) => {
    const { apiKey, keyId, email, password } = await api.signUp();
    assertEquals((await api.call("DELETE", `/v1/keys/${keyId}`, { key: apiKey })).status, 204);
    assertRefused(await api.call("GET", "/v1/keys", { key: apiKey }), 401, "auth_key_invalid");
    assertEquals(
      (await api.call("POST", "/v1/accounts/keys", { body: { email, password } })).status,
      200,
    );
  },

  "last_used_at is null before the first use and visible within 2 s after it": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const { json: unused } = await api.call("POST", "/v1/keys", { key: apiKey });
    type Listed = { id: string; last_used_at: string | null };
    const lookUp = async (): Promise<Listed | undefined> =>
      (await api.call("GET", "/v1/keys", { key: apiKey })).json.keys.find((key: Listed) =>
        key.id === unused.id
      );
    assertEquals((await lookUp())?.last_used_at, null);
    const before = Date.now();
    await api.call("POST", "/v1/tokens", { key: unused.key });
    const seen = await eventually(
      { withinMs: inCampaign ? 2000 : 60_000, what: "last_used_at" },
      lookUp,
      (key) => key?.last_used_at !== null,
    );
    const at = Date.parse(seen?.last_used_at ?? "");
    assert(at >= before - 1 && at <= Date.now(), `used at ${at}, asked at ${before}`);
  },

  "Key names have 1 to 64 characters after trimming, without control characters": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    for (const name of ["x", "😀".repeat(64), "ümlaut & <tags>"]) {
      const { status, json } = await api.call("POST", "/v1/keys", { key: apiKey, body: { name } });
      assertEquals([status, json.name], [200, name]);
    }
    for (
      const name of [
        "",
        "   ",
        "x".repeat(65),
        "a\u0000b",
        "a\r\nx-injected: 1",
        "\ud800",
        7,
        null,
        ["x"],
        {},
      ]
    ) {
      const answer = await api.call("POST", "/v1/keys", { key: apiKey, body: { name } });
      assertRefused(answer, 400, "invalid_request");
      assertEquals(answer.json.details[0].field, "name");
    }
  },
};

/** The database decides between requests at the same time. */
export const keyRaces: Guarantees = {
  "An account has at most 100 active keys, also when they are asked for in parallel; revoking makes room":
    async (
      { api },
    ) => {
      const { apiKey, keyId } = await api.signUp();
      const answers = await Promise.all(
        Array.from(
          { length: 110 },
          () => atLast(() => api.call("POST", "/v1/keys", { key: apiKey })),
        ),
      );
      assertEquals((await api.call("GET", "/v1/keys", { key: apiKey })).json.keys.length, 100);
      assert(answers.filter(({ status }) => status === 200).length <= 99);
      for (const answer of answers) {
        if (answer.status !== 200) assertRefused(answer, 409, "key_limit_reached");
      }
      const last = answers.find(({ status }) => status === 200)?.json.key;
      assertEquals((await api.call("DELETE", `/v1/keys/${keyId}`, { key: last })).status, 204);
      assertEquals((await api.call("POST", "/v1/keys", { key: last })).status, 200);
    },
};
