/**
 * Which makers of a Welcome a returning member believes by the admissions in it, with real groups.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Admission, agentIdOf, limits } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { admissionsOf, entryOfReturn, isAdmitted, type KnownMembers } from "./admissions.ts";
import { MlsFault } from "./codec.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { Group } from "./group.ts";
import { entryId } from "./stored_group.ts";
import { type Agent, name, World } from "./testing/world.ts";

/** An agent's present knowledge, to which it may be put back later. */
function knownTo({ id, member }: Agent): KnownMembers {
  const members = member.members().map(({ agentId }) => agentId);
  return { self: id, entry: member.entry, members, guests: [], epoch: member.epoch };
}

function isBelieved(
  agent: Agent,
  known: KnownMembers,
  admissions = agent.member.entry.admissions,
): boolean {
  return isAdmitted(agent.id, agent.world.channelId, admissions, known, portableSignatures);
}

interface Chain {
  readonly world: World;
  readonly alice: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
  /** Of alice, before the others came. */
  readonly alone: KnownMembers;
}

/** Alice lets bob in, who lets carol in. */
async function createChain(): Promise<Chain> {
  const world = new World(createRandom(11));
  const alice = await world.create();
  const alone = knownTo(alice);
  const [bob, carol] = [world.newAgent(), world.newAgent()];
  await world.add(alice, bob);
  await world.add(bob, carol);
  await alice.sync();
  return { world, alice, bob, carol, alone };
}

/** The answer to an agent that asks to come back, and what it makes of it. */
async function letIn(agent: Agent, by: Agent, known = knownTo(agent)): Promise<Group> {
  const { world } = agent;
  const own = await agent.createKeyPackage();
  const change = { remove: [agent.id], add: [own.keyPackage], rejoins: [agent.rejoin(own)] };
  await world.commit(by, () => change);
  const welcome = world.log.at(-1)?.welcome;
  assert(welcome);
  const expected = {
    name,
    channelId: world.channelId,
    known: agent.member.binding,
    members: known,
  };
  const group = Group.join(welcome.bytes, own, agent.deps, expected);
  await agent.enter(group, world.log.length);
  return group;
}

Deno.test("an agent that was put back believes those that it, and they in turn, have let in since", async () => {
  const { alice, bob, carol, alone } = await createChain();
  assertEquals(carol.member.entry.admissions.map(({ agentId }) => agentId), [bob.id, carol.id]);
  assert(isBelieved(bob, alone) && isBelieved(carol, alone));
  assert(
    !isBelieved(bob, alone, []) &&
      !isBelieved(carol, alone, carol.member.entry.admissions.slice(1)),
  );
  await bob.sync();
  assertEquals((await letIn(alice, carol, alone)).epoch, 3);
});

Deno.test("a Welcome of an agent that was let in by strangers, or in an earlier membership, brings nobody back", async () => {
  const { alice, bob, carol, alone } = await createChain();
  await bob.sync();
  const elsewhere = {
    ...alone,
    members: [alice.id],
    entry: { ...alone.entry, membership: new Uint8Array(16) },
  };
  for (const by of [bob, carol]) {
    await by.sync();
    const refused = await letIn(alice, by, elsewhere).catch((error) => error);
    assert(refused instanceof MlsFault && refused.message.includes("has not met"), String(refused));
  }
});

Deno.test("admissions from before what an agent knows bring nobody back that is gone since", async () => {
  const { world, alice, bob, carol, alone } = await createChain();
  const { admissions } = carol.member.entry;
  await world.commit(alice, () => ({ remove: [carol.id] }));
  assert(!isBelieved(carol, knownTo(alice), admissions));
  assert(isBelieved(carol, { ...alone, epoch: 1, members: [alice.id, bob.id] }, admissions));
  assert(!isBelieved(carol, { ...alone, epoch: 2, members: [alice.id, bob.id] }, admissions));
});

