/** Requests of dishonest or careless clients: none of them may cost others anything. */
import { assertEquals, assertLess } from "@std/assert";
import {
  type ChannelId,
  type InviteId,
  parseAccountId,
  parseChannelName,
  protocolVersion,
} from "../../../proto/mod.ts";
import { createWelcome } from "../../../tests/support/mod.ts";
import { Actor, joinRequest, registerInvite } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { createPair, refused, worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld, idOf, startMs, tokenOf } from "../testing/world.ts";

const hourMs = 60 * 60 * 1000;

worldTest(
  "a session is never that of two agents, however it answers two challenges at once",
  async (world) => {
    const challenge = { versions: [protocolVersion], features: [] };
    const token = tokenOf(1, startMs + hourMs);
    const client = world.connect();
    const { nonce } = await client.call("GetChallenge", challenge);
    // The second answer comes while the token of the first is looked at.
    const first = client.call("Authenticate", client.answer(createAgent(1), token, nonce));
    client.call("GetChallenge", challenge);
    const second = client.call("Authenticate", client.answer(createAgent(2), token, nonceOf(2)));
    assertEquals((await first).agentId, createAgent(1).agentId);
    await refused("invalid_request", second);
    await settle();
    assertEquals(world.core.stats().authenticated, 1);
    client.close();
    assertEquals([world.core.stats().sessions, world.core.stats().authenticated], [0, 0]);
  },
  { random: countedNonces() },
);

worldTest("a commit answers only the requests of those whom it adds", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  const carol = await Actor.connect(world, 3);
  const inviteId = await registerInvite(alice, channelId);
  const { requestId } = await carol.client.call(
    "RequestJoin",
    joinRequest(carol, channelId, inviteId),
  );
  await bob.commit(channelId, 1, { answers: [requestId] });
  await settle();
  assertEquals(world.core.stats().joinRequests, 1);
  await world.time.advance(60_000);
  assertEquals(carol.client.pushed("DeliverJoinRejected").map(({ code }) => code), [
    "join_timeout",
  ]);
  const again = await carol.client.call("RequestJoin", joinRequest(carol, channelId, inviteId));
  await alice.commit(channelId, 2, { added: [carol.agentId], answers: [again.requestId] });
  await alice.commit(channelId, 3, { removed: [carol.agentId] });
  await alice.commit(channelId, 4, { added: [carol.agentId] });
  await settle();
  const welcomes = carol.client.pushed("DeliverWelcome");
  assertEquals(welcomes.map((welcome) => welcome.requestId), [again.requestId, undefined]);
});

worldTest(
  "claims of agents that were invented take no room among those whose claims are counted",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const { agentId } = createAgent(20);
    for (const number of [1, 2]) {
      const nonce = new Uint8Array(16).fill(number);
      await refused(
        "key_package_missing",
        alice.client.call("AddMember", { channelId, agentId, nonce }),
      );
    }
  },
  { config: { claimsPerTargetAndHour: 1 } },
);

worldTest(
  "one account gets its share of an agent's KeyPackages, then its last resort; others get theirs",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const carol = await Actor.connect(world, 3);
    const keyPackages = Array.from({ length: 6 }, (_, number) => carol.keyPackage(number));
    const lastResort = carol.keyPackage(9, true);
    const uploading = carol.client.call("UploadKeyPackage", {
      keyPackages,
      lastResort,
      replace: false,
    });
    await world.time.advance(100);
    await uploading;
    let nonces = 0;
    const claim = async ({ client }: Actor): Promise<boolean> => {
      const nonce = new Uint8Array(16).fill(++nonces);
      return (await client.call("AddMember", { channelId, agentId: carol.agentId, nonce }))
        .lastResort;
    };
    assertEquals([await claim(alice), await claim(alice), await claim(alice)], [
      false,
      false,
      true,
    ]);
    assertEquals([await claim(bob), await claim(bob), await claim(bob)], [false, false, true]);
    const { body } = await refused("rate_limited", claim(alice));
    assertEquals(body.retryAfterMs, hourMs / 3);
  },
  { config: { singleUseClaimsPerTargetAndHour: 4, claimsPerTargetAndHour: 6 } },
);

