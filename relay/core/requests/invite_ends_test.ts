/** Which invites end with the commit that removes somebody, and which do not. */
import { assertEquals } from "@std/assert";
import type { ChannelId, InviteId, RequestBody } from "../../../proto/mod.ts";
import { decodeInvite } from "./invite_records.ts";
import { Actor } from "../testing/actors.ts";
import { settle } from "../testing/simulated_time.ts";
import { createReadingPair, type Pair, refused, worldTest } from "../testing/scene.ts";
import { createWorld, idOf, startMs, type World } from "../testing/world.ts";

const dayMs = 24 * 60 * 60 * 1000;

function register(
  inviter: Actor,
  channelId: ChannelId,
  number: number,
  uses = 3,
): Promise<unknown> {
  const inviteId = idOf<InviteId>(number);
  return inviter.client.call("RegisterInvite", {
    channelId,
    inviteId,
    expiresAtMs: startMs + dayMs,
    uses,
  });
}

function request(asker: Actor, channelId: ChannelId, number: number): RequestBody<"RequestJoin"> {
  const inviteId = idOf<InviteId>(number);
  return {
    channelId,
    inviteId,
    keyPackage: asker.keyPackage(),
    mac: new Uint8Array(32),
    ttlMs: 60_000,
  };
}

/** Carol comes in by alice's invite 5, which is good for two more: epoch 2. */
async function createGuest(
  world: World,
): Promise<Pair & { readonly carol: Actor; readonly dave: Actor }> {
  const pair = await createReadingPair(world);
  const { alice, channelId } = pair;
  const [carol, dave] = [await Actor.connect(world, 3), await Actor.connect(world, 4)];
  await register(alice, channelId, 5);
  const { requestId } = await carol.client.call("RequestJoin", request(carol, channelId, 5));
  await alice.commit(channelId, 1, { added: [carol.agentId], answers: [requestId] });
  return { ...pair, carol, dave };
}

worldTest(
  "removing an agent ends the invite by which it came, for all that hold it",
  async (world) => {
    const { alice, carol, dave, channelId } = await createGuest(world);
    await register(alice, channelId, 6);
    const { requestId } = await dave.client.call("RequestJoin", request(dave, channelId, 5));
    await alice.commit(channelId, 2, { removed: [carol.agentId] });
    await settle();
    // A request that waited is told at once, and one that comes now finds nothing.
    assertEquals(
      dave.client.pushed("DeliverJoinRejected").map((each) => [each.requestId, each.code]),
      [
        [requestId, "join_rejected"],
      ],
    );
    await refused("not_found", dave.client.call("RequestJoin", request(dave, channelId, 5)));
    await refused("not_found", carol.client.call("RequestJoin", request(carol, channelId, 5)));
    // Another invite of the same inviter is nobody's fault.
    await dave.client.call("RequestJoin", request(dave, channelId, 6));
  },
);

worldTest(
  "removing an agent ends the invites that it made, and deletes them with the commit",
  async (world) => {
    const { alice, carol, dave, channelId } = await createGuest(world);
    await register(carol, channelId, 7);
    await alice.commit(channelId, 2, { removed: [carol.agentId] });
    assertEquals(await world.engine.records.ofChannel(channelId), []);
    await refused("not_found", dave.client.call("RequestJoin", request(dave, channelId, 7)));
  },
);

worldTest("an agent that leaves, or comes back, takes no invite with it", async (world) => {
  const { alice, bob, carol, dave, channelId } = await createGuest(world);
  await alice.commit(channelId, 2, { removed: [carol.agentId], added: [carol.agentId] });
  await dave.client.call("RequestJoin", request(dave, channelId, 5));
  await carol.leave(channelId);
  await bob.commit(channelId, 3, { removed: [carol.agentId] });
  await dave.client.call("RequestJoin", request(dave, channelId, 5));
});

worldTest(
  "an invite by which several came ends with the first of them that is removed",
  async (world) => {
    const { alice, carol, dave, channelId } = await createGuest(world);
    const { requestId } = await dave.client.call("RequestJoin", request(dave, channelId, 5));
    await alice.commit(channelId, 2, { added: [dave.agentId], answers: [requestId] });
    await alice.commit(channelId, 3, { removed: [carol.agentId] });
    const erin = await Actor.connect(world, 6);
    await refused("not_found", erin.client.call("RequestJoin", request(erin, channelId, 5)));
  },
);

