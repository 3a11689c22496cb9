import {
  assert,
  assertEquals,
  assertGreater,
  assertLessOrEqual,
  assertStringIncludes,
} from "@std/assert";
import {
  type AccountId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  parseAccountId,
  parseChannelName,
} from "../../proto/mod.ts";
import { Secret } from "../../server/mod.ts";
import {
  anyBackend,
  relaySecret,
  type SignedUp,
  startTestApi,
  type TestApi,
} from "../../tests/support/api/harness.ts";
import { eventually } from "../../tests/support/mod.ts";
import { natsInstalled } from "../../tests/support/nats.ts";
import {
  freshPrefix,
  type OpenCluster,
  openTestCluster,
} from "../cluster/testing/open_test_cluster.ts";
import { sharedUrls as urls } from "../cluster/testing/shared_nats.ts";
import { type Engine, openSqliteEngine } from "../engine/mod.ts";
import { createApiClient } from "../operations/api_client.ts";
import { createTokenKeys } from "../tokens/token_keys.ts";
import { createTokenVerifier } from "../tokens/token_verifier.ts";
import { LeasedQuota } from "./leased_quota.ts";

const random = (length: number): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(length));

interface Sender {
  readonly quota: LeasedQuota;
  readonly logs: string[];
  /** Reserve, append, settle, as the core does; returns the result of the reservation. */
  send(account: AccountId): Promise<string>;
}

/** Quota as in a relay: real engine, real API. */
async function createSender(
  api: TestApi,
  engine: Engine,
  { relayId = "relay-1", secret = relaySecret }: { relayId?: string; secret?: string } = {},
): Promise<Sender> {
  const logs: string[] = [];
  const quota = new LeasedQuota({
    api: createApiClient({
      url: api.url,
      internalUrl: api.internalUrl,
      relaySecret: new Secret(secret),
      nowMs: Date.now,
      clockMs: Date.now,
      timeoutMs: 3_000,
    }),
    book: engine.leases,
    relayId,
    nowMs: Date.now,
    newNonce: () => crypto.randomUUID(),
    log: (...line) => logs.push(JSON.stringify(line)),
  });
  const channelId = binaryIdFromBytes<ChannelId>(random(16));
  const creator = agentIdOf(random(32), random(8));
  const account = parseAccountId(crypto.randomUUID());
  const name = parseChannelName("acme/ops/quota");
  await engine.createChannel({
    channelId,
    name,
    account,
    creator,
    nonce: random(16),
    timeMs: Date.now(),
  });
  const send = async (account: AccountId): Promise<string> => {
    const reservation = await quota.reserve(account, { messages: 1, payloadBytes: 100 });
    if (reservation.kind !== "reserved") return reservation.kind;
    const outcome = await engine.append(channelId, {
      kind: "message",
      epoch: 0,
      sender: creator,
      timeMs: Date.now(),
      bodyVersion: 1,
      body: random(100),
      key: crypto.randomUUID(),
      added: [],
      removed: [],
      charge: reservation.charge,
    });
    quota.settle(account, reservation.charge, outcome.kind === "appended");
    return outcome.kind;
  };
  return { quota, logs, send };
}

async function usageOf(
  api: TestApi,
  { apiKey }: SignedUp,
): Promise<{ used: number; payload: number; cover: number }> {
  const { json: { messages, bytes } } = await api.call("GET", "/v1/usage", { key: apiKey });
  return { used: messages.used, payload: bytes.payload, cover: bytes.cover };
}

async function openLeases(api: TestApi): Promise<number> {
  const { json } = await api.call("GET", "/internal/v1/leases?relay_id=relay-1", {
    key: relaySecret,
  });
  return json.leases.length;
}

function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

async function oneLeftAtThree(
  api: TestApi,
  setLimit: (limit: number) => Promise<void>,
): Promise<void> {
  await setLimit(30);
  const account = await api.signUp();
  const id = parseAccountId(account.id);
  const prefix = freshPrefix();
  const relayIds = ["relay-a", "relay-b", "relay-c"];
  const relays: OpenCluster[] = [];
  for (const relay of relayIds) relays.push(await openTestCluster({ urls, prefix, relay }));
  const createSenders = (): Promise<Sender[]> =>
    Promise.all(
      relays.map(({ engine }, index) =>
        createSender(api, engine, { relayId: relayIds[index] ?? "" })
      ),
    );
  const before = await createSenders();
  for (let sent = 0; sent < 29; sent++) assertEquals(await before[0]?.send(id), "appended");
  // Given back, so that all three can have it.
  for (const { quota } of before) await quota.close();
  const senders = await createSenders();
  const outcomes: (string | undefined)[] = [];
  const hundred = async (): Promise<number> => {
    outcomes.push(
      ...await Promise.all(Array.from({ length: 100 }, (_, index) => senders[index % 3]?.send(id))),
    );
    return outcomes.filter((kind) => kind === "appended").length;
  };
  // Again when the API was too busy to give it to any of them.
  await eventually({ what: "one passes" }, hundred, (appended) => appended > 0);
  assertEquals(await hundred(), 1);
  assertEquals(
    new Set(outcomes).isSubsetOf(new Set(["appended", "exhausted", "unavailable"])),
    true,
  );
  for (const { quota } of senders) await quota.close();
  assertEquals((await usageOf(api, account)).used, 30);
  for (const { engine } of relays) assertEquals(await engine.leases.list(), []);
  for (const { engine } of relays) await engine.close();
}

