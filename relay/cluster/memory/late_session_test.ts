// A session whose command lands late does not take the place of the one that its agent has
// elsewhere meanwhile.
import { assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../../tests/support/random.ts";
import type { LogMoment } from "../../core/cluster.ts";
import { sampleAgent } from "../../engine/testing/sample.ts";
import { beginSession } from "./session_beginning.ts";
import { type LossyRelay, LossyRelays } from "../testing/lossy_relays.ts";

const agentId = sampleAgent(1);

/** Two relays on a log that loses nothing. */
async function onTwo(
  run: (stage: LossyRelays, one: LossyRelay, two: LossyRelay) => Promise<void>,
): Promise<void> {
  const stage = new LossyRelays(createRandom(seedFromEnvironment()));
  stage.faults = 0;
  const [one, two] = [await stage.start("relay-1"), await stage.start("relay-2")];
  await run(stage, one, two);
  await stage.heal();
  const [first, ...others] = stage.relays.map(({ replica: { state } }) => state.digest);
  for (const digest of others) assertEquals(digest, first);
  for (const { store } of stage.relays) await store.engine.close();
}

/** As a relay writes it. */
function begin(relay: LossyRelay, behind = relay.replica.position): Promise<number | undefined> {
  // cast: its verdict
  return relay.write({ op: "session", agentId, nowMs: 1, behind }) as Promise<number | undefined>;
}

Deno.test("an agent that went to another relay keeps its session there when the first one lands late", async () => {
  await onTwo(async (stage, one, two) => {
    // The nodes do not answer relay 1. It is heard of by its beats, so nobody gives it up.
    one.isFrozen = true;
    const late = begin(one);
    await stage.time.advance(8_000);
    const session = await stage.settle(begin(two));
    one.isFrozen = false;
    assertEquals(await stage.settle(late), undefined);
    const place = two.replica.state.sessions.placeOf(agentId);
    assertEquals([place?.session, place?.relay], [session, "relay-2"]);
  });
});

Deno.test("a session that got no answer, and lands when nobody waits for it, leaves the agent's newer one alone", async () => {
  await onTwo(async (stage, one, two) => {
    one.isFrozen = true;
    const end = (session: number): Promise<void> =>
      one.write({ op: "session_end", agentId, session }).then(() => {}, () => {});
    const came = stage.time.nowMs();
    const moment = (): LogMoment => ({
      position: one.replica.position,
      timeMs: stage.time.nowMs(),
    });
    const beginning = beginSession({
      begin: (behind) => begin(one, behind),
      catchUp: () => Promise.resolve(),
      end,
      since: moment(),
      isWanted: () => stage.time.nowMs() === came,
      moment,
    });
    assertEquals(await stage.settle(beginning.then(() => "begun", () => "given up")), "given up");
    const session = await stage.settle(begin(two));
    one.isFrozen = false;
    await stage.time.advance(10_000);
    await stage.heal();
    const place = two.replica.state.sessions.placeOf(agentId);
    assertEquals([place?.session, place?.relay], [session, "relay-2"]);
  });
});

Deno.test("a relay that stood still while an agent came leaves the session alone that the agent has elsewhere by then", async () => {
  await onTwo(async (stage, one, two) => {
    const moment = (): LogMoment => ({
      position: one.replica.position,
      timeMs: stage.time.nowMs(),
    });
    // Relay 1 has sent its challenge. It is frozen before it reads the answer.
    const since = moment();
    one.isFrozen = true;
    await stage.time.advance(8_000);
    const session = await stage.settle(begin(two));
    one.isFrozen = false;
    one.readOn();
    await one.replica.idle();
    // It reads the log first, and has not seen yet that the agent is gone.
    const beginning = beginSession({
      begin: (behind) => begin(one, behind),
      catchUp: () => Promise.resolve(),
      end: () => Promise.resolve(),
      since,
      isWanted: () => true,
      moment,
    });
    assertEquals(await stage.settle(beginning.then(() => "begun", () => "refused")), "refused");
    const place = two.replica.state.sessions.placeOf(agentId);
    assertEquals([place?.session, place?.relay], [session, "relay-2"]);
  });
});

Deno.test("an agent that comes from a relay whose session is not known here yet begins behind it", async () => {
  await onTwo(async (stage, one, two) => {
    const [earlier, later] = [begin(one), begin(two)];
    const first = await stage.settle(earlier);
    const second = await stage.settle(later);
    const [loser, winner] = first === undefined ? [one, second] : [two, first];
    assertEquals([first, second].filter((session) => session === undefined).length, 1);
    const again = await stage.settle(begin(loser));
    assertEquals(Number(again) > Number(winner), true);
    assertEquals(loser.replica.state.sessions.placeOf(agentId)?.relay, loser.id);
  });
});

Deno.test("sessions of one relay begin in the order in which they were asked for", async () => {
  await onTwo(async (stage, one) => {
    const [older, newer] = await stage.settle(Promise.all([begin(one), begin(one)]));
    assertEquals(Number(newer) - Number(older), 1);
  });
});
