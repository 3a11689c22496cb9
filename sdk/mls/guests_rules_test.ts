/**
 * Guests of a channel, by real groups: who makes somebody one, who takes that back, and what the
 * others refuse.
 */
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type AgentId, limits, parseAgentId, WireError } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { baseOf } from "./base_epoch.ts";
import { type ChannelBinding, decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import { createCommit } from "./commit.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { Group } from "./group.ts";
import {
  checkGuests,
  decodeGuests,
  encodeGuests,
  guestsAfter,
  type GuestsCommit,
  isGuest,
} from "./guests_rules.ts";
import { guestsExtension } from "./leaf.ts";
import { signChange, versionOf } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import { lacking, policyOf, rightsOf } from "./policy_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { decodeParent, encodeParent } from "./state_codec.ts";
import { refuses, verdict } from "./testing/forged_commit.ts";
import { withOlderLeaf } from "./testing/odd_key_package.ts";
import { type Agent, name, World } from "./testing/world.ts";

const idOf = (letter: string): AgentId => parseAgentId(letter.repeat(22));
const [a, b, c] = [idOf("a"), idOf("b"), idOf("c")];

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  /** The guest. */
  readonly gina: Agent;
}

async function createMembers(): Promise<Members> {
  const world = new World(createRandom(9));
  const owner = await world.create();
  const [bob, gina] = [world.newAgent(), world.newAgent()];
  await world.add(owner, bob);
  await addGuest(world, owner, gina);
  return { world, owner, bob, gina };
}

async function addGuest(world: World, by: Agent, guest: Agent): Promise<void> {
  const { keyPackage } = await guest.createKeyPackage();
  await world.commit(by, () => ({ add: [keyPackage], guests: [guest.id] }));
  await guest.join();
  await sync(world);
}

async function sync(world: World): Promise<void> {
  for (const agent of world.active()) await agent.sync();
  assertEquals(world.authenticators().length, 1);
}

function guestsOf({ member }: Agent): readonly AgentId[] {
  return member.binding.guests ?? [];
}

/** The binding of somebody's group with these guests. */
function withGuests({ member }: Agent, ...guests: Agent[]): ChannelBinding {
  return { ...member.binding, guests: guests.map(({ id }) => id).sort() };
}

Deno.test("golden: guests as the GroupContext names them", () => {
  assertEquals(bytesToHex(encodeGuests([a, b])), `01${"2c"}${"61".repeat(22)}${"62".repeat(22)}`);
  for (const guests of [[a], [a, b], [a, b, c]]) {
    assertEquals(decodeGuests(encodeGuests(guests)), guests);
  }
});

Deno.test("guests that are cut, unsorted, twice, none, no ids, too many or behind another format are refused", () => {
  const bytes = encodeGuests([a, b]);
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => decodeGuests(bytes.subarray(0, length)), WireError, "too early");
  }
  assertThrows(() => decodeGuests(concatBytes(bytes, Uint8Array.of(0))), WireError, "trailing");
  for (const format of [0, 2, 255]) {
    assertThrows(() => decodeGuests(bytes.with(0, format)), WireError, "format");
  }
  for (const guests of [[b, a], [a, a], [a, b, b]]) {
    assertThrows(() => decodeGuests(encodeGuests(guests)), WireError, "ascending");
  }
  assertThrows(() => decodeGuests(encodeGuests([])), WireError, "nobody");
  assertThrows(
    () => decodeGuests(concatBytes(Uint8Array.of(1, 0x17), bytes.subarray(2, 25))),
    WireError,
    "too early",
  );
  assertThrows(() => decodeGuests(bytes.with(2, 0x20)), WireError);
  assertThrows(() => decodeGuests(bytes.with(1, 0xc0)), WireError, "invalid length");
  const most = Array.from(
    { length: limits.membersPerChannel + 1 },
    (_, i) => parseAgentId(String(i).padStart(22, "0")),
  );
  assertEquals(decodeGuests(encodeGuests(most.slice(1))).length, limits.membersPerChannel);
  assertThrows(
    () => decodeGuests(encodeGuests(most)),
    WireError,
    "more than a channel has members",
  );
});

Deno.test("isGuest() finds each of any number, and nobody else", () => {
  const all = Array.from({ length: 9 }, (_, i) => parseAgentId(String(i).padStart(22, "0")));
  for (let count = 0; count <= all.length; count++) {
    const guests = all.filter((_, i) => i % 2 === 1).slice(0, count);
    for (const each of all) assertEquals(isGuest(guests, each), guests.includes(each));
  }
});

