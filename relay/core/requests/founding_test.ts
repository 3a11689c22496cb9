/** A new generation of a channel, as far as the relay can judge it. */
import { assertEquals } from "@std/assert";
import {
  type AgentId,
  binaryIdToBytes,
  foundingEpoch,
  foundingHash,
  type InviteId,
  parseAgentId,
  parseChannelName,
  type RequestBody,
} from "../../../proto/mod.ts";
import { createPrivateMessage } from "../../../tests/support/mod.ts";
import { foundingRequest, otherProof } from "../../../tests/support/founding.ts";
import { Actor, commitRequest, joinRequest, registerInvite } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { createReadingPair, type Pair, refused, worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { ChannelState } from "../channel/channel_state.ts";
import { createWorld, idOf, startMs, type World } from "../testing/world.ts";

const dayMs = 24 * 60 * 60 * 1000;

interface Stopped extends Pair {
  readonly carol: Actor;
  readonly bad: RequestBody<"SendCommit">;
}

/** Alice owns; bob's commit of epoch 2 is the bad one. */
async function createStopped(world: World): Promise<Stopped> {
  const pair = await createReadingPair(world);
  const { alice, bob, channelId } = pair;
  const carol = await Actor.connect(world, 3);
  const { sequence } = await alice.commit(channelId, 1, { added: [carol.agentId] });
  await carol.acknowledge(channelId, sequence);
  await carol.subscribe(channelId);
  const bad = commitRequest(channelId, 2, { sender: bob.agent, salt: 0 }, {});
  await bob.client.call("SendCommit", bad);
  return { ...pair, carol, bad };
}

function planOf(
  { alice, bob, carol, channelId, bad }: Stopped,
): Parameters<typeof foundingRequest>[0] {
  const members = [alice.agentId, carol.agentId];
  return { channelId, founder: alice.agent, bad, blamed: bob.agent, members };
}

worldTest(
  "a founding begins the next generation: its members stay, the blamed is out, and the log goes on",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, bob, carol, channelId } = stopped;
    const before = await carol.client.call("ListMembers", { channelId });
    const body = foundingRequest(planOf(stopped));
    const reply = await alice.client.call("FoundGeneration", body);
    assertEquals([reply.epoch, reply.duplicate], [foundingEpoch(1) + 1, false]);
    await settle();
    for (const reader of [bob, carol]) {
      const [told] = reader.client.pushed("DeliverFounding");
      assertEquals(told?.founding, body.founding);
      assertEquals([told?.sequence, told?.epoch, told?.sender], [
        reply.sequence,
        foundingEpoch(1),
        alice.agentId,
      ]);
      assertEquals(told?.welcomes, body.welcomes);
    }
    assertEquals(bob.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["recovered"]);
    const { members, epoch } = await carol.client.call("ListMembers", { channelId });
    assertEquals(epoch, foundingEpoch(1) + 1);
    assertEquals(members, before.members.filter(({ agentId }) => agentId !== bob.agentId));
    await refused("epoch_conflict", carol.send(channelId, 3, 1));
    await carol.send(channelId, foundingEpoch(1) + 1, 2);
    await refused("not_found", bob.send(channelId, foundingEpoch(1) + 1, 3));
    await refused("state_conflict", alice.commit(channelId, foundingEpoch(1) + 1));
    await alice.commit(channelId, foundingEpoch(1) + 1, { state: body.founding.state });
  },
);

worldTest(
  "a member that was removed behind the base is struck from the absent by an owner",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, bob, carol, channelId } = stopped;
    await carol.leave(channelId);
    await bob.commit(channelId, 3, { removed: [carol.agentId] });
    const body = foundingRequest({ ...planOf(stopped), absent: [carol.agentId] });
    const { epoch } = await alice.client.call("FoundGeneration", body);
    const { state } = body.founding;
    const stranger = createAgent(9).agentId;
    await refused(
      "invalid_request",
      alice.commit(channelId, epoch, { state, removed: [stranger] }),
    );
    await alice.commit(channelId, epoch, { state, removed: [carol.agentId] });
  },
);

worldTest(
  "a founding that brings in somebody who has left meanwhile is refused, and taken with it as absent",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, carol, channelId } = stopped;
    await carol.leave(channelId);
    await refused(
      "invalid_request",
      alice.client.call("FoundGeneration", foundingRequest(planOf(stopped))),
    );
    const body = foundingRequest({ ...planOf(stopped), absent: [carol.agentId] });
    await alice.client.call("FoundGeneration", body);
  },
);

