import { assert, assertEquals } from "@std/assert";
import { encodeApiKey, parseAccountId, parseKeyId } from "../proto/mod.ts";
import { type App, type AppDeps, createApp } from "./app.ts";
import { createAttempts } from "./domain/attempts.ts";
import { createGuesses } from "./domain/guesses.ts";
import { Fault } from "./domain/fault.ts";
import type { SubjectLimiter } from "./domain/rate_limit.ts";
import { createOriginCheck, Secret } from "../server/mod.ts";
import { createMetrics } from "./metrics.ts";

const decision = { allowed: true, policy: "p", limit: 1, windowMs: 1000, remaining: 1, resetMs: 1 };
const unlimited: SubjectLimiter = {
  take: () => decision,
  look: () => decision,
  refund: () => {},
};
const caller = {
  accountId: parseAccountId("00000000-0000-0000-0000-000000000001"),
  keyId: parseKeyId("00000000-0000-0000-0000-000000000002"),
  plan: "free",
};

/** The HTTP layer alone: every part behind it fails as told. */
function createBrokenApp(
  fail: () => never,
  { isAllowedOrigin = createOriginCheck(undefined), limiter = unlimited, consoleFiles }: {
    isAllowedOrigin?: (origin: string) => boolean;
    consoleFiles?: AppDeps["consoleFiles"];
    limiter?: SubjectLimiter;
  } = {},
): { app: App; logs: string[] } {
  const logs: string[] = [];
  const deps: AppDeps = {
    accounts: { signUp: () => Promise.try(fail), recover: () => Promise.try(fail) },
    keys: { create: fail, rotate: fail, list: fail, revoke: fail, issue: fail },
    tokens: { issue: fail, publicKeys: fail },
    badges: { issue: fail, list: fail, document: fail },
    usage: {
      read: fail,
      readDays: fail,
      lease: fail,
      report: fail,
      open: fail,
      forgetClosed: fail,
    },
    life: {
      read: fail,
      logIn: fail,
      sendVerification: fail,
      changeAddress: fail,
      confirmAddress: fail,
      changePassword: fail,
      remove: fail,
      askReset: fail,
      reset: fail,
      askClaim: fail,
      claim: fail,
    },
    sessions: { open: fail, find: fail, list: fail, end: fail, endAll: fail },
    changes: { standing: fail, read: fail, stop: fail },
    discovery: {
      version: "",
      environment: "live",
      relayUrls: [],
      mail: { by: "file" },
      maxActiveKeys: 1,
      certificates: fail,
    },
    secureCookies: true,
    attempts: createAttempts(limiter),
    beginGuess: createGuesses({
      known: limiter,
      addresses: limiter,
      pairs: limiter,
      newcomers: limiter,
      newcomerNetworks: limiter,
      subjects: limiter,
      keptForNewcomers: 0,
    }),
    devices: { issue: fail, find: fail },
    resets: { ask: fail, stop: fail },
    authenticator: { authenticate: () => Promise.resolve({ outcome: "accepted", caller }) },
    store: { ping: fail, readOwnEvents: fail },
    consoleFiles,
    clock: () => 0,
    relaySecret: new Secret("relay"),
    maxBodyBytes: 1024,
    rateLimits: {
      signUp: limiter,
      failures: limiter,
      account: limiter,
      mail: limiter,
      mailClients: limiter,
      sharedKeys: limiter,
      publishableKeys: limiter,
      changes: limiter,
      badges: limiter,
    },
    log: (level, event, fields) => logs.push(JSON.stringify({ level, event, ...fields })),
    metrics: createMetrics(),
    elapsedMs: () => 0,
    newRequestId: () => "id",
    clientAddress: () => "client",
    isAllowedOrigin,
  };
  return { app: createApp(deps), logs };
}

Deno.test("an unexpected failure answers 500 internal, tells the caller nothing of it and the log everything", async () => {
  const { app, logs } = createBrokenApp(() => {
    throw new RangeError("relation accounts has no column canary");
  });
  for (
    const [method, path] of [["POST", "/v1/tokens"], ["GET", "/v1/keys"], ["GET", "/v1/usage"], [
      "GET",
      "/.well-known/jwks.json",
    ]]
  ) {
    const response = await app.fetch(new Request(`http://x${path}`, { method: method ?? "" }));
    const text = await response.text();
    assertEquals([response.status, JSON.parse(text).code, JSON.parse(text).request_id], [
      500,
      "internal",
      "id",
    ]);
    assert(!text.includes("canary"), text);
    const line = JSON.parse(logs.at(-1) ?? "");
    assertEquals([line.level, line.status, line.error.name], ["error", 500, "RangeError"]);
    assert(line.error.message.includes("canary"));
  }
});

