/** Guarantees of the core, one at a time, over links in memory and on simulated time. */
import { assert, assertEquals } from "@std/assert";
import {
  decodeRelayEnvelope,
  encodeCbor,
  type InviteId,
  type MessageId,
  parseChannelName,
  protocolVersion,
  type ReplyBody,
  sessionFeatures,
} from "../../proto/mod.ts";
import { createPrivateMessage } from "../../tests/support/mod.ts";
import { Actor, channelName, commitRequest, messageRequest } from "./testing/actors.ts";
import { createAgent } from "./testing/client.ts";
import { createReadingPair, refused, worldTest } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { createWorld, defaultCoreConfig, idOf, startMs, tokenOf } from "./testing/world.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

worldTest("a session is that of an agent only after it signed a fresh challenge", async (world) => {
  const agent = createAgent(1);
  const client = world.connect();
  const token = tokenOf(1, startMs + hourMs);
  await refused("auth_failed", client.call("ListChannels", { limit: 1 }));
  const { nonce } = await client.call("GetChallenge", {
    versions: [protocolVersion],
    features: [],
  });
  assert(client.isChallenged);
  const answer = client.answer(agent, token, nonce);
  await refused(
    "auth_failed",
    client.call("Authenticate", { ...answer, origin: "quic://other:4433" }),
  );
  await refused("auth_failed", client.call("Authenticate", answer)); // spent by the attempt before
  const again = await client.call("GetChallenge", { versions: [protocolVersion], features: [] });
  const forged = { ...client.answer(agent, token, again.nonce), signature: new Uint8Array(64) };
  await refused("auth_failed", client.call("Authenticate", forged));
  const reply = await client.authenticate(agent, token);
  assertEquals(reply.agentId, agent.agentId);
  assertEquals(reply.sessionToken.length, 0);
  await refused("invalid_request", client.call("Authenticate", answer));
});

worldTest("a challenge expires, and one of another session is worth nothing", async (world) => {
  const agent = createAgent(1);
  const token = tokenOf(1, startMs + hourMs);
  const [first, second] = [world.connect(), world.connect()];
  const { nonce } = await first.call("GetChallenge", { versions: [protocolVersion], features: [] });
  await second.call("GetChallenge", { versions: [protocolVersion], features: [] });
  await refused("auth_failed", second.call("Authenticate", second.answer(agent, token, nonce)));
  await refused(
    "unsupported_version",
    second.call("GetChallenge", { versions: [99], features: [] }),
  );
  const late = await second.call("GetChallenge", { versions: [protocolVersion], features: [] });
  assertEquals(late.expiresInMs, 30_000);
  await world.time.advance(29_999);
  const third = world.connect();
  const inTime = await third.call("GetChallenge", { versions: [protocolVersion], features: [] });
  await second.call("Authenticate", second.answer(agent, token, late.nonce));
  await world.time.advance(15_000);
  await third.call("GetChallenge", { versions: [protocolVersion], features: [] });
  await world.time.advance(15_001);
  assertEquals([inTime.expiresInMs, third.ended?.code], [30_000, "auth_failed"]);
});

worldTest("a session has the features that both sides know", async (world) => {
  const unknown = 4_000_000_000;
  const of = async (offered: readonly number[]): Promise<readonly number[]> => {
    const { features } = await world.connect().call("GetChallenge", {
      versions: [protocolVersion],
      features: offered,
    });
    return features;
  };
  assertEquals(await of([unknown, sessionFeatures.bundles]), [sessionFeatures.bundles]);
  assertEquals(await of([unknown]), []);
  assertEquals(await of([]), []);
});

worldTest(
  "cover that was asked for before authentication begins with it, and strangers get none",
  async (world) => {
    const agent = createAgent(1);
    const client = world.connect();
    const { nonce } = await client.call("GetChallenge", {
      versions: [protocolVersion],
      features: [],
    });
    await refused(
      "invalid_request",
      client.call("ConfigureCover", { mode: "constant", intervalMs: 9 }),
    );
    await client.call("ConfigureCover", { mode: "constant", intervalMs: 250 });
    assertEquals(client.cover, undefined);
    await client.call("Authenticate", client.answer(agent, tokenOf(1, startMs + hourMs), nonce));
    assertEquals(client.cover, { mode: "constant", intervalMs: 250 });
    await client.call("ConfigureCover", { mode: "off", intervalMs: 0 });
    assertEquals(client.cover, { mode: "off", intervalMs: 0 });
  },
);