worldTest("strangers leave each other something of a small pool", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  const carol = await Actor.connect(world, 3);
  const keyPackages = Array.from({ length: 10 }, (_, number) => carol.keyPackage(number));
  const uploading = carol.client.call("UploadKeyPackage", { keyPackages, replace: false });
  await world.time.advance(100);
  await uploading;
  let nonces = 0;
  const claims = async ({ client }: Actor): Promise<number> => {
    for (let claimed = 0;; claimed++) {
      const nonce = new Uint8Array(16).fill(++nonces);
      const reply = await client.call("AddMember", { channelId, agentId: carol.agentId, nonce })
        .catch(() => undefined);
      if (reply === undefined) return claimed;
    }
  };
  assertEquals([await claims(alice), await claims(bob)], [5, 3]);
});

worldTest(
  "claims that one agent's limit refuses leave the account its claims of others",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const [carol, dave] = [await Actor.connect(world, 3), await Actor.connect(world, 4)];
    for (const target of [carol, dave]) {
      const lastResort = target.keyPackage(9, true);
      await target.client.call("UploadKeyPackage", { keyPackages: [], lastResort, replace: false });
    }
    let nonces = 0;
    const claim = ({ agentId }: Actor): Promise<unknown> =>
      alice.client.call("AddMember", {
        channelId,
        agentId,
        nonce: new Uint8Array(16).fill(++nonces),
      });
    await claim(carol);
    const tries = await Promise.allSettled(Array.from({ length: 30 }, () => claim(carol)));
    assertEquals(tries.at(-1)?.status, "rejected");
    await claim(dave);
  },
  { config: { claimsPerAccountAndHour: 20, claimsPerTargetAndHour: 4 } },
);

worldTest(
  "an account claims a bounded number of KeyPackages, of whomever they are",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const targets = await Promise.all([3, 4, 5].map((number) => Actor.connect(world, number)));
    const claim = async (target: Actor): Promise<unknown> => {
      await target.client.call("UploadKeyPackage", {
        keyPackages: [target.keyPackage()],
        replace: false,
      });
      const nonce = new Uint8Array(16).fill(1);
      return await alice.client.call("AddMember", { channelId, agentId: target.agentId, nonce });
    };
    const [first, second, third] = targets;
    if (first === undefined || second === undefined || third === undefined) {
      throw new Error(
        "three have come",
      );
    }
    await claim(first);
    await claim(second);
    await refused("rate_limited", claim(third));
  },
  { config: { claimsPerAccountAndHour: 4 } },
);

worldTest(
  "accounts share evenly what may wait for an agent that did not ask, and a newcomer has its part",
  async (world) => {
    const victim = createAgent(50);
    const accounts = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((number) => Actor.connect(world, number)),
    );
    let made = 0;
    const add = async (by: Actor | undefined, bytes: number): Promise<unknown> => {
      const channelId = await by?.createChannel(++made, parseChannelName(`a/b/${made}`)) ?? idOf(0);
      const welcomes = [{ recipients: [victim.agentId], welcome: createWelcome(1, bytes / 2) }];
      return await by?.commit(channelId, 0, { added: [victim.agentId], welcomes });
    };
    const [first, ...others] = accounts;
    await add(first, 24_000);
    await refused("queue_full", add(first, 8_000));
    for (const other of others.slice(0, 3)) await add(other, 24_000);
    // Four have all that four may have: the fifth has a fifth, and the sixth what is guaranteed.
    await refused("queue_full", add(accounts[4], 24_000));
    await add(accounts[4], 16_000);
    await add(accounts[5], 18_000);
    await refused("queue_full", add(accounts[5], 4_000));
    assertEquals(world.meter.welcomesRefused, 3);
  },
  { config: { welcomeBytesPerAgent: 100_000, welcomeBytesGuaranteed: 19_000 } },
);

worldTest(
  "additions at the same time do not pass by together what each may wait for alone",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const victim = createAgent(50);
    const channels: ChannelId[] = [];
    for (let i = 1; i <= 8; i++) {
      channels.push(
        await alice.createChannel(i, parseChannelName(`a/b/${i}`)),
      );
    }
    const welcomes = [{ recipients: [victim.agentId], welcome: createWelcome(1, 4_000) }];
    const adding = channels.map((channelId) =>
      alice.commit(channelId, 0, { added: [victim.agentId], welcomes })
    );
    const outcomes = await Promise.allSettled(adding);
    assertLess(outcomes.filter(({ status }) => status === "fulfilled").length, 4);
  },
  { config: { welcomeBytesPerAgent: 100_000, welcomeBytesGuaranteed: 0 } },
);

