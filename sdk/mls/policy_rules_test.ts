/**
 * A channel's policy, by real groups: what each member may do under it, and what the others refuse.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type ChannelPolicy, openPolicy, type OwnersChange } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { type ChannelBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import { createCommit } from "./commit.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { type ExpectedGroup, Group } from "./group.ts";
import { policyExtension } from "./leaf.ts";
import { signChange, versionOf } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import { lacking, policyOf, rightsOf, silencedIn } from "./policy_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { decodeParent, encodeParent } from "./state_codec.ts";
import { type Agent, name, World } from "./testing/world.ts";
import { refuses, verdict } from "./testing/forged_commit.ts";
import { withOlderLeaf } from "./testing/odd_key_package.ts";

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
}

const closed: ChannelPolicy = { admission: "owners", posting: "owners" };

async function createMembers(policy?: ChannelPolicy): Promise<Members> {
  const world = new World(createRandom(9));
  const owner = await world.create();
  const [bob, carol] = [world.newAgent(), world.newAgent()];
  await world.add(owner, bob, carol);
  if (policy !== undefined) await world.commit(owner, () => ({ policy }));
  await sync(world);
  return { world, owner, bob, carol };
}

async function sync(world: World): Promise<void> {
  for (const agent of world.active()) await agent.sync();
  assertEquals(world.authenticators().length, 1);
}

function sign(by: Agent, policy: ChannelPolicy, owners = by.member.binding.owners): OwnersChange {
  const before = versionIn(by.member.binding);
  return signChange(
    { channelId: by.world.channelId, before, owners, policy },
    by.identity,
    portableSignatures,
  );
}

function after(by: Agent, change: OwnersChange, policy?: ChannelPolicy): ChannelBinding {
  const { version, lastChange, owners } = versionOf(change);
  const { policy: _, ...before } = by.member.binding;
  return {
    ...before,
    owners,
    chain: { version, lastChange },
    ...(policy !== undefined && { policy }),
  };
}

Deno.test("an owner's policy reaches every member and newcomer, and survives crashes", async () => {
  const { world, owner, bob, carol } = await createMembers({
    admission: "owners",
    posting: "members",
  });
  await world.commit(owner, () => ({ policy: closed }));
  await sync(world);
  for (const agent of [owner, bob, carol]) {
    await agent.acknowledge();
    await agent.crash();
    assertEquals(agent.member.binding.policy, closed);
    assertEquals(agent.member.changes.map(({ kind }) => kind), ["signed", "policy", "policy"]);
    assertEquals(agent.member.parent?.base.policy, { admission: "owners", posting: "members" });
  }
  const late = world.newAgent();
  await world.add(owner, late);
  assertEquals(late.member.binding.policy, closed);
  assertEquals([late.member.self.mayAdd, late.member.self.mayPost], [false, false]);
  await world.commit(owner, () => ({ policy: openPolicy }));
  await sync(world);
  assertEquals(late.member.binding.policy, openPolicy, "once there, the extension stays");
  assertEquals(late.member.self.mayPost, true);
});

Deno.test("a policy stays through every commit that does not mean to change it", async () => {
  const { world, owner, bob, carol } = await createMembers(closed);
  const leaves = [carol.leave()];
  await world.commit(bob, () => ({ remove: [carol.id], leaves }));
  await world.commit(owner, () => ({ owners: [owner.id, bob.id] }));
  await sync(world);
  const own = owner.leave();
  await world.commit(bob, () => ({ remove: [owner.id], leaves: [own] }));
  assertEquals(bob.member.binding.policy, closed);
  assertEquals(bob.member.binding.owners, [bob.id]);
});

Deno.test("only an owner changes the policy, with its own signature, alone, and to another one", async () => {
  const { owner, bob, carol } = await createMembers({ admission: "owners", posting: "members" });
  const change = await sign(owner, closed);
  const binding = after(owner, change, closed);
  assertEquals(await verdict(owner, carol, { binding, changes: [change] }), undefined);
  refuses(
    "Only owners change the owners",
    await verdict(bob, carol, { binding, changes: [change] }),
  );
  const forged = await sign(bob, closed);
  refuses(
    "Only owners",
    await verdict(bob, carol, { binding: after(bob, forged, closed), changes: [forged] }),
  );
  refuses(
    "signed by another owner",
    await verdict(owner, carol, { binding: after(owner, forged, closed), changes: [forged] }),
  );
  refuses(
    "not the result",
    await verdict(owner, carol, { binding: after(owner, change, openPolicy), changes: [change] }),
  );
  refuses(
    "not the result",
    await verdict(owner, carol, { binding: after(owner, change), changes: [change] }),
  );
  refuses(
    "not the result",
    await verdict(owner, carol, { binding: { ...owner.member.binding, policy: closed } }),
  );
  const more = await sign(owner, closed, [owner.id, bob.id].sort());
  refuses(
    "makes owners",
    await verdict(owner, carol, { binding: after(owner, more, closed), changes: [more] }),
  );
  const same = await sign(owner, owner.member.binding.policy ?? openPolicy);
  refuses(
    "changes nothing",
    await verdict(owner, carol, {
      binding: after(owner, same, owner.member.binding.policy),
      changes: [same],
    }),
  );
});

Deno.test("a commit that means something else cannot drop the policy, loosen it or bring one in", async () => {
  const { world, owner, bob, carol } = await createMembers(closed);
  const { policy: _, ...without } = owner.member.binding;
  const looser = { ...without, policy: openPolicy };
  for (const binding of [without, looser]) {
    for (const by of [owner, bob]) refuses("not the result", await verdict(by, carol, { binding }));
  }
  const change = await signChange(
    {
      channelId: world.channelId,
      before: versionIn(owner.member.binding),
      owners: [owner.id, bob.id].sort(),
    },
    owner.identity,
    portableSignatures,
  );
  refuses(
    "not the result",
    await verdict(owner, carol, { binding: after(owner, change), changes: [change] }),
  );
  assertEquals(
    await verdict(owner, carol, { binding: after(owner, change, closed), changes: [change] }),
    undefined,
  );
  const open = await createMembers();
  const brought = { ...open.owner.member.binding, policy: closed };
  for (const by of [open.owner, open.bob]) {
    refuses("not the result", await verdict(by, open.carol, { binding: brought }));
  }
});

Deno.test("under admission by owners nobody else lets anybody in, but members that sign to come back", async () => {
  const { world, owner, bob, carol } = await createMembers({
    admission: "owners",
    posting: "members",
  });
  const stranger = world.newAgent();
  refuses("Only owners let agents", await verdict(bob, carol, { added: [stranger] }));
  assertEquals(await verdict(owner, carol, { added: [stranger] }), undefined);
  const fresh = await carol.createKeyPackage();
  const rejoins = [carol.rejoin(fresh)];
  assertEquals(await verdict(bob, owner, { removed: [carol], added: [carol], rejoins }), undefined);
  refuses(
    "Only owners let",
    await verdict(bob, owner, { removed: [carol], added: [carol, stranger], rejoins }),
  );
  const leaves = [carol.leave()];
  refuses(
    "Only owners let",
    await verdict(bob, owner, { removed: [carol], added: [carol], leaves }),
  );
});

Deno.test("in a channel without owners the policy is open", async () => {
  const { world, owner, bob, carol } = await createMembers(closed);
  const leaves = [owner.leave()];
  await world.commit(bob, () => ({ remove: [owner.id], leaves }));
  await sync(world);
  assertEquals(bob.member.binding.owners, []);
  assertEquals(bob.member.binding.policy, closed);
  assertEquals(policyOf(bob.member.binding), openPolicy);
  await world.add(bob, world.newAgent());
  await sync(world);
  assertEquals(carol.member.members().every(({ mayAdd, mayPost }) => mayAdd && mayPost), true);
});

Deno.test("a message tells whether its sender might speak in its own epoch", async () => {
  const { world, owner, bob, carol } = await createMembers();
  const before = await bob.joined.seal(utf8ToBytes("early"), new Uint8Array(0));
  await world.commit(owner, () => ({ policy: closed }));
  await bob.sync();
  await carol.sync();
  const later = await bob.joined.seal(utf8ToBytes("late"), new Uint8Array(0));
  const byOwner = await owner.joined.seal(utf8ToBytes("owner"), new Uint8Array(0));
  const rights: boolean[] = [];
  for (const { message } of [before, later, byOwner]) {
    const { outcome } = await carol.joined.receive(message, () => undefined);
    assert(outcome.kind === "message");
    rights.push(outcome.sender.mayPost);
  }
  assertEquals(rights, [true, false, true]);
  assertEquals(
    silencedIn(carol.member.current, carol.member.parent?.base).sort(),
    [bob.id, carol.id].sort(),
  );
  await world.commit(owner, () => ({ owners: [owner.id, bob.id] }));
  await carol.sync();
  assertEquals(silencedIn(carol.member.current, carol.member.parent?.base), []);
  await world.commit(owner, () => ({ owners: [owner.id] }));
  await carol.sync();
  assertEquals(silencedIn(carol.member.current, carol.member.parent?.base), [bob.id]);
});

Deno.test("a leaf that does not list the extension stands in the way, and is named", async () => {
  const { world, owner, bob } = await createMembers();
  const older = world.newAgent();
  const own = withOlderLeaf(await older.createKeyPackage(), older.identity, [
    0xf5c0,
    0xf5c2,
    0xf5c3,
  ]);
  older.own = own;
  await world.commit(owner, () => ({ add: [own.keyPackage] }));
  await older.join();
  await sync(world);
  assertEquals(lacking(policyExtension, owner.member.current), [older.id]);
  assertEquals(lacking(policyExtension, owner.member.current, [older.id]), []);
  assertEquals(
    lacking(policyExtension, older.member.current),
    [],
    "its own leaf is made anew with the commit",
  );
  await assertRejects(
    () => owner.joined.prepare({ policy: closed }),
    MlsFault,
    "not every member supports",
  );
  await world.commit(older, () => ({}));
  await sync(world);
  await world.commit(owner, () => ({ policy: closed }));
  await sync(world);
  assertEquals(bob.member.binding.policy, closed);
});

/** An agent's verdict on the Welcome of a commit that removes it and adds it again. */
async function welcomed(
  victim: Agent,
  by: Agent,
  binding: ChannelBinding | undefined,
  known: ExpectedGroup["known"],
): Promise<Group> {
  const { keyPackage } = await victim.createKeyPackage();
  const { welcome } = atOnce(createCommit(by.member.current, {
    proposals: [
      ...(binding === undefined ? [] : [{
        proposalType: "group_context_extensions" as const,
        groupContextExtensions: { extensions: encodeBinding(binding) },
      }]),
      { proposalType: "remove", remove: { removed: victim.member.self.leafIndex } },
      { proposalType: "add", add: { keyPackage } },
    ],
    identity: by.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(by.member.changes),
  }, by.deps));
  assert(welcome && victim.own);
  const expected = {
    name,
    channelId: victim.world.channelId,
    ...(known !== undefined && { known }),
  };
  return Group.join(welcome, victim.own, victim.deps, expected);
}

