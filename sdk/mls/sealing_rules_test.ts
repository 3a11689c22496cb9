/**
 * Channels that are sealed, by real groups: what every member refuses, whatever a modified program
 * sends, and what a joiner and a follower of a founding take.
 */
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { foundingEpoch, WireError } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { type ChannelBinding, decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import { createCommit } from "./commit.ts";
import { Group } from "./group.ts";
import { sealKeyOf } from "./key_package.ts";
import {
  checkSealing,
  decodeSealing,
  encodeSealing,
  foundedSealing,
  mayFollow,
  newSealing,
  type Sealing,
} from "./sealing_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { decodeParent, encodeParent } from "./state_codec.ts";
import { refuses, verdict } from "./testing/forged_commit.ts";
import { signedAnew, withOlderLeaf } from "./testing/odd_key_package.ts";
import { type Agent, name, World } from "./testing/world.ts";
import { decodeWelcomeMessage, readyToJoin } from "./welcome.ts";
import { encodeMlsMessage } from "./ts_mls.ts";

const [required, preferred] = [newSealing("require"), newSealing("prefer")];
const notTheResult = "not the result of its changes";

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
}

async function createMembers(sealing: Sealing | undefined): Promise<Members> {
  const world = new World(createRandom(54));
  const owner = await world.create(sealing);
  const [bob, carol] = [world.newAgent(), world.newAgent()];
  await world.add(owner, bob, carol);
  return { world, owner, bob, carol };
}

async function sync(world: World): Promise<void> {
  for (const agent of world.active()) await agent.sync();
  assertEquals(world.authenticators().length, 1);
}

const sealingOf = ({ member }: Agent): Sealing | undefined => member.binding.sealing;

/** As other makers' programs are: no key, or a leaf that does not know what it is for. */
const keyless: Readonly<Record<string, (agent: Agent) => Promise<void>>> = {
  "no key": (agent) => Promise.resolve(void agent.createKeyPackage()),
  "an older leaf": async (agent) => {
    const { extensions } = (await agent.createSealedKeyPackage()).keyPackage.leafNode.capabilities;
    assert(agent.own !== undefined);
    const older = extensions.filter((type) => type !== 0xf5cb);
    agent.own = withOlderLeaf(agent.own, agent.identity, older);
  },
};

Deno.test("golden: the sealing of a channel", () => {
  const hex = (sealing: Sealing): string => bytesToHex(encodeSealing(sealing));
  assertEquals(hex(required), "01010000000000000000");
  assertEquals(hex(preferred), "01000000000000000000");
  assertEquals(hex({ required: false, since: foundingEpoch(2) + 1 }), "01000000000200000001");
  for (const sealing of [required, preferred]) {
    assertEquals(decodeSealing(encodeSealing(sealing)), sealing);
  }
});

Deno.test("a sealing of another format, with another number, or of another length is refused", () => {
  const bytes = encodeSealing(required);
  const changed = (at: number, value: number): Uint8Array =>
    bytes.map((byte, i) => i === at ? value : byte);
  const bad = [
    ...[changed(0, 0), changed(0, 2), changed(1, 2), changed(2, 255)],
    ...[bytes.slice(0, 9), concatBytes(bytes, Uint8Array.of(0)), new Uint8Array(0)],
  ];
  for (const each of bad) assertThrows(() => decodeSealing(each), WireError);
});

Deno.test("the extension stands in its place, once", async () => {
  const { owner } = await createMembers(required);
  const { extensions } = owner.member.current.context;
  const [nameOfChannel, owners, sealing] = extensions;
  assert(nameOfChannel !== undefined && owners !== undefined && sealing !== undefined);
  assertEquals([extensions.length, sealing.extensionType], [3, 0xf5cb]);
  for (
    const order of [[nameOfChannel, sealing, owners], [sealing, nameOfChannel, owners], [
      ...extensions,
      sealing,
    ]]
  ) assertThrows(() => decodeBinding(order), MlsFault);
  const malformed = { ...sealing, extensionData: sealing.extensionData.slice(1) };
  assertThrows(() => decodeBinding([nameOfChannel, owners, malformed]), MlsFault, "malformed");
});