Deno.test("tokens and quota against the real API and the real engine", async (t) => {
  const backend = await anyBackend.open();
  const ports = { STATIC_API_PORT: freePort(), STATIC_INTERNAL_PORT: freePort() };
  const environment = { ...backend.environment, ...ports };
  let api = await startTestApi(environment);
  const engine = await openSqliteEngine({ path: ":memory:" });
  const setLimit = async (limit: number): Promise<void> => {
    const sql = backend.sql();
    await sql`UPDATE plans SET message_limit = ${limit} WHERE name = 'free'`;
    await sql.end();
  };
  try {
    await t.step("a token of the API verifies against its published keys", async () => {
      const { id, apiKey } = await api.signUp();
      const { json: { token } } = await api.call("POST", "/v1/tokens", { key: apiKey });
      const { fetchKeySet } = createApiClient({
        url: api.url,
        internalUrl: api.internalUrl,
        relaySecret: new Secret(""),
        nowMs: Date.now,
        clockMs: Date.now,
        timeoutMs: 3_000,
      });
      const keys = createTokenKeys({ fetchKeySet, nowMs: Date.now, onFailedRefresh: () => {} });
      const verified = await createTokenVerifier({ keys, nowMs: Date.now }).verify(token);
      assert("account" in verified, JSON.stringify(verified));
      assertEquals([verified.account, verified.plan], [parseAccountId(id), "free"]);
    });

    await t.step(
      "a hundred parallel senders at the limit minus one: exactly one passes",
      async () => {
        await setLimit(30);
        const account = await api.signUp();
        const id = parseAccountId(account.id);
        const { quota, send } = await createSender(api, engine);
        for (let sent = 0; sent < 29; sent++) assertEquals(await send(id), "appended");
        const outcomes = await Promise.all(Array.from({ length: 100 }, () => send(id)));
        assertEquals(outcomes.filter((kind) => kind === "appended").length, 1);
        assertEquals(outcomes.filter((kind) => kind === "exhausted").length, 99);
        quota.countBytes(id, { padding: 5, cover: 7 });
        await quota.close();
        assertEquals(await usageOf(api, account), { used: 30, payload: 3000, cover: 7 });
        assertEquals(await openLeases(api), 0);
      },
    );

    const atThree =
      "one left, and a hundred sends at three relays that share a log: exactly one passes";
    await t.step({
      name: atThree,
      ignore: !natsInstalled.met,
      fn: () => oneLeftAtThree(api, setLimit),
    });

    await t.step(
      "two relays share what is left without passing the limit, and both give back",
      async () => {
        await setLimit(250);
        const account = await api.signUp();
        const id = parseAccountId(account.id);
        const other = await openSqliteEngine({ path: ":memory:" });
        const senders = [
          await createSender(api, engine),
          await createSender(api, other, { relayId: "relay-2" }),
        ];
        const accepted = async (sending: readonly Sender[], count: number): Promise<number> => {
          const outcomes = Array.from(
            { length: count },
            (_, index) => sending[index % sending.length]?.send(id),
          );
          return (await Promise.all(outcomes)).filter((kind) => kind === "appended").length;
        };
        // One may hold what the other misses, but never do both spend it.
        const first = await accepted(senders, 400);
        assertGreater(first, 100);
        assertLessOrEqual(first, 250);
        for (const { quota } of senders) await quota.close();
        await other.close();
        const last = await createSender(api, engine);
        assertEquals(await accepted([last], 400), 250 - first);
        await last.quota.close();
        assertEquals((await usageOf(api, account)).used, 250);
      },
    );

    await t.step("a relay that was killed is settled by its next life, exactly", async () => {
      await setLimit(10_000);
      const account = await api.signUp();
      const id = parseAccountId(account.id);
      const first = await createSender(api, engine);
      await Promise.all(Array.from({ length: 40 }, () => first.send(id)));
      assertEquals((await usageOf(api, account)).used, 0, "it has not reported anything");
      const next = await createSender(api, engine);
      await next.quota.tick();
      assertEquals([(await usageOf(api, account)).used, await openLeases(api)], [40, 0]);
      assertEquals(await engine.leases.list(), []);
    });

    await t.step("the API goes away and comes back", async () => {
      const account = await api.signUp();
      const id = parseAccountId(account.id);
      const { quota, send, logs } = await createSender(api, engine);
      assertEquals(await send(id), "appended");
      await api.close();
      const outcomes = new Set<string>();
      for (let sent = 1; sent < 101; sent++) outcomes.add(await send(id));
      assertEquals([...outcomes], ["appended", "unavailable"]);
      assertStringIncludes(logs.join("\n"), "cannot reach the API");
      api = await startTestApi(environment);
      await eventually({ what: "a lease" }, () => send(id), (kind) => kind === "appended");
      await quota.close();
      assertEquals((await usageOf(api, account)).used, 101);
    });

    await t.step(
      "another secret than the API's is told, not retried for every message",
      async () => {
        const { id } = await api.signUp();
        const { send, logs } = await createSender(api, engine, {
          secret: "another-secret-".padEnd(40, "x"),
        });
        assertEquals(await send(parseAccountId(id)), "unavailable");
        assertStringIncludes(logs.join("\n"), "Give API and relay the same STATIC_RELAY_SECRET");
        assert(!logs.join("\n").includes("another-secret"));
      },
    );
  } finally {
    await engine.close();
    await api.close();
    await backend.close();
  }
});