Deno.test("whatever is read as guests is written as it was", () => {
  const random = createRandom(11);
  const bytes = encodeGuests([a, b, c]);
  let read = 0;
  for (let i = 0; i < 20_000; i++) {
    const changed = bytes.slice(
      0,
      random.chance(0.2) ? random.below(bytes.length + 1) : bytes.length,
    );
    for (let n = random.below(3); n >= 0 && changed.length > 0; n--) {
      changed[random.below(changed.length)] = random.chance(0.5)
        ? random.below(256)
        : 97 + random.below(3);
    }
    try {
      assertEquals(encodeGuests(decodeGuests(changed)), changed);
      read++;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
    }
  }
  assert(read > 100, `only ${read} could be read`);
});

Deno.test("more than a channel can have are refused before any of them is read", () => {
  const garbage = new Uint8Array(limits.membersPerChannel * 22 + 1);
  const length = Uint8Array.of(0x80, 0, garbage.length >> 8, garbage.length);
  assertThrows(
    () => decodeGuests(concatBytes(Uint8Array.of(1), length, garbage)),
    WireError,
    "more than a channel",
  );
});

Deno.test("a mark comes with its agent, reaches every member and newcomer, and survives commits and crashes", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const late = world.newAgent();
  await world.add(bob, late);
  await world.commit(gina, () => ({}));
  await sync(world);
  for (const agent of [owner, bob, gina, late]) {
    await agent.acknowledge();
    await agent.crash();
    assertEquals(guestsOf(agent), [gina.id]);
    assertEquals(
      agent.member.members().filter(({ guest }) => guest).map(({ agentId }) => agentId),
      [gina.id],
    );
  }
  assertEquals(gina.member.self.mayAdd, false);
  assertEquals(gina.member.self.mayPost, true);
  assertEquals(owner.member.parent?.base.guests, [gina.id]);
});

Deno.test("a guest that comes back is a guest, whoever lets it in", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const other = world.newAgent();
  await addGuest(world, bob, other);
  for (const by of [owner, bob, other]) {
    const own = await gina.createKeyPackage();
    const rejoins = [gina.rejoin(own)];
    const known = gina.member.binding;
    await world.commit(by, () => ({ remove: [gina.id], add: [own.keyPackage], rejoins }));
    await gina.sync();
    // The same Welcome, to an agent that has not asked to come back.
    if (by === other) await assertRejects(() => gina.join(), MlsFault, "made by a guest");
    await gina.join(known);
    await sync(world);
    assertEquals(guestsOf(gina), [gina.id, other.id].sort());
  }
});

Deno.test("an owner makes a guest a member like the others, or an owner, and the extension goes with the last one", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const other = world.newAgent();
  await addGuest(world, bob, other);
  await world.commit(owner, () => ({ owners: [owner.id, other.id].sort() }));
  await sync(world);
  assertEquals(guestsOf(other), [gina.id]);
  assertEquals(other.member.self.owner, true);
  await world.commit(owner, () => ({ released: [gina.id] }));
  await sync(world);
  assertEquals(gina.member.binding.guests, undefined);
  assertEquals(gina.member.current.context.extensions.length, 2);
  await world.add(gina, world.newAgent());
  await sync(world);
});

Deno.test("a guest that goes is no guest when it comes again", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const leaves = [gina.leave()];
  await world.commit(bob, () => ({ remove: [gina.id], leaves }));
  await sync(world);
  assertEquals(bob.member.binding.guests, undefined);
  await world.add(bob, gina);
  await sync(world);
  assertEquals(guestsOf(gina), []);
  const again = [gina.leave()];
  const { keyPackage } = await gina.createKeyPackage();
  await world.commit(
    bob,
    () => ({ remove: [gina.id], add: [keyPackage], leaves: again, guests: [gina.id] }),
  );
  await gina.sync();
  await gina.join();
  await sync(world);
  assertEquals(guestsOf(owner), [gina.id], "to leave and come in at once is to come in");
});

Deno.test("a guest lets nobody in but members that sign to come back, and removes who leaves", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const stranger = world.newAgent();
  refuses("A guest lets nobody in", await verdict(gina, bob, { added: [stranger] }));
  refuses(
    "A guest lets nobody in",
    await verdict(gina, bob, { added: [stranger], binding: withGuests(gina, gina, stranger) }),
  );
  const leaves = [bob.leave()];
  refuses(
    "A guest lets nobody in",
    await verdict(gina, owner, { removed: [bob], added: [bob], leaves }),
  );
  assertEquals(await verdict(gina, owner, { removed: [bob], leaves }), undefined);
  const rejoins = [bob.rejoin(await bob.createKeyPackage())];
  assertEquals(await verdict(gina, owner, { removed: [bob], added: [bob], rejoins }), undefined);
  refuses(
    "lets nobody in",
    await verdict(gina, owner, { removed: [bob], added: [bob, stranger], rejoins }),
  );
});