Deno.test("a channel is sealed from its beginning, or that of a generation, and never from later", () => {
  const beginning = foundingEpoch(3) + 1;
  for (
    const [since, epoch] of [[0, 0], [0, 99], [beginning, beginning], [beginning, beginning + 9]]
  ) {
    checkSealing({ required: false, since: since ?? 0 }, epoch ?? 0);
  }
  checkSealing(undefined, 5);
  const bad: readonly (readonly [Sealing, number])[] = [
    [{ required: false, since: 1 }, 5],
    [{ required: false, since: foundingEpoch(3) }, beginning],
    [{ required: false, since: beginning + 1 }, beginning + 1],
    [{ required: false, since: beginning }, beginning - 1],
    [{ required: true, since: beginning }, beginning],
  ];
  for (const [sealing, epoch] of bad) assertThrows(() => checkSealing(sealing, epoch), MlsFault);
});

for (const [what, prepare] of Object.entries(keyless)) {
  Deno.test(`require: nobody comes in with ${what}, in anybody's commit, and not as a returning member`, async () => {
    const { world, owner, bob, carol } = await createMembers(required);
    const dave = world.newAgent();
    await prepare(dave);
    const add = dave.own === undefined ? [] : [dave.own.keyPackage];
    assertThrows(() => owner.member.prepare({ add }), MlsFault);
    const { extensions } = owner.member.current.context;
    const { sealing: _, ...without } = owner.member.binding;
    if (what === "no key") {
      for (const removed of [[], [carol]]) {
        refuses("has no key", await verdict(owner, bob, { added: [dave], removed }));
        // A member that the commit removes judges it as all do.
        refuses("has no key", await verdict(owner, carol, { added: [dave], removed }));
      }
    }
    // Neither does it help to take the sealing out, or to weaken it.
    for (const binding of [without, { ...without, sealing: preferred }]) {
      const isHeld = what === "an older leaf" && binding !== without;
      if (isHeld) continue; // its own program refuses that
      const why = await verdict(owner, bob, { added: [dave], binding });
      assert(why !== undefined, `${what}: ${extensions.length}`);
      refuses("has no key", why);
    }
    await prepare(carol);
    assert(carol.own !== undefined);
    const rejoins = [carol.rejoin(carol.own)];
    const back = { add: [carol.own.keyPackage], remove: [carol.id], rejoins };
    assertThrows(() => owner.member.prepare(back), MlsFault);
    assertEquals(sealingOf(owner), required);
  });

  Deno.test(`prefer: the first that comes in with ${what} ends the sealing, for all alike and for good`, async () => {
    const { world, owner, bob } = await createMembers(preferred);
    assertEquals([sealingOf(owner), sealingOf(bob)], [preferred, preferred]);
    const dave = world.newAgent();
    await prepare(dave);
    assert(dave.own !== undefined);
    const { keyPackage } = dave.own;
    const { sealing: _, ...without } = owner.member.binding;
    if (what === "no key") {
      refuses(notTheResult, await verdict(owner, bob, { added: [dave] }));
      refuses(
        notTheResult,
        await verdict(owner, bob, { added: [dave], binding: owner.member.binding }),
      );
    }
    assertEquals(await verdict(owner, bob, { added: [dave], binding: without }), undefined);
    await world.commit(owner, () => ({ add: [keyPackage] }));
    await dave.join();
    await sync(world);
    assertEquals(world.active().map(sealingOf), world.active().map(() => undefined));
    await world.add(bob, world.newAgent());
    await world.commit(bob, () => ({ remove: [] }));
    await sync(world);
    assertEquals(sealingOf(bob), undefined);
  });
}

