/** A founding and an entry that comes between its check and its turn in the log. */
import { assertEquals } from "@std/assert";
import { foundingEpoch, type RequestBody } from "../../proto/mod.ts";
import { foundingRequest } from "../../tests/support/founding.ts";
import { type Engine, EngineError, openSqliteEngine } from "../engine/mod.ts";
import type { Allowances } from "./allowances.ts";
import type { Cluster } from "./cluster.ts";
import { Actor, commitRequest } from "./testing/actors.ts";
import { createPair, refused } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { createWorld, startMs } from "./testing/world.ts";

interface Scene {
  readonly alice: Actor;
  readonly bob: Actor;
  readonly carol: Actor;
  readonly channelId: RequestBody<"SendCommit">["channelId"];
  /** Alice's founding after bob's bad commit of epoch 2. It has been checked, and waits for the engine. */
  readonly founding: Promise<{ readonly epoch: number }>;
  /** Sizes of the foundings that the engine was asked to take. */
  readonly attempts: readonly number[];
  /** Other relays do not answer from now on. */
  readonly silence: () => void;
  /** Whether the reserve of the channel has had so many bytes taken, and no more. */
  readonly hasPaid: (bytes: number) => boolean;
}

/** Other relays, which do nothing. */
function quietCluster(): { cluster: Cluster; silence: () => void } {
  const ignore = (): void => {};
  let [sessions, isSilent] = [0, false];
  const cluster: Cluster = {
    beginSession: () => Promise.resolve(++sessions),
    endSession: ignore,
    catchUp: () => isSilent ? Promise.reject(new EngineError("unavailable", "No answer")) : Promise.resolve(),
    waitingMs: () => 0,
    isNewest: () => true,
    isOnline: () => true,
    tell: ignore,
    shareJoin: ignore,
    endJoin: ignore,
    confirm: ignore,
    listen: ignore,
  };
  return { cluster, silence: () => isSilent = true };
}

/** Alice and carol own the channel. */
async function race(
  between: (scene: Scene) => Promise<unknown>,
  end: (scene: Scene) => Promise<unknown>,
): Promise<void> {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { held, waiting, release, attempts } = holdingFoundings(engine);
  const { cluster, silence } = quietCluster();
  const world = await createWorld({ engine: held, cluster });
  const { reserves } = world.core as unknown as { reserves: Allowances }; // cast: a part that only the core's own requests see
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
    const takes = (limit: number): boolean => reserves.take(channelId, 0, { count: Infinity, bytes: limit }, startMs);
    const hasPaid = (bytes: number): boolean => takes(bytes) && !takes(bytes - 1);
    const scene = { alice, bob, carol, channelId, founding, attempts, silence, hasPaid };
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
function holdingFoundings(
  engine: Engine,
): { held: Engine; waiting: Promise<void>; release: () => void; attempts: readonly number[] } {
  const attempts: number[] = [];
  const [reached, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const append: Engine["append"] = async (channelId, entry) => {
    if (entry.kind === "founding") {
      attempts.push(entry.body.length);
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
  return { held, waiting: reached.promise, release: () => free.resolve(), attempts };
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

Deno.test("a founding that others' routine commits and messages overtake is taken at once", async () => {
  await race(
    async ({ bob, carol, channelId }) => {
      await bob.commit(channelId, 3);
      await bob.commit(channelId, 4);
      await carol.send(channelId, 5, 1);
    },
    async ({ founding, attempts }) => {
      assertEquals((await founding).epoch, foundingEpoch(1) + 1);
      assertEquals(attempts.length, 1);
    },
  );
});

Deno.test("a founding that a change overtakes is checked again and taken, and what was lost is paid for", async () => {
  await race(
    ({ alice, carol, channelId }) =>
      carol.commit(channelId, 3, { owners: { agentIds: [alice.agentId, carol.agentId] } }),
    async ({ founding, attempts, hasPaid }) => {
      assertEquals((await founding).epoch, foundingEpoch(1) + 1);
      const [size = 0, ...more] = attempts;
      assertEquals([more, hasPaid(2 * size)], [[size], true]);
    },
  );
});

Deno.test("a founding that lost, and whose relay hears nothing of the others then, is not paid for as if it might stand", async () => {
  await race(
    async ({ alice, carol, channelId, silence }) => {
      await carol.commit(channelId, 3, { owners: { agentIds: [alice.agentId, carol.agentId] } });
      silence();
    },
    async ({ founding, attempts, hasPaid }) => {
      await refused("overloaded", founding);
      const [size = 0, ...more] = attempts;
      assertEquals([more, hasPaid(size)], [[], true]);
    },
  );
});
