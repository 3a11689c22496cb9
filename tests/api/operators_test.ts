import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { runAdmin } from "../../api/mod.ts";
import { anyBackend, readTestConfig, relaySecret, startTestApi } from "../support/api/harness.ts";

const adminSecret = "admin-secret-for-tests-0123456789abcdef";

Deno.test("operators see, limit and end accounts, from the command line and on the admin port", async (t) => {
  const backend = await anyBackend.open();
  const environment = {
    ...backend.environment,
    STATIC_ADMIN_SECRET: adminSecret,
    STATIC_RATE_FAILURES: "30/60",
  };
  const api = await startTestApi(environment);
  const config = readTestConfig(environment);
  const admin = (...args: string[]): Promise<string> => runAdmin(args, config);
  const onPort = async (
    args: unknown,
    secret = adminSecret,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; text: string; error: string }> => {
    const response = await fetch(`${api.adminUrl}/admin/v1/run`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ args }),
    });
    return { status: response.status, ...await response.json() };
  };
  const status = async (key: string, path = "/v1/keys"): Promise<string> => {
    const { status, json } = await api.call("GET", path, { key });
    return status === 200 ? "200" : json.code;
  };
  try {
    await t.step("list, search, show, top and keys name accounts and no secret", async () => {
      const user = await api.signUp();
      await api.call("POST", "/internal/v1/leases", {
        key: relaySecret,
        body: { nonce: crypto.randomUUID(), relay_id: "r", account_id: user.id, messages: 77 },
      });
      const views = [
        await admin("accounts"),
        await admin("search", user.email.slice(5, 20).toUpperCase()),
        await admin("show", user.email),
        await admin("show", user.id),
        await admin("top", "1"),
        await admin("keys", user.apiKey.slice(0, 14)),
      ];
      for (const view of views) {
        assertStringIncludes(view, user.id);
        assert(!view.includes(user.apiKey) && !view.includes("argon2"));
      }
      assertMatch(
        views[2] ?? "",
        /active .*\(unverified\) {2}free {2}77 messages {2}1 keys {2}0 sessions/,
      );
      assertEquals(await admin("search", "%"), "None.");
      await assertRejects(() => admin("show", "nobody@example.com"), Error, "has no account");
    });

    await t.step(
      "a suspended account sees itself and nothing else, until it is resumed",
      async () => {
        const user = await api.signUp();
        assertStringIncludes(await admin("suspend", user.email), "is suspended");
        assertStringIncludes(await admin("suspend", user.email), "already");
        assertEquals([await status(user.apiKey), await status(user.apiKey, "/v1/account")], [
          "account_suspended",
          "200",
        ]);
        const login = { email: user.email, password: user.password };
        for (const path of ["/v1/accounts/keys", "/v1/session"]) {
          assertEquals(
            (await api.call("POST", path, { body: login })).json.code,
            "account_suspended",
          );
          const wrong = { ...login, password: "wrong password" };
          assertEquals((await api.call("POST", path, { body: wrong })).json.code, "auth_failed");
        }
        await admin("resume", user.id);
        assertEquals(await status(user.apiKey), "200");
      },
    );

    await t.step("revoke-all, delete and limits of one account", async () => {
      const [first, second] = [await api.signUp(), await api.signUp()];
      assertStringIncludes(await admin("revoke-all", first.email), "1 keys and 0 sessions");
      assertEquals(await status(first.apiKey), "auth_key_invalid");
      await admin("delete", first.id);
      await assertRejects(() => admin("show", first.id), Error, "has no account");
      await admin("set-limit", second.email, "5");
      assertEquals(
        (await api.call("GET", "/v1/usage", { key: second.apiKey })).json.messages.limit,
        5,
      );
      const lease = {
        nonce: crypto.randomUUID(),
        relay_id: "r",
        account_id: second.id,
        messages: 50,
      };
      const taken = await api.call("POST", "/internal/v1/leases", {
        key: relaySecret,
        body: lease,
      });
      assertEquals(taken.json.lease.granted, 5);
      await admin("set-limit", second.email, "plan");
      assertEquals(
        (await api.call("GET", "/v1/usage", { key: second.apiKey })).json.messages.limit,
        10_000,
      );
      await assertRejects(() => admin("set-limit", second.email, "unlimited"), Error, "enterprise");
      await assertRejects(() => admin("set-limit", "gold", "5"), Error, "there is no plan gold");
    });

    await t.step(
      "the admin port takes the same commands with its own credential only",
      async () => {
        const user = await api.signUp();
        assertStringIncludes((await onPort(["show", user.email])).text, user.id);
        assertStringIncludes((await onPort(["suspend", user.email])).text, "is suspended");
        assertEquals(await status(user.apiKey), "account_suspended");
        for (const secret of [relaySecret, user.apiKey, "x"]) {
          assertEquals((await onPort(["resume", user.email], secret)).status, 401);
        }
        assertEquals(await status(user.apiKey), "account_suspended");
        assertStringIncludes((await onPort(["drop-table"])).error, "deno task admin set-plan");
        for (const args of [undefined, "accounts", [1], Array(9).fill("x")]) {
          assertEquals((await onPort(args)).status, 400);
        }
        assertEquals(
          await fetch(`${api.adminUrl}/admin/v1/run`).then(async (r) => (await r.text(), r.status)),
          405,
        );
        assertEquals(
          (await api.call("POST", "/admin/v1/run", {
            key: adminSecret,
            body: { args: ["accounts"] },
          })).status,
          404,
        );
        // A page that a browser of this machine has open can send requests here; it locks nobody
        // out.
        for (let i = 0; i < 60; i++) await onPort(["accounts"], "x");
        assertEquals([
          (await onPort(["accounts"], "x")).status,
          (await onPort(["accounts"])).status,
        ], [429, 200]);
        assertEquals(
          (await onPort(["accounts"], adminSecret, { origin: "http://localhost:8080" })).status,
          403,
        );
        const exported = (await onPort(["audit", "export"])).text;
        for (const actor of ["admin:port", "admin:cli", "password"]) {
          assertStringIncludes(exported, `\\"${actor}\\"`);
        }
        assert(
          !api.logs.some((line) => line.includes(adminSecret)),
        );
      },
    );
  } finally {
    await api.close();
    await backend.close();
  }
});