Deno.test("admissions that were altered, or that an agent signed in an earlier membership, count for nothing", async () => {
  const { world, bob, carol, alone } = await createChain();
  const [admission] = bob.member.entry.admissions;
  assert(admission);
  const stranger = world.newAgent();
  const known = { ...alone, self: carol.id };
  const altered: Partial<Admission>[] = [
    {},
    { epoch: admission.epoch + 1 },
    { agentId: stranger.id },
    { membership: new Uint8Array(16).fill(1) },
    { signature: new Uint8Array(64) },
    { signatureKey: stranger.identity.signatureKey },
    { identity: stranger.identity.identity },
  ];
  const verdicts = altered.map((change) => {
    const changed = { ...admission, ...change };
    return isAdmitted(changed.agentId, world.channelId, [changed], known, portableSignatures);
  });
  assertEquals(verdicts, [true, ...altered.slice(1).map(() => false)]);
  assert(
    !isAdmitted(
      bob.id,
      new World(createRandom(12)).channelId,
      [admission],
      alone,
      portableSignatures,
    ),
  );
  const again = { ...alone, entry: { ...alone.entry, membership: new Uint8Array(16).fill(1) } };
  assert(isBelieved(bob, alone) && !isBelieved(bob, again));
});

Deno.test("a stopped member believes nobody that the maker of the bad commit let in", async () => {
  const { alice, bob, carol, alone } = await createChain();
  const known = { ...alone, epoch: 1, members: [alice.id, bob.id] };
  assert(isBelieved(carol, known) && !isBelieved(carol, { ...known, blamed: bob.id }));
});

Deno.test("a member that comes back believes a guest that it knows, and nobody that the guest let in", async () => {
  const { alice, bob, carol, alone } = await createChain();
  const known = { ...alone, epoch: 1, members: [alice.id, bob.id], guests: [bob.id] };
  assert(isBelieved(bob, known) && !isBelieved(carol, known));
});

Deno.test("admissions do not become more with every return, and lead to the agent still", async () => {
  const { world, alice, bob, carol, alone } = await createChain();
  const dave = world.newAgent();
  await world.add(carol, dave);
  const { membership } = bob.member.entry;
  for (let round = 0; round < 3; round++) {
    for (
      const [agent, by] of [[bob, carol], [dave, bob], [carol, dave], [alice, bob], [
        bob,
        alice,
      ]] as const
    ) {
      for (const other of world.active()) await other.sync();
      await letIn(agent, by);
    }
  }
  assertEquals(bob.member.entry.membership, membership);
  for (const agent of [bob, carol, dave]) {
    assert(isBelieved(agent, alone), "from its first admission on");
    const { admissions } = agent.member.entry;
    assert(admissions.length <= 5, String(admissions.length));
    assertEquals(admissions.at(-1)?.agentId, agent.id);
    // A member that knew nobody but the one that let it in last.
    const [last] = admissions.slice(-1);
    assert(last);
    const self = agentIdOf(last.signatureKey, last.identity);
    const entry = { membership: last.membership, admissions: [] };
    assert(isBelieved(agent, { self, entry, members: [self], guests: [], epoch: last.epoch }));
  }
});

Deno.test("an answer without admissions leaves those of before, and the latest sixteen are kept", async () => {
  const { carol } = await createChain();
  const known = knownTo(carol);
  const { identity, signatureKey } = carol.identity;
  const shown = { maker: { identity, signatureKey }, epoch: 100, admissions: undefined };
  assertEquals(entryOfReturn(known, shown), carol.member.entry);
  const [first] = carol.member.entry.admissions;
  assert(first);
  const maker = Array.from({ length: limits.admissions }, (_, epoch) => ({ ...first, epoch }));
  const added = [{ agentId: carol.id, signature: first.signature }];
  const admissions = { maker, membership: first.membership, added };
  const kept = admissionsOf(carol.id, { ...shown, admissions });
  assertEquals(kept.map(({ epoch }) => epoch), [...maker.keys()].slice(1).concat(99));
  assertEquals(admissionsOf(first.agentId, { ...shown, admissions }), []);
  assertEquals(
    admissionsOf(carol.id, { ...shown, epoch: 0, admissions }),
    [],
    "nobody is let in by a group's first epoch",
  );
});

Deno.test("admissions outlive a restart, and without their record nothing is loaded", async () => {
  const { carol } = await createChain();
  const { entry } = carol.member;
  await carol.crash();
  assertEquals(carol.member.entry, entry);
  await carol.forget(entryId);
  await assertRejects(() => carol.crash(), MlsFault, "how this member came in is missing");
});