worldTest(
  "a Welcome that is sent once more to who asked is not counted as unasked",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const carol = await Actor.connect(world, 3);
    const channelId = await alice.createChannel();
    const inviteId = await registerInvite(alice, channelId);
    const { requestId } = await carol.client.call(
      "RequestJoin",
      joinRequest(carol, channelId, inviteId),
    );
    await alice.commit(channelId, 0, {
      added: [carol.agentId],
      answers: [requestId],
      welcomes: [],
    });
    const welcome = { channelId, epoch: 1, recipients: [carol.agentId], welcome: createWelcome(1) };
    await alice.client.call("SendWelcome", welcome);
  },
  { config: { welcomeBytesPerAgent: 0, welcomeBytesGuaranteed: 0 } },
);

worldTest(
  "the invites of a channel are bounded, count as storage, and end with it",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const channelId = await alice.createChannel();
    const before = await world.engine.accountBytes(parseAccountId(alice.accountId));
    const register = (number: number, uses = 1): Promise<unknown> => {
      const inviteId = idOf<InviteId>(number);
      return alice.client.call("RegisterInvite", {
        channelId,
        inviteId,
        expiresAtMs: startMs + hourMs,
        uses,
      });
    };
    for (const number of [1, 2, 3]) await register(number, 2);
    const { body } = await refused("rate_limited", register(4));
    assertEquals(body.retryAfterMs, 60_000);
    assertLess(before + 3 * 200, await world.engine.accountBytes(parseAccountId(alice.accountId)));
    // One that is used takes no more room; one that is withdrawn makes some.
    const carol = await Actor.connect(world, 3);
    const { requestId } = await carol.client.call(
      "RequestJoin",
      joinRequest(carol, channelId, idOf<InviteId>(1)),
    );
    await alice.commit(channelId, 0, { added: [carol.agentId], answers: [requestId] });
    await settle();
    await alice.client.call("RevokeInvite", { channelId, inviteId: idOf<InviteId>(2) });
    await register(4);
    await alice.client.call("CloseChannel", { channelId });
    await world.time.leap(8 * 24 * hourMs);
    assertEquals(await world.engine.records.get(`invite/${channelId}/${idOf(1)}`), undefined);
    assertEquals(await world.engine.accountBytes(parseAccountId(alice.accountId)), 0);
  },
  { config: { invitesPerChannel: 3 } },
);

worldTest(
  "an agent is asked for KeyPackages when half of its pool is left, because strangers get no more",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const carol = await Actor.connect(world, 3);
    const keyPackages = Array.from({ length: 30 }, (_, number) => carol.keyPackage(number));
    const uploading = carol.client.call("UploadKeyPackage", { keyPackages, replace: false });
    await world.time.advance(1_000);
    await uploading;
    const asked = (): number => carol.client.pushed("KeyPackagesLow").length;
    const before = asked();
    for (let number = 0; number < 15; number++) {
      assertEquals(asked(), before);
      const nonce = new Uint8Array(16).fill(number + 1);
      await alice.client.call("AddMember", { channelId, agentId: carol.agentId, nonce });
      await settle();
    }
    assertEquals(
      carol.client.pushed("KeyPackagesLow").slice(before).map((
        { remaining, wanted },
      ) => [remaining, wanted]),
      [
        [15, 85],
      ],
    );
  },
  { config: { singleUseClaimsPerTargetAndHour: 40 } },
);

