/**
 * A channel that requires badges, by real groups: who is let in, what owners set, and what every
 * member refuses, whatever a modified program sends.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type Badge,
  type ChannelIssuers,
  encodeBadge,
  encodeBadges,
  encodeIssuers,
  hashOfIssuers,
  type OwnersChange,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { isLetIn, whyNoPlace } from "./badge_rules.ts";
import { type ChannelBinding, decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault, vector } from "./codec.ts";
import { createCommit } from "./commit.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { type ExpectedGroup, Group } from "./group.ts";
import { signChange, versionOf } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { decodeParent, encodeParent } from "./state_codec.ts";
import {
  addAsTheyAre,
  badges,
  createBadged,
  listed,
  required,
  showing,
  withBadges,
} from "./testing/badges.ts";
import { refuses, verdict } from "./testing/forged_commit.ts";
import { Issuer } from "./testing/issuer.ts";
import type { Extension } from "./ts_mls.ts";
import { type Agent, name, World, worldMs } from "./testing/world.ts";

/** Its badges are valid at the time of every world. */
class TestIssuer extends Issuer {
  override badge(...[agentId, fields]: Parameters<Issuer["badge"]>): Badge {
    return super.badge(agentId, { notBefore: worldMs / 1000 - 3600, ...fields });
  }
}

const [acme, other, service] = [
  new TestIssuer("acme.com", 7),
  new TestIssuer("other.org", 8),
  new TestIssuer("api.example", 9),
];
const open = required(listed(acme));
const closed = required(listed(acme, { closed: true }), listed(other));
const account = (fill: number) => ({ type: 1, value: new Uint8Array(16).fill(fill) });

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
}

/** All with badges of acme.com, in a channel with these issuers. */
async function createMembers(issuers?: ChannelIssuers): Promise<Members> {
  const world = new World(createRandom(9));
  const owner = await createBadged(world, acme);
  const [bob, carol] = [newcomer(world), newcomer(world)];
  await addAsTheyAre(world, owner, bob, carol);
  if (issuers !== undefined) await world.commit(owner, () => ({ issuers }));
  await sync(world);
  return { world, owner, bob, carol };
}

/** With a badge of acme.com. */
function newcomer(world: World): Agent {
  const agent = world.newAgent();
  return withBadges(agent, acme.badge(agent.id));
}

async function sync(world: World): Promise<void> {
  for (const agent of world.active()) await agent.sync();
  assertEquals(world.authenticators().length, 1);
}

function sign(
  by: Agent,
  issuers: ChannelIssuers,
  owners = by.member.binding.owners,
): OwnersChange {
  const before = versionIn(by.member.binding);
  return signChange(
    { channelId: by.world.channelId, before, owners, issuers },
    by.identity,
    portableSignatures,
  );
}

function after(by: Agent, change: OwnersChange, issuers?: ChannelIssuers): ChannelBinding {
  const { version, lastChange, owners } = versionOf(change);
  const { issuers: _, ...before } = by.member.binding;
  return {
    ...before,
    owners,
    chain: { version, lastChange },
    ...(issuers !== undefined && { issuers }),
  };
}

/** The verdict of a reader on a change of the issuers. */
function changing(
  by: Agent,
  reader: Agent,
  issuers: ChannelIssuers,
  removed: readonly Agent[] = [],
): Promise<string | undefined> {
  const change = sign(by, issuers);
  return verdict(by, reader, {
    binding: after(by, change, issuers),
    changes: [change],
    removed,
  });
}

