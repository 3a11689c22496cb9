/** A fault of the engine costs what it touches and nothing else, and is over when it is over. */
import { assertEquals } from "@std/assert";
import { type ChannelId, parseChannelName } from "../../proto/mod.ts";
import { type Engine, openSqliteEngine } from "../engine/mod.ts";
import type { CoreConfig } from "./config.ts";
import { Actor } from "./testing/actors.ts";
import { refused } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { createWorld, type World } from "./testing/world.ts";

type Method = "forget" | "trim" | "read" | "moveCursors";

interface FaultyWorld extends World {
  /** Calls of the method from now on, each answered with a fault while `fails` says so. */
  readonly calls: { readonly seen: unknown[]; fails: (argument: unknown) => boolean };
  /** Channels that somebody watches. */
  readonly watched: { count: number };
}

async function createFaultyWorld(
  method: Method,
  config: Partial<CoreConfig> = {},
): Promise<FaultyWorld> {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const calls: FaultyWorld["calls"] = { seen: [], fails: () => false };
  const watched = { count: 0 };
  const watch: Engine["watch"] = (...args) => {
    watched.count++;
    const stop = engine.watch(...args);
    return () => {
      watched.count--;
      stop();
    };
  };
  const faulty = new Proxy(engine, {
    get: (target, property): unknown => {
      const value: unknown = Reflect.get(target, property);
      if (property === "watch") return watch;
      if (typeof value !== "function") return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (property !== method) return call;
      return (...args: unknown[]): unknown => {
        calls.seen.push(args[0]);
        return calls.fails(args[0]) ? Promise.reject(new Error("the disk is full")) : call(...args);
      };
    },
  });
  const world = await createWorld({ engine: faulty, config });
  const close = async (): Promise<void> => {
    await world.close();
    await engine.close();
  };
  return { ...world, calls, watched, close };
}

Deno.test("upkeep that failed is done again at its next time", async () => {
  const world = await createFaultyWorld("forget");
  world.calls.fails = () => true;
  await world.time.advance(60_000);
  world.calls.fails = () => false;
  await world.time.advance(120_000);
  assertEquals(world.calls.seen.length, 3);
  assertEquals(world.events.map(({ event }) => event), ["fault"]);
  await world.close();
});

Deno.test("a channel whose queue cannot be cared for does not keep others from it", async () => {
  const world = await createFaultyWorld("trim");
  const alice = await Actor.connect(world, 1);
  const channels: ChannelId[] = [];
  for (const number of [1, 2]) {
    const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
    await alice.commit(channelId, 0);
    await alice.acknowledge(channelId, 1);
    channels.push(channelId);
  }
  world.calls.fails = (channelId) => channelId === channels[0];
  await world.time.advance(2_000);
  assertEquals(world.calls.seen, channels);
  world.calls.fails = () => false;
  await world.close();
});

Deno.test("a channel that could not be loaded can be later, and nothing of it stays behind", async () => {
  const world = await createFaultyWorld("read");
  const alice = await Actor.connect(world, 1);
  const channelId = await alice.createChannel();
  world.calls.fails = () => true;
  await refused("internal", alice.subscribe(channelId));
  await refused("internal", alice.subscribe(channelId));
  assertEquals(world.watched.count, 0);
  world.calls.fails = () => false;
  await alice.subscribe(channelId);
  assertEquals(world.watched.count, 1);
  await world.close();
});

/** Two channels of Alice with a Welcome for Bob and a message, ascending by id. */
async function createTwo(alice: Actor, bob: Actor): Promise<[ChannelId, ChannelId]> {
  const channels: ChannelId[] = [];
  for (const number of [1, 2]) {
    const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
    await alice.commit(channelId, 0, { added: [bob.agentId] });
    await alice.send(channelId, 1, number);
    channels.push(channelId);
  }
  const [first, second] = channels.sort();
  if (first === undefined || second === undefined) throw new Error("two were made");
  return [first, second];
}

Deno.test("a channel that cannot be read keeps nobody from the Welcomes of others", async () => {
  const world = await createFaultyWorld("read", { idleChannels: 0 });
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  bob.client.close();
  const [first, second] = await createTwo(alice, bob);
  await world.time.advance(180_000);
  assertEquals(world.core.stats().channels, 0);
  world.calls.fails = (channelId) => channelId === first;
  await bob.reconnect();
  await settle();
  assertEquals(bob.client.pushed("DeliverWelcome").map(({ channelId }) => channelId), [second]);
  // Loaded, but its Welcome cannot be read.
  world.calls.fails = () => false;
  await alice.client.call("ListMembers", { channelId: first });
  world.calls.fails = (channelId) => channelId === first;
  await bob.reconnect();
  await settle();
  assertEquals(bob.client.pushed("DeliverWelcome").map(({ channelId }) => channelId), [second]);
  await world.close();
});

Deno.test("a channel that cannot be read keeps upkeep from nothing else", async () => {
  const world = await createFaultyWorld("read", { idleChannels: 0 });
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  const channels = await createTwo(alice, bob);
  await world.time.advance(180_000);
  world.calls.fails = (channelId) => channelId === channels[0];
  await world.time.leap(8 * 24 * 60 * 60 * 1000);
  await world.time.advance(180_000);
  assertEquals((await world.engine.queueSize(channels[1])).messages, 0);
  assertEquals(world.core.stats().channels, 0);
  await world.close();
});

Deno.test("cursors that could not be written are written later, and a relay that cannot write them still closes", async () => {
  const world = await createFaultyWorld("moveCursors");
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  const channels = await createTwo(alice, bob);
  world.calls.fails = () => true;
  for (const channelId of channels) {
    bob.client.notify("Acknowledge", { channelId, consumed: 1, received: 1 });
  }
  await world.time.advance(2_000);
  world.calls.fails = (channelId) => channelId === channels[0];
  await alice.send(channels[1], 1, 3);
  await world.time.advance(2_000);
  assertEquals((await world.engine.cursors(channels[1])).get(bob.agentId)?.consumed, 1);
  await world.core.close();
  assertEquals((await world.engine.cursors(channels[0])).get(bob.agentId)?.consumed, 0);
  world.calls.fails = () => false;
  await world.close();
});
