/**
 * Accounts after their sign-up: addresses that are proved, changed and claimed; passwords; the end.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Answer, OpenBackend, SignedUp, TestApi } from "../../support/api/harness.ts";
import { codeForm, codeTo, mailTo } from "../../support/api/mailbox.ts";
import { assertFields, assertRefused, fullKey, type Guarantees } from "../contract/contract.ts";

const newPassword = "another long password";

const post = (api: TestApi, path: string, body: object, key?: string): Promise<Answer> =>
  api.call("POST", path, { body, ...(key !== undefined && { key }) });

const read = (api: TestApi, key: string): Promise<Answer> =>
  api.call("GET", "/v1/account", { key });

async function verify(
  api: TestApi,
  backend: OpenBackend,
  { email, apiKey }: Pick<SignedUp, "email" | "apiKey">,
): Promise<void> {
  const code = await codeTo(backend, email, 1);
  assertEquals((await post(api, "/v1/account/verification/confirm", { code }, apiKey)).status, 200);
}

async function claim(
  api: TestApi,
  backend: OpenBackend,
  email: string,
  mails: number,
): Promise<Answer> {
  assertEquals((await post(api, "/v1/accounts/claim", { email })).status, 204);
  const code = await codeTo(backend, email, mails);
  return await post(api, "/v1/accounts/claim/confirm", { email, code, password: newPassword });
}

export const accountLifeGuarantees: Guarantees = {
  "An account is read, and its address proved by the code that was sent at sign-up, once": async (
    { api, backend },
  ) => {
    const user = await api.signUp();
    const { json } = await read(api, user.apiKey);
    const fields = [
      "id",
      "email",
      "email_verified",
      "pending_email",
      "plan",
      "created_at",
      "suspended",
      "notices",
      "version",
    ];
    assertFields(json, fields);
    assertEquals([json.id, json.email, json.email_verified, json.version], [
      user.id,
      user.email,
      false,
      1,
    ]);
    const code = await codeTo(backend, user.email, 1);
    const confirm = (text: string): Promise<Answer> =>
      post(api, "/v1/account/verification/confirm", { code: text }, user.apiKey);
    assertRefused(await confirm("AAAA-AAAA-AAAA"), 400, "code_invalid");
    // As people type it.
    const answer = await confirm(
      ` ${code.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l")}`,
    );
    assertEquals([answer.status, answer.json.email_verified, answer.json.version], [200, true, 2]);
    assertRefused(await confirm(code), 400, "code_invalid");
    assertRefused(
      await api.call("POST", "/v1/account/verification", { key: user.apiKey }),
      409,
      "conflict",
    );
  },

  "A code is of one account, one purpose and sixty minutes": async ({ api, backend }) => {
    const [user, other] = [await api.signUp(), await api.signUp()];
    const code = await codeTo(backend, user.email, 1);
    const wrong = [
      await post(api, "/v1/account/verification/confirm", { code }, other.apiKey),
      await post(api, "/v1/accounts/reset/confirm", {
        email: user.email,
        code,
        new_password: newPassword,
      }),
      await post(api, "/v1/accounts/claim/confirm", {
        email: user.email,
        code,
        password: newPassword,
      }),
    ];
    for (const answer of wrong) assertRefused(answer, 400, "code_invalid");
    api.clock.aheadMs += 61 * 60_000;
    try {
      const late = await post(api, "/v1/account/verification/confirm", { code }, user.apiKey);
      assertRefused(late, 400, "code_invalid");
    } finally {
      api.clock.aheadMs -= 61 * 60_000;
    }
  },

  "An address squatter keeps nothing of the victim's, and the victim nothing of the squatter's":
    async (setting) => {
      const { api, backend } = setting;
      const squatter = await api.signUp();
      const { email } = squatter;
      const login = { email, password: squatter.password };
      const session = await post(api, "/v1/session", login);
      const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
      assertRefused(
        await post(api, "/v1/accounts", { email, password: newPassword }),
        409,
        "email_taken",
      );
      // A reset is for verified addresses: it must not open the squatter's account to the victim.
      assertEquals((await post(api, "/v1/accounts/reset", { email })).status, 202);
      assert(!codeForm.test((await mailTo(backend, email, 2)).at(-1) ?? ""));
      const victim = await claim(
        api,
        backend,
        email.toUpperCase().replace("@EXAMPLE.COM", "@example.com"),
        1,
      );
      assertEquals(victim.status, 201, victim.text);
      assertMatch(victim.json.api_key, fullKey);
      assert(victim.json.id !== squatter.id);
      const mine = (await read(api, victim.json.api_key)).json;
      assertEquals([mine.email_verified, mine.notices], [true, []]);
      assertEquals(
        (await api.call("GET", "/v1/keys", { key: victim.json.api_key })).json.keys.length,
        1,
      );

      // The squatter keeps keys and id, has no address, is told at its next call, and its sessions
      // are over.
      const theirs = await read(api, squatter.apiKey);
      assertEquals([theirs.json.email, theirs.json.notices], [null, ["address_claimed"]]);
      assertEquals(theirs.headers.get("static-notice"), "address_claimed");
      assertEquals(
        (await post(api, "/v1/tokens", {}, squatter.apiKey)).headers.get("static-notice"),
        "address_claimed",
      );
      assertRefused(
        await api.call("GET", "/v1/session", { headers: { cookie } }),
        401,
        "auth_failed",
      );
      assertRefused(await post(api, "/v1/accounts/keys", login), 401, "auth_failed");
      const byId = await post(api, `/v1/accounts/${squatter.id}/keys`, {
        password: squatter.password,
      });
      assertEquals(byId.status, 200);
      const byMail = await post(api, "/v1/accounts/keys", { email, password: newPassword });
      assertEquals((await read(api, byMail.json.api_key)).json.id, victim.json.id);

      // Nobody takes it back: it is verified now.
      assertEquals((await post(api, "/v1/accounts/claim", { email })).status, 204);
      const patch = { email, password: squatter.password };
      assertRefused(
        await api.call("PATCH", "/v1/account", { key: squatter.apiKey, body: patch }),
        409,
        "email_taken",
      );
      const elsewhere = {
        email: `s-${crypto.randomUUID()}@example.com`,
        password: squatter.password,
      };
      await api.call("PATCH", "/v1/account", { key: squatter.apiKey, body: elsewhere });
      const code = await codeTo(backend, elsewhere.email, 1);
      const moved = await post(api, "/v1/account/verification/confirm", { code }, squatter.apiKey);
      assertEquals([moved.json.email, moved.json.notices], [elsewhere.email, []]);
      assertEquals((await read(api, squatter.apiKey)).headers.has("static-notice"), false);
    },

  "Codes go to the address on file, and a claim gives the address that its code went to": async (
    { api, backend },
  ) => {
    const email = `kate-${crypto.randomUUID()}@example.com`;
    const { json: created } = await post(api, "/v1/accounts", { email, password: newPassword });
    await verify(api, backend, { email, apiKey: created.api_key });
    // U+212A is compared like a k, and is another mailbox.
    const spelled = email.replace("k", "\u212a");
    await post(api, "/v1/accounts/reset", { email: spelled });
    assertMatch((await mailTo(backend, email, 2)).at(-1) ?? "", codeForm);

    const free = `kim-${crypto.randomUUID()}@example.com`;
    const proved = free.replace("k", "\u212a");
    await post(api, "/v1/accounts/claim", { email: proved });
    const code = await codeTo(backend, proved, 1);
    const { json } = await post(api, "/v1/accounts/claim/confirm", {
      email: free,
      code,
      password: newPassword,
    });
    assertEquals((await read(api, json.api_key)).json.email, proved);
  },

  "A claim without its code learns nothing of the address": async ({ api, backend }) => {
    const user = await api.signUp();
    await verify(api, backend, user);
    const body = { email: user.email, code: "AAAA-AAAA-AAAA", password: newPassword };
    assertRefused(await post(api, "/v1/accounts/claim/confirm", body), 400, "code_invalid");
  },

  "A new address is the account's when its code came back, not before; then sessions end": async (
    { api, backend },
  ) => {
    const user = await api.signUp();
    const session = await post(api, "/v1/session", { email: user.email, password: user.password });
    const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
    const email = `new-${crypto.randomUUID()}@example.com`;
    const patch = (body: object): Promise<Answer> =>
      api.call("PATCH", "/v1/account", { key: user.apiKey, body });
    assertRefused(await patch({ email, password: "wrong password" }), 401, "auth_failed");
    assertRefused(await patch({ email, password: user.password, version: 7 }), 409, "conflict");
    const asked = await patch({ email, password: user.password, version: 1 });
    assertEquals([asked.status, asked.json.email, asked.json.pending_email], [
      200,
      user.email,
      email,
    ]);
    assertEquals((await api.call("GET", "/v1/session", { headers: { cookie } })).status, 200);
    const code = await codeTo(backend, email, 1);
    const { json } = await post(api, "/v1/account/verification/confirm", { code }, user.apiKey);
    assertEquals([json.email, json.email_verified, json.pending_email], [email, true, null]);
    assertRefused(
      await api.call("GET", "/v1/session", { headers: { cookie } }),
      401,
      "auth_failed",
    );
    // The old address is free.
    const again = await post(api, "/v1/accounts", { email: user.email, password: newPassword });
    assertEquals(again.status, 201);
  },

  "A change of address ends keys if asked, and tells the address before": async (
    { api, backend },
  ) => {
    const user = await api.signUp();
    await verify(api, backend, user);
    const email = `new-${crypto.randomUUID()}@example.com`;
    await api.call("PATCH", "/v1/account", {
      key: user.apiKey,
      body: { email, password: user.password },
    });
    const code = await codeTo(backend, email, 1);
    const body = { code, revoke_keys: true };
    assertEquals(
      (await post(api, "/v1/account/verification/confirm", body, user.apiKey)).json.email,
      email,
    );
    assertRefused(await read(api, user.apiKey), 401, "auth_key_invalid");
    const letter = (await mailTo(backend, user.email, 2)).at(-1) ?? "";
    assert(
      letter.includes("has another address") && !letter.includes(email) && !codeForm.test(letter),
      letter,
    );
  },

  "A reset needs a verified address, is used once, and ends what it is asked to": async (
    { api, backend },
  ) => {
    const user = await api.signUp();
    const { email } = user;
    await verify(api, backend, user);
    assertEquals((await post(api, "/v1/accounts/reset", { email: `no-${email}` })).status, 202);
    assertEquals((await post(api, "/v1/accounts/reset", { email })).status, 202);
    const code = await codeTo(backend, email, 2);
    const reset = (text: string): Promise<Answer> =>
      post(api, "/v1/accounts/reset/confirm", {
        email,
        code: text,
        new_password: newPassword,
        revoke_keys: true,
      });
    assertRefused(await reset("0000-0000-0000"), 400, "code_invalid");
    const done = await reset(code);
    assertEquals([done.status, done.json], [200, {
      id: user.id,
      sessions_ended: 0,
      keys_revoked: 1,
    }]);
    assertRefused(await reset(code), 400, "code_invalid");
    assertRefused(
      await post(api, "/v1/accounts/keys", { email, password: user.password }),
      401,
      "auth_failed",
    );
    assertEquals(
      (await post(api, "/v1/accounts/keys", { email, password: newPassword })).status,
      200,
    );
  },

  "A deleted account leaves its usage and nothing else, and its address is free": async (
    { api, backend },
  ) => {
    const user = await api.signUp();
    const end = (password: string): Promise<Answer> =>
      api.call("DELETE", "/v1/account", { key: user.apiKey, body: { password } });
    assertRefused(await end("wrong password"), 401, "auth_failed");
    assertEquals((await end(user.password)).status, 204);
    assertRefused(await read(api, user.apiKey), 401, "auth_key_invalid");
    assertRefused(
      await post(api, "/v1/accounts/keys", { email: user.email, password: user.password }),
      401,
      "auth_failed",
    );
    const byId = await post(api, `/v1/accounts/${user.id}/keys`, { password: user.password });
    assertRefused(byId, 401, "auth_failed");
    const sql = backend.sql();
    try {
      const tables = [
        "accounts",
        "api_keys",
        "sessions",
        "mail_codes",
        "mail_queue",
        "audit_events",
      ];
      for (const table of tables) {
        const [row] = await sql`
          SELECT string_agg(t::text, ' ') AS text FROM ${
          sql(table)
        } t WHERE t::text LIKE ${`%${user.id}%`}`;
        assert(!String(row?.text).includes(user.email), table);
        assert(!String(row?.text).includes("$argon2id$"), table);
      }
    } finally {
      await sql.end();
    }
    assertEquals(
      (await post(api, "/v1/accounts", { email: user.email, password: newPassword })).status,
      201,
    );
  },

  "Unknown fields and wrong types are refused everywhere": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const paths: [string, string][] = [
      ["PATCH", "/v1/account"],
      ["DELETE", "/v1/account"],
      ["POST", "/v1/account/password"],
      ["POST", "/v1/account/verification/confirm"],
      ["POST", "/v1/accounts/reset"],
      ["POST", "/v1/accounts/reset/confirm"],
      ["POST", "/v1/accounts/claim"],
      ["POST", "/v1/accounts/claim/confirm"],
      ["POST", "/v1/session"],
    ];
    for (const [method, path] of paths) {
      for (
        const body of [
          {},
          { more: 1 },
          { email: 1, password: {}, code: [], new_password: null },
          [],
          "x",
        ]
      ) {
        assertRefused(await api.call(method, path, { key: apiKey, body }), 400, "invalid_request");
      }
    }
  },
};

/** The database decides between requests at the same time. */
export const accountLifeRaces: Guarantees = {
  "Of two claims with the same code at once one wins, and an address has one account": async (
    { api, backend },
  ) => {
    const { email } = await api.signUp();
    await post(api, "/v1/accounts/claim", { email });
    const code = await codeTo(backend, email, 2);
    const body = { email, code, password: newPassword };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post(api, "/v1/accounts/claim/confirm", body)),
    );
    assertEquals(answers.filter(({ status }) => status === 201).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert(["code_invalid", "email_taken"].includes(answer.json.code), answer.text);
    }
  },

  "A changed password ends sessions, and keys if asked; of two changes at once one wins": async (
    { api },
  ) => {
    const user = await api.signUp();
    await post(api, "/v1/session", { email: user.email, password: user.password });
    const change = (body: object): Promise<Answer> =>
      post(api, "/v1/account/password", body, user.apiKey);
    assertRefused(
      await change({ password: "wrong password", new_password: newPassword }),
      401,
      "auth_failed",
    );
    assertRefused(
      await change({ password: user.password, new_password: "password" }),
      400,
      "invalid_request",
    );
    const both = await Promise.all(
      [1, 2].map((n) => change({ password: user.password, new_password: `${newPassword} ${n}` })),
    );
    const won = both.findIndex(({ status }) => status === 200);
    assertEquals(both[won]?.json, { sessions_ended: 1, keys_revoked: 0 });
    assert(["conflict", "auth_failed"].includes(both[1 - won]?.json.code));
    const current = `${newPassword} ${won + 1}`;
    const last = await change({ password: current, new_password: newPassword, revoke_keys: true });
    assertEquals(last.json, { sessions_ended: 0, keys_revoked: 1 });
    assertRefused(await read(api, user.apiKey), 401, "auth_key_invalid");
    assertEquals(
      (await post(api, "/v1/accounts/keys", { email: user.email, password: newPassword })).status,
      200,
    );
  },

  "What the old password opens while a reset revokes everything is over after it": async (
    { api, backend },
  ) => {
    const user = await api.signUp();
    const { email, password } = user;
    await verify(api, backend, user);
    await post(api, "/v1/accounts/reset", { email });
    const code = await codeTo(backend, email, 2);
    const many = <T>(ask: () => Promise<T>): Promise<T>[] => Array.from({ length: 6 }, ask);
    const keys = many(() => post(api, "/v1/accounts/keys", { email, password }));
    const reset = post(api, "/v1/accounts/reset/confirm", {
      email,
      code,
      new_password: newPassword,
      revoke_keys: true,
    });
    const sessions = many(() => post(api, "/v1/session", { email, password }));
    assertEquals((await reset).status, 200);
    for (const { status, json, text } of await Promise.all(keys)) {
      if (status === 200) assertRefused(await read(api, json.api_key), 401, "auth_key_invalid");
      else assertEquals(status, 401, text);
    }
    for (const { status, headers, text } of await Promise.all(sessions)) {
      const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
      if (status === 200) {
        assertRefused(
          await api.call("GET", "/v1/session", { headers: { cookie } }),
          401,
          "auth_failed",
        );
      } else assertEquals(status, 401, text);
    }
  },
};
