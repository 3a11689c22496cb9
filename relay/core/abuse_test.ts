/** What clients try that are not honest, or not careful: nothing of it may cost others anything. */
import { assertEquals } from "@std/assert";
import type { ChannelId, InviteId, RequestBody } from "../../proto/mod.ts";
import { Actor } from "./testing/actors.ts";
import { createAgent } from "./testing/client.ts";
import { createPair, refused, worldTest } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { idOf, startMs, tokenOf } from "./testing/world.ts";

const hourMs = 60 * 60 * 1000;

worldTest("a session is never that of two agents, however it answers two challenges at once", async (world) => {
  const challenge = { versions: [1], features: [] };
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
}, { random: countedNonces() });

worldTest("a commit answers only the requests of those whom it adds", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  const carol = await Actor.connect(world, 3);
  const inviteId = await registerInvite(alice, channelId);
  const { requestId } = await carol.client.call("RequestJoin", joinRequest(carol, channelId, inviteId));
  await bob.commit(channelId, 1, { answers: [requestId] });
  await settle();
  assertEquals(world.core.stats().joinRequests, 1);
  await world.time.advance(60_000);
  assertEquals(carol.client.pushed("DeliverJoinRejected").map(({ code }) => code), ["join_timeout"]);
  const again = await carol.client.call("RequestJoin", joinRequest(carol, channelId, inviteId));
  await alice.commit(channelId, 2, { added: [carol.agentId], answers: [again.requestId] });
  await alice.commit(channelId, 3, { removed: [carol.agentId] });
  await alice.commit(channelId, 4, { added: [carol.agentId] });
  await settle();
  const welcomes = carol.client.pushed("DeliverWelcome");
  assertEquals(welcomes.map((welcome) => welcome.requestId), [again.requestId, undefined]);
});

worldTest("who holds an invite cannot flood its inviter", async (world) => {
  const alice = await Actor.connect(world, 1);
  const channelId = await alice.createChannel();
  const inviteId = await registerInvite(alice, channelId, 100);
  const askers = await Promise.all([3, 4, 5].map((number) => Actor.connect(world, number, 9)));
  const ask = (asker: Actor | undefined, number = 0): Promise<unknown> | undefined =>
    asker?.client.call("RequestJoin", joinRequest(asker, channelId, inviteId, number));
  await ask(askers[0]);
  await ask(askers[1]);
  await refused("rate_limited", Promise.resolve(ask(askers[2])));
  // Another KeyPackage takes the place of the first.
  await ask(askers[0], 1);
  assertEquals(world.core.stats().joinRequests, 2);
  await world.time.advance(60_000);
  await ask(askers[2]);
}, { config: { joinRequestsPerInviter: 2 } });

async function registerInvite({ client }: Actor, channelId: ChannelId, uses = 1): Promise<InviteId> {
  const inviteId = idOf<InviteId>(5);
  await client.call("RegisterInvite", { channelId, inviteId, expiresAtMs: startMs + 24 * hourMs, uses });
  return inviteId;
}

function joinRequest(asker: Actor, channelId: ChannelId, inviteId: InviteId, number = 0): RequestBody<"RequestJoin"> {
  const keyPackage = asker.keyPackage(number);
  return { channelId, inviteId, keyPackage, mac: new Uint8Array(32), ttlMs: 60_000 };
}

/** Nonces that a client can know before it is told, so that it need not wait. */
function countedNonces(): (length: number) => Uint8Array {
  let count = 0;
  return (length) => nonceOf(++count, length);
}

function nonceOf(count: number, length = 32): Uint8Array {
  return new Uint8Array(length).fill(count);
}
