/**
 * Requests to join that wait: their ceilings, and the order in which they make room for each other.
 */
import { assert, assertEquals } from "@std/assert";
import {
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  parseChannelName,
} from "../../../proto/mod.ts";
import { Actor, joinRequest, registerInvite } from "../testing/actors.ts";
import { createPair, refused, worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { idOf, startMs, type World } from "../testing/world.ts";

/** For so long a request is safe. */
const minimumMs = 10_000;

/** Alice's channels, with an invite each. */
async function inviteInto(alice: Actor, count: number): Promise<ChannelId[]> {
  const channels: ChannelId[] = [];
  for (let number = 1; number <= count; number++) {
    const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
    await registerInvite(alice, channelId, 100);
    channels.push(channelId);
  }
  return channels;
}

async function connectAll(
  world: World,
  numbers: readonly number[],
  account: number,
): Promise<Actor[]> {
  const actors: Actor[] = [];
  for (const number of numbers) actors.push(await Actor.connect(world, number, account));
  return actors;
}

async function ask(
  asker: Actor,
  channelId: ChannelId | undefined,
  number = 0,
): Promise<JoinRequestId> {
  const request = joinRequest(asker, channelId ?? idOf(0), idOf<InviteId>(5), number);
  return (await asker.client.call("RequestJoin", request)).requestId;
}

function rejections({ client }: Actor): string[] {
  return client.pushed("DeliverJoinRejected").map(({ code }) => code);
}

worldTest(
  "many that wait in one channel keep nobody out of another one of the same inviter",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const [first, second] = await inviteInto(alice, 2);
    for (const asker of await connectAll(world, [3, 4], 9)) await ask(asker, first);
    await ask(await Actor.connect(world, 5, 9), second);
    assertEquals(alice.client.pushed("DeliverJoinRequest").length, 3);
  },
  { config: { joinRequestsPerChannel: 2 } },
);

worldTest(
  "an inviter is sent requests as fast as it reads, when it connects and later",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const [channelId] = await inviteInto(alice, 1);
    alice.client.close();
    const askers = await connectAll(world, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 9);
    for (const asker of askers.slice(2)) await ask(asker, channelId);
    const back = new Actor(world, 1);
    back.client.stall();
    await back.client.authenticate(back.agent, `${back.accountId} ${startMs + 86_400_000}`);
    for (const asker of askers.slice(0, 2)) await ask(asker, channelId);
    await settle();
    const pushed = back.client.pushed("DeliverJoinRequest").length;
    assert(pushed > 0 && pushed < 12, `${pushed} were sent to a client that does not read`);
    back.client.resume();
    await settle();
    assertEquals(back.client.pushed("DeliverJoinRequest").length, askers.length);
  },
  { config: { highWaterBytes: 2_000 } },
);

worldTest("who holds an invite cannot flood its channel", async (world) => {
  const alice = await Actor.connect(world, 1);
  const [channelId] = await inviteInto(alice, 1);
  // cast: three
  const [first, second, third] = await connectAll(world, [3, 4, 5], 9) as [Actor, Actor, Actor];
  await ask(first, channelId);
  await ask(second, channelId);
  const { body } = await refused("overloaded", ask(third, channelId));
  assert((body.retryAfterMs ?? 0) >= minimumMs && (body.retryAfterMs ?? 0) <= 2 * minimumMs);
  // Another KeyPackage takes the place of the first.
  await ask(first, channelId, 1);
  assertEquals(world.core.stats().joinRequests, 2);
  await world.time.advance(minimumMs);
  await ask(third, channelId);
  await settle();
  assertEquals([first, second, third].map(rejections), [[], ["overloaded"], []]);
}, { config: { joinRequestsPerChannel: 2 } });

