import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { type ApiClient, ApiFault, createApiClient } from "./api_client.ts";
import { describeFailure, Secret } from "../../server/mod.ts";

const secret = "canary-relay-secret-0123456789abcdef";
const request = {
  nonce: crypto.randomUUID(),
  relay_id: "r",
  account_id: crypto.randomUUID(),
  messages: 100,
};

/** A server that answers everything in one way, and what it was sent. */
async function withApi(
  answer: (request: Request) => Response | Promise<Response>,
  run: (client: ApiClient, url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const url = `http://127.0.0.1:${server.addr.port}`;
  try {
    await run(
      createApiClient({
        url,
        internalUrl: url,
        relaySecret: new Secret(secret),
        nowMs: Date.now,
        clockMs: Date.now,
        timeoutMs: 300,
      }),
      url,
    );
  } finally {
    await server.shutdown();
  }
}

const lease = {
  id: crypto.randomUUID(),
  fence: 3,
  account_id: request.account_id,
  granted: 100,
  consumed: 0,
  expires_at: "2026-11-15T08:35:00.000Z",
};
const period = { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" };

Deno.test("a lease arrives, and the credential travels in the header and nowhere else", () => {
  const seen: { url: string; authorization: string | null; body: string }[] = [];
  const answer = async (incoming: Request): Promise<Response> => {
    const authorization = incoming.headers.get("authorization");
    seen.push({ url: incoming.url, authorization, body: await incoming.text() });
    return Response.json({ lease, plan: "free", period });
  };
  return withApi(answer, async (client, url) => {
    assertEquals(await client.take(request), { outcome: "granted", lease });
    const body = JSON.stringify(request);
    assertEquals(seen, [{
      url: `${url}/internal/v1/leases`,
      authorization: `Bearer ${secret}`,
      body,
    }]);
  });
});

Deno.test("it is known when the API last answered as it should", () => {
  let status = 401;
  const answer = (): Response =>
    Response.json({ leases: [], error: "…", code: "auth_failed" }, { status });
  return withApi(answer, async (client) => {
    await assertRejects(() => client.listOpen("r"), ApiFault);
    assertEquals(client.answeredMs(), undefined);
    status = 200;
    await client.listOpen("r");
    assertLess(Date.now() - (client.answeredMs() ?? 0), 60_000);
  });
});

Deno.test("an API that tells its keys to everybody has not answered this relay", () => {
  const answer = ({ url, headers }: Request): Response =>
    headers.has("authorization")
      ? Response.json({ error: url, code: "auth_failed" }, { status: 401 })
      : Response.json({ keys: [] });
  return withApi(answer, async (client) => {
    await client.fetchKeySet();
    assertEquals(client.answeredMs(), undefined);
  });
});

Deno.test("used up is an answer, not a fault, and says for how long", () =>
  withApi(
    () =>
      Response.json({ error: "…", code: "quota_exceeded" }, {
        status: 429,
        headers: { "retry-after": "60" },
      }),
    async (client) =>
      assertEquals(await client.take(request), { outcome: "exhausted", retryAfterMs: 60_000 }),
  ));

Deno.test("a refusal says which, and what to do about a wrong secret", () =>
  withApi(
    () => Response.json({ error: "…", code: "auth_failed" }, { status: 401 }),
    async (client) => {
      const answer = await client.take(request);
      assert(answer.outcome === "refused");
      assertStringIncludes(
        answer.fault.message,
        "401 auth_failed. Give API and relay the same STATIC_RELAY_SECRET",
      );
      await assertRejects(() => client.listOpen("r"), ApiFault, "401 auth_failed");
    },
  ));

Deno.test("whatever else an API answers is a fault without the secret in it, in bounded time and memory", async () => {
  const chunk = new Uint8Array(64 * 1024).fill(0x20);
  let sentChunks = 0;
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          sentChunks++;
          controller.enqueue(chunk);
        },
      }),
    );
  const { promise: never, resolve } = Promise.withResolvers<Response>();
  const answers: Record<string, () => Response | Promise<Response>> = {
    "text": () => new Response("<html>"),
    "another form": () => Response.json({ lease: { ...lease, granted: -1 }, plan: "free", period }),
    "a fault of its own": () => new Response("", { status: 503 }),
    "a redirect": () => Response.redirect("http://127.0.0.1:1/elsewhere"),
    "no end": endless,
    "nothing": () => never,
  };
  for (const [kind, answer] of Object.entries(answers)) {
    await withApi(answer, async (client) => {
      const error = await assertRejects(
        () => client.take(request),
        ApiFault,
        "Cannot take a lease",
      );
      assert(!JSON.stringify(describeFailure(error)).includes("canary"), kind);
      if (kind === "nothing") resolve(new Response(""));
    });
  }
  assertLess(sentChunks * chunk.length, 8 * 1024 * 1024);
});

Deno.test("an API that is not there is named", async () => {
  const url = "http://127.0.0.1:1";
  const client = createApiClient({
    url,
    internalUrl: url,
    relaySecret: new Secret(secret),
    nowMs: Date.now,
    clockMs: Date.now,
    timeoutMs: 300,
  });
  const error = await assertRejects(
    () => client.fetchKeySet(),
    ApiFault,
    "cannot reach the API at http://127.0.0.1:1: ",
  );
  assertInstanceOf(error.cause, Error);
});
