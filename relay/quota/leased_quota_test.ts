import { assert, assertEquals, assertGreater, assertLess, assertLessOrEqual } from "@std/assert";
import { type KeyId, parseAccountId, parseKeyId } from "../../proto/mod.ts";
import type { LogFields } from "../../server/mod.ts";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import type { Reservation } from "../core/deps.ts";
import type { Charge, LeaseBook, LeaseState } from "../engine/engine.ts";
import type { LeaseApi } from "./lease_api.ts";
import { LeasedQuota } from "./leased_quota.ts";
import { SimulatedApi } from "./testing/simulated_api.ts";

const account = parseAccountId("0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11");
const startMs = Date.UTC(2026, 10, 15);

/** The records that survive a crash. */
function createBook(): { book: LeaseBook; append: (charge: Charge) => boolean } {
  const leases = new Map<string, LeaseState & { stopped: boolean }>();
  const change = (
    id: string,
    by: Partial<LeaseState & { stopped: boolean }>,
  ): LeaseState | undefined => {
    const lease = leases.get(id);
    if (lease === undefined) return undefined;
    const changed = { ...lease, ...by };
    leases.set(id, changed);
    return changed;
  };
  return {
    book: {
      open: (lease) => {
        leases.set(lease.leaseId, { ...lease, consumed: 0, payloadBytes: 0, stopped: false });
        return Promise.resolve();
      },
      list: () => Promise.resolve([...leases.values()]),
      stop: (id) => Promise.resolve(change(id, { stopped: true })),
      forget: (id) => {
        leases.delete(id);
        return Promise.resolve();
      },
    },
    append: ({ leaseId, fence, messages, payloadBytes }) => {
      const lease = leases.get(leaseId);
      if (
        lease === undefined || lease.stopped || lease.fence !== fence ||
        lease.consumed + messages > lease.granted
      ) {
        return false;
      }
      change(leaseId, {
        consumed: lease.consumed + messages,
        payloadBytes: lease.payloadBytes + payloadBytes,
      });
      return true;
    },
  };
}

interface World {
  readonly clock: { nowMs: number };
  readonly api: SimulatedApi;
  readonly book: LeaseBook;
  readonly append: (charge: Charge) => boolean;
  readonly events: (LogFields & { event: string })[];
  readonly live: (through?: { api: LeaseApi; book: LeaseBook }) => LeasedQuota;
  readonly quota: LeasedQuota;
}

function createWorld(limit: number): World {
  const clock = { nowMs: startMs };
  const api = new SimulatedApi(limit, () => clock.nowMs);
  const { book, append } = createBook();
  const events: (LogFields & { event: string })[] = [];
  const live = (through: { api: LeaseApi; book: LeaseBook } = { api, book }): LeasedQuota =>
    new LeasedQuota({
      ...through,
      relayId: "relay-1",
      nowMs: () => clock.nowMs,
      newNonce: () => crypto.randomUUID(),
      log: (_, event, fields = {}) => events.push({ event, ...fields }),
    });
  return { clock, api, book, append, events, live, quota: live() };
}

/** One message from reservation to append; returns the result of the reservation. */
async function send(
  { append }: World,
  quota: LeasedQuota,
  bytes = 1000,
): Promise<Reservation["kind"]> {
  const reservation = await quota.reserve(account, { messages: 1, payloadBytes: bytes });
  if (reservation.kind === "reserved") {
    quota.settle(account, reservation.charge, append(reservation.charge));
  }
  return reservation.kind;
}

function failing(): never {
  throw new TypeError("connection refused");
}

Deno.test("a message costs no round trip while a lease has room, and more is asked for ahead of need, once", async () => {
  const world = createWorld(10_000);
  const { quota, api } = world;
  await send(world, quota);
  assertEquals(api.asked.take, 1);
  for (let sent = 1; sent < 100; sent++) {
    const reservation = quota.reserve(account, { messages: 1, payloadBytes: 1000 });
    assert(!(reservation instanceof Promise), `message ${sent} had to wait`);
    assert(reservation.kind === "reserved");
    quota.settle(account, reservation.charge, world.append(reservation.charge));
    assertEquals(quota.stats().messagesLeft, 99 - sent);
    if (sent === 49) assertEquals(api.asked.take, 1);
  }
  assertEquals(await send(world, quota), "reserved");
  assertEquals(api.asked.take, 2);
});