worldTest(
  "one commit that lets somebody in by an invite and removes another that came by it ends it",
  async (world) => {
    const { alice, carol, dave, channelId } = await createGuest(world);
    const { requestId } = await dave.client.call("RequestJoin", request(dave, channelId, 5));
    await alice.commit(channelId, 2, {
      added: [dave.agentId],
      removed: [carol.agentId],
      answers: [requestId],
    });
    assertEquals(await world.engine.records.ofChannel(channelId), []);
  },
);

worldTest("a commit that is refused ends no invite", async (world) => {
  const { alice, bob, carol, dave, channelId } = await createGuest(world);
  await refused("epoch_conflict", alice.commit(channelId, 1, { removed: [carol.agentId] }));
  // Bob owns nothing.
  await refused("not_allowed", bob.commit(channelId, 2, { removed: [carol.agentId] }));
  await dave.client.call("RequestJoin", request(dave, channelId, 5));
});

worldTest(
  "a member that claims another's join request as answered spends no use of it",
  async (world) => {
    const { alice, bob, dave, channelId } = await createGuest(world);
    const { requestId } = await dave.client.call("RequestJoin", request(dave, channelId, 5));
    await bob.commit(channelId, 2, { answers: [requestId] });
    assertEquals(await usesLeft(world, channelId), 2);
    await alice.commit(channelId, 3, { added: [dave.agentId], answers: [requestId] });
    assertEquals(await usesLeft(world, channelId), 1);
  },
);

worldTest("agents that one commit lets in by an invite use it up once each", async (world) => {
  const { alice, dave, channelId } = await createGuest(world);
  const erin = await Actor.connect(world, 6);
  const answers = [];
  for (const asker of [dave, erin]) {
    answers.push((await asker.client.call("RequestJoin", request(asker, channelId, 5))).requestId);
  }
  assertEquals(await usesLeft(world, channelId), 2);
  await alice.commit(channelId, 2, { added: [dave.agentId, erin.agentId], answers });
  assertEquals(await usesLeft(world, channelId), undefined);
});

worldTest(
  "an invite is over with its time, though the relay has not deleted it yet",
  async (world) => {
    const { dave, channelId } = await createGuest(world);
    await world.time.leap(dayMs - 1);
    await dave.client.call("RequestJoin", request(dave, channelId, 5));
    await world.time.leap(1);
    assertEquals(await usesLeft(world, channelId), 2, "it is stored");
    const erin = await Actor.connect(world, 6);
    await refused("not_found", erin.client.call("RequestJoin", request(erin, channelId, 5)));
  },
);

worldTest("invites of a member that left do not hold when it is back", async (world) => {
  const { alice, carol, dave, channelId } = await createGuest(world);
  await register(carol, channelId, 7);
  await carol.leave(channelId);
  await alice.commit(channelId, 2, { removed: [carol.agentId], added: [carol.agentId] });
  await refused("not_found", dave.client.call("RequestJoin", request(dave, channelId, 7)));
  await register(carol, channelId, 8);
  await dave.client.call("RequestJoin", request(dave, channelId, 8));
});

async function usesLeft(world: World, channelId: ChannelId): Promise<number | undefined> {
  const [record] = await world.engine.records.ofChannel(channelId);
  return record && decodeInvite(record.value).uses;
}

Deno.test("who came by an invite is known after a restart of the relay", async () => {
  const world = await createWorld();
  const { alice, carol, dave, channelId } = await createGuest(world);
  await world.core.close();
  const next = await createWorld({ engine: world.engine });
  try {
    await alice.reconnect(next);
    await dave.reconnect(next);
    await dave.client.call("RequestJoin", request(dave, channelId, 5));
    await alice.commit(channelId, 2, { removed: [carol.agentId] });
    await refused("not_found", dave.client.call("RequestJoin", request(dave, channelId, 5)));
  } finally {
    await next.close();
    await world.close();
  }
});
