import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { encodeApiKey, encodeBase64url } from "../../proto/mod.ts";
import { SimulatedClock } from "../../tests/support/mod.ts";
import { StaticError } from "../base/errors.ts";
import type { HttpClient } from "../transport/transport.ts";
import { createTokenSource, type TokenOptions, type TokenSource } from "./tokens.ts";

const apiKey = encodeApiKey({ environment: "live", lookup: "a".repeat(8), secret: "b".repeat(32) });
const apiUrl = "https://api.test";

/** An API whose clock is its own, and whose answers a test may change. */
class TestApi {
  readonly clock = new SimulatedClock();
  readonly requests: { readonly url: string; readonly init: RequestInit }[] = [];
  aheadMs = 0;
  answer: ((init: RequestInit) => Response | Promise<Response>) | undefined;
  opened = 0;

  source(options: TokenOptions = { apiKey, apiUrl }): TokenSource {
    return createTokenSource(options, {
      openHttp: () => this.#open(),
      nowMs: this.clock.nowMs,
      after: this.clock.after,
    });
  }

  token(): string {
    const iat = Math.floor((this.clock.nowMs() + this.aheadMs) / 1000);
    const claims = { sub: "account", iat, exp: iat + 3600, n: this.requests.length };
    return `e30.${encodeBase64url(new TextEncoder().encode(JSON.stringify(claims)))}.signature`;
  }

  #open(): HttpClient {
    this.opened++;
    return {
      request: (url, init) => {
        this.requests.push({ url, init });
        return Promise.resolve(this.answer?.(init) ?? Response.json({ token: this.token() }));
      },
      close: () => void this.opened--,
    };
  }
}

async function rejectsWith(code: string, promise: Promise<unknown>): Promise<StaticError> {
  const error = await assertRejects(() => promise, StaticError);
  assertEquals(error.code, code, error.message);
  assert(
    !error.message.includes(apiKey) && !String(error.cause).includes(apiKey),
    "an error names the key",
  );
  return error;
}

Deno.test("a key is exchanged once, by everybody who asks, and the token is used until it is nearly over", async () => {
  const api = new TestApi();
  const source = api.source();
  const tokens = await Promise.all(Array.from({ length: 50 }, () => source.get()));
  assertEquals(new Set(tokens).size, 1);
  const [request] = api.requests;
  assertEquals([request?.url, request?.init.method], [`${apiUrl}/v1/tokens`, "POST"]);
  assertEquals(new Headers(request?.init.headers).get("authorization"), `Bearer ${apiKey}`);
  assertEquals(request?.init.redirect, "error");
  await api.clock.advance(3_500_000);
  assertEquals(await source.get(), tokens[0]);
  await api.clock.advance(60_000);
  assert(await source.get() !== tokens[0]);
  assertEquals([api.requests.length, api.opened, api.clock.timers], [2, 0, 0]);
});

Deno.test("how long a token lasts does not depend on the local clock", async () => {
  for (const aheadMs of [600_000, -600_000, 86_400_000]) {
    const api = new TestApi();
    api.aheadMs = aheadMs;
    const source = api.source();
    const first = await source.get();
    await api.clock.advance(3_000_000);
    assertEquals(await source.get(), first);
    await api.clock.advance(700_000);
    assert(await source.get() !== first);
  }
});

Deno.test("an API that is down does not matter while the token is good, and does afterwards", async () => {
  const api = new TestApi();
  const source = api.source();
  const first = await source.get();
  api.answer = () => Promise.reject(new TypeError("connection refused"));
  await api.clock.advance(3_590_000);
  assertEquals(await source.get(), first);
  await rejectsWith("connection_error", source.get({ instead: first }));
  await api.clock.advance(20_000);
  await rejectsWith("connection_error", source.get());
  api.answer = undefined;
  assert(await source.get() !== first);
});

Deno.test("a token that was refused is not handed out again", async () => {
  const source = new TestApi().source();
  const first = await source.get();
  const second = await source.get({ instead: first });
  assert(first !== second);
  assertEquals(await source.get(), second);
});

const refusals: readonly [what: string, response: () => Response, code: string][] = [
  [
    "a revoked key",
    () => Response.json({ error: "x", code: "auth_key_invalid" }, { status: 401 }),
    "auth_key_invalid",
  ],
  [
    "a missing header",
    () => Response.json({ error: "x", code: "auth_failed" }, { status: 401 }),
    "auth_failed",
  ],
  ["a 401 of somebody else", () => new Response("no", { status: 401 }), "auth_key_invalid"],
  [
    "too many requests",
    () => new Response("", { status: 429, headers: { "retry-after": "7" } }),
    "rate_limited",
  ],
  [
    "a month that is used up",
    () => Response.json({ code: "quota_exceeded" }, { status: 429 }),
    "quota_exceeded",
  ],
  [
    "a suspended account",
    () => Response.json({ error: "x", code: "account_suspended" }, { status: 403 }),
    "account_suspended",
  ],
  ["an overloaded API", () => new Response("", { status: 503 }), "overloaded"],
  ["a fault of the API", () => new Response("", { status: 500 }), "connection_error"],
  ["a page instead of an API", () => new Response("<html>", { status: 200 }), "connection_error"],
  ["an answer without a token", () => Response.json({}), "connection_error"],
  ["a token that is no text", () => Response.json({ token: 5 }), "connection_error"],
  [
    "a token of a megabyte",
    () => Response.json({ token: "x".repeat(1_000_000) }),
    "connection_error",
  ],
  ["a token longer than any", () => Response.json({ token: "x".repeat(9_000) }), "auth_failed"],
];

