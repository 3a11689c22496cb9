/**
 * Why the group logic is ours, on the version of ts-mls whose types we use. Its newest one is tried
 * by changing `deno.json`. Nobody has reported either fault yet:
 *
 * For each unmerged leaf of a parent node, RFC 9420 asks that every non-blank node between the two
 * lists the leaf too. `validateRatchetTree` of 1.6.4 asks of every node of the leaf's direct path,
 * up to the root, that its whole list equals that of the parent. So a leaf that was added before
 * another one, or below a parent that has been renewed since, makes a valid tree fail ("non-blank
 * intermediate node must list leaf node"). A check that looks for the leaf in the lists of the
 * nodes in between mends it.
 *
 * On joining, the parent hash of every leaf's path hashes the sibling's subtree anew: 10.8 s for
 * 1,000 members. Keeping the hashes of subtrees, and stopping at nodes without a parent hash, takes
 * about 1 s.
 */
import { assert } from "@std/assert";
import { checkReasons } from "../../tests/support/reasons.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { TsMlsPeer } from "./testing/ts_mls_peer.ts";
import { World } from "./testing/world.ts";

Deno.test("sdk/mls has a reason: ts-mls refuses valid Welcomes, or joins slowly", async () => {
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  await checkReasons({
    library: imports["ts-mls"],
    reasons: {
      "it refuses Welcomes that every member of ours joins by": refusesWelcomes,
      "it takes three times as long to join 200": joinsSlowly,
    },
    deletion: "Compare it in bench/mls.ts, and delete what docs/architecture.md#mls-logic names",
  });
});

/**
 * Tries 60 random histories. Our own member joins by the same Welcome first, so that a Welcome that
 * is wrong does not count.
 */
async function refusesWelcomes(): Promise<boolean> {
  const random = createRandom(seedFromEnvironment());
  let refused = 0;
  for (let i = 0; i < 60; i++) {
    const world = await randomWorld(random);
    const [by] = world.active();
    assert(by !== undefined);
    const [peer, agent] = [await TsMlsPeer.create(world), world.newAgent()];
    const own = await agent.createKeyPackage();
    await world.commit(by, () => ({ add: [own.keyPackage, peer.keyPackage] }));
    await agent.join();
    const welcome = world.log.at(-1)?.welcome?.bytes;
    assert(welcome !== undefined);
    refused += await peer.join(welcome).then(() => 0, () => 1);
  }
  assert(refused < 60, "it joined by none, so nothing is judged");
  return refused > 0;
}

/** Up to ten members come, go and change their keys. */
async function randomWorld(random: Random): Promise<World> {
  const world = new World(random);
  const creator = await world.create();
  for (let step = 0; step < 25; step++) {
    const members = world.active();
    const gone = random.pick(members);
    if (random.chance(0.5) && members.length < 10) {
      await world.add(random.pick(members), world.newAgent());
    } else if (random.chance(0.5) || gone === creator) {
      await world.commit(gone, () => ({ forcePath: true }));
    } else await world.commit(creator, () => ({ remove: [gone.id] }));
    for (const agent of members) await agent.sync();
  }
  return world;
}

/** Each newcomer commits once, to let the next one in, so that the tree is full of parents. */
async function joinsSlowly(): Promise<boolean> {
  const world = new World(createRandom(1));
  let newest = await world.create();
  while (world.members.size < 200) {
    const agent = world.newAgent();
    const own = await agent.createKeyPackage();
    await world.commit(newest, () => ({ add: [own.keyPackage], forcePath: true }));
    await agent.join();
    newest = agent;
  }
  const [peer, agent] = [await TsMlsPeer.create(world), world.newAgent()];
  const own = await agent.createKeyPackage();
  await world.commit(newest, () => ({ add: [own.keyPackage, peer.keyPackage] }));
  const welcome = world.log.at(-1)?.welcome?.bytes;
  assert(welcome !== undefined);
  const ours = await secondsOf(() => agent.join());
  const theirs = await secondsOf(() => peer.join(welcome).catch(() => {}));
  console.log(`Joining 202 takes ts-mls ${theirs.toFixed(2)} s, ours ${ours.toFixed(2)} s`);
  return theirs > 3 * ours;
}

async function secondsOf(act: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await act();
  return (performance.now() - started) / 1_000;
}
