/** Faults that schedules of the simulation have found, each in its shortest form. */
import { assertEquals, assertRejects } from "@std/assert";
import { type Engine, openSqliteEngine } from "../engine/mod.ts";
import type { DeliverableItem } from "./channel/deliverable_item.ts";
import { Subscription } from "./channel/subscription.ts";
import { CallRefused, createAgent } from "./testing/client.ts";
import { createPair, refused, worldTest } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { createWorld } from "./testing/world.ts";

/**
 * An engine that can be told to keep its next call of one method waiting; all others are as fast as
 * ever.
 */
function holdable(
  engine: Engine,
  method: "findKey" | "saveSnapshot",
): { held: Engine; hold: () => () => void } {
  let waiting: Promise<void> | undefined;
  const held = new Proxy(engine, {
    get: (target, property): unknown => {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (property !== method) return call;
      return async (...args: unknown[]): Promise<unknown> => {
        const before = waiting;
        waiting = undefined;
        await before;
        return await call(...args);
      };
    },
  });
  const hold = (): () => void => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting = promise;
    return resolve;
  };
  return { held, hold };
}

worldTest(
  "subscribing from a later position acknowledges nothing that lies before it",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    await alice.send(channelId, 1, 1);
    await bob.subscribe(channelId, 2);
    await world.time.advance(5_000);
    await bob.reconnect();
    assertEquals((await bob.subscribe(channelId)).after, 1);
  },
);

worldTest("a Subscribe whose connection is gone leaves no subscription behind", async (world) => {
  const { bob, channelId } = await createPair(world);
  void bob.subscribe(channelId);
  bob.client.close();
  await settle();
  assertEquals(world.core.stats().subscriptions, 0);
});

Deno.test("what is appended while a subscription reads an empty page is delivered", async () => {
  const { agentId } = createAgent(1);
  const reading = Promise.withResolvers<readonly DeliverableItem[]>();
  const channel = {
    head: 2,
    // Entries 1 and 2 were trimmed.
    itemAfter: (position: number): "stored" | undefined => position < 2 ? "stored" : undefined,
    readItems: () => reading.promise,
  };
  const nothing = (): void => {};
  const does = {
    deliver: nothing,
    queue: nothing,
    finished: nothing,
    failed: nothing,
    reading: nothing,
  };
  const sink = { hasRoom: true, pageBytes: 1_000, hasRead: nothing, ...does };
  const subscription = new Subscription(channel, sink, {
    agentId,
    tag: 1,
    windowBytes: 1_000,
    after: 0,
    confirms: true,
  });
  subscription.pump();
  channel.head = 3;
  reading.resolve([]);
  await settle();
  assertEquals(subscription.position, 2);
});

Deno.test("a channel that somebody comes back to while it is saved stays in memory", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { held, hold } = holdable(engine, "saveSnapshot");
  const world = await createWorld({ engine: held, config: { idleChannels: 0 } });
  const { alice, bob, channelId } = await createPair(world);
  // So many that the snapshot is renewed before the channel is let go of.
  for (let number = 1; number <= 70; number++) await alice.send(channelId, 1, number);
  const release = hold();
  await world.time.advance(150_000);
  await bob.subscribe(channelId);
  release();
  await settle();
  await alice.send(channelId, 1, 71);
  await settle();
  assertEquals(bob.client.pushed("DeliverMessage").at(-1)?.sequence, 72);
  await world.close();
  await engine.close();
});

worldTest(
  "a reading that began before a removal does not go on when its agent is added again",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    await bob.subscribe(channelId, undefined, 1);
    for (const number of [1, 2]) await alice.send(channelId, 1, number);
    await alice.commit(channelId, 1, { removed: [bob.agentId] });
    await alice.send(channelId, 2, 3);
    await alice.commit(channelId, 2, { added: [bob.agentId] });
    for (const received of [2, 3, 4, 5, 6]) {
      await bob.client.call("Acknowledge", {
        channelId,
        consumed: 0,
        received,
      });
    }
    assertEquals(bob.client.pushed("DeliverMessage").map(({ sequence }) => sequence), [2, 3]);
    assertEquals(bob.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["removed"]);
  },
);

