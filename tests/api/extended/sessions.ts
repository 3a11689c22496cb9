/**
 * Sessions of the console: the cookie, the header against forged requests, what they may do and how
 * they end.
 */
import { assert, assertEquals } from "@std/assert";
import type { Answer, SignedUp, TestApi } from "../../support/api/harness.ts";
import { assertRefused, type Guarantees } from "../contract/contract.ts";

interface Console {
  readonly csrf: string;
  readonly cookie: string;
  call(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

async function logIn(api: TestApi, { email, password }: SignedUp): Promise<Console> {
  const answer = await api.call("POST", "/v1/session", { body: { email, password } });
  assertEquals(answer.status, 200, answer.text);
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { csrf } = answer.json;
  const call: Console["call"] = (method, path, body, headers = { "x-static-csrf": csrf }) =>
    api.call(method, path, {
      ...(body !== undefined && { body }),
      headers: { cookie, ...headers, ...(body && { "content-type": "application/json" }) },
    });
  return { csrf, cookie, call };
}

export const sessionGuarantees: Guarantees = {
  "The cookie is for no script, no other site and one hour, and the database does not have it":
    async (
      { api, backend },
    ) => {
      const user = await api.signUp();
      const body = { email: user.email, password: user.password };
      const { headers, json } = await api.call("POST", "/v1/session", { body });
      const [cookie = "", ...attributes] = (headers.getSetCookie()[0] ?? "").split("; ");
      assertEquals(attributes.sort(), ["HttpOnly", "Max-Age=3600", "Path=/", "SameSite=Strict"]);
      assertEquals(json.account_id, user.id);
      const secret = cookie.split("=")[1] ?? "";
      assertEquals(secret.length, 43);
      assert(!api.logs.some((line) => line.includes(secret) || line.includes(json.csrf)));
      const sql = backend.sql();
      try {
        const [row] = await sql`SELECT string_agg(s::text, ' ') AS text FROM sessions s`;
        const hex = Uint8Array.fromBase64(secret, { alphabet: "base64url" }).toHex();
        assert(!String(row?.text).includes(hex) && !String(row?.text).includes(secret));
      } finally {
        await sql.end();
      }
      assertRefused(
        await api.call("POST", "/v1/session", { body: { ...body, password: "wrong password" } }),
        401,
        "auth_failed",
      );
    },

  "A session reads with the cookie alone, and changes nothing without its header": async (
    { api },
  ) => {
    const user = await api.signUp();
    const { call, csrf } = await logIn(api, user);
    const other = await logIn(api, user);
    for (const path of ["/v1/keys", "/v1/usage", "/v1/account", "/v1/session"]) {
      assertEquals((await call("GET", path, undefined, {})).status, 200, path);
    }
    assertEquals((await call("GET", "/v1/session", undefined, {})).json.csrf, csrf);
    for (
      const headers of [{}, { "x-static-csrf": "" }, { "x-static-csrf": other.csrf }, {
        "x-static-csrf": `${csrf}x`,
      }]
    ) {
      assertRefused(await call("POST", "/v1/keys", {}, headers), 403, "csrf_failed");
      assertRefused(await call("DELETE", "/v1/session", undefined, headers), 403, "csrf_failed");
      assertRefused(
        await call("DELETE", "/v1/account", { password: user.password }, headers),
        403,
        "csrf_failed",
      );
    }
    const made = await call("POST", "/v1/keys", { name: "by console" });
    assertEquals(made.status, 200);
    assertEquals((await api.call("POST", "/v1/tokens", { key: made.json.key })).status, 200);
  },

  "A page of another origin is not allowed to send the cookie or its header": async ({ api }) => {
    for (const origin of ["https://evil.example", "http://localhost:9999"]) {
      const { headers } = await api.call("OPTIONS", "/v1/keys", {
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "x-static-csrf",
        },
      });
      assertEquals(headers.get("access-control-allow-credentials"), null);
      assert(!(headers.get("access-control-allow-headers") ?? "").includes("csrf"));
    }
  },

  "A session's tokens come from their own path and say what they may": async ({ api }) => {
    const user = await api.signUp();
    const { call } = await logIn(api, user);
    assertRefused(await call("POST", "/v1/tokens"), 401, "auth_failed");
    const channels = [{ pattern: "acme/ops/*", allow: ["receive"] }];
    const { status, json } = await call("POST", "/v1/session/token", { channels });
    assertEquals(status, 200);
    const claims = JSON.parse(
      atob(json.token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")),
    );
    assertEquals([claims.sub, claims.static], [user.id, {
      key: null,
      scopes: ["acme/ops/*:receive"],
    }]);
    for (const body of [{}, { channels: [] }, { channels, more: 1 }]) {
      assertRefused(await call("POST", "/v1/session/token", body), 400, "invalid_request");
    }
    assertRefused(
      await api.call("POST", "/v1/session/token", { key: user.apiKey, body: { channels } }),
      401,
      "auth_failed",
    );
  },

  "A session ends when it is ended, when all are, and after an hour": async ({ api }) => {
    const user = await api.signUp();
    const [first, second, third] = [
      await logIn(api, user),
      await logIn(api, user),
      await logIn(api, user),
    ];
    const isOpen = async ({ call }: Console): Promise<boolean> =>
      (await call("GET", "/v1/session")).status === 200;
    assertEquals((await first.call("DELETE", "/v1/session")).status, 204);
    assertEquals([await isOpen(first), await isOpen(second)], [false, true]);
    const ended = await api.call("DELETE", "/v1/account/sessions", { key: user.apiKey });
    assertEquals(ended.json, { sessions_ended: 2 });
    assertEquals([await isOpen(second), await isOpen(third)], [false, false]);
    const last = await logIn(api, user);
    api.clock.aheadMs += 3_601_000;
    try {
      assertEquals(await isOpen(last), false);
    } finally {
      api.clock.aheadMs -= 3_601_000;
    }
  },

  "A key in the header wins over a cookie, and a made-up cookie is nobody": async ({ api }) => {
    const [user, other] = [await api.signUp(), await api.signUp()];
    const { cookie } = await logIn(api, user);
    const { json } = await api.call("GET", "/v1/account", {
      key: other.apiKey,
      headers: { cookie },
    });
    assertEquals(json.id, other.id);
    for (const value of ["x", "", "A".repeat(43), "é"]) {
      const answer = await api.call("GET", "/v1/account", {
        headers: { cookie: `static_session=${encodeURIComponent(value)}` },
      });
      assertRefused(answer, 401, "auth_failed");
    }
  },

  "An account sees its open sessions and ends one of them; nobody else's": async ({ api }) => {
    const [user, other] = [await api.signUp(), await api.signUp()];
    const [first, second, strange] = [
      await logIn(api, user),
      await logIn(api, user),
      await logIn(api, other),
    ];
    const list = (await first.call("GET", "/v1/account/sessions")).json.sessions;
    assertEquals(list.map(({ current }: { current: boolean }) => current), [false, true]);
    assert(Date.parse(list[0].created_at) >= Date.parse(list[1].created_at));
    const theirs = (await strange.call("GET", "/v1/account/sessions")).json.sessions[0].id;
    for (const id of [theirs, crypto.randomUUID(), "x"]) {
      assertRefused(await first.call("DELETE", `/v1/account/sessions/${id}`), 404, "not_found");
    }
    assertEquals((await strange.call("GET", "/v1/session")).status, 200);
    assertEquals((await first.call("DELETE", `/v1/account/sessions/${list[0].id}`)).status, 204);
    assertRefused(
      await first.call("DELETE", `/v1/account/sessions/${list[0].id}`),
      404,
      "not_found",
    );
    assertEquals((await second.call("GET", "/v1/session")).status, 401);
    const byKey = await api.call("GET", "/v1/account/sessions", { key: user.apiKey });
    assertEquals(
      byKey.json.sessions.map(({ id, current }: { id: string; current: boolean }) => [id, current]),
      [
        [list[1].id, false],
      ],
    );
  },

  "An account sees what happened to it, newest first, and nothing of others": async ({ api }) => {
    const [user, other] = [await api.signUp(), await api.signUp()];
    const { call } = await logIn(api, user);
    const made = await call("POST", "/v1/keys", { name: "seen" });
    await api.call("POST", "/v1/keys", { key: other.apiKey });
    const { events } = (await call("GET", "/v1/account/events")).json;
    assertEquals(events.map(({ event }: { event: string }) => event).slice(0, 2), [
      "key.created",
      "session.opened",
    ]);
    assertEquals([events[0].subject, events[0].actor.split(":")[0]], [made.json.id, "session"]);
    assertEquals(Object.keys(events[0]).sort(), ["actor", "at", "details", "event", "subject"]);
    const older = (await call("GET", `/v1/account/events?before=${events[0].at}`)).json.events;
    assert(
      older.length < events.length && older.every(({ at }: { at: string }) => at < events[0].at),
    );
    assertRefused(await call("GET", "/v1/account/events?before=yesterday"), 400, "invalid_request");
  },

  "Pages of other origins have neither session nor login, whatever they send": async ({ api }) => {
    const user = await api.signUp();
    const { call, csrf } = await logIn(api, user);
    const body = { email: user.email, password: user.password };
    const { origin } = new URL(api.url);
    for (
      const headers of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { origin: "https://evil.example" },
        { origin: "null" },
        { origin: "http://127.0.0.1:1" },
      ]
    ) {
      assertRefused(await call("GET", "/v1/account", undefined, headers), 403, "csrf_failed");
      assertRefused(
        await call("POST", "/v1/keys", {}, { ...headers, "x-static-csrf": csrf }),
        403,
        "csrf_failed",
      );
      assertRefused(await api.call("POST", "/v1/session", { body, headers }), 403, "csrf_failed");
    }
    for (
      const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, {
        origin,
      }]
    ) {
      assertEquals((await call("GET", "/v1/account", undefined, headers)).status, 200);
      assertEquals((await api.call("POST", "/v1/session", { body, headers })).status, 200);
    }
  },

  "A session's header is compared with reads too, so that a page of another session sees nothing":
    async ({ api }) => {
      const [one, two] = [
        await logIn(api, await api.signUp()),
        await logIn(api, await api.signUp()),
      ];
      const headers = { "x-static-csrf": two.csrf };
      assertRefused(await one.call("GET", "/v1/account", undefined, headers), 403, "csrf_failed");
    },

  "A cookie that somebody planted before is not the session after a login": async ({ api }) => {
    const user = await api.signUp();
    const planted = `static_session=${"A".repeat(43)}`;
    const answer = await api.call("POST", "/v1/session", {
      body: { email: user.email, password: user.password },
      headers: { cookie: planted },
    });
    assertEquals(answer.status, 200);
    assert(!(answer.headers.get("set-cookie") ?? "").startsWith(planted));
    assertRefused(
      await api.call("GET", "/v1/session", { headers: { cookie: planted } }),
      401,
      "auth_failed",
    );
  },
};
