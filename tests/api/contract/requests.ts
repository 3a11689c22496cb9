/** Bad input, methods, CORS, and what every answer carries. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../support/mod.ts";
import { assertRefused, type Guarantees, uuid } from "./contract.ts";

const jsonType = { "content-type": "application/json" };

export const requestGuarantees: Guarantees = {
  "Malformed JSON, invalid UTF-8 and non-objects are 400 invalid_request": async ({ api }) => {
    const { apiKey } = await api.signUp();
    for (
      const raw of [
        "{",
        '{"name":"x"',
        "\u0000",
        "nul",
        '{"name":"x"} x',
        new Uint8Array([0x22, 0xff, 0x22]),
      ]
    ) {
      assertRefused(
        await api.call("POST", "/v1/keys", { key: apiKey, raw, headers: jsonType }),
        400,
        "invalid_request",
      );
    }
    for (const body of [[], "x", 1, true, null]) {
      assertRefused(
        await api.call("POST", "/v1/keys", { key: apiKey, body }),
        400,
        "invalid_request",
      );
    }
  },

  "Every invalid field is named, its value never repeated": async ({ api }) => {
    const secret = "pass-canary";
    const bad: readonly [body: unknown, fields: readonly string[]][] = [
      [{}, ["email", "password"]],
      [{ email: 1, password: 2 }, ["email", "password"]],
      [{ email: "no address", password: secret }, ["email"]],
      [{ email: `${"x".repeat(250)}@example.com`, password: secret }, ["email"]],
      [{ email: "a@b.co\u0000", password: secret }, ["email"]],
      [{ email: "a@b.co\r\nbcc: c@d.co", password: secret }, ["email"]],
      [{ email: "a@b", password: secret }, ["email"]],
      [{ email: "a@b.co", password: "short" }, ["password"]],
      [{ email: "a@b.co", password: `${secret}\ud800` }, ["password"]],
      [{ email: "a@b.co", password: "x".repeat(5000) }, ["password"]],
      [{ email: "a@b.co", password: secret, plan: "enterprise" }, ["plan"]],
      [JSON.parse('{"email":"a@b.co","password":"pass-canary","__proto__":{"a":1}}'), [
        "__proto__",
      ]],
    ];
    for (const [body, fields] of bad) {
      const answer = await api.call("POST", "/v1/accounts", { body });
      assertRefused(answer, 400, "invalid_request");
      assertEquals([...new Set(answer.json.details.map(({ field }: { field: string }) => field))], [
        ...fields,
      ]);
      assert(!answer.text.includes(secret), answer.text);
    }
  },

  "A body above 64 KiB is 413, announced or streamed; 64 KiB is read": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const padded = (bytes: number): string => `{"name":"x"}`.padEnd(bytes, " ");
    const send = (raw: BodyInit): ReturnType<typeof api.call> =>
      api.call("POST", "/v1/keys", { key: apiKey, raw, headers: jsonType });
    assertEquals((await send(padded(64 * 1024))).status, 200);
    assertRefused(await send(padded(64 * 1024 + 1)), 413, "payload_too_large");
    const chunks = (count: number): ReadableStream<Uint8Array> =>
      ReadableStream.from(
        Array.from({ length: count }, () => new TextEncoder().encode(" ".repeat(8192))),
      );
    assertRefused(await send(chunks(9)), 413, "payload_too_large");
    assertRefused(
      await api.call("POST", "/v1/tokens", { key: apiKey, raw: padded(70_000) }),
      413,
      "payload_too_large",
    );
  },

  "A body that is not JSON by its type is 415": async ({ api }) => {
    const body = JSON.stringify({ email: "a@b.co", password: "1234567 apples" });
    for (
      const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin1",
        "json",
      ]
    ) {
      const answer = await api.call("POST", "/v1/accounts", {
        raw: body,
        headers: { "content-type": type },
      });
      assertRefused(answer, 415, "unsupported_media_type");
    }
    const email = `${crypto.randomUUID()}@example.com`;
    const charset = await api.call("POST", "/v1/accounts", {
      raw: JSON.stringify({ email, password: "1234567 apples" }),
      headers: { "content-type": "Application/JSON; charset=UTF-8" },
    });
    assertEquals(charset.status, 201);
  },

  "A wrong method is 405 with the methods that the path knows; an unknown path is 404": async (
    { api },
  ) => {
    for (
      const [method, path, allow] of [
        ["PUT", "/v1/keys", "GET, HEAD, POST"],
        ["GET", "/v1/tokens", "POST"],
        ["POST", "/v1/keys/0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11", "DELETE"],
        ["DELETE", "/v1/accounts", "POST"],
        ["GET", "/accounts", "POST"],
        ["POST", "/health", "GET, HEAD"],
        ["OPTIONS", "/v1/usage", "GET, HEAD"],
        ["DELETE", "/internal/v1/leases", "GET, HEAD, POST"],
      ] as const
    ) {
      const answer = await api.call(method, path);
      assertRefused(answer, 405, "method_not_allowed");
      assertEquals(answer.headers.get("allow"), allow);
    }
    for (
      const path of [
        "/v1",
        "/v1/keys/",
        "/v2/keys",
        "/v1/nothing",
        "/.well-known/",
        "/metrics",
        "/v1/keys/%ff",
      ]
    ) {
      const answer = await api.call("GET", path);
      assert(answer.status === 404 || answer.status === 405, `${path}: ${answer.status}`);
      assertRefused(
        answer,
        answer.status,
        answer.status === 404 ? "not_found" : "method_not_allowed",
      );
    }
  },

  "Every answer has its own request id, no caching and no sniffing; a sent x-request-id is not believed":
    async (
      { api },
    ) => {
      const headers = { "x-request-id": "chosen-by-the-client" };
      const answers = [
        await api.call("GET", "/health", { headers }),
        await api.call("GET", "/nowhere", { headers }),
      ];
      for (const { headers } of answers) {
        assertMatch(headers.get("x-request-id") ?? "", uuid);
        assertEquals(headers.get("x-content-type-options"), "nosniff");
        assertEquals(headers.get("cache-control"), "no-store");
      }
      assertNotEquals(
        answers[0]?.headers.get("x-request-id"),
        answers[1]?.headers.get("x-request-id"),
      );
    },

  "The request id of an answer is in its log line, with route and status and without the path":
    async ({ api }) => {
      const { apiKey, id } = await api.signUp();
      const answer = await api.call("DELETE", "/v1/keys/secret-in-the-path?secret=in-the-query", {
        key: apiKey,
      });
      const line = api.logs.map((line) => JSON.parse(line))
        .find((line) => line.request_id === answer.headers.get("x-request-id"));
      assertEquals([line.route, line.method, line.status, line.code], [
        "/v1/keys/{id}",
        "DELETE",
        404,
        "not_found",
      ]);
      assertEquals(line.account_id, id);
      assert(
        !api.logs.join("\n").includes("secret-in-the-path") &&
          !api.logs.join("\n").includes("in-the-query"),
      );
    },

  "RateLimit headers say what is left": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const { headers } = await api.call("GET", "/v1/usage", { key: apiKey });
    assertMatch(headers.get("ratelimit") ?? "", /^"account";r=\d+;t=\d+$/);
    assertMatch(headers.get("ratelimit-policy") ?? "", /^"account";q=100000;w=60$/);
  },

  "CORS: a loopback page may call in development and read what it needs; others may not": async (
    { api },
  ) => {
    const origin = "http://localhost:5173";
    const preflight = await api.call("OPTIONS", "/v1/tokens", {
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    });
    assertEquals([preflight.status, preflight.headers.get("access-control-allow-origin")], [
      204,
      origin,
    ]);
    assertMatch(preflight.headers.get("access-control-allow-headers") ?? "", /authorization/);
    assertMatch(preflight.headers.get("access-control-allow-methods") ?? "", /POST.*DELETE/);
    const refused = await api.call("POST", "/v1/tokens", { headers: { origin } });
    assertRefused(refused, 401, "auth_failed");
    assertEquals(refused.headers.get("access-control-allow-origin"), origin);
    for (const name of ["x-request-id", "Retry-After", "RateLimit"]) {
      assert(refused.headers.get("access-control-expose-headers")?.includes(name), name);
    }
    assertEquals(refused.headers.get("vary"), "Origin");
    for (
      const other of [
        "https://evil.example",
        "http://localhost.evil.example",
        "null",
        "http://127.0.0.1.evil.example",
      ]
    ) {
      const answer = await api.call("OPTIONS", "/v1/tokens", {
        headers: { origin: other, "access-control-request-method": "POST" },
      });
      assertEquals(answer.headers.get("access-control-allow-origin"), null, other);
    }
  },

  "Three hundred random requests get a typed refusal or a success, never a failure of ours": async (
    { api },
  ) => {
    const random = createRandom(seedFromEnvironment());
    const { apiKey, id, keyId } = await api.signUp();
    const words = [
      "email",
      "password",
      "name",
      "relay_id",
      "reports",
      "messages",
      "nonce",
      "account_id",
      id,
      "",
      "\u0000",
    ];
    const value = (depth: number): unknown =>
      random.pick<() => unknown>([
        () => random.pick(words),
        () => random.uint32() - 2 ** 31,
        () => 1e308 * random.below(3),
        () => random.pick([null, true, [], {}]),
        () => "x".repeat(random.below(600)),
        () => String.fromCharCode(random.below(65536), random.below(65536)),
        () => depth > 3 ? 0 : Array.from({ length: random.below(4) }, () => value(depth + 1)),
        () =>
          depth > 3 ? 0 : Object.fromEntries(
            words.filter(() => random.chance(0.4)).map((word) => [word, value(depth + 1)]),
          ),
      ])();
    const paths = [
      "/v1/accounts",
      "/v1/accounts/keys",
      `/v1/accounts/${id}/keys`,
      "/v1/keys",
      `/v1/keys/${keyId}x`,
    ];
    paths.push(
      "/v1/tokens",
      "/v1/usage",
      "/internal/v1/leases",
      "/internal/v1/leases/reports",
      "/internal/v1/leases?relay_id=%00",
    );
    for (let i = 0; i < 300; i++) {
      const [method, path] = [random.pick(["POST", "POST", "GET", "DELETE"]), random.pick(paths)];
      const key = random.pick([apiKey, api.relaySecret]);
      const body = method === "POST"
        ? { body: random.chance(0.7) ? { ...Object(value(0)) } : value(0) }
        : {};
      const answer = await api.call(method, path, { key, ...body });
      const what = `seed ${random.seed}: ${method} ${path} ${
        JSON.stringify(body)
      } → ${answer.status} ${answer.text}`;
      assert(answer.status < 500, what);
      if (answer.status >= 400) {
        assertEquals(answer.json.request_id, answer.headers.get("x-request-id"), what);
      }
    }
  },

  "HEAD answers like GET without a body": async ({ api }) => {
    const answer = await api.call("HEAD", "/health");
    assertEquals([answer.status, answer.text], [200, ""]);
  },

  "/health and /ready answer ok; /metrics lives only on the admin port": async ({ api }) => {
    for (const path of ["/health", "/ready"]) {
      const { status, json } = await api.call("GET", path);
      assertEquals([status, json], [200, { status: "ok" }]);
    }
    const metrics = await fetch(`${api.adminUrl}/metrics`);
    const text = await metrics.text();
    assertEquals(metrics.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assertMatch(
      text,
      /static_api_requests_total\{route="\/health",method="GET",status="200"\} \d+/,
    );
    assertMatch(
      text,
      /static_api_request_duration_seconds_bucket\{route="\/health",method="GET",le="\+Inf"\} \d+/,
    );
    assertMatch(text, /static_api_hash_queue 0/);
    const stray = await fetch(`${api.adminUrl}/v1/keys`);
    assertEquals(stray.status, 404);
    await stray.body?.cancel();
  },
};