worldTest(
  "the same founding gets the original answer, and FindCommit knows it by its hash",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, channelId } = stopped;
    const body = foundingRequest(planOf(stopped));
    const first = await alice.client.call("FoundGeneration", body);
    assertEquals(await alice.client.call("FoundGeneration", body), { ...first, duplicate: true });
    const asked = { channelId, epoch: foundingEpoch(1), generation: 1 };
    const { commit } = await alice.client.call("FindCommit", asked);
    const commitHash = foundingHash({ channelId, ...body.founding });
    assertEquals([commit?.commitHash, commit?.sender], [commitHash, alice.agentId]);
  },
);

worldTest("of two owners one founds, whatever was committed meanwhile", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  const carol = await Actor.connect(world, 3);
  const owners = { agentIds: [alice.agentId, carol.agentId] };
  await alice.commit(channelId, 1, { added: [carol.agentId], owners });
  await carol.acknowledge(channelId, 2);
  const bad = commitRequest(channelId, 2, { sender: bob.agent, salt: 0 }, {});
  await bob.client.call("SendCommit", bad);
  await bob.commit(channelId, 3, { added: [createAgent(9).agentId] });
  const [members, both] = [[alice.agentId, carol.agentId], owners.agentIds];
  const plan = { channelId, bad, blamed: bob.agent, members, owners: both };
  const send = (founder: Actor): Promise<unknown> =>
    founder.client.call("FoundGeneration", foundingRequest({ ...plan, founder: founder.agent }));
  const ends = await Promise.allSettled([send(carol), send(alice)]);
  assertEquals(ends.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  const left = await alice.client.call("ListMembers", { channelId });
  assertEquals(left.members.map(({ agentId }) => agentId).toSorted(), members.toSorted());
});

worldTest(
  "only an owner founds, about the commit that the log holds, with what its sender signed",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, bob, carol } = stopped;
    const plan = planOf(stopped);
    const body = foundingRequest(plan);
    const send = (body: RequestBody<"FoundGeneration">, by = alice): Promise<unknown> =>
      by.client.call("FoundGeneration", body);
    const owners = [carol.agentId];
    await refused(
      "not_allowed",
      send(foundingRequest({ ...plan, founder: carol.agent, owners }), carol),
    );
    await refused("invalid_request", send(body, carol));
    const { founding } = body;
    await refused(
      "invalid_request",
      send({ ...body, founding: { ...founding, state: founding.transcriptHash } }),
    );
    await refused("invalid_request", send(foundingRequest({ ...plan, blamed: carol.agent })));
    await refused("invalid_request", send({ ...body, proof: otherProof(body, bob.agent) }));
    await refused("invalid_request", send(foundingRequest({ ...plan, change: { baseEpoch: 1 } })));
    await refused(
      "invalid_request",
      send(foundingRequest({ ...plan, change: { badCommit: new Uint8Array(32) } })),
    );
    await refused("invalid_request", send(foundingRequest({ ...plan, change: { generation: 2 } })));
    const withBlamed = { ...plan, members: [...plan.members, bob.agentId] };
    await refused("invalid_request", send(foundingRequest(withBlamed)));
    await refused("invalid_request", send({ ...body, welcomes: [] }));
    await refused("invalid_request", send({ ...body, absent: [carol.agentId] }));
    await refused("invalid_request", send(foundingRequest({ ...plan, owners: [] })));
    const eve = await Actor.connect(world, 5);
    await refused("not_found", send(foundingRequest({ ...plan, founder: eve.agent }), eve));
    await send(body);
  },
);

worldTest(
  "members that came after the base are out, and the absent come back as the answer to their request",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, bob, carol, channelId } = stopped;
    const dave = await Actor.connect(world, 4);
    await bob.commit(channelId, 3, { added: [dave.agentId] });
    await alice.client.call(
      "FoundGeneration",
      foundingRequest({ ...planOf(stopped), absent: [carol.agentId] }),
    );
    await refused("not_found", dave.client.call("ListMembers", { channelId }));
    const epoch = foundingEpoch(1) + 1;
    await refused("epoch_conflict", carol.client.call("RequestRejoin", carol.rejoin(channelId)));
    const asked = carol.rejoin(channelId, carol.keyPackage(4), 0, 1);
    const { requestId } = await carol.client.call("RequestRejoin", asked);
    const state = new Uint8Array(32).fill(2);
    const { sequence } = await alice.commit(channelId, epoch, {
      added: [carol.agentId],
      answers: [requestId],
      state,
    });
    const { members } = await alice.client.call("ListMembers", { channelId });
    assertEquals(
      members.find(({ agentId }) => agentId === carol.agentId)?.joinedSequence,
      sequence,
    );
    await refused(
      "already_member",
      alice.commit(channelId, epoch + 1, { added: [carol.agentId], salt: 1 }),
    );
  },
);

