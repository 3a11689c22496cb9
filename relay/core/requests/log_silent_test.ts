/** The log that relays share does not answer, so nobody knows whether a message stands in it. */
import { assertEquals } from "@std/assert";
import type { RequestBody } from "../../../proto/mod.ts";
import { type Engine, EngineError, openSqliteEngine } from "../../engine/mod.ts";
import { Actor, messageRequest } from "../testing/actors.ts";
import { createPair, refused } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld, type World } from "../testing/world.ts";

type ChannelId = RequestBody<"SendMessage">["channelId"];

/** The fate of the next messages, which nobody can tell. `held`: lost, once it is known. */
const fate: { next: "answered" | "lost" | "stands" | "held"; known: PromiseWithResolvers<void> } = {
  next: "answered",
  known: Promise.withResolvers(),
};

function silenced(engine: Engine): Engine {
  return new Proxy(engine, {
    get: (target, property): unknown => {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      // cast: any method of the engine
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (property !== "append") return call;
      return async (...args: unknown[]): Promise<unknown> => {
        if (fate.next === "answered") return await call(...args);
        if (fate.next === "stands") await call(...args);
        if (fate.next === "held") await fate.known.promise;
        throw new EngineError("unavailable", "No answer");
      };
    },
  });
}

function silentTest(name: string, run: (world: World) => Promise<void>): void {
  Deno.test(name, async () => {
    const engine = await openSqliteEngine({ path: ":memory:" });
    const world = await createWorld({ engine: silenced(engine) });
    Object.assign(fate, { next: "answered", known: Promise.withResolvers() });
    try {
      await run(world);
    } finally {
      await world.close();
      await engine.close();
    }
  });
}

function send(
  { client }: Actor,
  channelId: ChannelId,
  number: number,
  run: number,
): ReturnType<Actor["send"]> {
  return client.call("SendMessage", { ...messageRequest(channelId, 1, number), run });
}

silentTest(
  "nothing of a run overtakes a message that got no answer from the log",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    fate.next = "lost";
    await refused("overloaded", send(alice, channelId, 1, 1));
    fate.next = "answered";
    await refused("overloaded", send(alice, channelId, 2, 1));
    const first = await send(alice, channelId, 1, 2);
    const second = await send(alice, channelId, 2, 2);
    assertEquals([first.duplicate, second.sequence - first.sequence], [false, 1]);
  },
);

silentTest(
  "a message that may stand in the log stays paid for, and is paid for once",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    world.quota.left = 10;
    fate.next = "stands";
    await refused("overloaded", send(alice, channelId, 1, 1));
    assertEquals(world.quota.left, 9);
    fate.next = "answered";
    assertEquals((await send(alice, channelId, 1, 2)).duplicate, true);
    assertEquals(world.quota.left, 9);
  },
);

silentTest(
  "messages that wait for their turn do not overtake those before them that got no answer",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const others = await Promise.all([3, 4].map((number) => Actor.connect(world, number)));
    const channels = await Promise.all(others.map((other) => other.createChannel(other.account)));
    fate.next = "held";
    // Three accounts at once: each has 16 entries at the engine, and the others wait.
    const lost = others.map((other, i) =>
      refused("overloaded", other.send(channels[i] ?? channelId, 0, 1))
    );
    await settle();
    const sent = Array.from(
      { length: 32 },
      (_, i) => refused("overloaded", send(alice, channelId, i + 1, 1)),
    );
    await settle();
    fate.next = "answered";
    fate.known.resolve();
    await Promise.all([...lost, ...sent]);
    assertEquals((await send(alice, channelId, 1, 2)).duplicate, false);
  },
);