worldTest("nothing is pushed before the reply that says who the client is", async (world) => {
  const client = world.connect();
  const seen: string[] = [];
  const send = client.send.bind(client);
  client.send = (lane, bytes) => {
    const envelope = decodeRelayEnvelope(bytes);
    seen.push(envelope.kind === "error" ? envelope.body.code : envelope.operation);
    send(lane, bytes);
  };
  await client.authenticate(createAgent(1), tokenOf(1, startMs + hourMs));
  await settle();
  assertEquals(seen, ["GetChallenge", "Authenticate", "KeyPackagesLow"]);
});

worldTest("a connection that does not authenticate is closed", async (world) => {
  const client = world.connect();
  await world.time.advance(15_000);
  assertEquals(client.ended?.code, "auth_failed");
  assertEquals(world.core.stats().sessions, 0);
});

worldTest(
  "a session ends with its token unless that is renewed on the open session",
  async (world) => {
    const client = world.connect();
    await client.authenticate(createAgent(1), tokenOf(1, startMs + hourMs));
    await refused(
      "auth_failed",
      client.call("RenewToken", { token: tokenOf(2, startMs + 2 * hourMs) }),
    );
    const { expiresAtMs } = await client.call("RenewToken", {
      token: tokenOf(1, startMs + 2 * hourMs),
    });
    assertEquals(expiresAtMs, startMs + 2 * hourMs);
    await world.time.advance(hourMs + 1);
    assertEquals(client.ended, undefined);
    await world.time.advance(hourMs);
    assertEquals(client.ended?.code, "session_expired");
    assertEquals(client.pushed("SessionEnding")[0]?.code, "session_expired");
  },
);

worldTest("a newer session of an agent replaces the older", async (world) => {
  const alice = await Actor.connect(world, 1);
  const older = alice.client;
  alice.client = world.connect();
  await alice.client.authenticate(alice.agent, tokenOf(1, startMs + hourMs));
  assertEquals(older.ended?.code, "session_replaced");
  await alice.client.call("Ping", {});
});

worldTest("bytes that are no envelope end their session and no other", async (world) => {
  const alice = await Actor.connect(world, 1);
  for (const bytes of [new Uint8Array([0xff]), new Uint8Array(0), encodeCbor(new Map([[1, 1]]))]) {
    const client = world.connect();
    client.raw(bytes);
    assertEquals(client.ended?.code, "protocol_error");
  }
  const old = world.connect();
  old.raw(encodeCbor(new Map([[1, 2]])));
  assertEquals(old.ended?.code, "unsupported_version");
  await alice.client.call("Ping", {});
});

worldTest(
  "CreateChannel is idempotent by nonce, and a name is taken once per account",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const bob = await Actor.connect(world, 2);
    const nonce = new Uint8Array(16).fill(9);
    const first = await alice.client.call("CreateChannel", { name: channelName, nonce });
    const second = await alice.client.call("CreateChannel", { name: channelName, nonce });
    assertEquals(second.channelId, first.channelId);
    assertEquals([first.duplicate, second.duplicate], [false, true]);
    await refused("name_taken", alice.createChannel(10));
    await refused("invalid_request", alice.createChannel(9, parseChannelName("acme/ops/other")));
    assert(await bob.createChannel() !== first.channelId);
  },
);

worldTest(
  "a member is added with its KeyPackage and Welcome, and reads from its joining commit on",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const bob = await Actor.connect(world, 2);
    const channelId = await alice.createChannel();
    await alice.send(channelId, 0, 1);
    await bob.client.call("UploadKeyPackage", { keyPackages: [bob.keyPackage()], replace: false });
    const nonce = new Uint8Array(16);
    const claimed = await alice.client.call("AddMember", {
      channelId,
      agentId: bob.agentId,
      nonce,
    });
    assertEquals(
      claimed,
      await alice.client.call("AddMember", { channelId, agentId: bob.agentId, nonce }),
    );
    assertEquals(claimed.keyPackage, bob.keyPackage());
    const { sequence, epoch } = await alice.commit(channelId, 0, { added: [bob.agentId] });
    assertEquals([sequence, epoch], [2, 1]);
    await settle();
    const [welcome] = bob.client.pushed("DeliverWelcome");
    assertEquals([welcome?.joinedSequence, welcome?.epoch, welcome?.name], [2, 1, channelName]);
    await alice.send(channelId, 1, 2);
    const subscribed = await bob.subscribe(channelId);
    assertEquals([subscribed.after, subscribed.head, subscribed.epoch], [2, 3, 1]);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").map(({ messageId }) => messageId), [
      idOf<MessageId>(2),
    ]);
  },
);