worldTest(
  "those that a founding leaves out are members no more, and the invites that they made or came by are over",
  async (world) => {
    const pair = await createReadingPair(world);
    const { alice, bob, channelId } = pair;
    const [carol, eve] = [await Actor.connect(world, 3), await Actor.connect(world, 5)];
    const inviteId = await registerInvite(alice, channelId, 3);
    const join = joinRequest(carol, channelId, inviteId);
    const { requestId } = await carol.client.call("RequestJoin", join);
    await alice.commit(channelId, 1, { added: [carol.agentId], answers: [requestId] });
    await alice.commit(channelId, 2, { added: [eve.agentId] });
    const ofEve = idOf<InviteId>(6);
    await eve.client.call("RegisterInvite", {
      channelId,
      inviteId: ofEve,
      expiresAtMs: startMs + dayMs,
      uses: 3,
    });
    await carol.subscribe(channelId);
    const bad = commitRequest(channelId, 3, { sender: bob.agent, salt: 0 }, {});
    await bob.client.call("SendCommit", bad);
    const without = [carol.agentId, eve.agentId];
    const plan = {
      channelId,
      founder: alice.agent,
      bad,
      blamed: bob.agent,
      members: [alice.agentId],
      without,
    };
    await alice.client.call("FoundGeneration", foundingRequest(plan));
    await settle();
    assertEquals(carol.client.pushed("DeliverFounding").map(({ founding }) => founding.without), [
      without.toSorted(),
    ]);
    assertEquals(carol.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), [
      "recovered",
    ]);
    const { members } = await alice.client.call("ListMembers", { channelId });
    assertEquals(members.map(({ agentId }) => agentId), [alice.agentId]);
    assertEquals(await world.engine.records.ofChannel(channelId), []);
    const dave = await Actor.connect(world, 4);
    for (const ended of [inviteId, ofEve]) {
      await refused(
        "not_found",
        dave.client.call("RequestJoin", joinRequest(dave, channelId, ended)),
      );
    }
  },
);

worldTest(
  "the list of those that a founding leaves out is ascending, and names no member and not the blamed",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, bob, carol } = stopped;
    const plan = planOf(stopped);
    const send = (without: readonly AgentId[]): Promise<unknown> =>
      alice.client.call(
        "FoundGeneration",
        foundingRequest({ ...plan, change: { without: [...without] } }),
      );
    const [x, y] = [parseAgentId("A".repeat(22)), parseAgentId(`${"B".repeat(21)}A`)];
    for (const without of [[y, x], [x, x], [bob.agentId], [alice.agentId], [carol.agentId]]) {
      await refused("invalid_request", send(without));
    }
    const many = Array.from(
      { length: 998 },
      (_, i) => parseAgentId(`${String(i).padStart(21, "0")}A`),
    );
    await refused("invalid_request", send(many));
    // That the list is of the base is for members to tell.
    await send(many.slice(1));
  },
);

worldTest(
  "an owner claims a KeyPackage of every member, so often an hour and nobody else",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, carol, channelId } = stopped;
    await carol.client.call("UploadKeyPackage", {
      keyPackages: [carol.keyPackage(1)],
      replace: false,
    });
    const agentIds = [carol.agentId, createAgent(8).agentId];
    const claim = (
      nonce: number,
      by = alice,
    ): Promise<{ keyPackages: readonly { agentId: string }[] }> =>
      by.client.call("ClaimForFounding", {
        channelId,
        agentIds,
        nonce: new Uint8Array(16).fill(nonce),
      });
    await refused("not_allowed", claim(0, carol));
    const first = await claim(1);
    assertEquals(first.keyPackages.map(({ agentId }) => agentId), [carol.agentId]);
    assertEquals(await claim(1), first);
    // The same again counts for nothing.
    assertEquals(await claim(1), first);
    await carol.client.call("UploadKeyPackage", {
      keyPackages: [],
      lastResort: carol.keyPackage(9, true),
      replace: false,
    });
    for (let nonce = 2; nonce <= 10; nonce++) await claim(nonce);
    await refused("rate_limited", claim(11));
  },
);

