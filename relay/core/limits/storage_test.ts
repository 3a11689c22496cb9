/** Limits of a tenant on the relay's disk, and of traffic that it does not pay for. */
import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import {
  binaryIdToBytes,
  type ChannelId,
  parseAccountId,
  parseChannelName,
} from "../../../proto/mod.ts";
import { createPrivateMessage, createWelcome } from "../../../tests/support/mod.ts";
import { type DiskSpace, roomInFile } from "../../engine/disk_space.ts";
import { openSqliteEngine } from "../../engine/mod.ts";
import { Allowances } from "./allowances.ts";
import { AccountPlans } from "./plans.ts";
import type { AgentAsker } from "../requests/request_handler.ts";
import { takeReserve } from "../requests/handshake_payment.ts";
import { Actor } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { createPair, createReadingPair, refused, worldTest } from "../testing/scene.ts";
import { accountOf, createWorld, idOf, type World } from "../testing/world.ts";

const hourMs = 60 * 60 * 1000;
/** Accounts of these tests have the plan dev: ten times the allowance of a free one. */
const threeHandshakes = { handshakesPerDay: 0.3 };

worldTest(
  "commits and Welcomes above the allowance of their account are messages",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    world.quota.left = 1;
    await alice.commit(channelId, 1);
    await alice.commit(channelId, 2);
    assertEquals(world.quota.left, 1);
    await alice.commit(channelId, 3);
    assertEquals([world.quota.left, world.meter.handshakesCharged], [0, 1]);
    await refused("quota_exceeded", alice.commit(channelId, 4));
    // The same again does not count twice, and a day brings the allowance back.
    await alice.commit(channelId, 3);
    await world.time.advance(9 * hourMs);
    await alice.commit(channelId, 4);
    assertEquals(world.quota.left, 0);
  },
  { config: threeHandshakes },
);

worldTest("a commit that lost its race costs neither allowance nor messages", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  const won = [1, 0];
  for (let epoch = 1; epoch <= 9; epoch++) {
    const racing = [alice.commit(channelId, epoch), bob.commit(channelId, epoch)];
    const outcomes = await Promise.allSettled(racing);
    outcomes.forEach(({ status }, i) => won[i] = (won[i] ?? 0) + Number(status === "fulfilled"));
  }
  assertEquals(world.meter.commitsAccepted, 10);
  assertEquals(
    world.meter.handshakesCharged,
    won.reduce((sum, commits) => sum + Math.max(0, commits - 3), 0),
  );
}, { config: threeHandshakes });

worldTest(
  "without messages left members are still removed, and what that took is owed",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    world.quota.left = 0;
    await alice.commit(channelId, 1);
    await alice.commit(channelId, 2);
    await refused("quota_exceeded", alice.commit(channelId, 3));
    await alice.commit(channelId, 3, { removed: [bob.agentId] });
    await refused("quota_exceeded", alice.commit(channelId, 4));
  },
  { config: threeHandshakes },
);

worldTest(
  "large removals are refused like others when their reserve is used up; small ones go on",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const channelId = await alice.createChannel();
    const added = Array.from({ length: 50 }, (_, number) => createAgent(20 + number).agentId);
    await alice.commit(channelId, 0, { added });
    world.quota.left = 0;
    let epoch = 1;
    const remove = (bytes: number): Promise<unknown> => {
      const commit = createPrivateMessage({
        groupId: binaryIdToBytes(channelId),
        epoch,
        contentType: 3,
        ciphertext: new Uint8Array(bytes),
      });
      return alice.commit(channelId, epoch, { removed: added.slice(epoch, epoch + 1), commit });
    };
    while (epoch < 49 && await remove(250_000).then(() => true, () => false)) epoch++;
    assertEquals(epoch - 1, Math.floor(8 * 1024 * 1024 / 250_500));
    const { body } = await refused("storage_full", remove(250_000));
    assertGreater(body.retryAfterMs ?? 0, 0);
    await remove(1_000);
  },
  { config: { storageBytesPerAccount: 6_000 } },
);

worldTest("large Welcomes use up the bytes of the allowance", async (world) => {
  const { alice, channelId } = await createPair(world);
  const { agentId } = createAgent(20);
  await alice.commit(channelId, 1, { added: [agentId] });
  world.quota.left = 0;
  const send = (bytes: number): Promise<unknown> => {
    const welcome = createWelcome(1, bytes);
    return alice.client.call("SendWelcome", {
      channelId,
      epoch: 2,
      recipients: [agentId],
      welcome,
    });
  };
  await send(50_000);
  await refused("quota_exceeded", send(60_000));
}, { config: { handshakeBytesPerDay: 12_000 } });