Deno.test("an owner's issuers reach every member and newcomer, and survive crashes", async () => {
  const { world, owner, bob, carol } = await createMembers(open);
  await world.commit(owner, () => ({ issuers: closed }));
  await sync(world);
  for (const agent of [owner, bob, carol]) {
    await agent.acknowledge();
    await agent.crash();
    assertEquals(agent.member.binding.issuers, closed);
    assertEquals(agent.member.changes.map(({ kind }) => kind), ["signed", "issuers", "issuers"]);
    const { parent } = agent.member;
    assertEquals(parent?.base.issuers, open);
    assertEquals(parent && decodeParent(encodeParent(parent)).base.issuers, open);
  }
  const late = world.newAgent();
  await addAsTheyAre(world, bob, withBadges(late, other.badge(late.id)));
  assertEquals(late.member.binding.issuers, closed);
  await world.commit(owner, () => ({ issuers: { required: false, issuers: [] } }));
  await sync(world);
  assertEquals(late.member.binding.issuers, { required: false, issuers: [] }, "it stays");
  await world.add(late, world.newAgent());
  await sync(world);
});

Deno.test("a leaf has a place by one badge of a listed key that verifies, and no bad one of such", () => {
  const agent = new World(createRandom(1)).newAgent();
  const stranger = new World(createRandom(2)).newAgent();
  const good = acme.badge(agent.id);
  const unlisted = other.badge(agent.id);
  const unsigned = { ...good, name: "boss" };
  const place = (extensions: Extension[], issuers = open): string | undefined =>
    whyNoPlace({ agentId: agent.id, node: { extensions } }, issuers.issuers, portableSignatures);
  const content = encodeBadges([good]);
  const bad = encodeBadge(good).with(0, 2);
  const ofAccount = service.badge(agent.id, { attributes: [account(1)] });
  const accounts = required(
    listed(service, { attribute: account(1) }),
    listed(service, { attribute: account(2) }),
  );
  assertEquals(place(showing(good)), undefined);
  assertEquals(place(showing(good, unlisted)), undefined);
  assertEquals(place(showing(unlisted, good)), undefined);
  assertEquals(place(showing({ ...unlisted, name: "boss" }, good)), undefined, "not listed");
  assertEquals(place(showing(good), closed), undefined);
  assertEquals(place(showing(ofAccount), accounts), undefined);
  const none = "has no badge of an issuer";
  const without: readonly Extension[][] = [
    [],
    showing(unlisted),
    showing(acme.badge(agent.id, { domain: "acme.org" })),
    [badges(content), badges(content)],
    [badges(new Uint8Array(0))],
    [badges(concatBytes(content, Uint8Array.of(0)))],
    [badges(vector(concatBytes(...[good, good, good].map(encodeBadge))))],
    [badges(vector(concatBytes(encodeBadge(good), bad)))],
    [{ extensionType: 0xf5c7, extensionData: content }],
  ];
  for (const extensions of without) refuses(none, place(extensions));
  const foreign = [account(2), { type: 2, value: new Uint8Array(16).fill(1) }];
  for (const attribute of foreign) {
    const issuers = required(listed(service, { attribute: account(1) }));
    refuses(none, place(showing(service.badge(agent.id, { attributes: [attribute] })), issuers));
  }
  for (const pair of [[good, acme.badge(stranger.id)], [acme.badge(stranger.id), good]]) {
    refuses("shows a badge of", place(showing(...pair)));
  }
  for (const pair of [[unsigned], [good, unsigned], [unsigned, good]]) {
    refuses("has not signed", place(showing(...pair)));
  }
});

Deno.test("by a closed issuer nobody comes in but members: by a badge that they had, or without a leaf", () => {
  const agent = new World(createRandom(1)).newAgent();
  const [old, renewed] = [acme.badge(agent.id), acme.badge(agent.id, { name: "renewed" })];
  const leaf = (...each: Badge[]) => ({ extensions: showing(...each) });
  const comes = (now: Badge[], more: { before?: Badge[]; isAbsent?: boolean } = {}): boolean => {
    const { before, isAbsent = false } = more;
    const leaves = { node: leaf(...now), before: before && leaf(...before) };
    return isLetIn({ agentId: agent.id, ...leaves, isAbsent }, closed.issuers);
  };
  const byOther = other.badge(agent.id);
  assertEquals(comes([old]), false);
  assertEquals(comes([old], { before: [old] }), true);
  assertEquals(comes([renewed], { before: [old] }), false);
  assertEquals(comes([old, service.badge(agent.id)], { before: [old] }), true, "a second one new");
  assertEquals(comes([service.badge(agent.id), old], { before: [old] }), true, "in any order");
  assertEquals(comes([renewed], { isAbsent: true }), true);
  assertEquals(comes([byOther]), true);
  assertEquals(comes([renewed, byOther], { before: [] }), true);
});

