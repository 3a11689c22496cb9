/**
 * Places for sessions: ceilings, the order in which they change hands, and the reserve of members.
 */
import { assert, assertEquals } from "@std/assert";
import { parseChannelName } from "../../../proto/mod.ts";
import type { TransportKind } from "../client_link.ts";
import { Actor } from "../testing/actors.ts";
import { worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import type { World } from "../testing/world.ts";

/** For so long somebody's only session is safe. */
const minimumMs = 60_000;

/** The number of the only account that pays, where there are others. */
const company = 1;
const isFree = (account: number): boolean => account !== company;

/** Ten places, one of them for members; no account has more than six. */
const tenPlaces = { maxSessions: 10, sessionsPerAccount: 6 };

/** Sessions of one account, of agents with these numbers. */
async function hoard(
  world: World,
  account: number,
  count: number,
  transport: TransportKind = "quic",
): Promise<Actor[]> {
  const actors: Actor[] = [];
  for (let i = 0; i < count; i++) {
    actors.push(await connect(world, 100 * account + i, account, transport));
  }
  return actors;
}

async function connect(
  world: World,
  number: number,
  account: number,
  transport: TransportKind = "quic",
): Promise<Actor> {
  const actor = new Actor(world, number, account, transport);
  await actor.reconnect(world, transport).catch(() => {}); // One that finds no place is cut off.
  await settle();
  return actor;
}

function endings(actors: readonly Actor[]): (string | undefined)[] {
  return actors.map(({ client }) => client.ended?.code);
}

worldTest("an account has its share of sessions, and is told when to come again", async (world) => {
  const actors = await hoard(world, 1, 7);
  assertEquals(endings(actors), [...Array(6).fill(undefined), "rate_limited"]);
  assertEquals(typeof actors[6]?.client.ended?.retryAfterMs, "number");
  actors[0]?.client.close();
  assertEquals(endings(await hoard(world, 1, 1)), [undefined]);
}, { config: tenPlaces });

worldTest(
  "an office of one account and one address gets in, whatever others have",
  async (world) => {
    for (let account = 2; account < 14; account++) await hoard(world, account, 5);
    const office = await hoard(world, company, 35);
    assertEquals(endings(office).filter((code) => code !== undefined), []);
  },
  { isFree, config: { maxSessions: 60, sessionsPerAccount: 50 } },
);

worldTest("an account at its share gives up a typed session that lies idle", async (world) => {
  const typed = await hoard(world, 1, 2, "typed");
  const others = await hoard(world, 2, 1, "typed");
  await world.time.advance(4_000);
  assertEquals((await connect(world, 150, 1)).client.ended?.code, "rate_limited");
  await typed[1]?.client.call("Ping", {});
  await world.time.advance(2_000);
  assertEquals((await connect(world, 150, 1)).client.ended, undefined);
  assertEquals(endings([...typed, ...others]), ["overloaded", undefined, undefined]);
}, { config: { sessionsPerAccount: 2 } });

worldTest(
  "a newcomer takes the place of the account that has most, and of nobody who has less",
  async (world) => {
    const [many, few] = [await hoard(world, 1, 5), await hoard(world, 2, 4)];
    const newcomers = [await connect(world, 301, 3), await connect(world, 302, 3)];
    assertEquals(endings(newcomers), [undefined, undefined]);
    const evicted = (actors: readonly Actor[]): number =>
      endings(actors).filter((code) => code === "overloaded").length;
    assertEquals([evicted(many), evicted(few)], [2, 0]);
    assertEquals((await connect(world, 401, 4)).client.ended, undefined);
    assertEquals([evicted(many), evicted(few), world.meter.sessionsEvicted], [2, 1, 3]);
    // Three each: an account that would have more than others takes the place of one of its own, if
    // that has had its time.
    assertEquals((await connect(world, 150, 1)).client.ended?.code, "overloaded");
    await world.time.advance(minimumMs);
    assertEquals((await connect(world, 150, 1)).client.ended, undefined);
    assertEquals([evicted(many), evicted(few)], [3, 1]);
    for (const { client } of [...many, ...few]) {
      const waitMs = client.ended?.retryAfterMs ?? 30_000;
      assert(waitMs >= 30_000 && waitMs <= 60_000, `${waitMs} ms`);
    }
  },
  { config: tenPlaces },
);

worldTest(
  "somebody's only session is safe for a minute, and then the youngest makes room",
  async (world) => {
    const holders: Actor[] = [];
    for (let account = 10; account < 19; account++) {
      holders.push(await connect(world, account, account));
      await world.time.advance(1_000);
    }
    const tooEarly = await connect(world, 30, 30);
    assertEquals(tooEarly.client.ended?.code, "overloaded");
    const waitMs = tooEarly.client.ended?.retryAfterMs ?? 0;
    assert(waitMs >= minimumMs - 9_000 && waitMs <= 2 * (minimumMs - 9_000), `${waitMs} ms`);
    await world.time.advance(minimumMs);
    assertEquals((await connect(world, 30, 30)).client.ended, undefined);
    assertEquals(endings(holders), [...Array(8).fill(undefined), "overloaded"]);
  },
  { config: tenPlaces },
);

worldTest("a clock that is set back makes nobody safe for longer", async (world) => {
  for (let account = 10; account < 19; account++) await connect(world, account, account);
  await world.time.advance(minimumMs / 2);
  assertEquals((await connect(world, 30, 30)).client.ended?.code, "overloaded");
  world.time.stall(-24 * minimumMs);
  assertEquals((await connect(world, 30, 30)).client.ended?.code, "overloaded");
  await world.time.advance(minimumMs / 2);
  assertEquals((await connect(world, 30, 30)).client.ended, undefined);
}, { config: tenPlaces });

worldTest(
  "of its sessions typed ones that lie idle end first, and those that read end last",
  async (world) => {
    const reader = await connect(world, 1, 1);
    await reader.subscribe(await reader.createChannel());
    const typed = await hoard(world, 1, 3, "typed");
    const active = [await connect(world, 151, 1), await connect(world, 152, 1)];
    for (let account = 2; account < 5; account++) await connect(world, 100 * account, account);
    await world.time.advance(6_000);
    await typed[0]?.client.call("Ping", {});
    await connect(world, 501, 5);
    await connect(world, 601, 6);
    assertEquals(endings(typed), [undefined, "overloaded", "overloaded"]);
    await connect(world, 701, 7);
    assertEquals(endings([...active, ...typed]).filter((code) => code === "overloaded").length, 3);
    assertEquals(reader.client.ended, undefined);
  },
  { config: tenPlaces },
);

worldTest("an account that hoards keeps nothing by subscribing", async (world) => {
  const hoarders = await hoard(world, 1, 6);
  for (const [index, hoarder] of hoarders.entries()) {
    const name = parseChannelName(`a/b/${index}`);
    await hoarder.subscribe(await hoarder.createChannel(index + 1, name));
  }
  const idle = await hoard(world, 2, 3, "typed");
  await world.time.advance(6_000);
  assertEquals((await connect(world, 301, 3)).client.ended, undefined);
  assertEquals(endings(idle), [undefined, undefined, undefined]);
  assertEquals(endings(hoarders).filter((code) => code === "overloaded").length, 1);
}, { config: tenPlaces });

worldTest("the last places are for members of channels", async (world) => {
  const owner = await Actor.connect(world, 1);
  const member = await Actor.connect(world, 2);
  const channelId = await owner.createChannel(1, parseChannelName("a/b/1"));
  await owner.commit(channelId, 0, { added: [member.agentId] });
  for (const { client } of [owner, member]) client.close();
  // Nine accounts with one session each: nobody has more than a newcomer would.
  for (let account = 10; account < 19; account++) await connect(world, account, account);
  assertEquals((await connect(world, 30, 30)).client.ended?.code, "overloaded");
  await member.reconnect();
  await owner.reconnect().catch(() => {});
  assertEquals([member, owner].map(({ client }) => client.ended?.code), [undefined, "overloaded"]);
}, { config: tenPlaces });

worldTest("a session that is refused leaves the agent's older one alone", async (world) => {
  await hoard(world, 1, 6);
  const older = await connect(world, 201, 2);
  const newer = await connect(world, 201, 1);
  assertEquals(endings([older, newer]), [undefined, "rate_limited"]);
  await older.client.call("Ping", {});
  // Its place was counted on: nine of ten are open to all.
  for (let account = 3; account < 5; account++) await connect(world, 100 * account, account);
  assertEquals([world.core.stats().authenticated, world.meter.sessionsEvicted], [9, 0]);
}, { config: tenPlaces });

worldTest(
  "an agent that comes again takes the place of its older session, however full the relay is",
  async (world) => {
    const owner = await Actor.connect(world, 1);
    await owner.createChannel(1, parseChannelName("a/b/1"));
    owner.client.close();
    for (let account = 10; account < 19; account++) await connect(world, account, account);
    await owner.reconnect();
    assertEquals((await connect(world, 10, 10)).client.ended, undefined);
    assertEquals(owner.client.ended, undefined);
  },
  { config: tenPlaces },
);

worldTest(
  "a crowd of free accounts takes no place of a company's subscribed agents",
  async (world) => {
    const agents = await hoard(world, company, 30);
    for (const [index, agent] of agents.entries()) {
      await agent.subscribe(await agent.createChannel(index + 1, parseChannelName(`a/b/${index}`)));
    }
    await world.time.advance(minimumMs);
    for (let account = 2; account < 38; account++) await hoard(world, account, 5);
    assertEquals(world.core.stats().authenticated, 90);
    assertEquals(endings(agents).filter((code) => code !== undefined), []);
  },
  { isFree, config: { maxSessions: 100 } },
);
