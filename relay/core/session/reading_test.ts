/**
 * Reading from the engine costs a session bounded memory, however many channels it reads and
 * however slowly.
 */
import { assertEquals, assertLessOrEqual } from "@std/assert";
import { type ChannelId, parseChannelName } from "../../../proto/mod.ts";
import { type Engine, openSqliteEngine } from "../../engine/mod.ts";
import { Actor } from "../testing/actors.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld } from "../testing/world.ts";

const channels = 40;
const messages = 3;

/** Counts pages that were asked for and holds them back while told so. */
function watchReads(
  engine: Engine,
): { watched: Engine; reads: { now: number; most: number; bytes: number[] }; gate: Gate } {
  const reads = { now: 0, most: 0, bytes: [] as number[] };
  const gate: Gate = { open: Promise.resolve() };
  const read: Engine["read"] = async (channelId, from) => {
    reads.now++;
    reads.most = Math.max(reads.most, reads.now);
    reads.bytes.push(from.maxBytes);
    await gate.open;
    reads.now--;
    return await engine.read(channelId, from);
  };
  const watched = new Proxy(engine, {
    get: (target, property): unknown => {
      if (property === "read") return read;
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { watched, reads, gate };
}

interface Gate {
  open: Promise<void>;
}

Deno.test("a session that begins to read many channels holds few pages of them at a time, and is delivered all", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const before = await createWorld({ engine });
  const [alice, bob] = [await Actor.connect(before, 1), await Actor.connect(before, 2)];
  const ids: ChannelId[] = [];
  for (let number = 1; number <= channels; number++) {
    const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
    await alice.commit(channelId, 0, { added: [bob.agentId] });
    await bob.acknowledge(channelId, 1);
    for (let sent = 1; sent <= messages; sent++) await alice.send(channelId, 1, sent, 1_000);
    ids.push(channelId);
  }
  await before.close();

  const { watched, reads, gate } = watchReads(engine);
  const world = await createWorld({ engine: watched });
  await bob.reconnect(world);
  const listing = bob.client.call("ListChannels", { limit: 100 });
  await world.time.advance(1_000);
  await listing;
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.open = promise;
  Object.assign(reads, { most: 0, bytes: [] });
  await Promise.all(ids.map((channelId) => bob.subscribe(channelId, undefined, 50_000)));
  await settle();
  assertLessOrEqual(reads.most, 16);
  // No more than what the window and this session's share allow.
  assertLessOrEqual(Math.max(...reads.bytes), 50_000);
  resolve();
  await settle(20);
  assertEquals(bob.client.pushed("DeliverMessage").length, channels * messages);
  await world.close();
  await engine.close();
});

Deno.test("channels that nobody reads have little room in memory, and are delivered from the log", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { watched, reads } = watchReads(engine);
  const world = await createWorld({ engine: watched, config: { unreadTailBytesInAll: 0 } });
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  const [channelId, other] = [
    await alice.createChannel(1),
    await alice.createChannel(2, parseChannelName("a/b/c")),
  ];
  await alice.commit(channelId, 0, { added: [bob.agentId] });
  await bob.acknowledge(channelId, 1);
  for (const number of [1, 2]) await alice.send(channelId, 1, number);
  await alice.send(other, 0, 1);
  reads.bytes.length = 0;
  await bob.subscribe(channelId);
  await settle();
  assertEquals(reads.bytes.length, 1);
  // From now on somebody reads.
  await alice.send(channelId, 1, 3);
  await alice.send(other, 0, 2);
  await settle();
  assertEquals(reads.bytes.length, 1);
  assertEquals(bob.client.pushed("DeliverMessage").map(({ sequence }) => sequence), [2, 3, 4]);
  await world.close();
  await engine.close();
});

Deno.test("a reader whose window is full costs no reading, however much is sent", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { watched, reads } = watchReads(engine);
  const world = await createWorld({ engine: watched, config: { tailBytesInAll: 0 } });
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  const [channelId, other] = [
    await alice.createChannel(1),
    await alice.createChannel(2, parseChannelName("a/b/c")),
  ];
  await alice.commit(channelId, 0, { added: [bob.agentId] });
  await bob.acknowledge(channelId, 1);
  await alice.subscribe(other);
  const send = async (number: number): Promise<void> => {
    await alice.send(channelId, 1, number);
    // Takes the place of the first channel's entries in memory.
    await alice.send(other, 0, number);
  };
  for (const number of [1, 2]) await send(number);
  await bob.subscribe(channelId, undefined, 1);
  await settle();
  reads.bytes.length = 0;
  for (let number = 3; number <= 10; number++) await send(number);
  await settle();
  assertEquals(reads.bytes, []);
  for (let sequence = 2; sequence <= 11; sequence++) {
    await bob.acknowledge(channelId, sequence);
    await settle();
  }
  assertEquals(bob.client.pushed("DeliverMessage").map(({ sequence }) => sequence), [
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
  ]);
  await world.close();
  await engine.close();
});
