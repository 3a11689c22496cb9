/** Places for sessions: shares, who makes room for whom, and the reserve of members. */
import { assertEquals } from "@std/assert";
import { parseChannelName } from "../../proto/mod.ts";
import type { Transport } from "./link.ts";
import { Actor } from "./testing/actors.ts";
import { worldTest } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import type { World } from "./testing/world.ts";

/** Ten places, one of them for members; no account has more than six. */
const tenPlaces = { maxSessions: 10, sessionsPerAccount: 6, sessionsPerAddress: 100 };

/** Sessions of one account, of agents with these numbers. */
async function hoard(world: World, account: number, count: number, transport: Transport = "quic"): Promise<Actor[]> {
  const actors: Actor[] = [];
  for (let i = 0; i < count; i++) actors.push(await connect(world, 100 * account + i, account, transport));
  return actors;
}

async function connect(world: World, number: number, account: number, transport: Transport = "quic"): Promise<Actor> {
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

worldTest("an address has its share of sessions", async (world) => {
  const actors = [...await hoard(world, 1, 2), ...await hoard(world, 2, 2)];
  assertEquals(endings(actors), [undefined, undefined, undefined, "rate_limited"]);
}, { config: { sessionsPerAddress: 3 } });

worldTest(
  "an account at its share gives up a typed session that lies idle, and an address one of the newcomer's account",
  async (world) => {
    const typed = await hoard(world, 1, 2, "typed");
    const others = await hoard(world, 2, 1, "typed");
    await world.time.advance(6_000);
    assertEquals((await connect(world, 150, 1)).client.ended, undefined);
    assertEquals(endings(typed), ["overloaded", undefined]);
    // Of another account nobody goes: it does not know who shares its address.
    assertEquals((await connect(world, 301, 3)).client.ended?.code, "rate_limited");
    assertEquals(endings(others), [undefined]);
    assertEquals((await connect(world, 201, 2)).client.ended, undefined);
    assertEquals(endings(others), ["overloaded"]);
  },
  { config: { sessionsPerAccount: 2, sessionsPerAddress: 3 } },
);

worldTest("a newcomer takes the place of the account that has most, and of nobody who has less", async (world) => {
  const [many, few] = [await hoard(world, 1, 5), await hoard(world, 2, 4)];
  const newcomers = [await connect(world, 301, 3), await connect(world, 302, 3)];
  assertEquals(endings(newcomers), [undefined, undefined]);
  const evicted = (actors: readonly Actor[]): number => endings(actors).filter((code) => code === "overloaded").length;
  assertEquals([evicted(many), evicted(few)], [2, 0]);
  assertEquals((await connect(world, 401, 4)).client.ended, undefined);
  assertEquals([evicted(many), evicted(few), world.meter.sessionsEvicted], [2, 1, 3]);
  // Three each: an account that would have more than others takes nobody's place.
  assertEquals((await connect(world, 150, 1)).client.ended?.code, "overloaded");
}, { config: tenPlaces });

worldTest("of its sessions typed ones that lie idle end first, and those that read end last", async (world) => {
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
}, { config: tenPlaces });

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