worldTest(
  "somebody that asks takes the place of the account that has most, which is told so",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const [channelId] = await inviteInto(alice, 1);
    const crowd = await connectAll(world, [3, 4, 5], 9);
    for (const asker of crowd) await ask(asker, channelId);
    const [honest, another] = [await Actor.connect(world, 6, 8), await Actor.connect(world, 7, 7)];
    await refused("overloaded", ask(honest, channelId));
    await world.time.advance(minimumMs);
    const requestId = await ask(honest, channelId);
    await ask(another, channelId);
    await settle();
    assertEquals(crowd.map(rejections), [["overloaded"], ["overloaded"], []]);
    assertEquals(world.core.stats().joinRequests, 3);
    // One of the crowd that asks again takes nobody's place but that of its own.
    await ask(crowd[0] ?? honest, channelId);
    await settle();
    assertEquals([...crowd, honest, another].map((asker) => rejections(asker).length), [
      1,
      1,
      1,
      0,
      0,
    ]);
    await alice.commit(channelId ?? idOf(0), 0, { added: [honest.agentId], answers: [requestId] });
    await settle();
    assertEquals(honest.client.pushed("DeliverWelcome").map((welcome) => welcome.requestId), [
      requestId,
    ]);
  },
  { config: { joinRequestsPerChannel: 3 } },
);

worldTest("the requests that wait for one inviter over all channels are bounded", async (world) => {
  const alice = await Actor.connect(world, 1);
  const [first, second, third] = await inviteInto(alice, 3);
  const [greedy, other] = [await Actor.connect(world, 3, 9), await Actor.connect(world, 4, 8)];
  await ask(greedy, first);
  await ask(greedy, second);
  await refused("overloaded", ask(other, third));
  await world.time.advance(minimumMs);
  await ask(other, third);
  await settle();
  assertEquals([rejections(greedy), world.core.stats().joinRequests], [["overloaded"], 2]);
}, { config: { joinRequestsPerInviter: 2 } });

worldTest("a request that is refused leaves the agent's older one alone", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  await registerInvite(alice, channelId, 100);
  const ofBob = idOf<InviteId>(6);
  await bob.client.call("RegisterInvite", {
    channelId,
    inviteId: ofBob,
    expiresAtMs: world.time.nowMs() + 1e9,
    uses: 9,
  });
  const [carol, dave] = [await Actor.connect(world, 3), await Actor.connect(world, 4)];
  const older = await ask(carol, channelId);
  await dave.client.call("RequestJoin", joinRequest(dave, channelId, ofBob));
  await refused(
    "overloaded",
    carol.client.call("RequestJoin", joinRequest(carol, channelId, ofBob)),
  );
  assertEquals(await ask(carol, channelId), older);
}, { config: { joinRequestsPerInviter: 1 } });

worldTest("members that come back do not wait with strangers", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  await registerInvite(alice, channelId, 100);
  await ask(await Actor.connect(world, 3), channelId);
  await bob.client.call("RequestRejoin", bob.rejoin(channelId));
  assertEquals(world.core.stats().joinRequests, 2);
}, { config: { joinRequestsPerChannel: 1 } });

worldTest("the requests that wait of one account, and of all, are bounded", async (world) => {
  const alice = await Actor.connect(world, 1);
  const channels = await inviteInto(alice, 3);
  const [greedy, other] = [await Actor.connect(world, 3, 9), await Actor.connect(world, 4, 8)];
  const last = await Actor.connect(world, 5, 7);
  await ask(greedy, channels[0]);
  await ask(greedy, channels[1]);
  const { body } = await refused("rate_limited", ask(greedy, channels[2]));
  assertEquals(body.retryAfterMs, minimumMs);
  // The same request again does not count as another one.
  await ask(greedy, channels[1]);
  await ask(other, channels[0]);
  await refused("overloaded", ask(last, channels[0]));
  await world.time.advance(minimumMs);
  await ask(last, channels[0]);
  await settle();
  assertEquals([rejections(greedy), rejections(other)], [["overloaded"], []]);
}, { config: { joinRequestsPerAccount: 2, joinRequestsInAll: 3 } });