Deno.test("the size of leases follows the rate, up and down", async () => {
  const world = createWorld(1_000_000);
  const { quota, api, clock } = world;
  for (let sent = 0; sent < 2000; sent++) {
    await send(world, quota);
    clock.nowMs += 10;
  }
  const busy = api.rows.at(-1)?.granted ?? 0;
  assertGreater(busy, 3_000);
  assertLess(api.rows.length, 8);
  for (let sent = 0; sent < 60; sent++) {
    clock.nowMs += 20_000;
    await quota.tick();
    await send(world, quota);
  }
  assertEquals(api.rows.at(-1)?.granted, 100);
});

Deno.test("keys hold little of what is left, however many there are, and more when they send more", async () => {
  const world = createWorld(1_000);
  const { quota, api, clock } = world;
  const sendBy = async (key: KeyId): Promise<string> => {
    const reservation = await quota.reserve(account, { messages: 1, payloadBytes: 1 }, key);
    if (reservation.kind !== "reserved") return reservation.kind;
    quota.settle(account, reservation.charge, world.append(reservation.charge), key);
    return reservation.kind;
  };
  const keys = Array.from({ length: 50 }, () => parseKeyId(crypto.randomUUID()));
  for (const key of keys) assertEquals(await sendBy(key), "reserved");
  assertLessOrEqual(quota.stats().messagesLeft, 500);
  const [busy = parseKeyId(crypto.randomUUID())] = keys;
  for (let sent = 0; sent < 100; sent++) {
    clock.nowMs += 10;
    assertEquals(await sendBy(busy), "reserved");
  }
  const largest = Math.max(...api.rows.map(({ granted }) => granted));
  assert(largest > 20 && largest <= 100, `${largest}`);
  // A lease of one key is not a reason to refuse another.
  let sent = 0;
  for (const key of [...keys, ...keys]) if (await sendBy(key) === "reserved") sent++;
  assertEquals(sent, 100);
});

Deno.test("a busy account holds little of what is left, so that its guests and other relays can send", async () => {
  const world = createWorld(10_000);
  const { quota, api, clock } = world;
  const sendByGuest = async (): Promise<string> => {
    const guest = parseKeyId(crypto.randomUUID());
    return (await quota.reserve(account, { messages: 1, payloadBytes: 1 }, guest)).kind;
  };
  for (let sent = 1; sent <= 8_000; sent++) {
    clock.nowMs += 2;
    assertEquals(await send(world, quota), "reserved");
    if (sent % 1_000 === 0) assertEquals(await sendByGuest(), "reserved", `after ${sent}`);
  }
  const largest = Math.max(...api.rows.map(({ granted }) => granted));
  assert(largest > 500 && largest <= 1_000, `${largest}`);
  assertLess(api.rows.length, 50);
});

Deno.test("a thousand senders at once share questions and never pass the limit", async () => {
  const world = createWorld(250);
  const outcomes = await Promise.all(Array.from({ length: 1000 }, () => send(world, world.quota)));
  assertEquals(outcomes.filter((kind) => kind === "reserved").length, 250);
  assertEquals(outcomes.filter((kind) => kind === "exhausted").length, 750);
  assertLessOrEqual(world.api.asked.take, 4);
});

Deno.test("used up is remembered briefly, says until when, and ends when the plan grows", async () => {
  const world = createWorld(1);
  const { quota, api, clock } = world;
  await send(world, quota);
  assertEquals(await quota.reserve(account, { messages: 1, payloadBytes: 1 }), {
    kind: "exhausted",
    untilMs: startMs + 3_600_000,
  });
  const { take } = api.asked;
  for (let i = 0; i < 100; i++) assertEquals(await send(world, quota), "exhausted");
  assertEquals(api.asked.take, take);
  Object.assign(api, { limit: 1000 });
  clock.nowMs += 5_000;
  assertEquals(await send(world, quota), "reserved");
});

