/** A founding and an entry that comes between its check and its turn in the log. */
import { assertEquals } from "@std/assert";
import { foundingEpoch, type RequestBody } from "../../proto/mod.ts";
import { foundingRequest } from "../../tests/support/founding.ts";
import { type Engine, openSqliteEngine } from "../engine/mod.ts";
import { Actor, commitRequest } from "./testing/actors.ts";
import { createPair, refused } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { createWorld } from "./testing/world.ts";

interface Scene {
  readonly alice: Actor;
  readonly bob: Actor;
  readonly carol: Actor;
  readonly channelId: RequestBody<"SendCommit">["channelId"];
  /** Alice's founding after bob's bad commit of epoch 2. It has been checked, and waits for the engine. */
  readonly founding: Promise<{ readonly epoch: number }>;
}

/** Alice and carol own the channel. */
async function race(
  between: (scene: Scene) => Promise<unknown>,
  end: (scene: Scene) => Promise<unknown>,
): Promise<void> {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { held, waiting, release } = holdingFoundings(engine);
  const world = await createWorld({ engine: held });
  try {
    const { alice, bob, channelId } = await createPair(world);
    const carol = await Actor.connect(world, 3);
    const agentIds = [alice.agentId, carol.agentId];
    const { sequence } = await alice.commit(channelId, 1, { added: [carol.agentId], owners: { agentIds } });
    await carol.acknowledge(channelId, sequence);
    const bad = commitRequest(channelId, 2, { sender: bob.agent, salt: 0 }, {});
    await bob.client.call("SendCommit", bad);
    const plan = { channelId, founder: alice.agent, bad, blamed: bob.agent, members: agentIds, owners: agentIds };
    const founding = alice.client.call("FoundGeneration", foundingRequest(plan));
    const scene = { alice, bob, carol, channelId, founding };
    founding.catch(() => {}); // `end` looks at it
    await waiting;
    await between(scene);
    release();
    await end(scene);
  } finally {
    release();
    await settle();
    await world.close();
    await engine.close();
  }
}

/** An engine whose first founding waits for a word. */
function holdingFoundings(engine: Engine): { held: Engine; waiting: Promise<void>; release: () => void } {
  const [reached, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const append: Engine["append"] = async (channelId, entry) => {
    if (entry.kind === "founding") {
      reached.resolve();
      await free.promise;
    }
    return await engine.append(channelId, entry);
  };
  const held = new Proxy(engine, {
    get: (target, property): unknown => {
      if (property === "append") return append;
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { held, waiting: reached.promise, release: () => free.resolve() };
}

Deno.test("a founding of an owner that the log has removed meanwhile is not taken", async () => {
  await race(
    ({ alice, carol, channelId }) => carol.commit(channelId, 3, { removed: [alice.agentId] }),
    async ({ carol, channelId, founding }) => {
      await refused("not_found", founding);
      assertEquals((await carol.client.call("ListMembers", { channelId })).epoch, 4);
    },
  );
});

Deno.test("a founding of an owner that the log has demoted meanwhile is not taken", async () => {
  await race(
    ({ carol, channelId }) => carol.commit(channelId, 3, { owners: { agentIds: [carol.agentId] } }),
    ({ founding }) => refused("not_allowed", founding),
  );
});

Deno.test("a founding that brings in somebody who has left meanwhile is not taken", async () => {
  await race(
    ({ carol, channelId }) => carol.leave(channelId),
    ({ founding }) => refused("invalid_request", founding),
  );
});

Deno.test("a founding that others' commits and messages overtake is taken", async () => {
  await race(
    async ({ bob, carol, channelId }) => {
      await bob.commit(channelId, 3);
      await bob.commit(channelId, 4);
      await carol.send(channelId, 5, 1);
    },
    async ({ founding }) => assertEquals((await founding).epoch, foundingEpoch(1) + 1),
  );
});