for (const [what, response, code] of refusals) {
  Deno.test(`the exchange answers ${what} with ${code}`, async () => {
    const api = new TestApi();
    api.answer = response;
    const error = await rejectsWith(code, api.source().get());
    assertEquals(error.retryAfterMs, code === "rate_limited" ? 7_000 : undefined);
    assertEquals([api.opened, api.clock.timers], [0, 0]);
  });
}

Deno.test("an API that never answers is given up after a while", async () => {
  const api = new TestApi();
  api.answer = ({ signal }) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const call = rejectsWith("connection_error", api.source().get());
  await api.clock.advance(15_000);
  await call;
});

Deno.test("an answer is read only as far as a token needs", async () => {
  let read = 0;
  const api = new TestApi();
  api.answer = () => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      read += 1024;
      controller.enqueue(new Uint8Array(1024).fill(32));
    };
    return new Response(new ReadableStream({ pull }));
  };
  await rejectsWith("connection_error", api.source().get());
  assert(read < 100_000, String(read));
});

Deno.test("a mistyped key is refused before it is sent anywhere", async () => {
  const api = new TestApi();
  await rejectsWith(
    "auth_key_invalid",
    api.source({ apiKey: `${apiKey.slice(0, -1)}0`, apiUrl }).get(),
  );
  await rejectsWith("auth_key_invalid", api.source({ apiKey: "sk_live_\r\nx", apiUrl }).get());
  assertEquals(api.requests, []);
});

Deno.test("a key needs an address, and does not travel in clear", () => {
  const api = new TestApi();
  assertThrows(() => api.source({ apiKey }), StaticError, "apiUrl");
  for (
    const url of ["http://api.test", "ftp://api.test", "api.test", "http://localhost.evil.test", ""]
  ) {
    assertThrows(() => api.source({ apiKey, apiUrl: url }), StaticError, "https");
  }
  for (
    const url of [
      "http://127.0.0.1:8080",
      "http://localhost:1",
      "http://[::1]:8080",
      "https://api.test/static/",
    ]
  ) {
    api.source({ apiKey, apiUrl: url });
  }
});

Deno.test("the API may live below a path", async () => {
  const api = new TestApi();
  await api.source({ apiKey, apiUrl: "https://api.test/static/" }).get();
  assertEquals(api.requests[0]?.url, "https://api.test/static/v1/tokens");
});

Deno.test("a function that fetches tokens is asked like the API, and its failure is explained", async () => {
  let given = 0;
  const api = new TestApi();
  const source = api.source({ token: () => Promise.resolve(`opaque ${given++}`) });
  assertEquals([await source.get(), await source.get()], ["opaque 0", "opaque 0"]);
  assertEquals(await source.get({ instead: "opaque 0" }), "opaque 1");
  const failing = api.source({
    token: () => {
      throw new TypeError("no vault");
    },
  });
  const error = await rejectsWith("connection_error", failing.get());
  assert(error.cause instanceof TypeError);
  await rejectsWith("auth_failed", api.source({ token: () => "" }).get());
});

Deno.test("one fixed token is used as it is, and is no use once refused", async () => {
  const source = new TestApi().source({ token: "opaque" });
  assertEquals([await source.get(), source.renewable], ["opaque", false]);
  await rejectsWith("auth_failed", source.get({ instead: "opaque" }));
});

Deno.test("without any credential every token is refused with what to do", async () => {
  const error = await rejectsWith("auth_failed", new TestApi().source({}).get());
  assert(error.message.includes("apiKey"));
});

Deno.test("a function that never answers is given up after a while, and asked anew the next time", async () => {
  const api = new TestApi();
  let asked = 0;
  const source = api.source({
    token: () => ++asked === 1 ? new Promise<string>(() => {}) : "opaque",
  });
  const call = rejectsWith("connection_error", source.get());
  await api.clock.advance(30_000);
  assert((await call).message.includes("token"));
  assertEquals([await source.get(), api.clock.timers], ["opaque", 0]);
});

Deno.test("who loses interest in a token does not wait for it; when nobody is left the exchange is given up", async () => {
  const api = new TestApi();
  let given = false;
  api.answer = ({ signal }) =>
    new Promise((_, reject) =>
      signal?.addEventListener("abort", () => {
        given = true;
        reject(signal.reason);
      })
    );
  const source = api.source();
  const [first, second] = [new AbortController(), new AbortController()];
  const calls = [first, second].map(({ signal }) =>
    assertRejects(() => source.get({ signal }), Error, "enough")
  );
  first.abort(new Error("enough"));
  await calls[0];
  assertEquals([given, api.opened], [false, 1]);
  second.abort(new Error("enough"));
  await calls[1];
  await api.clock.settle();
  assertEquals([given, api.opened, api.clock.timers], [true, 0, 0]);
  api.answer = undefined;
  assert(await source.get() !== "");
});
