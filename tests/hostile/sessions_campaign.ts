/**
 * Accounts that take places for sessions and do nothing with them: others log in, and members come
 * back.
 */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import { besiege, type HonestCall } from "../support/hostile/mod.ts";
import type { TestAgent } from "../support/relay/agent.ts";
import type { HoarderReport } from "./attackers/session_hoarder.ts";

const script = new URL("attackers/session_hoarder.ts", import.meta.url);

Deno.test("accounts that hoard sessions leave room for others, and for members that come back", async () => {
  const places = 30;
  await using relay = await besiegedRelay({ STATIC_RELAY_SESSIONS: String(places) });
  const accounts = Array.from({ length: 6 }, () => crypto.randomUUID());
  const order = {
    ...await relay.tenants(accounts),
    grpcPort: relay.grpcPort,
    addresses: Array.from({ length: 8 }, (_, i) => `127.0.6.${i + 1}`),
  };
  const held = await besiege<HoarderReport>({
    name: "six accounts hoard 30 places for sessions",
    pid: relay.process.pid,
    honest: relay.honest,
    attackers: [{ script, order }],
    siegeMs,
  });
  assertHeld(held);
  // They tried to have all of them.
  assertGreater(held.reports[0]?.answers.ok ?? 0, places);
  assertLess(await relay.metric("sessions_authenticated"), places + 1);
  assertGreater(await relay.metric("sessions_evicted_total"), 0);
  assertEquals(held.siege.errors, 0);
});

Deno.test("a crowd of free accounts takes no place of a company's subscribed agents", async () => {
  const [places, agents] = [120, 30];
  await using relay = await besiegedRelay({ STATIC_RELAY_SESSIONS: String(places) });
  const company = crypto.randomUUID();
  const lost: (string | undefined)[] = [];
  const connected: TestAgent[] = [];
  for (let number = 0; number < agents; number++) {
    const agent = await relay.connect(company, '"plan":"team"');
    await agent.subscribe(await agent.createChannel(), { windowBytes: 1 << 20 });
    void agent.client.ended.then((code) => lost.push(code));
    connected.push(agent);
  }
  let turn = 0;
  const honest: HonestCall = async (signal) => {
    await relay.honest(signal);
    await connected[turn++ % agents]?.client.call("Ping", {});
  };
  const accounts = Array.from({ length: 36 }, () => crypto.randomUUID());
  const order = {
    ...await relay.tenants(accounts),
    grpcPort: relay.grpcPort,
    addresses: Array.from({ length: 8 }, (_, i) => `127.0.6.${i + 1}`),
  };
  const held = await besiege<HoarderReport>({
    name: "36 free accounts hoard 120 places for sessions, a company has 30 of them",
    pid: relay.process.pid,
    honest,
    attackers: [{ script, order }],
    siegeMs,
    // There is no place left, and they take each other's.
    until: async () => await relay.metric("sessions_evicted_total") >= agents,
  });
  assertHeld(held);
  assertGreater(await relay.metric("sessions_evicted_total"), agents - 1);
  assertEquals(lost, []);
  for (const { client } of connected) client.close();
});
