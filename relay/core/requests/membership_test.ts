/**
 * Rights to change a channel's membership, as far as the relay can check them: it knows the
 * signers, and nothing of leaves.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { assertEquals } from "@std/assert";
import { leaveStatement, protocolVersion, type RequestBody } from "../../../proto/mod.ts";
import { createKeyPackage, createWelcome, mlsUint, mlsVector } from "../../../tests/support/mod.ts";
import { Actor, commitRequest } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { quietCluster } from "../testing/quiet_cluster.ts";
import { createReadingPair, createTrio, refused, worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld, idOf, startMs } from "../testing/world.ts";

const dayMs = 24 * 60 * 60 * 1000;

worldTest("a client of an older version of the protocol is told to update", async (world) => {
  const refusal = await refused(
    "unsupported_version",
    world.connect().call("GetChallenge", { versions: [1], features: [] }),
  );
  assertEquals(refusal.body.message.includes(`version ${protocolVersion}`), true);
  assertEquals(refusal.body.message.includes("update"), true);
});

worldTest(
  "a commit is taken only with its sender's signature over all that it declares",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const carol = createAgent(3).agentId;
    const owners = { agentIds: [alice.agentId, bob.agentId] };
    const signed = commitRequest(channelId, 1, { sender: alice.agent, salt: 0 }, {
      added: [carol],
      owners,
    });
    const other = commitRequest(channelId, 1, { sender: alice.agent, salt: 1 }, {
      added: [carol],
      owners,
    });
    const send = (change: Partial<RequestBody<"SendCommit">>): Promise<unknown> =>
      alice.client.call("SendCommit", { ...signed, ...change });
    await refused("invalid_request", send({ signature: new Uint8Array(64) }));
    await refused("invalid_request", send({ commit: other.commit }));
    await refused("invalid_request", send({ added: [] }));
    await refused("invalid_request", send({ removed: [bob.agentId] }));
    await refused("invalid_request", send({ owners: { agentIds: [alice.agentId] } }));
    await refused("invalid_request", send({ generation: 1 }));
    await refused("invalid_request", send({ state: signed.nextState }));
    await refused("invalid_request", send({ nextState: signed.state }));
    const { owners: _, ...unchanged } = signed;
    await refused("invalid_request", alice.client.call("SendCommit", unchanged));
    const { signature } = commitRequest(channelId, 1, { sender: bob.agent, salt: 0 }, {
      added: [carol],
      owners,
    });
    await refused("invalid_request", send({ signature }));
    await alice.client.call("SendCommit", signed);
    await settle();
    const [delivered] = bob.client.pushed("DeliverCommit");
    assertEquals([delivered?.signature, delivered?.generation], [signed.signature, 0]);
    assertEquals([delivered?.state, delivered?.nextState], [signed.state, signed.nextState]);
  },
);

worldTest("a commit is taken only in the state to which the one before it led", async (world) => {
  const { alice, channelId } = await createReadingPair(world);
  const state = new Uint8Array(32).fill(9);
  const send = (change: Partial<RequestBody<"SendCommit">>, salt: number): Promise<unknown> =>
    alice.client.call(
      "SendCommit",
      commitRequest(channelId, 1, { sender: alice.agent, salt }, change),
    );
  await refused("state_conflict", send({ state }, 0));
  await send({ nextState: state }, 2);
  const next = commitRequest(channelId, 2, { sender: alice.agent, salt: 3 }, {});
  await refused("state_conflict", alice.client.call("SendCommit", next));
  await alice.client.call(
    "SendCommit",
    commitRequest(channelId, 2, { sender: alice.agent, salt: 4 }, { state }),
  );
});

worldTest("members that left or lapsed stand in the way of no addition", async (world) => {
  const { alice, bob, carol, channelId } = await createTrio(world);
  await carol.leave(channelId);
  await bob.commit(channelId, 2, { added: [createAgent(4).agentId] });
  assertEquals((await alice.client.call("ListMembers", { channelId })).members.length, 4);
});

worldTest(
  "a second leave statement about another leaf takes the place of the first",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const first = await bob.leave(channelId, 1);
    assertEquals(await bob.leave(channelId, 1), first);
    await bob.leave(channelId, 2);
    await settle();
    const told = alice.client.pushed("DeliverLeave");
    assertEquals(told.map(({ leafHash }) => leafHash[0]), [1, 2]);
    const { members } = await alice.client.call("ListMembers", { channelId });
    assertEquals(members.filter(({ leaving }) => leaving).length, 1);
  },
);

worldTest(
  "a member that owns nothing removes those that left, and nobody that lapsed",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    for (const each of [alice, carol]) each.client.close();
    await world.time.leap(31 * dayMs);
    await bob.send(channelId, 2, 1);
    await world.time.leap(31 * dayMs);
    await world.time.advance(2_000);
    assertEquals(world.meter.membersLapsed, 2);
    await refused("not_allowed", bob.commit(channelId, 2, { removed: [carol.agentId] }));
    await carol.reconnect();
    await carol.leave(channelId);
    await bob.commit(channelId, 2, { removed: [carol.agentId] });
  },
);

worldTest(
  "the last member that is in does not lapse, however long it is away: nobody could let it in again",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await alice.commit(channelId, 1);
    await bob.commit(channelId, 2);
    for (const each of [alice, bob]) each.client.close();
    for (let month = 0; month < 3; month++) {
      await world.time.leap(31 * dayMs);
      await world.time.advance(2_000);
    }
    assertEquals(world.meter.membersLapsed, 1);
    // An owner that lapsed may still read on, so the list is asked.
    await alice.reconnect();
    await bob.reconnect();
    const asked = await Promise.allSettled(
      [alice, bob].map((each) => each.client.call("ListMembers", { channelId })),
    );
    const lists = asked.flatMap((outcome) =>
      outcome.status === "fulfilled" ? [outcome.value.members] : []
    );
    assertEquals(lists[0]?.filter(({ leaving }) => !leaving).length, 1);
  },
);

worldTest(
  "an agent that leaves a membership which is over is told so, and does not leave the one that has begun",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const leafHash = new Uint8Array(32).fill(1);
    const signature = bob.agent.sign(leaveStatement({ channelId, agentId: bob.agentId, leafHash }));
    const { members } = await bob.client.call("ListMembers", { channelId });
    const joinedSequence = members.find(({ agentId }) => agentId === bob.agentId)?.joinedSequence ??
      0;
    await alice.commit(channelId, 1, { added: [bob.agentId], removed: [bob.agentId] });
    const body = { channelId, leafHash, signature };
    await refused("state_conflict", bob.client.call("LeaveChannel", { ...body, joinedSequence }));
    const after = (await alice.client.call("ListMembers", { channelId })).members;
    assertEquals(after.filter(({ leaving }) => leaving), []);
    const present = after.find(({ agentId }) => agentId === bob.agentId)?.joinedSequence ?? 0;
    await bob.client.call("LeaveChannel", { ...body, joinedSequence: present });
  },
);

worldTest(
  "a member asks to rejoin with its own signature, whatever the channel's epoch, and any member answers",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    const ask = carol.rejoin(channelId);
    await refused(
      "invalid_request",
      carol.client.call("RequestRejoin", { ...ask, signature: new Uint8Array(64) }),
    );
    await refused(
      "invalid_request",
      carol.client.call("RequestRejoin", { ...ask, leafHash: new Uint8Array(32) }),
    );
    await refused(
      "invalid_request",
      carol.client.call("RequestRejoin", { ...ask, keyPackage: carol.keyPackage(9) }),
    );
    const { requestId } = await carol.client.call("RequestRejoin", ask);
    assertEquals((await carol.client.call("RequestRejoin", ask)).requestId, requestId);
    const heard = [alice, bob].map(({ client }) =>
      client.pushed("DeliverRejoinRequest").map(({ epoch }) => epoch)
    );
    assertEquals(heard, [[1], [1]]);
    const back = { added: [carol.agentId], removed: [carol.agentId] };
    await refused("not_allowed", bob.commit(channelId, 2, back));
    await refused("not_allowed", bob.commit(channelId, 2, { ...back, answers: [idOf(9)] }));
    await refused(
      "not_allowed",
      bob.commit(channelId, 2, { removed: [carol.agentId], answers: [requestId] }),
    );
    const { sequence } = await bob.commit(channelId, 2, { ...back, answers: [requestId] });
    await settle();
    assertEquals(carol.client.pushed("DeliverWelcome").at(-1)?.joinedSequence, sequence);
    await refused("not_allowed", bob.commit(channelId, 3, { ...back, answers: [requestId] }));
  },
);

worldTest(
  "a request to rejoin that names a member is passed to it alone, and only its answer is taken",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    const ask = { ...carol.rejoin(channelId), answerer: bob.agentId };
    const { requestId } = await carol.client.call("RequestRejoin", ask);
    await alice.subscribe(channelId);
    assertEquals(alice.client.pushed("DeliverRejoinRequest"), []);
    assertEquals(bob.client.pushed("DeliverRejoinRequest").map(({ answerer }) => answerer), [
      bob.agentId,
    ]);
    await bob.subscribe(channelId);
    assertEquals(bob.client.pushed("DeliverRejoinRequest").length, 2);
    const back = { added: [carol.agentId], removed: [carol.agentId], answers: [requestId] };
    await refused("not_allowed", alice.commit(channelId, 2, back));
    await bob.commit(channelId, 2, back);
  },
);

worldTest("nobody can turn down another member's request to rejoin", async (world) => {
  const { bob, carol, channelId } = await createTrio(world);
  const { requestId } = await carol.client.call("RequestRejoin", carol.rejoin(channelId));
  await bob.client.call("RejectJoin", {
    channelId,
    requestId,
    code: "join_rejected",
    message: "no",
  });
  assertEquals(carol.client.pushed("DeliverJoinRejected"), []);
  const back = { added: [carol.agentId], removed: [carol.agentId], answers: [requestId] };
  await bob.commit(channelId, 2, back);
});

worldTest(
  "a leave withdraws the request to rejoin, and nobody that has left asks for another",
  async (world) => {
    const { bob, carol, channelId } = await createTrio(world);
    const { requestId } = await carol.client.call("RequestRejoin", carol.rejoin(channelId));
    await carol.leave(channelId);
    const leaf = { channelId, requestId, leafIndex: 2, leafNode: Uint8Array.of(1) };
    await refused("not_found", bob.client.call("SendLeaf", leaf));
    await refused(
      "not_found",
      carol.client.call("RequestRejoin", carol.rejoin(channelId, carol.keyPackage(5))),
    );
  },
);

worldTest(
  "an answer to a request that its agent has withdrawn by leaving brings nobody in, also if an owner gives it",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    const { requestId } = await carol.client.call("RequestRejoin", carol.rejoin(channelId));
    await carol.leave(channelId);
    const back = { added: [carol.agentId], removed: [carol.agentId], answers: [requestId] };
    for (const member of [alice, bob]) {
      await refused("not_allowed", member.commit(channelId, 2, back));
    }
    await bob.commit(channelId, 2, { removed: [carol.agentId] });
    assertEquals((await alice.client.call("ListMembers", { channelId })).members.length, 2);
  },
);

worldTest("a leaf goes to the asker, once from each member that may answer", async (world) => {
  const { alice, bob, carol, channelId } = await createTrio(world);
  const { requestId } = await carol.client.call("RequestRejoin", carol.rejoin(channelId));
  const leaf = { channelId, requestId, leafIndex: 2, leafNode: Uint8Array.of(1, 2) };
  await bob.client.call("SendLeaf", leaf);
  await refused(
    "not_allowed",
    bob.client.call("SendLeaf", { ...leaf, leafNode: Uint8Array.of(3) }),
  );
  await alice.client.call("SendLeaf", leaf);
  await refused("not_found", carol.client.call("SendLeaf", leaf));
  await refused("not_found", bob.client.call("SendLeaf", { ...leaf, requestId: idOf(5) }));
  const senders = carol.client.pushed("DeliverLeaf").map(({ sender }) => sender);
  assertEquals(senders, [bob.agentId, alice.agentId]);
  const named = { ...carol.rejoin(channelId, carol.keyPackage(5)), answerer: alice.agentId };
  const again = await carol.client.call("RequestRejoin", named);
  await refused("not_found", bob.client.call("SendLeaf", { ...leaf, requestId: again.requestId }));
});

worldTest(
  "a request to rejoin that is made once more is told once more, and may be answered with a leaf again",
  async (world) => {
    const { bob, carol, channelId } = await createTrio(world);
    const ask = carol.rejoin(channelId);
    const { requestId } = await carol.client.call("RequestRejoin", ask);
    const leaf = { channelId, requestId, leafIndex: 2, leafNode: Uint8Array.of(1, 2) };
    await bob.client.call("SendLeaf", leaf);
    await carol.client.call("RequestRejoin", ask);
    assertEquals(bob.client.pushed("DeliverRejoinRequest").length, 1, "not at once");
    await world.time.advance(5_000);
    await carol.client.call("RequestRejoin", ask);
    assertEquals(bob.client.pushed("DeliverRejoinRequest").map((told) => told.requestId), [
      requestId,
      requestId,
    ]);
    await bob.client.call("SendLeaf", leaf);
    assertEquals(carol.client.pushed("DeliverLeaf").length, 2);
  },
);

worldTest(
  "a member asks to rejoin 600 times an hour, half of them at once, and no more",
  async (world) => {
    const { bob, carol, channelId } = await createTrio(world);
    const ask = carol.rejoin(channelId);
    for (let number = 0; number < 300; number++) await carol.client.call("RequestRejoin", ask);
    const { body } = await refused("rate_limited", carol.client.call("RequestRejoin", ask));
    assertEquals(body.retryAfterMs, 12_000);
    await bob.client.call("RequestRejoin", bob.rejoin(channelId));
    await world.time.advance(12_000);
    await carol.client.call("RequestRejoin", ask);
    await refused("rate_limited", carol.client.call("RequestRejoin", ask));
  },
);

worldTest(
  "an agent that has left says so about other leaves 16 times an hour, and no more",
  async (world) => {
    const { carol, channelId } = await createTrio(world);
    let number = 0;
    const leave = (): Promise<unknown> => carol.leave(channelId, number++);
    await leave();
    for (let again = 0; again < 8; again++) await leave();
    await refused("rate_limited", leave());
    for (let again = 8; again < 16; again++) {
      await world.time.advance(450_000);
      await leave();
      await refused("rate_limited", leave());
    }
  },
);

worldTest(
  "a Welcome is taken from the member that added its recipient, and from nobody else",
  async (world) => {
    const { alice, bob, channelId } = await createTrio(world);
    const dave = await Actor.connect(world, 4);
    await alice.commit(channelId, 2, { added: [dave.agentId] });
    const body = { channelId, epoch: 3, recipients: [dave.agentId], welcome: createWelcome(1) };
    await refused("not_allowed", bob.client.call("SendWelcome", body));
    const { sequence } = await alice.client.call("SendWelcome", body);
    await settle();
    assertEquals(
      dave.client.pushed("DeliverWelcome").map(({ sender }) => sender).at(-1),
      alice.agentId,
    );
    assertEquals(dave.client.pushed("DeliverWelcome").at(-1)?.sequence, sequence);
  },
);

worldTest(
  "an owner that left is no owner when it comes back, and a channel may lose its last owner so",
  async (world) => {
    const { alice, bob, channelId } = await createTrio(world);
    await alice.leave(channelId);
    const swap = { removed: [alice.agentId], added: [alice.agentId] };
    await refused(
      "not_allowed",
      bob.commit(channelId, 2, { ...swap, owners: { agentIds: [alice.agentId] } }),
    );
    await bob.commit(channelId, 2, { ...swap, owners: { agentIds: [] } });
    const { members } = await bob.client.call("ListMembers", { channelId });
    assertEquals(members.filter(({ owner }) => owner), []);
  },
);

worldTest(
  "an owner that left closes no channel of another account, and one that stays does",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await alice.commit(channelId, 1, { owners: { agentIds: [alice.agentId, bob.agentId] } });
    await bob.leave(channelId);
    await refused("not_found", bob.client.call("CloseChannel", { channelId }));
    await alice.client.call("CloseChannel", { channelId });
  },
);

Deno.test("a member that is online at another relay does not lapse here, however much it leaves unread", async () => {
  const online = new Set<string>();
  const cluster = quietCluster({ isOnline: (agentId) => online.has(agentId) });
  const world = await createWorld({ cluster });
  try {
    const { alice, bob, carol, channelId } = await createTrio(world);
    await alice.commit(channelId, 2);
    online.add(bob.agentId);
    for (const each of [bob, carol]) each.client.close();
    await world.time.leap(31 * dayMs);
    await world.time.advance(2_000);
    const { members } = await alice.client.call("ListMembers", { channelId });
    assertEquals(members.filter(({ leaving }) => leaving).map(({ agentId }) => agentId), [
      carol.agentId,
    ]);
  } finally {
    await world.close();
  }
});

worldTest(
  "a KeyPackage whose leaf does not list the extensions of channels is not taken",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const { secretKey, identity } = alice.agent;
    const one = mlsVector(mlsUint(1, 2));
    const capabilities = concatBytes(
      one,
      mlsVector(mlsUint(3, 2)),
      mlsVector(mlsUint(0xf5c0, 2)),
      mlsVector(),
      one,
    );
    const lifetime = { notBeforeMs: startMs - dayMs, notAfterMs: startMs + dayMs };
    const keyPackage = createKeyPackage({ secretKey, identity, capabilities, ...lifetime });
    await refused(
      "key_package_invalid",
      alice.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false }),
    );
    const whole = createKeyPackage({ secretKey, identity, ...lifetime });
    await alice.client.call("UploadKeyPackage", { keyPackages: [whole], replace: false });
  },
);
