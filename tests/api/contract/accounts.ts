/** Account creation, and new keys by password. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  assertFields,
  assertRefused,
  fullKey,
  type Guarantees,
  isoTimestamp,
  uuid,
} from "./contract.ts";

const unknownAccount = "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11";

export const accountGuarantees: Guarantees = {
  "POST /v1/accounts answers 201 with id, confirmation and the first key, which works": async (
    { api },
  ) => {
    const email = `Agent-${crypto.randomUUID()}@Example.com`;
    const { status, json } = await api.call("POST", "/v1/accounts", {
      body: { email, password: "1234567 apples" },
    });
    assertEquals(status, 201);
    assertFields(json, ["id", "email", "plan", "created_at", "message", "api_key", "key"]);
    assertFields(json.key, ["id", "key_prefix", "name"]);
    assertMatch(json.id, uuid);
    assertMatch(json.created_at, isoTimestamp);
    assertMatch(json.api_key, fullKey);
    assertEquals([json.email, json.plan, json.key.name], [email, "free", "default"]);
    assertEquals(json.key.key_prefix, json.api_key.slice(0, "sk_live_".length + 8));
    assert(json.message.length > 0);
    assertEquals((await api.call("POST", "/v1/tokens", { key: json.api_key })).status, 200);
  },

  "The interface's paths answer without /v1 too": async ({ api }) => {
    const body = { email: `${crypto.randomUUID()}@example.com`, password: "a password" };
    const account = await api.call("POST", "/accounts", { body });
    assertEquals(account.status, 201);
    const key = await api.call("POST", `/accounts/${account.json.id}/keys`, {
      body: { password: body.password },
    });
    assertEquals(key.status, 200);
    assertMatch(key.json.api_key, fullKey);
  },

  "A second account with the same e-mail in other case is refused with 409 email_taken": async (
    { api },
  ) => {
    const { email, password } = await api.signUp();
    for (const same of [email, email.toUpperCase()]) {
      assertRefused(
        await api.call("POST", "/v1/accounts", { body: { email: same, password } }),
        409,
        "email_taken",
      );
    }
  },

  "A lost key is replaced with the password, by account id or by e-mail": async ({ api }) => {
    const { id, email, password } = await api.signUp();
    const byId = await api.call("POST", `/v1/accounts/${id.toUpperCase()}/keys`, {
      body: { password },
    });
    const byEmail = await api.call("POST", "/v1/accounts/keys", {
      body: { email: email.toUpperCase(), password, name: " lap top " },
    });
    for (const { status, json } of [byId, byEmail]) {
      assertEquals(status, 200);
      assertFields(json, ["id", "key_prefix", "name", "api_key"]);
      assertEquals((await api.call("POST", "/v1/tokens", { key: json.api_key })).status, 200);
    }
    assertEquals([byId.json.name, byEmail.json.name], ["default", "lap top"]);
    assertNotEquals(byId.json.api_key, byEmail.json.api_key);
  },

  "Unknown account and wrong password get the same 401 auth_failed; an id that is no UUID is 404":
    async ({ api }) => {
      const { id, email } = await api.signUp();
      const password = "not the password";
      const answers = [
        await api.call("POST", `/v1/accounts/${id}/keys`, { body: { password } }),
        await api.call("POST", `/v1/accounts/${unknownAccount}/keys`, { body: { password } }),
        await api.call("POST", "/v1/accounts/keys", { body: { email, password } }),
        await api.call("POST", "/v1/accounts/keys", {
          body: { email: "nobody@example.com", password },
        }),
      ];
      for (const answer of answers) {
        assertRefused(answer, 401, "auth_failed", "Unknown account or wrong password");
      }
      for (const path of ["/v1/accounts/no-uuid/keys", "/accounts/%00/keys"]) {
        assertRefused(
          await api.call("POST", path, { body: { password } }),
          404,
          "not_found",
          "Not found",
        );
      }
    },

  "A password is the same in every Unicode form, and all of it counts, NUL included": async (
    { api },
  ) => {
    const email = `${crypto.randomUUID()}@example.com`;
    const composed = "p\u00e4ssw\u00f6rd\u0000tail";
    const decomposed = composed.normalize("NFD");
    assertEquals(
      (await api.call("POST", "/v1/accounts", { body: { email, password: composed } })).status,
      201,
    );
    assertEquals(
      (await api.call("POST", "/v1/accounts/keys", { body: { email, password: decomposed } }))
        .status,
      200,
    );
    const cut = await api.call("POST", "/v1/accounts/keys", {
      body: { email, password: "p\u00e4ssw\u00f6rd" },
    });
    assertRefused(cut, 401, "auth_failed");
  },

  "Passwords of 8 and 256 characters are accepted, 7 and 257 are not": async ({ api }) => {
    for (
      const [password, status] of [["x".repeat(7), 400], ["x".repeat(8), 201], [
        "😀".repeat(256),
        201,
      ], [
        "x".repeat(257),
        400,
      ]] as const
    ) {
      const body = { email: `${crypto.randomUUID()}@example.com`, password };
      assertEquals(
        (await api.call("POST", "/v1/accounts", { body })).status,
        status,
        String(password.length),
      );
    }
  },

  "Only hashes of passwords and keys reach the database": async ({ api, backend }) => {
    const { id, password, apiKey } = await api.signUp();
    const sql = backend.sql();
    const rows = await sql`
      SELECT a::text AS account, k::text AS key, a.password_hash, k.key_hash
      FROM accounts a JOIN api_keys k ON k.account_id = a.id WHERE a.id = ${id}`;
    await sql.end();
    assertEquals(rows.length, 1);
    assertMatch(rows[0]?.password_hash, /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/);
    assertMatch(rows[0]?.key_hash, /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/);
    const all = JSON.stringify(rows);
    assert(!all.includes(password) && !all.includes(apiKey) && !all.includes(apiKey.slice(17, 40)));
  },
};