worldTest(
  "a commit that adds many is looked at in slices, and its account pays for each that it names",
  async (world) => {
    const added = Array.from({ length: 100 }, (_, number) => createAgent(20 + number).agentId);
    let [lookups, most] = [0, 0];
    const counted = new Proxy(world.engine, {
      get: (engine, property): unknown => {
        const value: unknown = Reflect.get(engine, property);
        if (property !== "joining") return typeof value === "function" ? value.bind(engine) : value;
        return async (query: Parameters<typeof engine.joining>[0]): Promise<unknown> => {
          most = Math.max(most, ++lookups);
          return await engine.joining(query).finally(() => lookups--);
        };
      },
    });
    const config = { accountWorkMs: 100, accountWorkMsPerSecond: 10 };
    const other = await createWorld({ engine: counted, config });
    const alice = await Actor.connect(other, 1);
    const channelId = await alice.createChannel();
    const add = (): Promise<unknown> => alice.commit(channelId, 0, { added, welcomes: [] });
    await add();
    assertLess(most, 10);
    await add();
    await add();
    await refused("rate_limited", add());
    await other.close();
  },
);

worldTest("who asked is let in however much waits for it", async (world) => {
  const alice = await Actor.connect(world, 1);
  const carol = await Actor.connect(world, 3);
  const channelId = await alice.createChannel();
  const inviteId = await registerInvite(alice, channelId);
  const { requestId } = await carol.client.call(
    "RequestJoin",
    joinRequest(carol, channelId, inviteId),
  );
  await refused("queue_full", alice.commit(channelId, 0, { added: [carol.agentId] }));
  await alice.commit(channelId, 0, { added: [carol.agentId], answers: [requestId] });
}, { config: { welcomeBytesPerAgent: 0, welcomeBytesGuaranteed: 0 } });

worldTest(
  "commits and Welcomes that nobody takes fill no disk, and removing who does not take them makes room",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const carol = await Actor.connect(world, 3);
    await alice.commit(channelId, 1, { added: [carol.agentId] });
    const welcome = (number: number): Promise<unknown> =>
      alice.client.call("SendWelcome", {
        channelId,
        epoch: 2,
        recipients: [carol.agentId],
        welcome: createWelcome(1, 2_000 + number),
      });
    let sent = 0;
    while (await welcome(sent).then(() => true, () => false)) sent++;
    assertEquals(sent, 4);
    const { body } = await refused("queue_full", welcome(sent));
    assertEquals(body.retryAfterMs, 60_000);
    await alice.commit(channelId, 2, { removed: [carol.agentId] });
    await alice.acknowledge(channelId, alice.client.pushed("DeliverCommit").length);
    await bob.reconnect();
    const { head } = await bob.subscribe(channelId);
    await alice.acknowledge(channelId, head);
    await bob.acknowledge(channelId, head);
    await carol.subscribe(channelId);
    await carol.acknowledge(channelId, head);
    carol.client.close();
    await world.time.advance(2_000);
    await alice.commit(channelId, 3, { added: [carol.agentId] });
  },
  { config: { logBytesPerChannel: 20_000 } },
);

worldTest(
  "an account fills no disk by spreading what nobody takes over many channels",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const { agentId } = createAgent(20);
    const fill = async (number: number): Promise<unknown> => {
      const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
      await alice.commit(channelId, 0, { added: [agentId] });
      const welcome = createWelcome(1, 5_000);
      return alice.client.call("SendWelcome", {
        channelId,
        epoch: 1,
        recipients: [agentId],
        welcome,
      });
    };
    await fill(1);
    await fill(2);
    await refused("storage_full", fill(3));
  },
  { config: { logBytesPerChannel: 20_000, storageBytesPerAccount: 42_000 / 16 } },
);

worldTest(
  "an account that adds somebody everywhere is stopped until it comes; others still add it",
  async (world) => {
    const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
    const other = await Actor.connect(world, 3);
    const made = [];
    for (let number = 1; number <= 3; number++) {
      made.push(await alice.createChannel(number, parseChannelName(`a/b/${number}`)));
    }
    const [first, second, third] = made;
    if (first === undefined || second === undefined || third === undefined) {
      throw new Error(
        "three were made",
      );
    }
    await alice.commit(first, 0, { added: [bob.agentId] });
    await alice.commit(second, 0, { added: [bob.agentId] });
    await refused("queue_full", alice.commit(third, 0, { added: [bob.agentId] }));
    // Again into the same channel is not one more.
    await alice.commit(second, 1, { removed: [bob.agentId], added: [bob.agentId] });
    await other.commit(await other.createChannel(4, parseChannelName("c/d/4")), 0, {
      added: [bob.agentId],
    });
    await bob.subscribe(first);
    await bob.acknowledge(first, 1);
    await world.time.advance(2_000);
    await alice.commit(third, 0, { added: [bob.agentId] });
  },
  { config: { joiningPerAccount: 2 } },
);