worldTest(
  "a Welcome is pushed at every connection until its joining commit is acknowledged",
  async (world) => {
    const { alice, channelId } = await createReadingPair(world);
    const carol = await Actor.connect(world, 3);
    const { sequence } = await alice.commit(channelId, 1, { added: [carol.agentId] });
    await settle();
    assertEquals(carol.client.pushed("DeliverWelcome").length, 1);
    await carol.reconnect();
    await settle();
    assertEquals(carol.client.pushed("DeliverWelcome").length, 1);
    const { channels } = await carol.client.call("ListChannels", { limit: 10 });
    assertEquals(channels.map(({ welcomePending, member }) => [welcomePending, member]), [[
      true,
      true,
    ]]);
    await carol.acknowledge(channelId, sequence);
    await carol.reconnect();
    await settle();
    assertEquals(carol.client.pushed("DeliverWelcome").length, 0);
  },
);

worldTest("a Welcome for many is made once and shared by all of them", async (world) => {
  const alice = await Actor.connect(world, 1);
  const joiners = await Promise.all([2, 3, 4].map((number) => Actor.connect(world, number)));
  const channelId = await alice.createChannel();
  const sent = joiners.map(({ client }) => {
    const bytes: Uint8Array[] = [];
    const send = client.send.bind(client);
    client.send = (lane, envelope): void => {
      bytes.push(envelope);
      send(lane, envelope);
    };
    return bytes;
  });
  await alice.commit(channelId, 0, { added: joiners.map(({ agentId }) => agentId) });
  await settle();
  assertEquals(joiners.map(({ client }) => client.pushed("DeliverWelcome").length), [1, 1, 1]);
  assert(sent.every((bytes) => bytes.length === 1 && bytes[0] === sent[0]?.[0]));
});

worldTest(
  "messages reach every other member once, in one order, and not their sender",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await Promise.all([
      alice.send(channelId, 1, 1),
      bob.send(channelId, 1, 2),
      alice.send(channelId, 1, 3),
    ]);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").map(({ messageId }) => messageId), [
      idOf(1),
      idOf(3),
    ]);
    assertEquals(alice.client.pushed("DeliverMessage").map(({ messageId }) => messageId), [
      idOf(2),
    ]);
  },
);

worldTest(
  "a message sent again gets its original answer, at a later epoch and without quota too",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    world.quota.left = 1;
    const first = await alice.send(channelId, 1, 1);
    assertEquals(await alice.send(channelId, 1, 1), { ...first, duplicate: true });
    await bob.commit(channelId, 1);
    assertEquals(await alice.send(channelId, 1, 1), { ...first, duplicate: true });
    const conflict = await refused("epoch_conflict", alice.send(channelId, 1, 2));
    assertEquals(conflict.body.epoch, 2);
    await refused("quota_exceeded", alice.send(channelId, 2, 2));
    assertEquals(world.meter.messagesAccepted, 1);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").length, 1);
  },
);

worldTest("agents of one account that send under the same id send two messages", async (world) => {
  const [alice, bob] = [await Actor.connect(world, 1, 1), await Actor.connect(world, 2, 1)];
  const channelId = await alice.createChannel();
  await alice.commit(channelId, 0, { added: [bob.agentId] });
  assertEquals((await alice.send(channelId, 1, 1)).duplicate, false);
  assertEquals((await bob.send(channelId, 1, 1)).duplicate, false);
  assertEquals((await bob.send(channelId, 1, 1)).duplicate, true);
});

worldTest(
  "of commits at once in one epoch one wins, and the same bytes again get the same answer",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const results = await Promise.allSettled([
      alice.commit(channelId, 1),
      bob.commit(channelId, 1),
      alice.commit(channelId, 1, { salt: 1 }),
    ]);
    assertEquals(results.filter(({ status }) => status === "fulfilled").length, 1);
    const again = await Promise.allSettled([alice.commit(channelId, 1), bob.commit(channelId, 1)]);
    const [duplicate] = again.flatMap((result) =>
      result.status === "fulfilled" ? [result.value] : []
    );
    assertEquals([duplicate?.duplicate, duplicate?.epoch], [true, 2]);
    const { epoch, commit } = await bob.client.call("FindCommit", {
      channelId,
      epoch: 1,
      generation: 0,
    });
    assertEquals([epoch, commit?.commitHash], [2, duplicate?.commitHash]);
    assertEquals(
      (await bob.client.call("FindCommit", { channelId, epoch: 2, generation: 0 })).commit,
      undefined,
    );
    await refused("epoch_conflict", alice.commit(channelId, 7));
  },
);