Deno.test("no commit changes the sealing otherwise, be it an owner's", async () => {
  for (const sealing of [required, preferred, undefined]) {
    const { world, owner, bob } = await createMembers(sealing);
    const others = [undefined, required, preferred].filter((each) => each !== sealing);
    const { sealing: _, ...rest } = owner.member.binding;
    const [dave] = [world.newAgent()];
    await dave.createSealedKeyPackage();
    for (const each of others) {
      const binding: ChannelBinding = { ...rest, sealing: each };
      refuses(notTheResult, await verdict(owner, bob, { binding }));
      refuses(notTheResult, await verdict(bob, owner, { binding }));
      refuses(notTheResult, await verdict(owner, bob, { binding, added: [dave] }));
    }
    await world.commit(owner, () => ({ owners: [owner.id, bob.id], forcePath: true }));
    await world.commit(owner, () => ({ policy: { admission: "owners", posting: "members" } }));
    await world.add(owner, world.newAgent());
    await sync(world);
    assertEquals(world.active().map(sealingOf), world.active().map(() => sealing));
  }
});

/** A commit of a modified program, which the members would not follow, and its Welcome. */
async function welcomeWith(
  owner: Agent,
  joiner: Agent,
  binding: ChannelBinding,
  known?: Group["binding"],
): Promise<Group> {
  const own = joiner.own ?? await joiner.createSealedKeyPackage();
  const extensions = encodeBinding(binding);
  const created = atOnce(createCommit(owner.member.current, {
    proposals: [
      {
        proposalType: "group_context_extensions",
        groupContextExtensions: { extensions },
      },
      { proposalType: "add", add: { keyPackage: own.keyPackage } },
    ],
    identity: owner.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(owner.member.changes),
  }, owner.deps));
  assert(created.welcome !== undefined);
  const ready = await readyToJoin(created.welcome, own, joiner.deps.signatures);
  return Group.join(created.welcome, ready, joiner.deps, {
    name,
    ...(known !== undefined && { known }),
  });
}

Deno.test("a joiner refuses a sealing that cannot be, and a returning member one that it did not know", async () => {
  const { world, owner } = await createMembers(required);
  const { binding } = owner.member;
  const at = (sealing: Sealing | undefined): ChannelBinding => ({ ...binding, sealing });
  const enter = (to: Sealing | undefined, known?: Sealing | null): Promise<Group> =>
    welcomeWith(
      owner,
      world.newAgent(),
      at(to),
      known === undefined ? undefined : at(known ?? undefined),
    );
  for (
    const sealing of [{ required: true, since: 1 }, { required: false, since: 1 }, {
      required: false,
      since: foundingEpoch(1) + 1,
    }]
  ) await assertRejects(() => enter(sealing), MlsFault, "sealed from an epoch on");
  for (const sealing of [required, preferred, undefined]) await enter(sealing);
  const known: readonly (readonly [Sealing | undefined, Sealing | null])[] = [
    [undefined, required],
    [preferred, required],
    [required, preferred],
    [required, null],
  ];
  for (const [to, from] of known) {
    await assertRejects(() => enter(to, from), MlsFault, "not as this agent knew it");
  }
  // After a log was set back, the commit that ended the sealing may be gone.
  await enter(preferred, null);
  await enter(undefined, preferred);
  await enter(required, required);
});

