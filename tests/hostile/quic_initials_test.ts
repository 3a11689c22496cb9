/** QUIC handshakes that nobody finishes: honest agents still get in by QUIC, and by TCP in any case. */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import type { InitialsReport } from "./attackers/quic_initials.ts";

const script = new URL("attackers/quic_initials.ts", import.meta.url);

Deno.test("sixty QUIC handshakes a second that go nowhere refuse no honest one", async () => {
  await using relay = await besiegedRelay();
  const { quicPort: port, ca, process } = relay;
  const held = await besiege<InitialsReport>({
    name: "60 QUIC first packets a second",
    pid: process.pid,
    everyMs: 100,
    honest: async () => (await relay.connect()).client.close(),
    attackers: [{ script, order: { port, ca, perSecond: 60 } }],
    siegeMs,
  });
  assertEquals(held.siege.errors, 0, held.siege.reasons.join("\n"));
  assertGreater(held.reports[0]?.sent ?? 0, 50);
  assertEquals(await relay.metric("quic_refused_total"), 0);
  assertLess(held.recoveryMs, 10_000);
});
