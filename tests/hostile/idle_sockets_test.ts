/**
 * More sockets than the process may have files: the relay keeps some for others, and its port stays
 * alive.
 */
import { assertEquals } from "@std/assert";
import { besiege } from "../support/hostile/mod.ts";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import type { IdleSocketsReport } from "./attackers/idle_sockets.ts";

const script = new URL("attackers/idle_sockets.ts", import.meta.url);

Deno.test("a thousand silent sockets leave a relay with 600 files alive, and honest agents served", async () => {
  await using relay = await besiegedRelay({}, { openFiles: 600 });
  const addresses = Array.from({ length: 10 }, (_, i) => `127.0.6.${i + 1}`);
  const held = await besiege<IdleSocketsReport>({
    name: "silent sockets",
    pid: relay.process.pid,
    honest: relay.honest,
    attackers: [{ script, order: { port: relay.grpcPort, addresses, sockets: 100 } }],
    siegeMs,
  });
  assertHeld(held);
  // A connection of its own, after the attack: the port still accepts.
  assertEquals(JSON.parse(await relay.process.get("/health")), { status: "ok" });
});