Deno.test("a message that was not appended goes back and can be sent by another", async () => {
  const { quota } = createWorld(1);
  const first = await quota.reserve(account, { messages: 1, payloadBytes: 1 });
  assert(first.kind === "reserved");
  assertEquals((await quota.reserve(account, { messages: 1, payloadBytes: 1 })).kind, "exhausted");
  quota.settle(account, first.charge, false);
  assertEquals((await quota.reserve(account, { messages: 1, payloadBytes: 1 })).kind, "reserved");
});

Deno.test("a lease is not used in its last 30 seconds, and its successor is there before", async () => {
  const world = createWorld(10_000);
  const { quota, api, clock } = world;
  for (let second = 0; second < 600; second++) {
    const reservation = quota.reserve(account, { messages: 1, payloadBytes: 1 });
    const waited = reservation instanceof Promise;
    assert(!waited || second === 0, `waited at second ${second}`);
    const reserved = await reservation;
    assert(reserved.kind === "reserved");
    const lease = api.rows.find(({ id }) => id === reserved.charge.leaseId);
    assertGreater(Date.parse(lease?.expires_at ?? "") - clock.nowMs, 30_000 - 1);
    quota.settle(account, reserved.charge, world.append(reserved.charge));
    clock.nowMs += 1_000;
    await quota.tick();
  }
  assertLess(api.rows.length, 16);
});

Deno.test("the API is away: what was leased is used up, then a typed refusal, then it works again by itself", async () => {
  const world = createWorld(10_000);
  const { quota, api, clock } = world;
  await send(world, quota);
  api.fault = failing;
  for (let sent = 1; sent < 100; sent++) assertEquals(await send(world, quota), "reserved");
  const before = api.asked.take;
  for (let i = 0; i < 100; i++) assertEquals(await send(world, quota), "unavailable");
  assertLessOrEqual(api.asked.take, before + 1, "one question a second, however many messages");
  api.fault = () => {};
  clock.nowMs += 1_000;
  assertEquals(await send(world, quota), "reserved");
});

Deno.test("a lost answer never costs the account: the same question gets the same lease", async () => {
  const world = createWorld(10_000);
  const { quota, api, clock } = world;
  await quota.tick();
  api.fault = (moment) => moment === "after" ? failing() : undefined;
  assertEquals(await send(world, quota), "unavailable");
  assertEquals(api.rows.length, 1);
  api.fault = () => {};
  clock.nowMs += 5_000;
  // Nobody sends any more: upkeep itself asks again, and later gives back.
  await quota.tick();
  clock.nowMs += 60_000;
  await quota.tick();
  assertEquals([api.rows.length, api.open.length, api.used], [1, 0, 0]);
});

Deno.test("usage is reported while leases run, and a quiet account gives back", async () => {
  const world = createWorld(10_000);
  const { quota, api, clock } = world;
  for (let sent = 0; sent < 7; sent++) await send(world, quota);
  await quota.tick();
  assertEquals([api.used, api.open.length, api.bytes.payload], [7, 1, 7000]);
  const { report } = api.asked;
  await quota.tick();
  assertEquals(api.asked.report, report, "nothing new, nothing reported");
  quota.countBytes(account, { padding: 300, cover: 4096 });
  clock.nowMs += 60_000;
  await quota.tick();
  assertEquals([api.used, api.open.length], [7, 0]);
  assertEquals(api.bytes, { payload: 7000, padding: 300, cover: 4096 });
  assertEquals(quota.stats().accounts, 0, "nothing is remembered about it");
});

Deno.test("bytes of an account that only reads are reported once a minute and at the end", async () => {
  const { quota, api, clock } = createWorld(0);
  quota.countBytes(account, { padding: 10, cover: 20 });
  await quota.tick();
  assertEquals(api.asked.take, 0);
  clock.nowMs += 60_000;
  await quota.tick();
  assertEquals(api.bytes, { payload: 0, padding: 10, cover: 20 });
  quota.countBytes(account, { padding: 1, cover: 2 });
  await quota.close();
  assertEquals(api.bytes, { payload: 0, padding: 11, cover: 22 });
  assertEquals(api.open.length, 0);
});

