/**
 * Typed calls without a session, as fast as they come: honest agents are served, and the log keeps
 * its history.
 */
import { assertLess } from "@std/assert";
import { besiege } from "../support/hostile/mod.ts";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertHeld, siegeMs } from "../support/hostile/held.ts";
import type { StrangerCallsReport } from "./attackers/stranger_calls.ts";

const script = new URL("attackers/stranger_calls.ts", import.meta.url);

Deno.test("a flood of calls without a session neither slows honest agents nor fills the log", async () => {
  await using relay = await besiegedRelay();
  const { grpcPort: port, ca, process, honest } = relay;
  const order = { port, ca, addresses: ["127.0.4.1"], parallel: 40 };
  const linesBefore = process.output().split("\n").length;
  const held = await besiege<StrangerCallsReport>({
    name: "calls of strangers, one address",
    pid: process.pid,
    honest,
    attackers: [{ script, order }],
    siegeMs,
  });
  assertHeld(held);
  const { peace, siege, reports } = held;
  const calls = reports.reduce((sum, { answered, refused }) => sum + answered + refused, 0);
  const lines = process.output().split("\n").length - linesBefore;
  console.log(`${lines} lines of log for ${calls} calls of strangers`);
  // Honest agents that log in have theirs: one when they come, one when they go.
  const honestLines = 2 * (siege.calls + peace.calls + 200) / 20;
  assertLess(lines, honestLines + 10);
});
