// A stranger that calls itself like a member is not that member: an invite expels nobody, unless an
// owner has named whom.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  binaryIdFromBytes,
  inviteIdOf,
  joinMac,
  type JoinRequestId,
  type NoticeEnvelope,
  parseChannelName,
  parseInviteToken,
} from "../../../proto/mod.ts";
import { type ErrorCode, StaticError } from "../../../sdk/mod.ts";
import {
  type Actor,
  allAgree,
  name,
  read,
  roomy,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

async function refused(act: () => Promise<unknown>, code: ErrorCode): Promise<StaticError> {
  try {
    await act();
  } catch (error) {
    assert(error instanceof StaticError, String(error));
    assertEquals(error.code, code, error.message);
    return error;
  }
  throw new Error(`expected ${code}, nothing failed`);
}

function join(guest: Actor, token: string): Promise<unknown> {
  return guest.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
}

async function membersOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).members().map(({ agentId }) => agentId).toSorted();
}

function idsOf(...actors: readonly Actor[]): string[] {
  return actors.map(({ client }) => client.agentId).toSorted();
}

/** The latest refusal that health() tells of. */
async function refusalAt(actor: Actor): Promise<string> {
  return (await actor.channel()).health().issues.find(({ kind }) => kind === "refused_join")
    ?.text ?? "";
}

const strangers = [
  {
    title:
      "a stranger that calls itself like a member is refused, and expels nobody by an owner's invite",
    isOwner: false,
  },
  {
    title:
      "a stranger that calls itself like a co-owner is refused, and expels nobody by an owner's invite",
    isOwner: true,
  },
];

for (const { title, isOwner } of strangers) {
  Deno.test(title, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const held = bob.client.agentId;
    if (isOwner) await (await alice.channel()).promote(held);
    const token = await alice.manager.invite(name);
    const mallory = await stage.actor("bob", 2);
    const { message } = await refused(() => join(mallory, token), "identity_present");
    assertStringIncludes(message, held);
    assertStringIncludes(message, "replaces");
    const told = await refusalAt(alice);
    for (const part of [mallory.client.agentId, held]) assertStringIncludes(told, part);
    assertEquals(await membersOf(alice), idsOf(alice, bob));
    await bob.manager.send(name, "still here");
    assertEquals(await read(await alice.channel(), 1), ["still here"]);
    // Its use was not spent.
    const carol = await stage.actor("carol");
    await join(carol, token);
    await allAgree(alice, bob, carol);
  });
}

Deno.test("a KeyPackage, or an agent id, under a member's name is refused to an owner and to others", async () => {
  await using stage = await Stage.open(roomy);
  const { alice, bob, carol } = await stage.trio();
  const mallory = await stage.actor("carol");
  await mallory.agent.keyPackages.replace();
  for (const by of [alice, bob]) {
    const channel = await by.channel();
    const keyPackage = await mallory.client.generateKeyPackage();
    const { message } = await refused(() => channel.addMember(keyPackage), "identity_present");
    assertStringIncludes(message, carol.client.agentId);
    await refused(() => channel.addMember(mallory.client.agentId), "identity_present");
  }
  assertEquals(await membersOf(alice), idsOf(alice, bob, carol));
});

Deno.test("an invite that names a member lets one agent in its place, also after the inviter's restart, and all are told", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const token = await alice.manager.invite(name, { replaces: bob.client.agentId });
  await alice.restart();
  // The same name on a new disk, as after the loss of the old one.
  const again = await stage.actor("bob");
  for (const by of [alice, carol]) {
    await refused(async () => join(again, await by.manager.invite(name)), "identity_present");
  }
  await join(again, token);
  await allAgree(alice, carol, again);
  assertEquals(await membersOf(carol), idsOf(alice, carol, again));
  const { issues } = (await carol.channel()).health();
  assert(issues.some(({ kind }) => kind === "key_changed"), JSON.stringify(issues));
  await until("the old bob is out", () => bob.client.channels.length === 0);
  await again.manager.send(name, "with new keys");
  assertEquals(await read(await carol.channel(), 1), ["with new keys"]);
  await refused(async () => join(await stage.actor("bob", 2), token), "join_rejected");
  await refused(async () => join(await stage.actor("dave"), token), "join_rejected");
});