Deno.test("an append that outlasts its lease is counted as the engine counted it", async () => {
  const { quota, api, clock, append } = createWorld(1000);
  const reservation = await quota.reserve(account, { messages: 1, payloadBytes: 10 });
  assert(reservation.kind === "reserved" && append(reservation.charge));
  clock.nowMs += api.lifetimeMs - 30_000;
  await quota.tick();
  assertEquals(api.open.length, 1, "it is waited for as long as the lease allows");
  clock.nowMs += 20_000;
  await quota.tick();
  assertEquals([api.open.length, api.used, api.bytes.payload], [0, 1, 10]);
  quota.settle(account, reservation.charge, true);
});

Deno.test("closing gives everything back and accepts nothing more", async () => {
  const world = createWorld(10_000);
  const { quota, api, book } = world;
  for (let sent = 0; sent < 120; sent++) await send(world, quota);
  await quota.close();
  assertEquals([api.used, api.open.length], [120, 0]);
  assertEquals(await book.list(), []);
  assertEquals(await send(world, quota), "unavailable");
});

Deno.test("a new life settles what a killed one left, from the engine's count, before it takes anything", async () => {
  const world = createWorld(100);
  for (let sent = 0; sent < 30; sent++) await send(world, world.quota);
  const next = world.live();
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => send(world, next)));
  assertEquals(outcomes.filter((kind) => kind === "reserved").length, 70);
  await next.close();
  assertEquals([world.api.used, world.api.open.length], [100, 0]);
});

Deno.test("a lease that the API does not know any more is dropped, and the loss is logged", async () => {
  const world = createWorld(1000);
  const { quota, api, events } = world;
  await send(world, quota);
  api.rows.length = 0;
  await quota.tick();
  await quota.tick();
  assert(
    events.some(({ event, outcome }) => event === "lease_report_refused" && outcome === "unknown"),
  );
  assertEquals(await send(world, quota), "reserved");
  assertEquals(api.rows.length, 1);
});

/** A life of the relay that can be killed: from then on nothing that it waits for ever answers. */
function mortal(
  world: World,
): { quota: LeasedQuota; killed: Promise<void>; kill: () => void; alive: () => boolean } {
  let alive = true;
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  const whileAlive = <Owner extends object>(owner: Owner): Owner =>
    new Proxy(owner, {
      get: (target, name) => async (...args: unknown[]) => {
        const never = new Promise(() => {});
        if (!alive) return await never;
        const method: unknown = Reflect.get(target, name);
        const answer = typeof method === "function" ? await method.apply(target, args) : method;
        return alive ? answer : await never;
      },
    });
  const kill = (): void => {
    alive = false;
    resolve();
  };
  const { api, book } = world;
  return {
    quota: world.live({ api: whileAlive(api), book: whileAlive(book) }),
    killed,
    kill,
    alive: () => alive,
  };
}

/**
 * Lives that end at any moment, an API that fails before or after its effect: limits hold, and in
 * the end all is paid.
 */
async function runSchedule(random: Random): Promise<void> {
  const limit = 1 + random.below(400);
  const world = createWorld(limit);
  const { api, clock } = world;
  let life = mortal(world);
  let accepted = 0;
  let failureRate = 0;
  api.fault = () => {
    if (random.chance(failureRate)) failing();
  };
  /** An append takes its time, in which other things happen. */
  const turns = async (): Promise<void> => {
    for (let left = random.below(40); left > 0; left--) await Promise.resolve();
  };
  const sendOne = async ({ quota, alive }: typeof life): Promise<void> => {
    const reservation = await quota.reserve(account, { messages: 1, payloadBytes: 10 });
    if (reservation.kind !== "reserved") return;
    await turns();
    if (!alive()) return;
    // Some appends fail for other reasons.
    const appended = random.chance(0.9) && world.append(reservation.charge);
    if (appended) accepted++;
    assertLessOrEqual(accepted, limit);
    await turns();
    if (alive()) quota.settle(account, reservation.charge, appended);
  };
  for (let step = 0; step < 40; step++) {
    failureRate = random.pick([0, 0, 0.3, 0.9]);
    clock.nowMs += random.pick([0, 100, 5_000, 70_000, 400_000]);
    const doing = Array.from({ length: random.below(30) }, () => sendOne(life));
    if (random.chance(0.3)) doing.push(life.quota.tick());
    if (random.chance(0.2)) doing.push(turns().then(life.kill));
    if (random.chance(0.2)) doing.push(turns().then(() => void (clock.nowMs += 400_000)));
    await Promise.race([Promise.all(doing), life.killed]);
    if (random.chance(0.1)) await Promise.race([life.quota.close().then(life.kill), life.killed]);
    if (!life.alive()) life = mortal(world);
  }
  failureRate = 0;
  life.kill();
  const last = world.live();
  await last.tick();
  await last.close();
  assertEquals([api.used, api.open.length], [accepted, 0]);
  assertEquals(api.bytes.payload, 10 * accepted);
}

