import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { testWhen } from "../../tests/support/mod.ts";
import { smoothLag } from "./loop_lag.ts";
import { countUdpDrops, readUdpDrops } from "./udp_drops.ts";

Deno.test("one stall of any length is forgiven, lasting lateness shows within a second and goes again", () => {
  const smooth = smoothLag();
  assertEquals([smooth(5_000), smooth(0), smooth(0), smooth(5_000), smooth(0), smooth(0)], [
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  let lagMs = 0;
  for (let tenth = 0; tenth < 10; tenth++) lagMs = smooth(500);
  assertGreater(lagMs, 450);
  for (let tenth = 0; tenth < 10; tenth++) lagMs = smooth(0);
  assertLess(lagMs, 50);
});

Deno.test("a loop that stands still every other time is late", () => {
  const smooth = smoothLag();
  const late = Array.from({ length: 40 }, (_, sample) => smooth(sample % 2 === 0 ? 900 : 0));
  assertGreater(Math.min(...late.slice(20)), 300);
});

Deno.test("dropped datagrams are counted for the relay's port and no other", () => {
  const table =
    `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  100: 00000000:1151 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0000000000000000 17
  101: 0100007F:1151 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0000000000000000 5
  102: 00000000:1152 00000000:1151 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0000000000000000 900
`;
  assertEquals(countUdpDrops(table, 4433), 22);
  assertEquals(countUdpDrops(table, 53), 0);
});

testWhen(
  { met: Deno.build.os === "linux", reason: "the kernel's table is Linux's" },
  "datagrams that nobody reads in time show as drops",
  async () => {
    const bind = (): Deno.DatagramConn =>
      Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
    const [deaf, sender] = [bind(), bind()];
    const { addr } = deaf;
    assert(addr.transport === "udp");
    assertEquals(readUdpDrops(addr.port), 0);
    // Far more than any default buffer holds.
    for (let i = 0; i < 2_000; i++) await sender.send(new Uint8Array(8_000), addr);
    assertGreater(readUdpDrops(addr.port) ?? 0, 0);
    deaf.close();
    sender.close();
  },
);
