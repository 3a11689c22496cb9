/**
 * QUIC handshakes that nobody finishes: honest agents still get in by QUIC, and by TCP in any case.
 */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { inCampaign } from "../support/campaign.ts";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";
import { assertRecovered, assertServed, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import { TestAgent } from "../support/relay/agent.ts";
import { connectTransport } from "../support/relay/deno_clients.ts";
import { CallFailed } from "../support/relay/relay_client.ts";
import { TypedClient } from "../support/relay/typed_client.ts";
import type { InitialsReport } from "./attackers/quic_initials.ts";

const script = new URL("attackers/quic_initials.ts", import.meta.url);
/** As the SDK does: when nobody answers for so long, it tries the next way. */
const handshakeMs = 1_500;
/**
 * The runtime offers neither Retry nor slots by address, so a flood closes the QUIC port, and TCP
 * is the way in.
 */
const rates = inCampaign ? [60, 1_000] : [60];

for (const perSecond of rates) {
  const hold = perSecond === 60
    ? "refuse no honest one"
    : "leave TCP as a way in that takes less than two seconds";
  Deno.test(`${perSecond} QUIC handshakes a second that go nowhere ${hold}`, async () => {
    await using relay = await besiegedRelay();
    const { quicPort: port, grpcPort, ca, process, keys } = relay;
    using calls = connectTransport(grpcPort, ca);
    let byTcp = 0;
    const enter = async (): Promise<void> => {
      const byQuic = relay.connect().then(({ client }) => client.close());
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error("no answer by QUIC")), handshakeMs);
      try {
        return await Promise.race([byQuic, late.promise]);
      } catch {
        byTcp++;
      } finally {
        clearTimeout(timer);
      }
      byQuic.catch(() => {});
      await enterByTcp(2);
    };
    /** A relay that is busy says so, and the SDK comes again. */
    const enterByTcp = async (retries: number): Promise<void> => {
      const typed = new TypedClient(calls.transport);
      const open = (): Promise<TypedClient> => Promise.resolve(typed);
      const agent = new TestAgent(
        { open, origin: `quic://localhost:${port}` },
        typed,
        crypto.randomUUID(),
      );
      try {
        await agent.authenticate(typed, await keys.sign(agent.account));
      } catch (error) {
        if (retries === 0 || !(error instanceof CallFailed && error.code === "overloaded")) {
          throw error;
        }
        await enterByTcp(retries - 1);
      } finally {
        typed.close();
      }
    };
    const held = await besiege<InitialsReport>({
      name: `${perSecond} QUIC first packets a second`,
      pid: process.pid,
      // Strangers from one address have a budget by TCP, and all of these come from one.
      everyMs: perSecond === 60 ? 100 : 500,
      honest: enter,
      attackers: [{ script, order: { port, ca, perSecond } }],
      siegeMs,
    });
    console.log(`${byTcp} of ${held.siege.calls} got in by TCP`);
    assertServed(held);
    assertRecovered(held);
    if (perSecond > 60) return assertLess(held.siege.p99Ms, 2_000);
    assertGreater(held.reports[0]?.sent ?? 0, 50);
    assertEquals([byTcp, await relay.metric("quic_refused_total")], [0, 0]);
  });
}