worldTest("everybody who leaves at the same time is told that it has left", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  const left = await Promise.all([alice.leave(channelId), bob.leave(channelId)]);
  assertEquals(left.map(({ sequence }) => sequence), [2, 3]);
});

worldTest(
  "who leaves and is added again at the same time keeps the cursor of its new membership",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const leaving = bob.leave(channelId);
    await alice.commit(channelId, 1, { removed: [bob.agentId], added: [bob.agentId] });
    await leaving;
    await bob.acknowledge(channelId, 3);
    const restarted = await createWorld({ engine: world.engine });
    await bob.reconnect(restarted);
    assertEquals((await bob.subscribe(channelId)).consumed, 3);
    await restarted.close();
  },
);

Deno.test("a commit of a future epoch is not taken from whom the commit before it removes", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { held, hold } = holdable(engine, "findKey");
  const world = await createWorld({ engine: held });
  const { alice, bob, channelId } = await createPair(world);
  const release = hold();
  const early = bob.commit(channelId, 2);
  await alice.commit(channelId, 1, { removed: [bob.agentId] });
  release();
  const refusal = await assertRejects(() => early, CallRefused);
  assertEquals(refusal.body.code, "not_found");
  await world.close();
  await engine.close();
});

Deno.test("a message of a session that is over is not taken: its agent may be back, and have asked for it", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { held, hold } = holdable(engine, "findKey");
  const world = await createWorld({ engine: held });
  const { alice, bob, channelId } = await createPair(world);
  const release = hold();
  // Of an epoch that is over, so that its id is looked for; the next message waits for it.
  const first = bob.send(channelId, 0, 1).catch(() => {});
  const second = bob.send(channelId, 1, 2).catch(() => {});
  await settle();
  await bob.reconnect();
  await refused("epoch_conflict", bob.send(channelId, 0, 2));
  release();
  await Promise.all([first, second]);
  await settle();
  await refused("epoch_conflict", bob.send(channelId, 0, 2));
  await alice.subscribe(channelId);
  await settle();
  assertEquals(alice.client.pushed("DeliverMessage"), []);
  await world.close();
  await engine.close();
});

worldTest(
  "who leaves hears of its end at once, however much it has not read: it may be added again soon",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    await bob.subscribe(channelId, undefined, 16 << 20);
    bob.client.stall();
    for (let number = 1; number <= 20; number++) await alice.send(channelId, 1, number, 32_000);
    await bob.leave(channelId);
    await settle();
    assertEquals(bob.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["left"]);
    await alice.commit(channelId, 1, { removed: [bob.agentId], added: [bob.agentId] });
    bob.client.resume();
    await settle(20);
    assertEquals(bob.client.pushed("DeliverChannelEnd").length, 1);
  },
);

Deno.test("a message that waits for its turn when its agent comes back is not written behind the agent's back", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { promise: free, resolve: release } = Promise.withResolvers<void>();
  let isHeld = false;
  const held = new Proxy(engine, {
    get: (target, property): unknown => {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      // cast: a method of the engine
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (property !== "append") return call;
      return async (...args: unknown[]): Promise<unknown> => {
        if (isHeld) await free;
        return await call(...args);
      };
    },
  });
  const world = await createWorld({ engine: held });
  const { alice, bob, channelId } = await createPair(world);
  isHeld = true;
  // More than the engine works on at once.
  const sending = Array.from({ length: 300 }, (_, i) => alice.send(channelId, 1, i + 1));
  for (const each of sending) each.catch(() => {});
  await settle();
  await alice.reconnect();
  isHeld = false;
  release();
  await settle();
  assertEquals((await alice.send(channelId, 1, 300)).duplicate, false);
  assertEquals((await bob.subscribe(channelId)).head, 256 + 2);
  await world.close();
  await engine.close();
});