worldTest("foundings take no more of a stranger's KeyPackages than additions do", async (world) => {
  const alice = await Actor.connect(world, 1);
  const victim = await Actor.connect(world, 3);
  const keyPackages = Array.from({ length: 10 }, (_, number) => victim.keyPackage(number));
  const uploading = victim.client.call("UploadKeyPackage", { keyPackages, replace: false });
  await world.time.advance(100);
  await uploading;
  let claimed = 0;
  for (let number = 1; number <= 3; number++) {
    const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
    await alice.commit(channelId, 0, { added: [victim.agentId] });
    for (let count = 0; count < 5; count++) {
      const nonce = new Uint8Array(16).fill(count);
      const claim = { channelId, agentIds: [victim.agentId], nonce };
      const reply = await alice.client.call("ClaimForFounding", claim).catch(() => undefined);
      claimed += reply?.keyPackages.length ?? 0;
    }
  }
  assertEquals(claimed, 5);
});

Deno.test("a founded channel is the same after a restart from its log, and from a snapshot", async () => {
  const world = await createWorld();
  try {
    const stopped = await createStopped(world);
    const { alice, carol, channelId } = stopped;
    await alice.client.call(
      "FoundGeneration",
      foundingRequest({ ...planOf(stopped), absent: [carol.agentId] }),
    );
    const items = await world.engine.read(channelId, { after: 0, maxBytes: 1 << 20 });
    const folded = ChannelState.create(alice.agentId);
    for (const item of items) if (item.kind !== "gap") folded.apply(item);
    assertEquals([folded.generation, [...folded.absent]], [1, [carol.agentId]]);
    const decoded = ChannelState.decode(folded.encode());
    assertEquals(decoded, folded);
  } finally {
    await world.close();
  }
});

for (const isUsedUp of [false, true]) {
  const outcome = isUsedUp
    ? "is refused like others when the reserve of the day is used up"
    : "is let through";
  worldTest(`in an account that is full a founding ${outcome}`, async (world) => {
    const stopped = await createStopped(world);
    const { alice } = stopped;
    const other = await alice.createChannel(2, parseChannelName("a/b/2"));
    const added = Array.from({ length: 100 }, (_, number) => createAgent(20 + number).agentId);
    await alice.commit(other, 0, { added });
    let epoch = 1;
    const remove = async (bytes: number): Promise<boolean> => {
      const ciphertext = new Uint8Array(bytes);
      const commit = createPrivateMessage({
        groupId: binaryIdToBytes(other),
        epoch,
        contentType: 3,
        ciphertext,
      });
      const removing = alice.commit(other, epoch, {
        removed: added.slice(epoch, epoch + 1),
        commit,
      });
      return await removing.then(() => epoch++ > 0, () => false);
    };
    await remove(250_000);
    await refused("storage_full", alice.createChannel(3, parseChannelName("a/b/3")));
    for (const bytes of isUsedUp ? [250_000, 20_000, 1_000, 100] : []) while (await remove(bytes));
    const founding = alice.client.call("FoundGeneration", foundingRequest(planOf(stopped)));
    if (isUsedUp) await refused("storage_full", founding);
    else await founding;
  }, { config: { storageBytesPerAccount: 6_000 } });
}

worldTest(
  "an owner that lapsed reads up to its lapse, claims and founds, and is a member as before",
  async (world) => {
    const stopped = await createStopped(world);
    const { alice, bob, carol, channelId } = stopped;
    alice.client.close();
    await world.time.leap(31 * dayMs);
    await bob.send(channelId, 3, 1);
    await world.time.advance(2_000);
    assertEquals(world.meter.membersLapsed, 1);
    await alice.reconnect();
    await refused("membership_lapsed", alice.send(channelId, 3, 1));
    await alice.subscribe(channelId);
    await settle();
    assertEquals(alice.client.pushed("DeliverCommit").at(-1)?.epoch, stopped.bad.epoch);
    assertEquals(alice.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["lapsed"]);
    const nonce = new Uint8Array(16);
    await alice.client.call("ClaimForFounding", { channelId, agentIds: [carol.agentId], nonce });
    await alice.client.call("FoundGeneration", foundingRequest(planOf(stopped)));
    await alice.subscribe(channelId);
    await alice.send(channelId, foundingEpoch(1) + 1, 2);
    // It may lapse again like everybody else.
    alice.client.close();
    await world.time.leap(31 * dayMs);
    await world.time.advance(2_000);
    await alice.reconnect();
    await refused("membership_lapsed", alice.send(channelId, foundingEpoch(1) + 1, 3));
  },
);