worldTest(
  "beyond the allowance a Welcome costs a message for each 16 KiB that it begins",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const { agentId } = createAgent(20);
    await alice.commit(channelId, 1, { added: [agentId] });
    const send = async (bytes: number): Promise<number> => {
      const welcome = createWelcome(1, bytes);
      const before = world.quota.left;
      await alice.client.call("SendWelcome", {
        channelId,
        epoch: 2,
        recipients: [agentId],
        welcome,
      });
      assertEquals(
        Math.ceil(welcome.length / 16_384),
        before - world.quota.left,
        `${welcome.length} bytes`,
      );
      return before - world.quota.left;
    };
    world.quota.left = 150;
    assertEquals(await send(1_000), 1);
    assertGreater(await send(800_000), 60);
    const { left } = world.quota;
    await refused("quota_exceeded", send(900_000));
    assertEquals([world.quota.left, world.meter.handshakesCharged], [left, 2]);
  },
  { config: { handshakesPerDay: 0.2 } },
);

Deno.test("an allowance comes back with time, and not by setting the clock back", () => {
  const allowances = new Allowances();
  const account = "00000000-0000-4000-8000-000000000001" as Parameters<Allowances["take"]>[0];
  const day = { count: 2, bytes: 100 };
  const take = (nowMs: number): boolean => allowances.take(account, 10, day, nowMs);
  assertEquals([take(0), take(0), take(0)], [true, true, false]);
  assertEquals([take(-hourMs), take(12 * hourMs), take(12 * hourMs)], [false, true, false]);
});

Deno.test("a removal that its account's reserve does not cover leaves the channel's reserve to others", () => {
  const reserves = new Allowances();
  const channelId = idOf<ChannelId>(7);
  const take = (account: number): boolean => {
    // cast: as much of an asker as is looked at
    const asker = {
      core: { limits: { reserves }, deps: { nowMs: () => 0 } },
      agent: { account: accountOf(account) },
    } as unknown as AgentAsker;
    return takeReserve(asker, channelId, 8 * 1024 * 1024) !== undefined;
  };
  reserves.draw(accountOf(1), 8 * 1024 * 1024, 0);
  assertEquals([take(1), take(2), take(3)], [false, true, false]);
});

worldTest(
  "an account that has used up its allowance has not got it back after a restart",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    await alice.commit(channelId, 1);
    await alice.commit(channelId, 2);
    await world.core.close();
    const restarted = await createWorld({ engine: world.engine, config: threeHandshakes });
    await alice.reconnect(restarted);
    await alice.commit(channelId, 3);
    assertEquals(restarted.meter.handshakesCharged, 1);
    await restarted.close();
  },
  { config: threeHandshakes },
);

Deno.test("allowances are the same when they are read again, and two relays that write them go on", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const day = { count: 4, bytes: 100 };
  const [first, second] = [new Allowances(engine.records), new Allowances(engine.records)];
  for (const allowances of [first, second]) await allowances.load("a");
  assertEquals([
    first.take("a", 10, day, 0),
    first.take("a", 10, day, 0),
    second.take("a", 10, day, 0),
  ], [
    true,
    true,
    true,
  ]);
  await second.save(0);
  // The first one loses against the second, and writes at the next call.
  for (let round = 0; round < 2; round++) await first.save(0);
  const restarted = new Allowances(engine.records);
  await restarted.load("a");
  const taken = [0, 0, 0, 6 * hourMs, 6 * hourMs].map((nowMs) =>
    restarted.take("a", 10, day, nowMs)
  );
  assertEquals(taken, [true, true, false, true, false]);
  await engine.close();
});

Deno.test("allowances whose write failed are written at the next call", async () => {
  const engine = await openSqliteEngine({ path: ":memory:" });
  const { records } = engine;
  let isFailing = true;
  const allowances = new Allowances({
    ...records,
    put: (...record) => isFailing ? Promise.reject(new Error("no disk")) : records.put(...record),
  });
  for (const account of ["a", "b"]) {
    await allowances.load(account);
    allowances.take(account, 10, { count: 1, bytes: 10 }, 0);
  }
  await assertRejects(() => allowances.save(0), Error, "no disk");
  isFailing = false;
  await allowances.save(0);
  const restarted = new Allowances(records);
  for (const account of ["a", "b"]) {
    await restarted.load(account);
    assertEquals(restarted.take(account, 10, { count: 1, bytes: 10 }, 0), false, account);
  }
  await engine.close();
});