Deno.test("an invite that names a member expels nobody else", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const token = await alice.manager.invite(name, { replaces: bob.client.agentId });
  const { message } = await refused(
    async () => join(await stage.actor("carol", 2), token),
    "identity_present",
  );
  assertStringIncludes(message, carol.client.agentId);
  assertEquals(await membersOf(alice), idsOf(alice, bob, carol));
  // Whatever else it calls itself.
  const dave = await stage.actor("dave");
  await join(dave, token);
  await allAgree(alice, carol, dave);
  assertEquals(await membersOf(alice), idsOf(alice, carol, dave));
});

Deno.test("when the member that an invite names has gone, the invite lets in who replaces nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const replaces = bob.client.agentId;
  const [first, second] = [
    await alice.manager.invite(name, { replaces }),
    await alice.manager.invite(name, { replaces }),
  ];
  await (await alice.channel()).removeMember(replaces);
  const again = await stage.actor("bob");
  await join(again, first);
  await allAgree(alice, carol, again);
  const { message } = await refused(
    async () => join(await stage.actor("bob", 2), second),
    "identity_present",
  );
  assertStringIncludes(message, again.client.agentId);
  assertEquals(await membersOf(alice), idsOf(alice, carol, again));
});

Deno.test("an owner that is none any more replaces nobody by the invite that it made", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).promote(bob.client.agentId);
  await until("bob is an owner", async () => (await bob.inside()).group.self.owner);
  const token = await bob.manager.invite(name, { replaces: carol.client.agentId });
  await (await alice.channel()).demote(bob.client.agentId);
  await until("bob is no owner", async () => !(await bob.inside()).group.self.owner);
  const { message } = await refused(
    async () => join(await stage.actor("dave"), token),
    "join_rejected",
  );
  assertStringIncludes(message, "not_allowed");
  assertEquals(await membersOf(alice), idsOf(alice, bob, carol));
});

Deno.test("addMember() puts an agent in the place of the member that is named, and of no other", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  const again = await stage.actor("bob");
  const keyPackage = await again.client.generateKeyPackage();
  await refused(
    () => channel.addMember(keyPackage, { replaces: carol.client.agentId }),
    "identity_present",
  );
  assertEquals(await membersOf(alice), idsOf(alice, bob, carol));
  await again.client.joinChannel(
    name,
    await channel.addMember(keyPackage, { replaces: bob.client.agentId }),
  );
  await allAgree(alice, carol, again);
  assertEquals(await membersOf(carol), idsOf(alice, carol, again));
});

Deno.test("whom an invite cannot replace is said when it is made", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const stranger = await stage.actor("carol");
  const [self, other] = [alice.client.agentId, bob.client.agentId];
  const keyPackage = await stranger.client.generateKeyPackage();
  const cases: [Actor, string, ErrorCode, string][] = [
    [alice, stranger.client.agentId, "not_found", "no member"],
    [alice, self, "invalid_request", "itself"],
    [alice, "bob", "invalid_request", "agent id"],
    [bob, self, "not_allowed", "Only owners"],
  ];
  for (const [by, replaces, code, words] of cases) {
    const channel = await by.channel();
    for (
      const act of [
        () => by.manager.invite(name, { replaces }),
        () => channel.addMember(keyPackage, { replaces }),
      ]
    ) assertStringIncludes((await refused(act, code)).message, words);
  }
  const twice = await refused(
    () => alice.manager.invite(name, { replaces: other, uses: 2 }),
    "invalid_request",
  );
  assertStringIncludes(twice.message, "one agent");
  assertEquals(await alice.manager.invites(name), []);
});

Deno.test("of two strangers that come at once under one name one is let in", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const token = await alice.manager.invite(name, { uses: 2 });
  const [zed, one, other] = [
    await stage.actor("zed"),
    await stage.actor("carol", 2),
    await stage.actor("carol", 3),
  ];
  await inOneCommit(alice, [zed, await alice.manager.invite(name)], [one, token], [other, token]);
  await until("one is refused", async () => (await refusalAt(alice)).includes("carol"));
  assertEquals((await membersOf(alice)).length, 4);
  // The refusal has spent no use.
  await join(await stage.actor("dave", 4), token);
  await allAgree(alice, bob);
});

