/**
 * Ten minutes of connections that are opened and reset at once, 1,500 a second, from one address:
 * an honest agent and logins from another address do not fail.
 */
import { assertEquals, assertGreater } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertRecovered, assertServed } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import type { ResetterReport } from "./attackers/resetter.ts";

const script = new URL("attackers/resetter.ts", import.meta.url);
const perSecond = 1_500;
const siegeMs = 10 * 60_000;
/** A machine that has much else to do lets an attacker do less. */
const leastShare = 0.5;

Deno.test("1,500 connections a second that are reset leave honest agents, and logins over QUIC and TCP, served", async () => {
  await using relay = await besiegedRelay();
  let turn = 0;
  const siege = await besiege<ResetterReport>({
    name: "resets",
    pid: relay.process.pid,
    honest: (signal) => ++turn % 10 === 0 ? relay.loginOverTcp() : relay.honest(signal),
    attackers: [{ script, order: { ports: [relay.grpcPort], address: "127.0.8.1", perSecond } }],
    siegeMs,
  });
  assertServed(siege);
  assertRecovered(siege);
  const [report] = siege.reports;
  assertGreater(report?.perSecond ?? 0, perSecond * leastShare, "the attack was no attack");
  assertEquals(JSON.parse(await relay.process.get("/health")), { status: "ok" });
  const opened = (report?.reset ?? 0) + (report?.refused ?? 0);
  const { calls, errors } = siege.siege;
  tried(
    `${opened.toLocaleString("en")} resets in ${
      siegeMs / 60_000
    } minutes, ${errors} of ${calls} honest calls failed`,
  );
});