Deno.test("every member refuses an agent without, with a foreign, copied or closed badge", async () => {
  const { world, owner, bob, carol } = await createMembers(closed);
  const stranger = world.newAgent();
  const cases: readonly [string, Badge[]][] = [
    ["has no badge", []],
    ["has no badge", [service.badge(stranger.id)]],
    ["has no badge", [new Issuer("acme.com", 1).badge(stranger.id)]],
    ["shows a badge of", [other.badge(carol.id)]],
    ["not signed", [{ ...other.badge(stranger.id), name: "boss" }]],
    ["closed issuer", [acme.badge(stranger.id)]],
  ];
  for (const [why, each] of cases) {
    withBadges(stranger, ...each);
    for (const by of [owner, bob]) {
      refuses(why, await verdict(by, carol, { added: [stranger] }));
    }
    const { own } = stranger;
    assert(own);
    assertRejects(() => bob.joined.prepare({ add: [own.keyPackage] }), MlsFault);
  }
  withBadges(stranger, other.badge(stranger.id));
  assertEquals(await verdict(bob, carol, { added: [stranger] }), undefined);
});

Deno.test("a member that the commit removes comes to the same verdict", async () => {
  const { world, owner, carol } = await createMembers(closed);
  const stranger = withBadges(world.newAgent());
  const forged = { removed: [carol], added: [stranger] };
  refuses("has no badge", await verdict(owner, carol, forged));
  withBadges(stranger, other.badge(stranger.id));
  assertEquals(await verdict(owner, carol, forged), undefined);
});

Deno.test("a member comes back by the badge that it had, and anew by an open issuer alone", async () => {
  const { owner, bob, carol } = await createMembers(closed);
  const badge = acme.badge(carol.id);
  const back = (agent: Agent) => ({
    removed: [agent],
    added: [agent],
    rejoins: agent.own === undefined ? [] : [agent.rejoin(agent.own)],
  });
  withBadges(carol, badge);
  assertEquals(await verdict(bob, owner, back(carol)), undefined);
  withBadges(carol, acme.badge(carol.id, { name: "renewed" }));
  refuses("closed issuer", await verdict(bob, owner, back(carol)));
  withBadges(carol, badge);
  const leaves = [carol.leave()];
  refuses(
    "closed issuer",
    await verdict(bob, owner, { removed: [carol], added: [carol], leaves }),
  );
  refuses("closed issuer", await verdict(owner, bob, { removed: [carol], added: [carol] }));
});

Deno.test("no clock counts in a verdict; who adds judges one that comes anew, and nobody that comes back", async () => {
  const { world, owner, bob, carol } = await createMembers(open);
  const past = { notBefore: 0, notAfter: 1 };
  const future = { notBefore: 2 ** 40, notAfter: 2 ** 40 + 1 };
  const late = world.newAgent();
  for (const times of [past, future]) {
    const { own } = withBadges(late, acme.badge(late.id, times));
    assert(own);
    assertEquals(await verdict(bob, carol, { added: [late] }), undefined);
    await assertRejects(
      () => bob.joined.prepare({ add: [own.keyPackage] }),
      MlsFault,
      "is over, or not valid yet",
    );
  }
  const { own } = withBadges(carol, acme.badge(carol.id, past));
  assert(own);
  const change = { add: [own.keyPackage], remove: [carol.id], rejoins: [carol.rejoin(own)] };
  await world.commit(bob, () => change);
  await owner.sync();
  await carol.join();
  await sync(world);
});