Deno.test("a member that comes back finds the policy that it knew, or what owners made of it", async () => {
  const { world, owner, bob, carol } = await createMembers({
    admission: "owners",
    posting: "members",
  });
  const known = carol.member.binding;
  assertEquals((await welcomed(carol, bob, undefined, known)).binding.policy, known.policy);
  const { policy: _, ...without } = known;
  for (const binding of [without, { ...without, policy: openPolicy }]) {
    await assertRejects(
      () => welcomed(carol, bob, binding, known),
      MlsFault,
      "not the one that its owners set",
    );
  }
  await world.commit(owner, () => ({ policy: closed }));
  await world.commit(owner, () => ({ owners: [owner.id, bob.id] }));
  await bob.sync();
  assertEquals((await welcomed(carol, bob, undefined, known)).binding.policy, closed);
  const stale = { ...bob.member.binding, policy: known.policy ?? openPolicy };
  await assertRejects(
    () => welcomed(carol, bob, stale, known),
    MlsFault,
    "not the one that its owners set",
  );
});

Deno.test("a newcomer believes no policy that the chain contradicts, and no inviter that may not add", async () => {
  const { owner, bob, carol } = await createMembers({ admission: "owners", posting: "members" });
  await assertRejects(
    () => welcomed(carol, bob, undefined, undefined),
    MlsFault,
    "only owners let agents",
  );
  assertEquals(
    (await welcomed(carol, owner, undefined, undefined)).binding.policy?.admission,
    "owners",
  );
  const { policy: _, ...without } = bob.member.binding;
  await assertRejects(
    () => welcomed(carol, bob, without, undefined),
    MlsFault,
    "not the one that its owners set",
  );
  const open = await createMembers();
  const brought = { ...open.owner.member.binding, policy: closed };
  await assertRejects(
    () => welcomed(open.carol, open.owner, brought, undefined),
    MlsFault,
    "not the one that its owners",
  );
});