Deno.test("nobody that owns nothing takes a mark away, in whatever commit, and the guest least of all", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const other = world.newAgent();
  await addGuest(world, bob, other);
  for (const by of [gina, bob]) {
    refuses(
      "Only owners make a guest",
      await verdict(by, owner, { binding: withGuests(by, other) }),
    );
    refuses("Only owners make a guest", await verdict(by, owner, { binding: withGuests(by) }));
    const own = await other.createKeyPackage();
    const back = { removed: [other], added: [other], rejoins: [other.rejoin(own)] };
    assertEquals(await verdict(by, owner, back), undefined);
    refuses(
      "Only owners make a guest",
      await verdict(by, owner, { ...back, binding: withGuests(by, gina) }),
    );
    // The member that comes back is removed by the commit, and comes to the same verdict.
    refuses(
      "Only owners make a guest",
      await verdict(by, other, { ...back, binding: withGuests(by, gina) }),
    );
  }
  assertEquals(await verdict(owner, bob, { binding: withGuests(owner, other) }), undefined);
  assertEquals(await verdict(owner, bob, { binding: withGuests(owner) }), undefined);
});

Deno.test("nobody makes a guest of a member that is there, or of an agent that is none", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const stranger = world.newAgent();
  for (const by of [owner, bob, gina]) {
    const reader = by === owner ? bob : owner;
    for (const marked of [bob, stranger]) {
      refuses(
        "makes guests of others",
        await verdict(by, reader, { binding: withGuests(by, gina, marked) }),
      );
    }
  }
  const rejoins = [bob.rejoin(await bob.createKeyPackage())];
  const back = { removed: [bob], added: [bob], rejoins };
  for (const by of [owner, gina]) {
    const reader = by === owner ? gina : owner;
    refuses(
      "makes guests of others",
      await verdict(by, reader, { ...back, binding: withGuests(by, gina, bob) }),
    );
  }
});

Deno.test("a guest that is removed is none afterwards, and a commit that keeps or drops other marks is refused", async () => {
  const { owner, bob, gina } = await createMembers();
  const gone = { removed: [gina], leaves: [gina.leave()] };
  for (const by of [owner, bob]) {
    const reader = by === owner ? bob : owner;
    refuses("makes guests of others", await verdict(by, reader, gone));
    assertEquals(await verdict(by, reader, { ...gone, binding: withGuests(by) }), undefined);
  }
});

Deno.test("no guest owns the channel", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const change = await signChange(
    {
      channelId: world.channelId,
      before: versionIn(owner.member.binding),
      owners: [owner.id, gina.id].sort(),
    },
    owner.identity,
    portableSignatures,
  );
  const { version, lastChange, owners } = versionOf(change);
  const marked = { ...owner.member.binding, owners, chain: { version, lastChange } };
  const { guests: _, ...plain } = marked;
  refuses(
    "A guest owns the channel",
    await verdict(owner, bob, { binding: marked, changes: [change] }),
  );
  assertEquals(await verdict(owner, bob, { binding: plain, changes: [change] }), undefined);
});

Deno.test("guests in another form, or an empty list of them, are refused in a commit", async () => {
  const { owner, bob } = await createMembers();
  const [name, owners, guests] = encodeBinding(owner.member.binding);
  assert(name && owners && guests);
  const data = guests.extensionData;
  for (
    const extensionData of [data.with(0, 2), data.subarray(1), encodeGuests([]), new Uint8Array(0)]
  ) {
    const extensions = [name, owners, { ...guests, extensionData }];
    refuses("malformed", await verdict(owner, bob, { extensions }));
  }
  for (
    const extensions of [[name, guests, owners], [name, owners, guests, guests], [
      guests,
      name,
      owners,
    ]]
  ) {
    assertThrows(() => decodeBinding(extensions), MlsFault);
  }
  const policy = { admission: "owners", posting: "members" } as const;
  const whole = encodeBinding({ ...owner.member.binding, policy });
  assertEquals(decodeBinding(whole), { ...owner.member.binding, policy });
  assertEquals(whole.map(({ extensionType }) => extensionType), [0xf5c0, 0xf5c2, 0xf5c4, 0xf5d1]);
});

