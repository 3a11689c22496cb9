/** A founding and an entry that comes between its check and its turn in the log. */
import { assertEquals } from "@std/assert";
import { foundingEpoch, parseAccountId, type RequestBody } from "../../../proto/mod.ts";
import { foundingRequest } from "../../../tests/support/founding.ts";
import { type Engine, EngineError, openSqliteEngine } from "../../engine/mod.ts";
import type { Allowances } from "../limits/allowances.ts";
import { emptyBody } from "../channel/entry_body.ts";
import type { CoreLimits } from "../limits/limits.ts";
import { Actor, commitRequest } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { quietCluster } from "../testing/quiet_cluster.ts";
import { createPair, refused } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld, startMs } from "../testing/world.ts";

interface Scene {
  readonly alice: Actor;
  readonly bob: Actor;
  readonly carol: Actor;
  readonly channelId: RequestBody<"SendCommit">["channelId"];
  /**
   * Alice's founding after bob's bad commit of epoch 2. It has been checked, and waits for the
   * engine.
   */
  readonly founding: Promise<{ readonly epoch: number }>;
  /** Sizes of the foundings that the engine was asked to take. */
  readonly attempts: readonly number[];
  /** Other relays do not answer from now on. */
  readonly silence: () => void;
  /** Bytes that were taken of the channel's reserve. */
  readonly paid: () => number;
  /** Of the allowance of alice's account, since the founding was sent. */
  readonly drawn: () => number;
  /** Alice's foundings of this channel that count for this hour. */
  readonly counted: () => number;
}

/** Before the founding is sent. */
interface Preparation {
  readonly limits: CoreLimits;
  readonly engine: Engine;
  readonly alice: Actor;
  readonly carol: Actor;
  readonly channelId: Scene["channelId"];
}

/** Bytes that are taken, and have not come back yet. */
function bytesOf(allowances: Allowances, key: string): number {
  let [low, high] = [0, 2 ** 32];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const hasRoom = allowances.take(key, 1, { count: Infinity, bytes: middle + 1 }, startMs);
    if (hasRoom) allowances.giveBack(key, 1);
    [low, high] = hasRoom ? [low, middle] : [middle + 1, high];
  }
  return low;
}

/**
 * Alice and carol own the channel. `prepare` may return what is waited for until `between`, in
 * place of the engine.
 */
