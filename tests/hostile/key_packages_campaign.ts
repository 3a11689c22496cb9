/**
 * Strangers that claim an agent's KeyPackages and add it everywhere: others still find one, and the
 * agent is not drowned.
 */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import { randomId16 } from "../support/relay/agent.ts";
import type { DrainerReport } from "./attackers/key_package_drainer.ts";

const script = new URL("attackers/key_package_drainer.ts", import.meta.url);
const MiB = 2 ** 20;

Deno.test("two strangers neither drain an agent's KeyPackages nor pile up Welcomes for it", async () => {
  await using relay = await besiegedRelay();
  const victim = await relay.connect();
  const keyPackages = Array.from({ length: 100 }, () => victim.keyPackage());
  await victim.client.call("UploadKeyPackage", { keyPackages, replace: false });
  victim.client.close();
  const accounts = [crypto.randomUUID(), crypto.randomUUID()];
  const held = await besiege<DrainerReport>({
    name: "two accounts claim KeyPackages and queue Welcomes",
    pid: relay.process.pid,
    honest: relay.honest,
    attackers: [{ script, order: { ...await relay.tenants(accounts), victim: victim.agentId } }],
    siegeMs,
  });
  assertHeld(held);
  const [report] = held.reports;
  assertLess(report?.drained ?? Infinity, 51);
  assertLess(report?.queuedBytes ?? Infinity, 32 * MiB + 1);
  assertGreater(report?.answers.rate_limited ?? 0, 0);
  const friend = await relay.connect();
  const channelId = await friend.createChannel();
  const claim = { channelId, agentId: victim.agentId, nonce: randomId16() };
  assertEquals((await friend.client.call("AddMember", claim)).lastResort, false);
  friend.client.close();
});