/** The verdict of an agent that was never there on a Welcome that adds it. */
async function welcomed(by: Agent, binding: ChannelBinding): Promise<Group> {
  const newcomer = by.world.newAgent();
  const own = await newcomer.createKeyPackage();
  const { welcome } = atOnce(createCommit(by.member.current, {
    proposals: [
      {
        proposalType: "group_context_extensions",
        groupContextExtensions: { extensions: encodeBinding(binding) },
      },
      { proposalType: "add", add: { keyPackage: own.keyPackage } },
    ],
    identity: by.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(by.member.changes),
  }, by.deps));
  assert(welcome);
  return Group.join(welcome, own, newcomer.deps, { name, channelId: by.world.channelId });
}

Deno.test("a newcomer believes no Welcome of a guest, nor a group with guests that are no members or its owners", async () => {
  const { world, owner, bob, gina } = await createMembers();
  await assertRejects(() => welcomed(gina, gina.member.binding), MlsFault, "made by a guest");
  assertEquals((await welcomed(bob, bob.member.binding)).binding.guests, [gina.id]);
  await assertRejects(
    () => welcomed(bob, withGuests(bob, gina, world.newAgent())),
    MlsFault,
    "not a member",
  );
  await assertRejects(() => welcomed(bob, withGuests(bob, owner)), MlsFault, "A guest owns");
});

Deno.test("a leaf that does not list the extension stands in the way, and is named", async () => {
  const world = new World(createRandom(10));
  const owner = await world.create();
  const [older, gina] = [world.newAgent(), world.newAgent()];
  const own = withOlderLeaf(await older.createKeyPackage(), older.identity, [
    0xf5c0,
    0xf5c2,
    0xf5c3,
    0xf5c4,
  ]);
  older.own = own;
  await world.commit(owner, () => ({ add: [own.keyPackage] }));
  await older.join();
  assertEquals(lacking(guestsExtension, owner.member.current), [older.id]);
  const { keyPackage } = await gina.createKeyPackage();
  const marked = { add: [keyPackage], guests: [gina.id] };
  await assertRejects(() => owner.joined.prepare(marked), MlsFault, "not every member supports");
  await world.commit(older, () => ({}));
  await sync(world);
  await addGuest(world, owner, gina);
  assertEquals(guestsOf(older), [gina.id]);
});

Deno.test("a channel without owners keeps its marks, though its policy is open", async () => {
  const { world, owner, bob, gina } = await createMembers();
  const leaves = [owner.leave()];
  await world.commit(gina, () => ({ remove: [owner.id], leaves }));
  await sync(world);
  assertEquals([policyOf(bob.member.binding).admission, bob.member.self.mayAdd], ["members", true]);
  assertEquals(gina.member.self, { ...gina.member.self, guest: true, mayAdd: false });
  refuses("Only owners make a guest", await verdict(bob, gina, { binding: withGuests(bob) }));
});

Deno.test("what is kept of the epoch before has its guests", async () => {
  const { world, owner, gina } = await createMembers();
  await world.commit(owner, () => ({}));
  const { parent } = owner.member;
  assert(parent);
  assertEquals(parent.base.guests, [gina.id]);
  assertEquals(decodeParent(encodeParent(parent)), parent);
  assertEquals(baseOf(owner.member.current).guests, [gina.id]);
});

/** Every choice of guests after a commit that adds, removes and brings back some of four agents. */
Deno.test("our own commits always make guests that every member accepts", () => {
  const agents = [a, b, c, idOf("d")];
  const some = (bits: number): AgentId[] => agents.filter((_, i) => (bits >> i & 1) === 1);
  for (let bits = 0; bits < 1 << 16; bits++) {
    const [before, added, removed, back] = [
      some(bits),
      some(bits >> 4),
      some(bits >> 8),
      some(bits >> 12),
    ];
    const commit: GuestsCommit = {
      guestsBefore: before,
      added,
      removed,
      rejoins: back.map((agentId) => ({ agentId, signature: new Uint8Array(64) })),
      ownersAfter: [b],
    };
    const guests = guestsAfter(commit, { marked: some(bits >> 2) });
    const isOwnerMade = before.includes(b);
    checkGuests(commit, guests, { owner: isOwnerMade });
    const released = guestsAfter(commit, { marked: [a], released: agents });
    checkGuests(commit, released, { owner: true });
    assertEquals(released, added.includes(a) && !back.includes(a) ? [a] : []);
    assert(guests.every((guest) => !rightsOf(guest, { owners: [b], guests }).mayAdd));
  }
});