worldTest(
  "a member that was removed finds the commit that removed it, and none after it",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await alice.commit(channelId, 1, { removed: [bob.agentId] });
    await alice.commit(channelId, 2);
    const found = (epoch: number): Promise<ReplyBody<"FindCommit">> =>
      bob.client.call("FindCommit", { channelId, epoch, generation: 0 });
    assertEquals((await found(1)).commit?.sender, alice.agentId);
    assertEquals((await found(2)).commit, undefined);
  },
);

Deno.test("a commit is found as long as its author may be away, longer than its messages are kept", async () => {
  const limits = { ...defaultCoreConfig.limits, queueAgeMs: hourMs, lapseAgeMs: 4 * hourMs };
  const world = await createWorld({ config: { limits } });
  const alice = await Actor.connect(world, 1);
  const channelId = await alice.createChannel();
  await alice.commit(channelId, 0);
  const isFound = async (): Promise<boolean> =>
    (await alice.client.call("FindCommit", { channelId, epoch: 0, generation: 0 })).commit !==
      undefined;
  await world.time.advance(3 * hourMs);
  assertEquals(await isFound(), true);
  await world.time.advance(2 * hourMs);
  assertEquals(await isFound(), false);
  await world.close();
});

worldTest("a commit sent as a message, and the reverse, is refused", async (world) => {
  const { alice, channelId } = await createReadingPair(world);
  const { commit } = commitRequest(channelId, 1, { sender: alice.agent, salt: 0 }, {});
  const message = messageRequest(channelId, 1, 1);
  await refused(
    "invalid_request",
    alice.client.call("SendMessage", { ...message, ciphertext: commit }),
  );
  const asCommit = commitRequest(channelId, 1, { sender: alice.agent, salt: 0 }, {});
  await refused(
    "invalid_request",
    alice.client.call("SendCommit", { ...asCommit, commit: message.ciphertext }),
  );
  const other = createPrivateMessage({ epoch: 1 });
  await refused(
    "invalid_request",
    alice.client.call("SendMessage", { ...message, ciphertext: other }),
  );
  await refused(
    "invalid_request",
    alice.client.call("SendMessage", { ...message, messageId: idOf(2) }),
  );
  await refused("invalid_request", alice.client.call("SendMessage", { ...message, epoch: 2 }));
});

worldTest(
  "strangers are told not_found, exactly as for a channel that does not exist",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const eve = await Actor.connect(world, 3);
    const attempts = (id: typeof channelId): Promise<unknown>[] => [
      eve.send(id, 1, 1),
      eve.commit(id, 1),
      eve.subscribe(id),
      eve.acknowledge(id, 0),
      eve.client.call("ListMembers", { channelId: id }),
      eve.client.call("FindCommit", { channelId: id, epoch: 0, generation: 0 }),
      eve.client.call("CloseChannel", { channelId: id }),
      eve.leave(id),
      eve.client.call("AddMember", {
        channelId: id,
        agentId: bob.agentId,
        nonce: new Uint8Array(16),
      }),
      eve.client.call("RegisterInvite", {
        channelId: id,
        inviteId: idOf(1),
        expiresAtMs: startMs + dayMs,
        uses: 1,
      }),
      eve.client.call("RevokeInvite", { channelId: id, inviteId: idOf(1) }),
      eve.client.call("RejectJoin", {
        channelId: id,
        requestId: idOf(1),
        code: "join_rejected",
        message: "",
      }),
      eve.client.call("RequestJoin", {
        channelId: id,
        inviteId: idOf(1),
        keyPackage: eve.keyPackage(),
        mac: new Uint8Array(32),
        ttlMs: 1_000,
      }),
      eve.client.call("RequestRejoin", eve.rejoin(id)),
      eve.client.call("SendLeaf", {
        channelId: id,
        requestId: idOf(1),
        leafIndex: 0,
        leafNode: Uint8Array.of(1),
      }),
      eve.client.call("SendWelcome", {
        channelId: id,
        epoch: 1,
        recipients: [alice.agentId],
        welcome:
          commitRequest(id, 1, { sender: eve.agent, salt: 0 }, { added: [bob.agentId] }).welcomes[0]
            ?.welcome ??
            new Uint8Array(0),
      }),
    ];
    const real = await Promise.all(
      attempts(channelId).map((attempt) => refused("not_found", attempt)),
    );
    const unreal = await Promise.all(
      attempts(idOf(77)).map((attempt) => refused("not_found", attempt)),
    );
    assertEquals(real.map(({ message }) => message), unreal.map(({ message }) => message));
  },
);