async function race(
  between: (scene: Scene) => Promise<unknown>,
  end: (scene: Scene) => Promise<unknown>,
  prepare: (preparation: Preparation) => (() => Promise<unknown>) | void = () => {},
): Promise<void> {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { held, waiting, release, attempts } = holdingFoundings(engine);
  let isSilent = false;
  const silence = (): void => void (isSilent = true);
  const cluster = quietCluster({
    catchUp: () =>
      isSilent ? Promise.reject(new EngineError("unavailable", "No answer")) : Promise.resolve(),
  });
  const world = await createWorld({ engine: held, cluster });
  // cast: the core has them, its interface does not
  const { limits } = world.core as unknown as { limits: CoreLimits };
  try {
    const { alice, bob, channelId } = await createPair(world);
    const carol = await Actor.connect(world, 3);
    const agentIds = [alice.agentId, carol.agentId];
    const { sequence } = await alice.commit(channelId, 1, {
      added: [carol.agentId],
      owners: { agentIds },
    });
    await carol.acknowledge(channelId, sequence);
    const bad = commitRequest(channelId, 2, { sender: bob.agent, salt: 0 }, {});
    await bob.client.call("SendCommit", bad);
    const plan = {
      channelId,
      founder: alice.agent,
      bad,
      blamed: bob.agent,
      members: agentIds,
      owners: agentIds,
    };
    const until = prepare({ limits, engine, alice, carol, channelId }) ?? (() => waiting);
    const before = bytesOf(limits.allowances, alice.accountId);
    const founding = alice.client.call("FoundGeneration", foundingRequest(plan));
    const paid = (): number => bytesOf(limits.reserves, channelId);
    const drawn = (): number => bytesOf(limits.allowances, alice.accountId) - before;
    const counted = (): number =>
      10 - limits.rates.foundings.look(`${channelId} by ${alice.agentId}`, startMs).remaining;
    const scene = {
      alice,
      bob,
      carol,
      channelId,
      founding,
      attempts,
      silence,
      paid,
      drawn,
      counted,
    };
    founding.catch(() => {}); // `end` looks at it
    await until();
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

Deno.test("a founding that a member overtakes which names the owners that there are is taken at once", async () => {
  await race(
    ({ alice, bob, carol, channelId }) =>
      bob.commit(channelId, 3, { owners: { agentIds: [carol.agentId, alice.agentId] } }),
    async ({ founding, attempts }) => {
      await founding;
      assertEquals(attempts.length, 1);
    },
  );
});

/** A change that takes no rights of alice's. */
function demoteItself({ alice, carol, channelId }: Scene): Promise<unknown> {
  return carol.commit(channelId, 3, { owners: { agentIds: [alice.agentId] } });
}

Deno.test("a founding that a change overtakes is checked again and taken, and what was lost is paid for and counted", async () => {
  await race(demoteItself, async ({ founding, attempts, paid, counted }) => {
    assertEquals((await founding).epoch, foundingEpoch(1) + 1);
    const [size = 0, ...more] = attempts;
    assertEquals([more, paid(), counted()], [[size], 2 * size, 2]);
  });
});

Deno.test("attempts that the blamed agent overtakes are paid for, and leave its founder's hourly limit alone", async () => {
  await race(
    ({ bob, channelId }) => bob.commit(channelId, 3, { added: [createAgent(9).agentId] }),
    async ({ founding, attempts, paid, counted }) => {
      await founding;
      const [size = 0, ...more] = attempts;
      assertEquals([more, paid(), counted()], [[size], 2 * size, 1]);
    },
  );
});

Deno.test("a founding that a change came before, while it waited for its turn, is written once", async () => {
  await race(
    async () => {},
    async ({ founding, attempts }) => {
      await founding;
      assertEquals(attempts.length, 1);
    },
    ({ limits, engine, alice, carol, channelId }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      for (let i = 0; i < 256; i++) {
        void limits.appends.pass(parseAccountId(alice.accountId), () => promise);
      }
      return async () => {
        await settle(32);
        const times = { epoch: 3, timeMs: startMs, key: "lapse" };
        const lapse = {
          ...emptyBody,
          ...times,
          kind: "lapse",
          sender: carol.agentId,
          added: [],
          removed: [],
        } as const;
        await engine.append(channelId, lapse);
        await settle();
        resolve();
      };
    },
  );
});

Deno.test("a founding beyond the hourly limit is not written", async () => {
  await race(
    async () => {},
    async ({ founding, attempts, paid, drawn }) => {
      await refused("rate_limited", founding);
      assertEquals([attempts, paid(), drawn()], [[], 0, 0]);
    },
    ({ limits: { rates }, alice, channelId }) => {
      for (let i = 0; i < 10; i++) {
        rates.foundings.take(`${channelId} by ${alice.agentId}`, startMs);
      }
      return () => settle();
    },
  );
});

const everything = 2 ** 30;

Deno.test("a lost attempt beyond the reserve is paid for from the allowance", async () => {
  await race(demoteItself, async ({ founding, attempts, drawn }) => {
    await founding;
    const [size = 0, ...more] = attempts;
    assertEquals([more, drawn()], [[size], 2 * size]);
  }, ({ limits, channelId }) => limits.reserves.draw(channelId, everything, startMs));
});

Deno.test("without reserve and allowance, a founding that lost is not written again by itself", async () => {
  await race(demoteItself, async ({ founding, attempts, drawn }) => {
    await refused("overloaded", founding);
    const [size = 0, ...more] = attempts;
    assertEquals([more, drawn()], [[], size]);
  }, ({ limits, alice, channelId }) => {
    limits.reserves.draw(channelId, everything, startMs);
    limits.allowances.draw(alice.accountId, everything, startMs);
  });
});

Deno.test("a founding that lost, and whose relay hears nothing of the others then, is not paid for as if it might stand", async () => {
  await race(
    async (scene) => {
      await demoteItself(scene);
      scene.silence();
    },
    async ({ founding, attempts, paid }) => {
      await refused("overloaded", founding);
      const [size = 0, ...more] = attempts;
      assertEquals([more, paid()], [[], size]);
    },
  );
});
