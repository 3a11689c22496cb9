// The writes of a channel's upkeep: in a cluster each is a command that every relay folds.
import { assertEquals } from "@std/assert";
import { type Engine, openSqliteEngine } from "../../engine/mod.ts";
import { createTrio } from "../testing/scene.ts";
import { createWorld } from "../testing/world.ts";

/** The same engine; names of the calls that write entries and cursors are noted. */
function noting(engine: Engine, calls: string[]): Engine {
  const noted: ReadonlySet<PropertyKey> = new Set<keyof Engine>(["append", "moveCursors"]);
  return new Proxy(engine, {
    get(target, name): unknown {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (noted.has(name)) calls.push(String(name));
      return value.bind(target);
    },
  });
}

Deno.test("a message to two others is two writes, and six in a second are seven", async () => {
  const calls: string[] = [];
  const engine = noting(await openSqliteEngine({ path: ":memory:" }), calls);
  const world = await createWorld({ engine });
  const { alice, bob, carol, channelId } = await createTrio(world);
  const readers = [alice, bob, carol];
  const send = async (number: number): Promise<void> => {
    const { sequence } = await alice.send(channelId, 2, number);
    for (const { client } of readers) {
      client.notify("Acknowledge", { channelId, consumed: sequence, received: sequence });
    }
  };
  await world.time.advance(2_000);
  calls.length = 0;
  await send(1);
  await world.time.advance(2_000);
  assertEquals(calls, ["append", "moveCursors"]);
  calls.length = 0;
  for (let number = 2; number <= 7; number++) {
    await send(number);
    await world.time.advance(150);
  }
  await world.time.advance(2_000);
  assertEquals(calls.filter((name) => name === "append").length, 6);
  assertEquals(calls.filter((name) => name === "moveCursors").length, 1);
  for (const { agentId } of readers) {
    assertEquals((await engine.cursors(channelId)).get(agentId)?.consumed, 9);
  }
  await world.close();
  await engine.close();
});