Deno.test("only an owner changes the issuers, with its own signature, alone, and to other ones", async () => {
  const { owner, bob, carol } = await createMembers(open);
  assertEquals(await changing(owner, carol, closed), undefined);
  refuses("Only owners change the owners", await changing(bob, carol, closed));
  const change = sign(owner, closed);
  const forged = sign(bob, closed);
  const changes = [change];
  const cases: readonly [string, Parameters<typeof verdict>[2]][] = [
    ["signed by another owner", { binding: after(owner, forged, closed), changes: [forged] }],
    ["not those of its change", { binding: after(owner, change, open), changes }],
    ["not those of its change", { binding: after(owner, change), changes }],
    ["not the result", { binding: { ...owner.member.binding, issuers: closed } }],
    ["not the result", { binding: after(owner, sign(owner, open)), changes: [] }],
    [
      "makes owners",
      {
        binding: after(owner, sign(owner, closed, [owner.id, bob.id].sort()), closed),
        changes: [sign(owner, closed, [owner.id, bob.id].sort())],
      },
    ],
    [
      "changes nothing",
      { binding: after(owner, sign(owner, open), open), changes: [sign(owner, open)] },
    ],
    ["once", { binding: after(owner, change, closed), changes: [change, change] }],
  ];
  for (const [why, each] of cases) refuses(why, await verdict(owner, carol, each));
  assertEquals(change.kind === "issuers" && change.issuers, hashOfIssuers(closed));
});

Deno.test("no commit that means something else drops the issuers, changes them or brings them in", async () => {
  const { world, owner, bob, carol } = await createMembers(open);
  const { issuers: _, ...without } = owner.member.binding;
  const none = { ...without, issuers: { required: false, issuers: [] } };
  for (const binding of [without, none, { ...without, issuers: closed }]) {
    for (const by of [owner, bob]) refuses("not the result", await verdict(by, carol, { binding }));
  }
  const before = versionIn(owner.member.binding);
  const policy = { admission: "owners", posting: "members" } as const;
  const change = signChange(
    { channelId: world.channelId, before, owners: before.owners, policy },
    owner.identity,
    portableSignatures,
  );
  const binding = { ...after(owner, change), policy };
  refuses("not the result", await verdict(owner, carol, { binding, changes: [change] }));
  await world.commit(owner, () => ({ policy }));
  await world.commit(owner, () => ({ owners: [owner.id, bob.id] }));
  await world.commit(bob, () => ({ remove: [owner.id] }));
  await sync(world);
  assertEquals(carol.member.binding.issuers, open);
});

Deno.test("issuers come into force when every leaf has a place: the others go by the same commit", async () => {
  const { world, owner, bob, carol } = await createMembers();
  const stranger = world.newAgent();
  await world.add(owner, stranger);
  await sync(world);
  refuses("has no badge", await changing(owner, carol, open));
  await assertRejects(() => owner.joined.prepare({ issuers: open }), MlsFault, "has no badge");
  assertEquals(owner.member.withoutPlace(open), [stranger.id]);
  assertEquals(await changing(owner, carol, open, [stranger]), undefined);
  assertEquals(await changing(owner, stranger, open, [stranger]), undefined);
  await world.commit(owner, () => ({ issuers: open, remove: [stranger.id] }));
  await sync(world);
  refuses("has no badge", await changing(owner, bob, required(listed(other))));
  assertEquals(carol.member.withoutPlace(required(listed(other))).length, 3, "its own leaf too");
});