worldTest("who connects costs what waits for it, not what its account has", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  for (let number = 2; number < 10; number++) {
    await alice.createChannel(number, parseChannelName(`a/b/${number}`));
  }
  const welcoming = await alice.createChannel(10, parseChannelName("a/b/10"));
  await alice.commit(welcoming, 0, { added: [bob.agentId] });
  await world.core.close();
  const restarted = await createWorld({ engine: world.engine });
  await alice.reconnect(restarted);
  await bob.reconnect(restarted);
  await settle();
  assertEquals(bob.client.pushed("DeliverWelcome").map((welcome) => welcome.channelId), [
    welcoming,
  ]);
  assertEquals(restarted.core.stats().channels, 1);
  assertEquals((await bob.client.call("ListChannels", { limit: 5 })).channels.length, 2);
  assertEquals((await bob.subscribe(channelId)).after, 1);
  await restarted.close();
});

worldTest("CreateChannel sent again is answered at the account's limit too", async (world) => {
  const alice = await Actor.connect(world, 1);
  const [first, second] = ["a/b/1", "a/b/2"].map(parseChannelName);
  const made = await alice.createChannel(1, first);
  await refused("rate_limited", alice.createChannel(2, second));
  assertEquals(await alice.createChannel(1, first), made);
}, { config: { channelsPerAccount: 1 } });

worldTest("a stranger that sends and never reads is cut off early", async (world) => {
  const client = world.connect();
  client.stall();
  for (let sent = 0; sent < 20_000 && client.ended === undefined; sent++) {
    client.call("Ping", {});
    if (sent % 50 === 0) await settle(1);
  }
  assertEquals(client.ended?.code, "slow_reader");
  assertLess(client.pendingBytes, 300_000);
});

worldTest("an owner that has left cannot close the channel any more", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  await alice.commit(channelId, 1, { owners: { agentIds: [alice.agentId, bob.agentId] } });
  await bob.leave(channelId);
  await refused("not_found", bob.client.call("CloseChannel", { channelId }));
  assertEquals((await alice.client.call("ListMembers", { channelId })).members.length, 2);
});

worldTest(
  "a long gap before a large message that is too old is passed in one step",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    for (let number = 1; number <= 60; number++) await alice.send(channelId, 1, number);
    await world.core.close();
    const dayMs = 24 * hourMs;
    const later = await createWorld({ engine: world.engine, startMs: startMs + 8 * dayMs });
    await later.time.advance(120_000);
    await alice.reconnect(later);
    await alice.send(channelId, 1, 100, 1024 * 1024 + 1);
    await later.close();
    let reads = 0;
    const counted = new Proxy(world.engine, {
      get: (engine, property): unknown => {
        if (property === "read") reads++;
        const value: unknown = Reflect.get(engine, property);
        return typeof value === "function" ? value.bind(engine) : value;
      },
    });
    const restarted = await createWorld({ engine: counted, startMs: startMs + 16 * dayMs });
    await restarted.time.advance(120_000);
    assertEquals((await world.engine.queueSize(channelId)).messages, 0);
    assertLess(reads, 20);
    await restarted.close();
  },
);

worldTest("an invite does not stay on disk for ever", async (world) => {
  const { alice, channelId } = await createPair(world);
  const invite = { channelId, inviteId: idOf<InviteId>(5), uses: 1 };
  const { expiresAtMs } = await alice.client.call("RegisterInvite", {
    ...invite,
    expiresAtMs: startMs * 2,
  });
  assertEquals(expiresAtMs, startMs + 400 * 24 * hourMs);
  assertEquals(await alice.client.call("RegisterInvite", { ...invite, expiresAtMs: startMs * 2 }), {
    expiresAtMs,
  });
});

/** Nonces that a client can know before it is told, so that it need not wait. */
function countedNonces(): (length: number) => Uint8Array {
  let count = 0;
  return (length) => nonceOf(++count, length);
}

function nonceOf(count: number, length = 32): Uint8Array {
  return new Uint8Array(length).fill(count);
}
