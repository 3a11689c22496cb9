import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { badgesExtension, readKeyPackage, verifyKeyPackage } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { keyPackageEndMs, readBadges, shownBadges } from "./badges.ts";
import { MlsFault } from "./codec.ts";
import { listsExtension } from "./leaf.ts";
import { badgeSeconds, Issuer } from "./testing/issuer.ts";
import { signedAnew, withOlderLeaf } from "./testing/odd_key_package.ts";
import { type Agent, World, worldMs } from "./testing/world.ts";
import type { Extension } from "./ts_mls.ts";

const acme = new Issuer();
const anything = (): undefined => undefined;

interface Three {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
}

/** A channel of an owner and two members, of which one shows a badge. */
async function createThree(shown?: (bob: Agent) => Uint8Array): Promise<Three> {
  const world = new World(createRandom(5));
  const [owner, bob, carol] = [await world.create(), world.newAgent(), world.newAgent()];
  bob.badges = shown?.(bob) ?? acme.shown(bob.id);
  await world.add(owner, bob, carol);
  return { world, owner, bob, carol };
}

function badgesAt(reader: Agent, of: Agent): Uint8Array | undefined {
  return reader.member.members().find(({ agentId }) => agentId === of.id)?.badges;
}

async function sealed(sender: Agent): Promise<Uint8Array> {
  return (await sender.member.seal(utf8ToBytes("hello"), new Uint8Array(0))).message;
}

async function badgesOfSender(reader: Agent, message: Uint8Array): Promise<Uint8Array | undefined> {
  const outcome = await reader.member.receive(message, anything);
  assert(outcome.kind === "message");
  return outcome.sender.badges;
}

function extension(extensionData: Uint8Array): Extension {
  return { extensionType: badgesExtension, extensionData };
}

Deno.test("members see the badges of a KeyPackage's leaf, and so does whoever reads its messages", async () => {
  const { world, owner, bob, carol } = await createThree();
  const badges = acme.shown(bob.id);
  for (const reader of [owner, bob, carol]) assertEquals(badgesAt(reader, bob), badges);
  assertEquals(badgesAt(bob, owner), undefined);
  assertEquals(await badgesOfSender(carol, await sealed(bob)), badges);
  assertEquals(await badgesOfSender(carol, await sealed(owner)), undefined);
  assertEquals(world.authenticators().length, 1);
});

Deno.test("a commit with a path shows new badges, one without changes nothing", async () => {
  const { world, owner, bob, carol } = await createThree();
  const [old, renewed] = [acme.shown(bob.id), acme.shown(bob.id, { name: "renewed" })];
  bob.badges = renewed;
  const dave = world.newAgent();
  await world.add(bob, dave);
  await owner.sync();
  assertEquals(badgesAt(owner, bob), old, "an add alone needs no path");
  await world.commit(bob, () => ({ forcePath: true }));
  for (const each of [owner, carol]) await each.sync();
  for (const reader of [owner, bob, carol]) assertEquals(badgesAt(reader, bob), renewed);
  bob.badges = undefined;
  await world.commit(bob, () => ({ forcePath: true }));
  await carol.sync();
  assertEquals(badgesAt(carol, bob), renewed, "nothing to show leaves what is there");
});

Deno.test("a message of a past epoch is judged by the badges of its time, also after a restart", async () => {
  const { world, bob, carol } = await createThree();
  const [early, late, latest] = [await sealed(bob), await sealed(bob), await sealed(bob)];
  bob.badges = acme.shown(bob.id, { name: "renewed" });
  await world.commit(bob, () => ({ forcePath: true }));
  await carol.sync();
  const now = await sealed(bob);
  const badges = acme.shown(bob.id);
  assertEquals(await badgesOfSender(carol, early), badges);
  await carol.crash();
  assertEquals(await badgesOfSender(carol, late), badges);
  assertEquals(await badgesOfSender(carol, now), bob.badges);
  assertEquals(await badgesOfSender(carol, latest), badges);
});

Deno.test("a malformed extension counts as none, and its leaf is as good as any", async () => {
  const badge = acme.shown(new World(createRandom(1)).newAgent().id);
  const malformed = [
    new Uint8Array(0),
    Uint8Array.of(0),
    badge.subarray(1),
    concatBytes(badge, Uint8Array.of(0)),
    new Uint8Array(2000),
  ];
  for (const bytes of malformed) {
    const { world, owner, bob, carol } = await createThree(() => bytes);
    await world.commit(bob, () => ({ forcePath: true }));
    for (const each of [owner, carol]) await each.sync();
    assertEquals(world.authenticators().length, 1);
    assertEquals(readBadges(badgesAt(carol, bob)), []);
    assertEquals(readBadges(await badgesOfSender(carol, await sealed(bob))), []);
  }
});

Deno.test("of two extensions of this type neither counts", async () => {
  const world = new World(createRandom(6));
  const [owner, bob] = [await world.create(), world.newAgent()];
  const two = [extension(acme.shown(bob.id)), extension(acme.shown(bob.id))];
  const { keyPackage } = signedAnew(
    bob.createKeyPackage(),
    { leafNode: { extensions: two } },
    bob.identity,
  );
  assertEquals(shownBadges(keyPackage.leafNode), undefined);
  await world.commit(owner, () => ({ add: [keyPackage] }));
  assertEquals(badgesAt(owner, bob), undefined);
});

Deno.test("badges in a leaf that does not list them are refused by the rule of MLS", async () => {
  const world = new World(createRandom(7));
  const [owner, bob] = [await world.create(), world.newAgent()];
  bob.badges = acme.shown(bob.id);
  const { keyPackage } = withOlderLeaf(bob.createKeyPackage(), bob.identity);
  assert(!listsExtension(keyPackage.leafNode, badgesExtension));
  await assertRejects(
    () => world.commit(owner, () => ({ add: [keyPackage] })),
    MlsFault,
    "extension 0xf5c6",
  );
});

Deno.test("a program of today is in a channel with badges, and they are in its way nowhere", async () => {
  const { world, owner, bob } = await createThree();
  const older = world.newAgent();
  older.own = withOlderLeaf(older.createKeyPackage(), older.identity);
  const { keyPackage } = older.own;
  await world.commit(owner, () => ({ add: [keyPackage] }));
  await older.join();
  await bob.sync();
  assertEquals(badgesAt(older, bob), acme.shown(bob.id));
  assertEquals(badgesAt(bob, older), undefined);
  await world.commit(bob, () => ({ forcePath: true }));
  await older.sync();
  assertEquals(badgesAt(older, bob), acme.shown(bob.id));
});

Deno.test("the relay takes a KeyPackage with badges", () => {
  const bob = new World(createRandom(8)).newAgent();
  bob.badges = acme.shown(bob.id);
  const { message } = bob.createKeyPackage();
  assertEquals(verifyKeyPackage(readKeyPackage(message), worldMs).agentId, bob.id);
});

Deno.test("a KeyPackage ends with the last of its badges, unless that is over", () => {
  const { id } = new World(createRandom(9)).newAgent();
  const endMs = (badgeSeconds + 1000) * 1000;
  const shown = acme.shown(id, { notAfter: badgeSeconds + 1000 });
  const end = (nowMs: number, badges: Uint8Array | undefined = shown): number =>
    keyPackageEndMs(badges, { nowMs, latestMs: endMs + 1 });
  assertEquals([end(endMs - 1), end(endMs), end(0, new Uint8Array(1))], [
    endMs,
    endMs + 1,
    endMs + 1,
  ]);
  assertEquals(keyPackageEndMs(shown, { nowMs: 0, latestMs: 5 }), 5);
});