Deno.test("who joins refuses a group in which a leaf has no place", async () => {
  const { world, bob } = await createMembers(closed);
  const [stranger, guest] = [withBadges(world.newAgent()), world.newAgent()];
  const { own } = withBadges(guest, other.badge(guest.id));
  assert(own && stranger.own);
  const add = [own.keyPackage, stranger.own.keyPackage];
  const { welcome } = atOnce(createCommit(bob.member.current, {
    proposals: add.map((keyPackage) => ({ proposalType: "add", add: { keyPackage } })),
    identity: bob.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(bob.member.changes),
  }, bob.deps));
  assert(welcome);
  const expected = { name, channelId: world.channelId };
  assertThrows(() => Group.join(welcome, own, guest.deps, expected), MlsFault, "has no badge");
});

Deno.test("without an owner the issuers stay in force", async () => {
  const { world, owner, bob, carol } = await createMembers(open);
  const leaves = [owner.leave()];
  await world.commit(bob, () => ({ remove: [owner.id], leaves }));
  await sync(world);
  assertEquals(bob.member.binding.owners, []);
  const stranger = withBadges(world.newAgent());
  refuses("has no badge", await verdict(bob, carol, { added: [stranger] }));
});

Deno.test("issuers that are malformed or stand elsewhere are no channel's", async () => {
  const { owner } = await createMembers(open);
  const extensions = encodeBinding({ ...owner.member.binding, guests: [owner.id] });
  const at = extensions.findIndex(({ extensionType }) => extensionType === 0xf5c5);
  const issuers = extensions[at];
  assert(issuers && at === extensions.length - 2);
  const guests = extensions[at + 1];
  assert(guests);
  const bytes = encodeIssuers(open);
  for (const extensionData of [bytes.with(1, 2), bytes.subarray(1), new Uint8Array(0)]) {
    const bad = extensions.with(at, { ...issuers, extensionData });
    assertThrows(() => decodeBinding(bad), MlsFault, "malformed");
  }
  const behind = extensions.with(at, guests).with(at + 1, issuers);
  assertThrows(() => decodeBinding(behind), MlsFault, "no other extension");
  assertThrows(() => decodeBinding([...extensions, issuers]), MlsFault, "no other extension");
});

/** An agent's verdict on the Welcome of a commit that removes it and adds it again. */
function welcomed(
  victim: Agent,
  by: Agent,
  binding: ChannelBinding | undefined,
  known: ExpectedGroup["known"],
): Group {
  const { own } = withBadges(victim, acme.badge(victim.id));
  assert(own);
  const { welcome } = atOnce(createCommit(by.member.current, {
    proposals: [
      ...(binding === undefined ? [] : [{
        proposalType: "group_context_extensions" as const,
        groupContextExtensions: { extensions: encodeBinding(binding) },
      }]),
      { proposalType: "remove", remove: { removed: victim.member.self.leafIndex } },
      { proposalType: "add", add: { keyPackage: own.keyPackage } },
    ],
    identity: by.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(by.member.changes),
  }, by.deps));
  assert(welcome);
  const expected = {
    name,
    channelId: victim.world.channelId,
    ...(known !== undefined && { known }),
  };
  return Group.join(welcome, own, victim.deps, expected);
}

Deno.test("a member that comes back finds the issuers that it knew, or what owners made of them", async () => {
  const { world, owner, bob, carol } = await createMembers(open);
  const known = carol.member.binding;
  assertEquals(welcomed(carol, bob, undefined, known).binding.issuers, open);
  const { issuers: _, ...without } = known;
  const notSet = "not those that its owners set";
  for (const binding of [without, { ...without, issuers: closed }]) {
    assertThrows(() => welcomed(carol, bob, binding, known), MlsFault, notSet);
    assertThrows(() => welcomed(carol, bob, binding, undefined), MlsFault, notSet);
  }
  await world.commit(owner, () => ({ issuers: closed }));
  await world.commit(owner, () => ({ owners: [owner.id, bob.id] }));
  await bob.sync();
  assertEquals(welcomed(carol, bob, undefined, known).binding.issuers, closed);
  const stale = { ...bob.member.binding, issuers: open };
  assertThrows(() => welcomed(carol, bob, stale, known), MlsFault, notSet);
});
