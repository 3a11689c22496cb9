/**
 * Tenants that store what nobody takes: the disk is not theirs, what they send is paid for, and
 * others send on.
 */
import { assertGreater, assertLess } from "@std/assert";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import type { FillerReport } from "./attackers/storage_filler.ts";

const script = new URL("attackers/storage_filler.ts", import.meta.url);
const MiB = 2 ** 20;

for (const carrier of ["welcomes", "commits"] as const) {
  Deno.test(`a free account stores no more than its share in ${carrier}, and pays for what is above its allowance`, async () => {
    const share = 8 * MiB;
    await using relay = await besiegedRelay({
      STATIC_RELAY_ACCOUNT_BYTES: String(share),
      STATIC_RELAY_HANDSHAKE_BYTES: String(MiB),
    });
    const account = crypto.randomUUID();
    const held = await besiege<FillerReport>({
      name: `${carrier} that nobody takes, one free account`,
      pid: relay.process.pid,
      honest: relay.honest,
      attackers: [{ script, order: { ...await relay.tenants([account]), carrier } }],
      siegeMs,
      until: async () =>
        await relay.metric("storage_refusals_total") > 0 &&
        await relay.metric("handshakes_charged_total") > 5,
    });
    assertHeld(held);
    const [report] = held.reports;
    assertLess(report?.bytes ?? Infinity, share);
    assertGreater(report?.answers.storage_full ?? 0, 0);
    assertLess(await relay.metric("storage_bytes"), share + 30 * MiB);
    // Above the allowance each was a message.
    assertGreater(await relay.metric("handshakes_charged_total"), 5);
  });
}

Deno.test("accounts that fill the disk together are stopped before it is full, and others send on", async () => {
  const disk = 28 * MiB;
  await using relay = await besiegedRelay({ STATIC_RELAY_DISK_BYTES: String(disk) });
  const accounts = [crypto.randomUUID(), crypto.randomUUID()];
  const held = await besiege<FillerReport>({
    name: "two free accounts fill a disk of 28 MiB",
    pid: relay.process.pid,
    honest: relay.honest,
    attackers: [{ script, order: { ...await relay.tenants(accounts), carrier: "welcomes" } }],
    siegeMs,
    until: async () => await relay.metric("storage_refusals_total") > 0,
  });
  assertHeld(held);
  assertGreater(held.reports[0]?.answers.storage_full ?? 0, 0);
  // Growth is refused at the reserve or a little before it: bytes on their way to the disk count
  // too.
  const stored = await relay.metric("storage_bytes");
  assertGreater(stored, disk / 2);
  assertLess(stored, disk);
});