Deno.test("rights follow from owners and policy", () => {
  const [a, b] = [
    new World(createRandom(1)).newAgent().id,
    new World(createRandom(2)).newAgent().id,
  ];
  const none = { owner: false, guest: false, mayAdd: false, mayPost: false };
  assertEquals(rightsOf(a, { owners: [a], policy: closed }), {
    ...none,
    owner: true,
    mayAdd: true,
    mayPost: true,
  });
  assertEquals(rightsOf(b, { owners: [a], policy: closed }), none);
  assertEquals(rightsOf(b, { owners: [a] }), { ...none, mayAdd: true, mayPost: true });
  assertEquals(rightsOf(b, { owners: [], policy: closed }), {
    ...none,
    mayAdd: true,
    mayPost: true,
  });
  assertEquals(rightsOf(b, { owners: [], guests: [b] }), { ...none, guest: true, mayPost: true });
});

Deno.test("what is kept of the epoch before has its policy, and records from before have none", async () => {
  const { owner } = await createMembers();
  const { parent } = owner.member;
  assert(parent);
  assertEquals(decodeParent(encodeParent(parent)), parent);
  const withPolicy = { ...parent, base: { ...parent.base, policy: closed } };
  assertEquals(decodeParent(encodeParent(withPolicy)), withPolicy);
  assertThrows(() => decodeParent(Uint8Array.of(0x80)), MlsFault);
});