Deno.test("a member that is replaced does not come back as an owner because its own request is in the same commit", async () => {
  await using stage = await Stage.open(roomy);
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  const tokens = [
    await alice.manager.invite(name),
    await alice.manager.invite(name, { replaces: bob.client.agentId }),
    await alice.manager.invite(name),
  ];
  const [zed, dave] = [await stage.actor("zed"), await stage.actor("dave", 2)];
  await inOneCommit(alice, [zed, tokens[0] ?? ""], [dave, tokens[1] ?? ""], [bob, tokens[2] ?? ""]);
  await until("dave is in", async () => (await membersOf(alice)).includes(dave.client.agentId));
  await until(
    "bob is no owner",
    async () => (await ownersOf(alice)).join() === alice.client.agentId,
  );
});

Deno.test("one agent with two invites in one moment loses neither what they say nor both of them", async () => {
  await using stage = await Stage.open(roomy);
  const { alice, bob, carol } = await stage.trio();
  const [zed, dave] = [await stage.actor("zed"), await stage.actor("dave", 2)];
  const replacing = await alice.manager.invite(name, { replaces: bob.client.agentId });
  const plain = await alice.manager.invite(name);
  await inOneCommit(alice, [zed, await alice.manager.invite(name)], [dave, replacing], [
    dave,
    plain,
  ]);
  await until("dave has taken bob's place", async () => {
    return (await membersOf(alice)).join() === idsOf(alice, carol, zed, dave).join();
  });
});

/**
 * Delivers requests to join while the first of them keeps the inviter busy, so that the others may
 * share a commit.
 */
async function inOneCommit(
  inviter: Actor,
  ...requests: readonly (readonly [Actor, string])[]
): Promise<void> {
  const notices: NoticeEnvelope[] = [];
  for (const [guest, token] of requests) {
    const { secret, channelId, inviter: by } = parseInviteToken(token);
    const keyPackage = await guest.client.generateKeyPackage();
    const mac = joinMac(secret, {
      channelId,
      name: parseChannelName(name),
      inviter: by,
      keyPackage,
    });
    const body = {
      requestId: binaryIdFromBytes<JoinRequestId>(crypto.getRandomValues(new Uint8Array(16))),
      channelId,
      inviteId: inviteIdOf(secret),
      agentId: guest.client.agentId,
      keyPackage,
      mac,
      expiresAtMs: inviter.agent.relayNowMs + 60_000,
    };
    notices.push({ kind: "notice", operation: "DeliverJoinRequest", body });
  }
  for (const notice of notices) inviter.session.inject(notice);
}

async function ownersOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).members().filter(({ owner }) => owner).map(({ agentId }) =>
    agentId
  );
}

Deno.test("a relay that gives a member up helps nobody to its name", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const inside = await alice.inside();
  const { channelId } = inside;
  const head = (await stage.world.engine.findChannel(channelId))?.head ?? 0;
  const body = { channelId, sequence: head + 1, epoch: 9, agentId: bob.client.agentId, timeMs: 0 };
  alice.session.inject({ kind: "notice", operation: "DeliverLapse", body });
  await until("alice takes bob for absent", () => inside.lapsed.length === 1);
  await refused(
    async () => join(await stage.actor("bob", 2), await alice.manager.invite(name)),
    "identity_present",
  );
  assertEquals(await membersOf(alice), idsOf(alice, bob));
});

Deno.test("a member that has left is in nobody's way", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  // Alice knows that bob leaves, and nobody has removed him yet.
  const free = Promise.withResolvers<void>();
  for (const actor of [alice, carol]) {
    actor.session.tampering.call = async (operation, _body, forward) => {
      if (operation === "SendCommit") await free.promise;
      return await forward();
    };
  }
  await (await bob.channel()).leave();
  await until("alice knows it", async () => (await alice.inside()).leavers.length === 1);
  const joining = join(await stage.actor("bob"), await alice.manager.invite(name));
  free.resolve();
  await joining;
  await allAgree(alice, carol);
});
