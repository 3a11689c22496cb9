/**
 * Calls that are opened and reset at once: what they cost the relay, and what they cost honest
 * agents beside them.
 */
import { assertLess } from "@std/assert";
import { besiege, type Siege } from "../support/hostile/mod.ts";
import { type BesiegedRelay, besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import type { RapidResetOrder, RapidResetReport } from "./attackers/rapid_reset.ts";

const script = new URL("attackers/rapid_reset.ts", import.meta.url);

function besiegeWith(
  relay: BesiegedRelay,
  name: string,
  order: Omit<RapidResetOrder, "port">,
): Promise<Siege<RapidResetReport>> {
  const attackers = [{ script, order: { ...order, port: relay.grpcPort } }];
  return besiege({ name, pid: relay.process.pid, honest: relay.honest, attackers, siegeMs });
}

Deno.test("rapid reset over 130 connections of one address costs honest agents nothing that they notice", async () => {
  await using relay = await besiegedRelay();
  const order = { addresses: ["127.0.2.1"], connections: 130, perConnection: 4_900, perSecond: 0 };
  assertHeld(await besiegeWith(relay, "rapid reset, one address", order));
  assertLess(0, await relay.metric("offences_total"));
});

Deno.test("forty addresses that each stay below the limits leave honest agents their part", async () => {
  await using relay = await besiegedRelay();
  const addresses = Array.from({ length: 40 }, (_, i) => `127.0.3.${i + 1}`);
  const order = { addresses, connections: 2, perConnection: 1_000, perSecond: 100 };
  assertHeld(await besiegeWith(relay, "rapid reset, forty addresses", order));
});