Deno.test("whatever fails and whenever a life ends, the limit holds and usage equals what was accepted", async () => {
  const seed = seedFromEnvironment();
  const runs = inCampaign ? 20_000 : 50;
  for (let run = 0; run < runs; run++) {
    try {
      await runSchedule(createRandom(seed + run));
    } catch (error) {
      throw new Error(`STATIC_TEST_SEED=${seed + run} repeats it as run 0`, { cause: error });
    }
  }
  tried(`${runs} lives of leases`);
});

Deno.test("a lease that is over by this relay's clock is given back, and the API is not asked again and again", async () => {
  const world = createWorld(10_000);
  const { quota, api, events, clock } = world;
  // As seen from here the API's clock is ten minutes behind.
  api.lifetimeMs = -300_000;
  assertEquals(await Promise.race([send(world, quota), afterAsking(api, 20)]), "unavailable");
  assertEquals(api.asked.take, 1);
  assertEquals(events.map(({ event }) => event), ["quota_api_failed"]);
  await quota.tick();
  assertEquals(api.open.length, 0);
  api.lifetimeMs = 300_000;
  clock.nowMs += 1_000;
  assertEquals(await send(world, quota), "reserved");
});

/** Resolves when the API was asked so often, so that a test of it ends. */
async function afterAsking(api: SimulatedApi, times: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  api.fault = () => {
    if (api.asked.take < times) return;
    resolve(`asked ${times} times`);
    throw new Error("enough");
  };
  return await promise;
}

Deno.test("what was refused is asked for again although the clock was set back", async () => {
  const world = createWorld(10_000);
  const { quota, api, clock } = world;
  api.fault = failing;
  assertEquals(await send(world, quota), "unavailable");
  api.fault = () => {};
  clock.nowMs -= 3_600_000;
  assertEquals(await send(world, quota), "reserved");
});

Deno.test("a lease whose end the engine could not write is ended later, with its count", async () => {
  const world = createWorld(10_000);
  const { api, book, clock } = world;
  let full = false;
  const quota = world.live({
    api,
    book: { ...book, stop: (id) => full ? Promise.reject(new Error("disk full")) : book.stop(id) },
  });
  await send(world, quota);
  clock.nowMs += 61_000;
  full = true;
  await quota.tick();
  assertEquals(api.open.length, 1);
  full = false;
  await quota.tick();
  assertEquals([api.open.length, api.used], [0, 1]);
});

Deno.test("messages that go together are paid from one lease, and a lease with too few left pays for fewer", async () => {
  const world = createWorld(150);
  const { quota } = world;
  const together = (messages: number): Promise<Reservation> =>
    Promise.resolve(quota.reserve(account, { messages, payloadBytes: 10 }));
  const first = await together(64);
  assert(first.kind === "reserved");
  quota.settle(account, first.charge, world.append(first.charge));
  assertEquals(
    (await together(64)).kind,
    "exhausted",
    "36 are left of the first lease, 50 are in the second",
  );
  for (let left = 86; left > 0; left--) {
    assertEquals(await send(world, quota), "reserved", `${left} left`);
  }
  assertEquals(await send(world, quota), "exhausted");
});

Deno.test("messages of a key that go together are asked for at once, although its leases are small", async () => {
  const world = createWorld(10_000);
  const key = parseKeyId(crypto.randomUUID());
  const reservation = await world.quota.reserve(account, { messages: 64, payloadBytes: 1 }, key);
  assertEquals(reservation.kind, "reserved");
  assertEquals(world.api.asked.take, 1);
});