worldTest("what a commit declares must fit the channel", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  const carol = createAgent(3).agentId;
  await refused("already_member", alice.commit(channelId, 1, { added: [bob.agentId] }));
  await refused("invalid_request", alice.commit(channelId, 1, { removed: [carol] }));
  await refused("invalid_request", alice.commit(channelId, 1, { removed: [alice.agentId] }));
  await refused("invalid_request", alice.commit(channelId, 1, { added: [carol, carol] }));
  const { welcomes } = commitRequest(channelId, 1, { sender: alice.agent, salt: 0 }, {
    added: [carol],
  });
  await refused("invalid_request", alice.commit(channelId, 1, { welcomes }));
  await refused("not_allowed", bob.commit(channelId, 1, { removed: [alice.agentId] }));
  await refused("not_allowed", bob.commit(channelId, 1, { owners: { agentIds: [bob.agentId] } }));
  await alice.commit(channelId, 1, { owners: { agentIds: [bob.agentId] } });
  await bob.commit(channelId, 2, { removed: [alice.agentId] });
  await refused("not_found", alice.send(channelId, 3, 1));
});

worldTest(
  "who is removed reads up to its removing commit and is told, also when it was away",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    bob.client.close();
    await alice.send(channelId, 1, 1);
    const { sequence } = await alice.commit(channelId, 1, { removed: [bob.agentId] });
    await alice.send(channelId, 2, 2);
    await bob.reconnect();
    await bob.subscribe(channelId);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").map(({ messageId }) => messageId), [idOf(1)]);
    assertEquals(bob.client.pushed("DeliverCommit").map((commit) => commit.sequence), [sequence]);
    assertEquals(bob.client.pushed("DeliverChannelEnd").map((end) => [end.reason, end.sequence]), [[
      "removed",
      sequence,
    ]]);
    await bob.acknowledge(channelId, sequence);
    await world.time.advance(2_000);
    await refused("not_found", bob.subscribe(channelId));
  },
);

worldTest(
  "a leaver is delivered nothing more; a member commits its removal; the last one out closes the channel",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const forged = { channelId, leafHash: new Uint8Array(32), signature: new Uint8Array(64) };
    await refused("invalid_request", bob.client.call("LeaveChannel", forged));
    const { sequence } = await bob.leave(channelId);
    assertEquals(await bob.leave(channelId), { sequence });
    await alice.send(channelId, 1, 1);
    await settle();
    assertEquals(bob.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["left"]);
    assertEquals(bob.client.pushed("DeliverMessage"), []);
    assertEquals(alice.client.pushed("DeliverLeave").map(({ sender }) => sender), [bob.agentId]);
    await alice.commit(channelId, 1, { removed: [bob.agentId] });
    await alice.leave(channelId);
    await settle();
    assertEquals((await alice.client.call("ListChannels", { limit: 1 })).channels, []);
    await alice.createChannel(2);
  },
);

worldTest(
  "closing frees the name, tells the members, and is the owner's or its account's right",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await refused("not_allowed", bob.client.call("CloseChannel", { channelId }));
    const sibling = await Actor.connect(world, 9, 1);
    const { closedAtMs } = await sibling.client.call("CloseChannel", { channelId });
    assertEquals(await alice.client.call("CloseChannel", { channelId }), { closedAtMs });
    await settle();
    assertEquals(bob.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["closed"]);
    await refused("not_found", bob.send(channelId, 1, 1));
    await alice.createChannel(2);
  },
);

worldTest(
  "reading resumes after what was consumed, and positions outside are refused",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    for (const number of [1, 2, 3]) await alice.send(channelId, 1, number);
    await settle();
    await bob.acknowledge(channelId, 3);
    await bob.reconnect();
    const { after, consumed } = await bob.subscribe(channelId);
    assertEquals([after, consumed], [3, 3]);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").map(({ sequence }) => sequence), [4]);
    assertEquals(bob.client.pushed("DeliverStart").map(({ tag }) => tag), [1]);
    await refused("cursor_invalid", bob.subscribe(channelId, 5));
    await refused("cursor_invalid", bob.subscribe(channelId, 0));
    await refused("cursor_invalid", bob.acknowledge(channelId, 99));
    assertEquals(await bob.acknowledge(channelId, 1), { consumed: 3 });
  },
);