worldTest(
  "others send into an account's channels by its own plan, after a restart too",
  async (world) => {
    const { bob, channelId } = await createPair(world);
    await world.core.close();
    // A free account would have room for nothing.
    const restarted = await createWorld({
      engine: world.engine,
      config: { storageBytesPerAccount: 5_000 },
    });
    await bob.reconnect(restarted);
    await bob.send(channelId, 1, 1, 10_000);
    await restarted.close();
  },
);

Deno.test("the plan of an account is what its newest token says, whichever is used last, after a restart too", async () => {
  const { engine, core } = await createWorld();
  const account = parseAccountId(accountOf(1));
  const plans = new AccountPlans(engine.records);
  await plans.learn(account, { plan: "team", issuedAtMs: 2_000 }, 3_000);
  await plans.learn(account, { plan: "free", issuedAtMs: 1_000 }, 3_000);
  assertEquals(await plans.of(account), "team");
  const restarted = new AccountPlans(engine.records);
  await restarted.learn(account, { plan: "free", issuedAtMs: 1_000 }, 3_000);
  assertEquals(await restarted.of(account), "team");
  await restarted.learn(account, { plan: "dev", issuedAtMs: 2_500 }, 3_000);
  assertEquals([await restarted.of(account), await new AccountPlans(engine.records).of(account)], [
    "dev",
    "dev",
  ]);
  await core.close();
  await engine.close();
});

Deno.test("free pages of a file are of no use on a disk that has no space for the log", () => {
  const disk = (availableBytes: number): DiskSpace => ({
    availableBytes,
    capacityBytes: 10_000_000,
  });
  const size = { maxBytes: Infinity, fileBytes: 5_000_000, freeBytes: 1_000_000 };
  assertEquals(roomInFile(disk(500_000), size).availableBytes, 1_500_000);
  assertEquals(roomInFile(disk(1_000), size).availableBytes, 16_000);
  assertEquals(roomInFile(disk(0), size).availableBytes, 0);
  // The limit is the file's, and its log is beside it.
  assertEquals(
    roomInFile(disk(500_000), { ...size, maxBytes: 5_000_000 }).availableBytes,
    1_000_000,
  );
});

/** A relay whose file may take so much. */
async function smallDisk(maxBytes: number): Promise<{ readonly world: World } & AsyncDisposable> {
  const engine = await openSqliteEngine({ path: ":memory:", maxBytes });
  const world = await createWorld({ engine });
  return {
    world,
    [Symbol.asyncDispose]: async () => {
      await world.close();
      await engine.close();
    },
  };
}

Deno.test("before the disk is full growth is refused, members go on, and removing and reading make room", async () => {
  await using disk = await smallDisk(20 * 1024 * 1024);
  const { world } = disk;
  const { alice, bob, channelId } = await createReadingPair(world);
  const hoarder = await Actor.connect(world, 5);
  const hoard = await hoarder.createChannel(5, parseChannelName("a/b/5"));
  await hoarder.commit(hoard, 0, { added: [createAgent(20).agentId] });
  let number = 1;
  while (await hoarder.send(hoard, 1, number, 500_000).then(() => true, () => false)) {
    number++;
    await world.time.advance(300);
  }
  assertEquals(world.core.stats().storage.level, "tight");
  await refused("storage_full", hoarder.send(hoard, 1, number, 500_000));
  await refused("storage_full", alice.createChannel(9, parseChannelName("a/b/9")));
  await refused("storage_full", alice.commit(channelId, 1, { added: [createAgent(21).agentId] }));
  for (let i = 1; i <= 50; i++) {
    await alice.send(channelId, 1, i, 20_000);
    await bob.acknowledge(channelId, i + 1);
    await alice.acknowledge(channelId, i + 1);
    await world.time.advance(1_000);
  }
  await alice.commit(channelId, 1);
  await alice.commit(channelId, 2, { removed: [bob.agentId] });
  await hoarder.client.call("CloseChannel", { channelId: hoard });
  await world.time.leap(8 * 24 * hourMs);
  assertEquals(world.core.stats().storage.level, "ok");
  await alice.reconnect(world);
  await alice.createChannel(9, parseChannelName("a/b/9"));
});
