/**
 * Tenants beside each other at the relay: what two ask for at their limits must not be felt by a
 * third.
 */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import type { BusyReport } from "./attackers/busy_tenant.ts";

const script = new URL("attackers/busy_tenant.ts", import.meta.url);
/** Delay that the machine adds. */
const noiseMs = 15;

for (const work of ["uploads", "lists", "messages"] as const) {
  Deno.test(`two tenants with as many ${work} as they can leave a third one's p99 within twice that of peace`, async () => {
    await using relay = await besiegedRelay({
      // Small, so that both are at their limits after a few seconds, also on a machine that is
      // busy.
      STATIC_RELAY_ACCOUNT_WORK_MS: "2000",
    });
    const accounts = [crypto.randomUUID(), crypto.randomUUID()];
    const held = await besiege<BusyReport>({
      name: `two tenants with ${work}`,
      pid: relay.process.pid,
      honest: relay.honest,
      attackers: [{ script, order: { ...await relay.tenants(accounts), work } }],
      peaceMs: 3_000,
      siegeMs,
      control: true,
      until: async () =>
        work === "messages" || await relay.metric("requests_over_budget_total") > 0,
    });
    assertHeld(held);
    assertLess(held.siege.p99Ms, 2 * Math.max(held.peace.p99Ms, held.control.p99Ms, noiseMs));
    assertGreater(held.reports[0]?.answers.ok ?? 0, 0);
    const refused = held.reports[0]?.answers.rate_limited ?? 0;
    // Messages are counted by the plan, and bounded by nothing else than the share of the others.
    if (work === "messages") assertEquals(refused, 0);
    else assertGreater(refused, 0);
  });
}