worldTest(
  "a window holds deliveries back until they are received, and one is always under way",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await bob.subscribe(channelId, undefined, 1);
    for (const number of [1, 2, 3]) await alice.send(channelId, 1, number);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").length, 1);
    bob.client.notify("Acknowledge", { channelId, consumed: 0, received: 2 });
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").length, 2);
  },
);

worldTest(
  "a slow reader fills a bounded buffer, is cut off, and resumes; others notice nothing",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const carol = await Actor.connect(world, 3);
    await alice.commit(channelId, 1, { added: [carol.agentId] });
    await carol.acknowledge(channelId, 2);
    await carol.subscribe(channelId, undefined, 16 << 20);
    bob.client.stall();
    await bob.subscribe(channelId, undefined, 16 << 20);
    for (let number = 1; number <= 40; number++) await alice.send(channelId, 2, number, 32_000);
    await settle();
    assert(bob.client.pendingBytes < 400_000, `${bob.client.pendingBytes} bytes wait`);
    assertEquals(carol.client.pushed("DeliverMessage").length, 40);
    await world.time.advance(20_000);
    assertEquals(bob.client.ended?.code, "slow_reader");
    await bob.reconnect();
    await bob.subscribe(channelId, undefined, 16 << 20);
    await settle(20);
    assertEquals(bob.client.pushed("DeliverMessage").length, 40);
  },
);

worldTest("a reader that stops for a while is served in full when it goes on", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  await bob.subscribe(channelId, undefined, 16 << 20);
  bob.client.stall();
  for (let number = 1; number <= 60; number++) await alice.send(channelId, 1, number, 32_000);
  await settle();
  assert(bob.client.pushed("DeliverMessage").length < 20);
  bob.client.resume();
  await settle(30);
  assertEquals(bob.client.pushed("DeliverMessage").map(({ messageId }) => messageId).length, 60);
});

worldTest(
  "KeyPackages are the owner's own, valid, served once under any number of claims, then the last resort",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const carol = await Actor.connect(world, 3);
    const foreign = { keyPackages: [alice.keyPackage()], replace: false };
    await refused("key_package_invalid", carol.client.call("UploadKeyPackage", foreign));
    const upload = { keyPackages: [carol.keyPackage(1)], replace: false };
    assertEquals(await carol.client.call("UploadKeyPackage", upload), {
      stored: 1,
      hasLastResort: false,
    });
    const claim = (index: number): Promise<unknown> => {
      const nonce = new Uint8Array(16).fill(index);
      return (index % 2 ? alice : bob).client.call("AddMember", {
        channelId,
        agentId: carol.agentId,
        nonce,
      });
    };
    const claims = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => claim(index)),
    );
    assertEquals(claims.filter(({ status }) => status === "fulfilled").length, 1);
    await refused("key_package_missing", claim(101));
    assertEquals(await carol.client.call("UploadKeyPackage", upload), {
      stored: 0,
      hasLastResort: false,
    });
    await refused(
      "already_member",
      alice.client.call("AddMember", {
        channelId,
        agentId: bob.agentId,
        nonce: new Uint8Array(16),
      }),
    );
    assert(carol.client.pushed("KeyPackagesLow").length > 0);
  },
);

worldTest(
  "a join request goes to the inviter, its answer to the joiner, and a use is gone",
  async (world) => {
    const { alice, channelId } = await createReadingPair(world);
    const carol = await Actor.connect(world, 3);
    const inviteId = idOf<InviteId>(5);
    await alice.client.call("RegisterInvite", {
      channelId,
      inviteId,
      expiresAtMs: startMs + dayMs,
      uses: 1,
    });
    const ask = {
      channelId,
      inviteId,
      keyPackage: carol.keyPackage(),
      mac: new Uint8Array(32),
      ttlMs: 60_000,
    };
    const reply = await carol.client.call("RequestJoin", ask);
    assert(reply.inviterOnline);
    assertEquals((await carol.client.call("RequestJoin", ask)).requestId, reply.requestId);
    assertEquals(alice.client.pushed("DeliverJoinRequest").map(({ requestId }) => requestId), [
      reply.requestId,
    ]);
    await alice.commit(channelId, 1, { added: [carol.agentId], answers: [reply.requestId] });
    await settle();
    assertEquals(carol.client.pushed("DeliverWelcome").map(({ requestId }) => requestId), [
      reply.requestId,
    ]);
    const dave = await Actor.connect(world, 4);
    await refused(
      "not_found",
      dave.client.call("RequestJoin", { ...ask, keyPackage: dave.keyPackage() }),
    );
  },
);