Deno.test("a joiner refuses a Welcome in which anybody's secrets have no layer", async () => {
  const world = new World(createRandom(55));
  const owner = await world.create(preferred);
  const [sealed, plain] = [world.newAgent(), world.newAgent()];
  await sealed.createSealedKeyPackage();
  plain.createKeyPackage();
  assert(sealed.own !== undefined && plain.own !== undefined);
  const both = [sealed.own.keyPackage, plain.own.keyPackage];
  const commit = (extensions: ChannelBinding): Uint8Array => {
    const { welcome } = atOnce(createCommit(owner.member.current, {
      proposals: [
        {
          proposalType: "group_context_extensions",
          groupContextExtensions: { extensions: encodeBinding(extensions) },
        },
        ...both.map((keyPackage) => ({ proposalType: "add" as const, add: { keyPackage } })),
      ],
      identity: owner.identity,
      authenticatedData: new Uint8Array(0),
      padding: () => 0,
      groupInfoExtensions: encodeShownChanges(owner.member.changes),
    }, owner.deps));
    assert(welcome !== undefined);
    return welcome;
  };
  const enter = async (welcome: Uint8Array, agent: Agent): Promise<void> => {
    assert(agent.own !== undefined);
    const ready = await readyToJoin(welcome, agent.own, agent.deps.signatures);
    Group.join(welcome, ready, agent.deps, { name });
  };
  for (const sealing of [required, preferred]) {
    const welcome = commit({ ...owner.member.binding, sealing });
    for (const agent of [sealed, plain]) {
      await assertRejects(() => enter(welcome, agent), MlsFault, "and the Welcome is not");
    }
  }
  const open = commit({ ...owner.member.binding, sealing: undefined });
  for (const agent of [sealed, plain]) await enter(open, agent);
  // A relay that puts somebody without a layer into the list keeps out, as if it gave nothing.
  await world.commit(owner, () => ({ add: both.slice(0, 1) }));
  const honest = world.log.at(-1)?.welcome?.bytes;
  assert(honest !== undefined);
  await enter(honest, sealed);
  const decoded = decodeWelcomeMessage(honest);
  const stranger = {
    newMember: new Uint8Array(32),
    encryptedGroupSecrets: { kemOutput: new Uint8Array(32), ciphertext: new Uint8Array(1136) },
  };
  const longer = encodeMlsMessage({
    version: "mls10",
    wireformat: "mls_welcome",
    welcome: { ...decoded, secrets: [...decoded.secrets, stranger] },
  });
  await assertRejects(() => enter(longer, sealed), MlsFault, "and the Welcome is not");
});

Deno.test("a founding keeps what is required, and seals what it can", async () => {
  const world = new World(createRandom(56));
  const [sealed, plain, broken] = [world.newAgent(), world.newAgent(), world.newAgent()];
  const { keyPackage: withKey } = await sealed.createSealedKeyPackage();
  const { keyPackage: without } = plain.createKeyPackage();
  const key = sealKeyOf(withKey);
  assert(key !== undefined);
  const tooLong = { extensionType: 0xf5ca, extensionData: concatBytes(Uint8Array.of(1), key, key) };
  const { keyPackage: malformed } = signedAnew(broken.createKeyPackage(), {
    keyPackage: { extensions: [tooLong] },
  }, broken.identity);
  const regained = { required: false, since: foundingEpoch(4) + 1 };
  const before = { required: false, since: foundingEpoch(2) + 1 };
  for (const add of [[], [withKey], [withKey, without], [malformed]]) {
    assertEquals(foundedSealing(required, add, 4), required);
    const isSealed = !add.includes(without) && !add.includes(malformed);
    assertEquals(foundedSealing(undefined, add, 4), isSealed ? regained : undefined);
    assertEquals(foundedSealing(before, add, 4), isSealed ? before : undefined);
  }
  const all = [undefined, required, preferred, before, regained];
  const followed = (base: Sealing | undefined): readonly (Sealing | undefined)[] =>
    all.filter((each) => mayFollow(each, base, 4));
  assertEquals(followed(required), [required]);
  assertEquals(followed(undefined), [undefined, regained]);
  assertEquals(followed(before), [undefined, before]);
  assertEquals(followed(preferred), [undefined, preferred]);
});

Deno.test("the base of a founding is stored with its sealing", async () => {
  for (const sealing of [required, preferred, undefined]) {
    const { world, owner } = await createMembers(sealing);
    await world.commit(owner, () => ({ forcePath: true }));
    const { parent } = owner.member;
    assert(parent !== undefined);
    assertEquals(decodeParent(encodeParent(parent)).base.sealing, sealing);
  }
});
