/**
 * Visitors with publishable keys use a part of their own: none of it is the account's own agents',
 * and none is one visitor's.
 */
import { assertEquals } from "@std/assert";
import {
  channelRights,
  type InviteId,
  type JoinRequestId,
  parseChannelName,
  parseKeyId,
  type TokenGrant,
} from "../../../proto/mod.ts";
import { Actor, joinRequest, registerInvite } from "../testing/actors.ts";
import { createPair, refused, worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { idOf, startMs, tokenOf, type World } from "../testing/world.ts";

const minuteMs = 60_000;
const keys = ["5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11", "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a12"].map(
  parseKeyId,
);
const [hoarder, other] = ["192.0.2.1", "192.0.2.2"];

/** Visitors of account 1 from one address, in turn with each of its keys. Each is a new agent. */
async function visit(world: World, address: string, numbers: readonly number[]): Promise<Actor[]> {
  const visitors = numbers.map((number) => new Actor(world, number, 1));
  for (const [index, visitor] of visitors.entries()) {
    await enter(visitor, address, index).catch(() => {}); // One that finds no place is cut off.
  }
  await settle();
  return visitors;
}

async function enter({ client, agent }: Actor, address: string, index: number): Promise<void> {
  const scopes = [{ pattern: "*", allow: channelRights }] as const;
  const grant: TokenGrant = { key: keys[index % keys.length] ?? null, scopes, isPublic: true };
  client.remoteAddress = address;
  await client.authenticate(agent, tokenOf(1, startMs + 24 * 60 * minuteMs, grant));
}

async function own(world: World, numbers: readonly number[], account = 1): Promise<Actor[]> {
  const agents: Actor[] = [];
  for (const number of numbers) {
    const agent = new Actor(world, number, account);
    await agent.reconnect(world).catch(() => {});
    agents.push(agent);
  }
  await settle();
  return agents;
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

function connected(actors: readonly Actor[]): number {
  return actors.filter(({ client }) => client.ended === undefined).length;
}

async function uploads(actor: Actor): Promise<number> {
  for (let done = 0;; done++) {
    const body = { keyPackages: [actor.keyPackage(done)], replace: false };
    if (!await actor.client.call("UploadKeyPackage", body).then(() => true, () => false)) {
      return done;
    }
  }
}

worldTest(
  "visitors open sessions until they are refused, and the owner's agents have all of theirs",
  async (world) => {
    const visitors = await visit(world, hoarder, range(100, 12));
    assertEquals(connected(visitors), 4);
    assertEquals(connected(await own(world, range(1, 8))), 8);
    assertEquals(connected(visitors), 4);
  },
  { config: { sessionsPerAccount: 8 } },
);

worldTest(
  "a visitor that hoards sessions makes room for others, and these are all safe from it",
  async (world) => {
    const hoarded = await visit(world, hoarder, range(100, 4));
    const others = await visit(world, other, range(200, 2));
    assertEquals([connected(hoarded), connected(others)], [2, 2]);
    await world.time.advance(minuteMs);
    const again = await visit(world, hoarder, range(300, 2));
    assertEquals([connected([...hoarded, ...again]), connected(others)], [2, 2]);
  },
  { config: { sessionsPerAccount: 8 } },
);

worldTest(
  "when the relay is full, visitors displace each other and none of the owner's agents",
  async (world) => {
    const agents = await own(world, range(1, 8));
    await world.time.advance(minuteMs);
    const hoarded = await visit(world, hoarder, range(100, 4));
    assertEquals([connected(agents), connected(hoarded)], [8, 1]);
    await world.time.advance(minuteMs);
    const others = await visit(world, other, [200]);
    assertEquals([connected(agents), connected(hoarded), connected(others)], [8, 0, 1]);
  },
  { config: { maxSessions: 10, sessionsPerAccount: 8 } },
);

worldTest(
  "when the relay is full, the visitors' places are the first of the account to change hands",
  async (world) => {
    const agents = await own(world, range(1, 4));
    const [first] = await visit(world, other, [200]);
    const hoarded = await visit(world, hoarder, range(100, 4));
    await world.time.advance(minuteMs);
    assertEquals(connected(await own(world, range(300, 3), 3)), 3);
    assertEquals([connected(agents), connected(hoarded), first?.client.ended], [4, 1, undefined]);
  },
  { config: { maxSessions: 10, sessionsPerAccount: 10 } },
);

worldTest(
  "visitors' work is not the owner's, and what one visitor uses up is not all of it",
  async (world) => {
    const [first, again] = await visit(world, hoarder, [100, 101]);
    const [second] = await visit(world, other, [200]);
    const [owner] = await own(world, [1]);
    if (
      first === undefined || again === undefined || second === undefined || owner === undefined
    ) throw new Error();
    assertEquals([await uploads(first), await uploads(again), await uploads(second)], [4, 0, 4]);
    assertEquals(await uploads(owner), 66);
  },
  { config: { accountWorkMs: 100, accountWorkMsPerSecond: 1 } },
);

worldTest(
  "a visitor's requests to join displace none of other visitors and of the owner's agents",
  async (world) => {
    const alice = await Actor.connect(world, 2);
    const channelId = await alice.createChannel(1, parseChannelName("a/b/1"));
    await registerInvite(alice, channelId, 100);
    const ask = async (asker: Actor): Promise<JoinRequestId> => {
      const request = joinRequest(asker, channelId, idOf<InviteId>(5), 0);
      return (await asker.client.call("RequestJoin", request)).requestId;
    };
    const askers = [...await own(world, [1]), ...await visit(world, other, [200])];
    const hoarded = await visit(world, hoarder, range(100, 4));
    for (const asker of [...askers, ...hoarded]) await ask(asker);
    await world.time.advance(11_000);
    for (const asker of await visit(world, hoarder, range(300, 3))) await ask(asker);
    const rejected = (asked: readonly Actor[]): number =>
      asked.filter(({ client }) => client.pushed("DeliverJoinRejected").length > 0).length;
    assertEquals([rejected(askers), rejected(hoarded)], [0, 3]);
  },
  { config: { joinRequestsPerChannel: 6 } },
);

worldTest(
  "a visitor's commits are taken of its own part of a day's, and then it pays",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    bob.client.close();
    bob.client = world.connect();
    await enter(bob, hoarder, 0);
    world.quota.left = 0;
    await bob.commit(channelId, 1);
    await refused("quota_exceeded", bob.commit(channelId, 2));
    // One of the sixteen was hers, when she added bob.
    for (let epoch = 2; epoch <= 16; epoch++) await alice.commit(channelId, epoch);
    await refused("quota_exceeded", alice.commit(channelId, 17));
  },
  { config: { handshakesPerDay: 1.6 } },
);