worldTest(
  "a join request waits for an inviter that is away, and times out with a word to the joiner",
  async (world) => {
    const { alice, channelId } = await createReadingPair(world);
    const carol = await Actor.connect(world, 3);
    const inviteId = idOf<InviteId>(5);
    await alice.client.call("RegisterInvite", {
      channelId,
      inviteId,
      expiresAtMs: startMs + dayMs,
      uses: 2,
    });
    alice.client.close();
    const ask = {
      channelId,
      inviteId,
      keyPackage: carol.keyPackage(),
      mac: new Uint8Array(32),
      ttlMs: 60_000,
    };
    const { requestId, inviterOnline } = await carol.client.call("RequestJoin", ask);
    assertEquals(inviterOnline, false);
    await alice.reconnect();
    await settle();
    assertEquals(alice.client.pushed("DeliverJoinRequest").map((request) => request.requestId), [
      requestId,
    ]);
    await world.time.advance(60_001);
    assertEquals(carol.client.pushed("DeliverJoinRejected").map(({ code }) => code), [
      "join_timeout",
    ]);
    await carol.client.call("RequestJoin", ask);
    const rejection = {
      channelId,
      requestId: idOf<never>(0),
      code: "join_rejected",
      message: "no",
    };
    const [, second] = alice.client.pushed("DeliverJoinRequest");
    await alice.client.call("RejectJoin", {
      ...rejection,
      requestId: second?.requestId ?? idOf<never>(0),
    });
    assertEquals(carol.client.pushed("DeliverJoinRejected").map(({ code }) => code), [
      "join_timeout",
      "join_rejected",
    ]);
  },
);

worldTest("removing the inviter voids its invites, for good; rejoining does not", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  const carol = await Actor.connect(world, 3);
  const inviteId = idOf<InviteId>(5);
  await bob.client.call("RegisterInvite", {
    channelId,
    inviteId,
    expiresAtMs: startMs + dayMs,
    uses: 1,
  });
  await alice.commit(channelId, 1, { removed: [bob.agentId], added: [bob.agentId] });
  const ask = {
    channelId,
    inviteId,
    keyPackage: carol.keyPackage(),
    mac: new Uint8Array(32),
    ttlMs: 60_000,
  };
  await carol.client.call("RequestJoin", ask);
  await alice.commit(channelId, 2, { removed: [bob.agentId] });
  await refused("not_found", carol.client.call("RequestJoin", ask));
  await alice.commit(channelId, 3, { added: [bob.agentId] });
  await refused("not_found", carol.client.call("RequestJoin", ask));
  await bob.client.call("RegisterInvite", {
    channelId,
    inviteId,
    expiresAtMs: startMs + dayMs,
    uses: 1,
  });
  await carol.client.call("RequestJoin", ask);
});

worldTest(
  "what all have consumed is trimmed, and a sender's own messages hold nothing up",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    for (let number = 1; number <= 20; number++) await alice.send(channelId, 1, number);
    await settle();
    await bob.acknowledge(channelId, 21);
    await world.time.advance(2_000);
    await settle();
    assertEquals((await world.engine.queueSize(channelId)).messages, 0);
    assertEquals(await world.engine.read(channelId, { after: 0, maxBytes: 1 << 20 }), []);
    await alice.send(channelId, 1, 21);
    await settle();
    assertEquals(bob.client.pushed("DeliverMessage").at(-1)?.sequence, 22);
  },
);

worldTest(
  "messages that grow too old give way to a gap, commits stay, and who is away for too long lapses",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    bob.client.close();
    for (const number of [1, 2]) await alice.send(channelId, 1, number);
    await alice.commit(channelId, 1);
    await world.time.leap(8 * dayMs);
    await world.time.advance(2_000);
    await bob.reconnect();
    await bob.subscribe(channelId);
    await settle();
    const [gap] = bob.client.pushed("DeliverGap");
    assertEquals([gap?.firstSequence, gap?.lastSequence, gap?.messages, gap?.reason], [
      2,
      3,
      2,
      "age",
    ]);
    assertEquals(bob.client.pushed("DeliverCommit").map(({ epoch }) => epoch), [1]);
    bob.client.close();
    await world.time.leap(31 * dayMs);
    await alice.send(channelId, 2, 3);
    await world.time.advance(2_000);
    assertEquals(alice.client.pushed("DeliverLapse").map(({ agentId }) => agentId), [bob.agentId]);
    await bob.reconnect();
    await refused("membership_lapsed", bob.subscribe(channelId));
    await refused("membership_lapsed", bob.send(channelId, 2, 4));
  },
);