Deno.test("a console that was not built says what builds it, and everything else is there", async () => {
  const { app } = createBrokenApp(() => {
    throw new Error("not reached");
  }, { consoleFiles: { find: () => Promise.resolve(undefined) } });
  const visit = async (
    path: string,
  ): Promise<{ status: number; headers: Headers; text: string }> => {
    const response = await app.fetch(new Request(`http://x${path}`));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  for (const path of ["/console", "/console/keys", "/console/join", "/console/nowhere"]) {
    const { status, headers, text } = await visit(path);
    assertEquals([status, headers.get("cache-control")], [503, "no-store"], path);
    assert(
      text.includes("<code>deno task build</code>") && !/script|style|href|src/.test(text),
      text,
    );
    assert(headers.get("content-security-policy")?.startsWith("default-src 'none'; "));
  }
  assertEquals((await visit("/console/assets/ui.js")).status, 404);
  for (const path of ["/health", "/docs", "/openapi.json"]) {
    assertEquals((await visit(path)).status, 200, path);
  }
});

Deno.test("configured origins are allowed exactly; loopback is not, once origins are configured", async () => {
  const isAllowedOrigin = createOriginCheck(["https://app.example.com"]);
  const { app } = createBrokenApp(() => {
    throw new Error("not reached");
  }, { isAllowedOrigin });
  const allowed = async (origin: string): Promise<string | null> => {
    const response = await app.fetch(new Request("http://x/health", { headers: { origin } }));
    await response.body?.cancel();
    return response.headers.get("access-control-allow-origin");
  };
  assertEquals(await allowed("https://app.example.com"), "https://app.example.com");
  for (
    const origin of [
      "http://localhost:5173",
      "https://app.example.com.evil",
      "http://app.example.com",
      "null",
    ]
  ) {
    assertEquals(await allowed(origin), null, origin);
  }
});

Deno.test("a key in a URL is never taken as a credential", async () => {
  const key = encodeApiKey({ environment: "live", lookup: "AAAAAAAA", secret: "a".repeat(32) });
  const { app, logs } = createBrokenApp(() => {
    throw new Error("not reached");
  });
  const response = await app.fetchInternal(
    new Request(`http://x/internal/v1/leases?relay_id=r&authorization=relay&key=${key}`),
  );
  assertEquals(response.status, 401);
  await response.body?.cancel();
  assert(!logs.join().includes(key));
});

Deno.test("what fails because we are overloaded uses up nobody's attempts: an outage locks nobody out", async () => {
  const taken = { count: 0 };
  const limiter: SubjectLimiter = {
    ...unlimited,
    take: () => {
      taken.count++;
      return decision;
    },
    refund: () => {
      taken.count--;
    },
  };
  const { app } = createBrokenApp(() => {
    throw new Fault("overloaded", "The database does not answer", { retryAfterSeconds: 2 });
  }, { limiter });
  const body = { email: "agent@example.com", password: "1234567 apples" };
  for (const path of ["/v1/accounts", "/v1/accounts/keys"]) {
    const response = await app.fetch(
      new Request(`http://x${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    assertEquals([path, response.status, taken.count], [path, 503, 0]);
    await response.body?.cancel();
  }
});

Deno.test("the log tells an overload in words, and takes the time for no stack: floods are made of it", async () => {
  const { app, logs } = createBrokenApp(() => {
    throw new Fault("overloaded", "The database does not answer", {
      cause: new Error("connection refused"),
    });
  });
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ email: "agent@example.com", password: "1234567 apples" });
  const response = await app.fetch(
    new Request("http://x/v1/accounts", { method: "POST", headers, body }),
  );
  await response.body?.cancel();
  const { error } = JSON.parse(logs.at(-1) ?? "{}");
  const cause = { name: "Error", message: "connection refused" };
  assertEquals(error, {
    name: "Fault",
    message: "The database does not answer",
    code: "overloaded",
    cause,
  });
});

Deno.test("a body that breaks off is the client's fault, not ours: 400, and no error in the log", async () => {
  const { app, logs } = createBrokenApp(() => {
    throw new Error("not reached");
  });
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode('{"em')),
    pull: (stream) => stream.error(new TypeError("aborted")),
  });
  const response = await app.fetch(
    new Request("http://x/v1/accounts", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    }),
  );
  assertEquals([response.status, (await response.json()).code], [400, "invalid_request"]);
  assertEquals(JSON.parse(logs.at(-1) ?? "").level, "info");
});
