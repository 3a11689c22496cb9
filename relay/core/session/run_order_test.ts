/** Messages that wait in the relay for long, behind one of their run that was refused. */
import { assertEquals } from "@std/assert";
import { type ChannelId, parseChannelId } from "../../../proto/mod.ts";
import { type Engine, EngineError, openSqliteEngine } from "../../engine/mod.ts";
import { type Actor, messageRequest } from "../testing/actors.ts";
import { CallRefused } from "../testing/client.ts";
import { createPair, createReadingPair } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld, type World } from "../testing/world.ts";

/** Longer than any refusal asks to wait. */
const longMs = 10_000;

/** With an engine of which some calls are others. */
async function inWorld(
  change: (engine: Engine) => Partial<Engine>,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const changes = change(engine);
  const changed = new Proxy(engine, {
    get: (target, property): unknown => {
      const value: unknown = Reflect.get(changes, property) ?? Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const world = await createWorld({ engine: changed });
  try {
    await run(world);
  } finally {
    await world.close();
    await engine.close();
  }
}

/** Resolves with its position, or with the code of its refusal. */
async function send(
  { client }: Actor,
  channelId: ChannelId,
  number: number,
  run: number,
): Promise<number | string> {
  try {
    return (await client.call("SendMessage", { ...messageRequest(channelId, 1, number), run }))
      .sequence;
  } catch (error) {
    if (error instanceof CallRefused) return error.body.code;
    throw error;
  }
}

Deno.test("what was sent before a refusal is refused, although the relay takes long to say so", async () => {
  let isLost = false;
  let waiting: Promise<void> | undefined;
  await inWorld((engine) => ({
    append: async (channelId, entry) => {
      if (isLost) throw new EngineError("unavailable", "No answer");
      return await engine.append(channelId, entry);
    },
    // As where relays share a log: it waits for the verdict of the latest command.
    findKey: async (channelId, key) => {
      await waiting;
      return await engine.findKey(channelId, key);
    },
  }), async (world) => {
    const { alice, channelId } = await createPair(world);
    isLost = true;
    const first = await send(alice, channelId, 1, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting = promise;
    const rest = [2, 3, 4].map((number) => send(alice, channelId, number, 1));
    await settle();
    await world.time.advance(longMs);
    isLost = false;
    resolve();
    assertEquals([first, ...await Promise.all(rest)], new Array(4).fill("overloaded"));
    const [again = 0, behind = 0] = [
      await send(alice, channelId, 1, 2),
      await send(alice, channelId, 2, 2),
    ];
    assertEquals(Number(behind) - Number(again), 1);
  });
});

Deno.test("a message that waits behind another channel does not overtake one that was refused unseen", async () => {
  const elsewhere = parseChannelId("B".repeat(21) + "A");
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  await inWorld((engine) => ({
    findChannel: async (channelId) => {
      if (channelId === elsewhere) await slow;
      return await engine.findChannel(channelId);
    },
  }), async (world) => {
    const { alice, channelId } = await createReadingPair(world);
    const before = send(alice, elsewhere, 9, 1);
    await settle();
    world.load.lagMs = 60_000;
    const first = send(alice, channelId, 1, 1);
    await settle();
    world.load.lagMs = 0;
    const second = send(alice, channelId, 2, 1);
    await settle();
    await world.time.advance(longMs);
    resolve();
    assertEquals(await Promise.all([before, first, second]), [
      "not_found",
      "overloaded",
      "overloaded",
    ]);
    const [again, behind] = [
      await send(alice, channelId, 1, 2),
      await send(alice, channelId, 2, 2),
    ];
    assertEquals(Number(behind) - Number(again), 1);
  });
});

Deno.test("nothing of a run that comes later overtakes a message for which the disk had no room", async () => {
  let isFull = false;
  await inWorld((engine) => ({
    append: async (channelId, entry) => {
      if (isFull) throw new EngineError("io", "The disk is full");
      return await engine.append(channelId, entry);
    },
  }), async (world) => {
    const { alice, channelId } = await createPair(world);
    isFull = true;
    const first = await send(alice, channelId, 1, 1);
    isFull = false;
    assertEquals([first, await send(alice, channelId, 2, 1)], ["internal", "internal"]);
    const [again, behind] = [
      await send(alice, channelId, 1, 2),
      await send(alice, channelId, 2, 2),
    ];
    assertEquals(Number(behind) - Number(again), 1);
  });
});