worldTest(
  "load is shed in order: connections, joins, messages; never commits or acknowledgements",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    world.load.lagMs = 300;
    const refusedClient = world.connect();
    assertEquals(refusedClient.ended?.code, "overloaded");
    await alice.send(channelId, 1, 1);
    world.load.lagMs = 1_500;
    await refused("overloaded", alice.createChannel(2));
    await alice.send(channelId, 1, 2);
    world.load.lagMs = 5_000;
    const shed = await refused("overloaded", alice.send(channelId, 1, 3));
    assert((shed.body.retryAfterMs ?? 0) > 0);
    await alice.commit(channelId, 1);
    await bob.acknowledge(channelId, 2);
  },
);

worldTest(
  "a drain takes no more connections and tells every client when to come back",
  async (world) => {
    const { alice, bob } = await createReadingPair(world);
    await world.core.drain();
    for (const { client } of [alice, bob]) {
      assertEquals(client.ended?.code, "relay_draining");
      assert((client.pushed("SessionEnding")[0]?.retryAfterMs ?? 0) > 0);
    }
    assertEquals(world.connect().ended?.code, "relay_draining");
  },
);

worldTest(
  "a drain of many spreads their ends over its time, and when they come back",
  async (world) => {
    const clients = Array.from({ length: 600 }, () => world.connect());
    const gone = (): number => clients.filter(({ ended }) => ended !== undefined).length;
    const drained = world.core.drain();
    assertEquals(gone(), 10);
    await world.time.advance(1_000);
    assert(gone() > 100 && gone() < 600, `${gone()} are gone`);
    await world.time.advance(2_000);
    await drained;
    assertEquals(gone(), 600);
    const waits = clients.map((client) => client.pushed("SessionEnding")[0]?.retryAfterMs ?? 0);
    assertEquals([Math.min(...waits), new Set(waits).size], [500, 600]);
    assert(Math.max(...waits) > 4_900);
  },
);

Deno.test("after a restart every accepted entry, membership and Welcome is there, and epochs go on", async () => {
  const before = await createWorld();
  const { alice, bob, channelId } = await createReadingPair(before);
  const carol = await Actor.connect(before, 3);
  await alice.send(channelId, 1, 1);
  await alice.commit(channelId, 1, { added: [carol.agentId] });
  await alice.send(channelId, 2, 2);
  const after = await createWorld({ engine: before.engine });
  for (const actor of [alice, bob, carol]) await actor.reconnect(after);
  await settle();
  assertEquals(carol.client.pushed("DeliverWelcome").map(({ joinedSequence }) => joinedSequence), [
    3,
  ]);
  await bob.subscribe(channelId);
  await settle();
  assertEquals(bob.client.pushed("DeliverMessage").map(({ sequence }) => sequence), [2, 4]);
  assertEquals((await alice.send(channelId, 1, 1)).duplicate, true);
  await refused("epoch_conflict", bob.commit(channelId, 1));
  assertEquals((await bob.commit(channelId, 2)).epoch, 3);
  await after.close();
  await before.close();
});

Deno.test("requests of one session that add to a log take effect in the order in which they were sent", async () => {
  const world = await createWorld();
  const { alice, bob, channelId } = await createReadingPair(world);
  const after = await createWorld({ engine: world.engine });
  await alice.reconnect(after);
  const sent = await Promise.all([1, 2, 3, 4].map((number) => alice.send(channelId, 1, number)));
  assertEquals(sent.map(({ sequence }) => sequence), [2, 3, 4, 5]);
  bob.client.close();
  await after.close();
  await world.close();
});

Deno.test("a session with too much under way is not read until some of it is done", async () => {
  const world = await createWorld({ config: { requestsInFlight: 2 } });
  const alice = await Actor.connect(world, 1);
  const first = alice.client.call("ListChannels", { limit: 1 });
  assertEquals(alice.client.pressure, undefined);
  const second = alice.client.call("ListChannels", { limit: 1 });
  assert(alice.client.pressure instanceof Promise);
  await Promise.all([first, second, alice.client.pressure]);
  await alice.client.call("Ping", {});
  assertEquals(alice.client.pressure, undefined);
  await world.close();
});
