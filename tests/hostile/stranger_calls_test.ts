/** Typed calls without a session, as fast as they come: honest agents are served, and the log keeps its history. */
import { assertEquals, assertLess } from "@std/assert";
import { besiege } from "../support/hostile/mod.ts";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import type { StrangerCallsReport } from "./attackers/stranger_calls.ts";

const siegeMs = Deno.env.get("STATIC_STRESS") === "1" ? 60_000 : 4_000;
const script = new URL("attackers/stranger_calls.ts", import.meta.url);

Deno.test("a flood of calls without a session neither slows honest agents nor fills the log", async () => {
  await using relay = await besiegedRelay();
  const { grpcPort: port, ca, process, honest } = relay;
  const order = { port, ca, addresses: ["127.0.4.1"], parallel: 40 };
  const linesBefore = process.output().split("\n").length;
  const { peace, siege, peakBytes, idleBytes, recoveryMs, reports } = await besiege<StrangerCallsReport>({
    name: "calls of strangers, one address",
    pid: process.pid,
    honest,
    attackers: [{ script, order }],
    siegeMs,
  });
  assertEquals(siege.errors, 0, siege.reasons.join("\n"));
  assertLess(siege.p99Ms, Math.max(100, 4 * peace.p99Ms));
  assertLess(peakBytes - idleBytes, 100 * 2 ** 20);
  assertLess(recoveryMs, 5_000);
  const calls = reports.reduce((sum, { answered, refused }) => sum + answered + refused, 0);
  const lines = process.output().split("\n").length - linesBefore;
  console.log(`${lines} lines of log for ${calls} calls of strangers`);
  // Honest agents that log in have theirs: one when they come, one when they go.
  const honestLines = 2 * (siege.calls + peace.calls + 200) / 20;
  assertLess(lines, honestLines + 10);
});
