import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { limits } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { createMemoryDisk, openMemory, type RecordChange, RecordStore } from "../store/mod.ts";
import { MlsFault } from "./codec.ts";
import {
  type ConsumptionReceipt,
  DurableGroup,
  type GroupRecords,
  reservedGenerations,
} from "./durable_group.ts";
import { decodeSealedMessage, openSenderData } from "./framing.ts";
import { Group } from "./group.ts";
import { aeadOf } from "./crypto/suite.ts";
import { type Agent, World } from "./testing/world.ts";

const anything = (): undefined => undefined;
const payload = Uint8Array.of(1);

async function createPair(): Promise<{ world: World; a: Agent; b: Agent }> {
  const world = new World(createRandom(4));
  const a = await world.create();
  const b = world.newAgent();
  await world.add(a, b);
  return { world, a, b };
}

async function createStore(): Promise<RecordStore> {
  const random = createRandom(9);
  return await RecordStore.open(openMemory(createMemoryDisk(), (length) => random.bytes(length)));
}

/** A store whose next write fails when asked to. */
async function createFailingStore(): Promise<
  { records: GroupRecords; store: RecordStore; fail: () => void }
> {
  const store = await createStore();
  let failing = false;
  const records: GroupRecords = {
    list: (kind) => store.list(kind),
    batch: (changes) => failing ? Promise.reject(new Error("disk full")) : store.batch(changes),
  };
  return { records, store, fail: () => void (failing = true) };
}

function generationOf(agent: Agent, message: Uint8Array): number {
  const { suiteId, secrets } = agent.member.current;
  return openSenderData(decodeSealedMessage(message), aeadOf[suiteId], secrets.senderData)
    .generation;
}

Deno.test("generations never repeat across crashes, before, at and after the end of a block", async () => {
  const { a } = await createPair();
  const seen = new Set<number>();
  for (
    const burst of [1, reservedGenerations - 1, reservedGenerations, reservedGenerations + 1, 3]
  ) {
    for (let i = 0; i < burst; i++) {
      const generation = generationOf(a, (await a.joined.seal(payload, payload)).message);
      assert(!seen.has(generation), `generation ${generation} was used twice`);
      seen.add(generation);
    }
    await a.crash();
  }
});

Deno.test("after a write that failed nothing more is sealed, received or committed", async () => {
  const { a, b } = await createPair();
  const { records, fail } = await createFailingStore();
  const durable = await DurableGroup.save(b.member, records);
  await durable.seal(payload, payload);
  fail();
  const { message } = await a.joined.seal(payload, payload);
  await assertRejects(() => durable.receive(message, anything), Error, "disk full");
  await assertRejects(() => durable.seal(payload, payload), Error, "disk full");
  await assertRejects(() => durable.prepare({}), Error, "disk full");
});

Deno.test("a group of which nobody could tell what goes with a change ends: it has moved in memory alone", async () => {
  const fail = (): never => {
    throw new Error("cannot tell");
  };
  const operations: ((a: Agent, commit: Uint8Array) => Promise<unknown>)[] = [
    (a) => a.joined.seal(payload, payload, { reserving: { isNeeded: () => true, changes: fail } }),
    (a, commit) => a.joined.receive(commit, anything, fail),
    async (a) => await a.joined.accept(await a.joined.prepare({}), fail),
    async (a) => {
      await a.joined.prepare({});
      await a.joined.discard(fail);
    },
  ];
  for (const operate of operations) {
    const { a, b } = await createPair();
    const { message } = await b.joined.prepare({});
    await assertRejects(() => operate(a, message), Error, "cannot tell");
    await assertRejects(() => a.joined.seal(payload, payload), Error, "cannot tell");
  }
});

Deno.test("what goes with a membership or a commit is on disk with it, or neither is", async () => {
  const { world, a, b } = await createPair();
  const beside = (id: string): RecordChange => ({
    type: "put",
    kind: "beside",
    id,
    value: payload,
  });
  const { records, store, fail } = await createFailingStore();
  const written: string[][] = [];
  const logging: GroupRecords = {
    list: records.list,
    batch: (changes) => {
      written.push(changes.map(({ type, id }) => `${type} ${id}`));
      return records.batch(changes);
    },
  };
  await DurableGroup.save(b.member, logging, [beside("first")]);
  await world.commit(a, () => ({}));
  await b.sync();
  written.length = 0;
  const durable = await DurableGroup.save(b.member, logging, [beside("second")]);
  assertEquals(written.length, 1, "the membership before goes with the same write");
  assert(
    ["put epoch", "put second", "delete frontier/1"].every((each) => written[0]?.includes(each)),
    written.join(),
  );
  const { epoch } = durable.group;
  await world.commit(a, () => ({}));
  const commit = world.log.at(-1);
  assert(commit);
  fail();
  await assertRejects(
    () => durable.receive(commit.bytes, anything, () => [beside("third")]),
    Error,
    "disk full",
  );
  assertEquals((await store.list("beside")).map(({ id }) => id).sort(), ["first", "second"]);
  const loaded = await DurableGroup.load(world.channelId, store, b.deps);
  assertEquals(loaded?.durable.group.epoch, epoch);
});

Deno.test("an epoch that is stored cannot be started again from its Welcome", async () => {
  const { world, b } = await createPair();
  await b.joined.seal(payload, payload);
  await assertRejects(() => b.join(), MlsFault, "load it instead");
  await b.crash();
  assertEquals(b.member.epoch, world.epoch);
});

Deno.test("one commit is under way at a time, also across a crash", async () => {
  const { a } = await createPair();
  assertEquals(
    await a.joined.prepareIn(a.joined.group.epoch - 1, {}),
    undefined,
    "planned in an epoch that is over",
  );
  const prepared = await a.joined.prepare({});
  await assertRejects(() => a.joined.prepare({}), MlsFault, "under way");
  await a.crash();
  assertEquals(a.candidate?.hash, prepared.hash);
  await assertRejects(() => a.joined.prepare({}), MlsFault, "under way");
  await a.joined.discard();
  await a.joined.prepare({});
});

Deno.test("a group that is closed has written what was going on before, and takes nothing more", async () => {
  const { world, a, b } = await createPair();
  const store = await createStore();
  const durable = await DurableGroup.save(b.member, store);
  await world.commit(a, () => ({}));
  const commit = world.log.at(-1);
  assert(commit);
  const { message } = await a.joined.seal(payload, payload);
  await Promise.all([
    durable.receive(commit.bytes, anything),
    durable.receive(message, anything),
    durable.close(),
  ]);
  assertEquals(
    (await DurableGroup.load(world.channelId, store, b.deps))?.durable.group.epoch,
    world.epoch,
  );
  await assertRejects(() => durable.seal(payload, payload), MlsFault, "closed");
});

Deno.test("keys that were reserved and not used are used by the next start, so that receivers keep none for them", async () => {
  const { world, a, b } = await createPair();
  const store = await createStore();
  let durable = await DurableGroup.save(b.member, store);
  for (let start = 0; start < 17; start++) {
    const { message } = await durable.seal(payload, payload);
    assertEquals(generationOf(a, message), start);
    assertEquals((await a.joined.receive(message, anything)).outcome.kind, "message");
    await durable.close();
    const loaded = await DurableGroup.load(world.channelId, store, b.deps);
    assert(loaded);
    durable = loaded.durable;
  }
});

Deno.test("a close whose write fails gives back no key that was used", async () => {
  const { world, a, b } = await createPair();
  const { records, store, fail } = await createFailingStore();
  const durable = await DurableGroup.save(b.member, records);
  await durable.seal(payload, payload);
  fail();
  await durable.close();
  await assertRejects(() => durable.seal(payload, payload), Error, "disk full");
  const loaded = await DurableGroup.load(world.channelId, store, b.deps);
  const sealed = await loaded?.durable.seal(payload, payload);
  assertEquals(sealed && generationOf(a, sealed.message), reservedGenerations);
});

Deno.test("a close that fails for another reason ends the group too", async () => {
  const { b } = await createPair();
  const durable = await DurableGroup.save(b.member, await createStore());
  await durable.seal(payload, payload);
  const { secretTree, ownLeaf } = b.member.current;
  secretTree.forget(ownLeaf);
  await durable.close();
  await assertRejects(() => durable.seal(payload, payload), MlsFault, "closed");
});

Deno.test("a message says the number of its key, in whatever way the group came to it", async () => {
  const { world, a, b } = await createPair();
  const store = await createStore();
  let durable = await DurableGroup.save(b.member, store);
  const load = async (): Promise<void> => {
    const loaded = await DurableGroup.load(world.channelId, store, b.deps);
    assert(loaded);
    durable = loaded.durable;
  };
  /** Returns how many keys were used before. */
  const seal = async (isNeeded = false): Promise<number> => {
    const before = durable.usedKeys;
    let said = 0;
    const authenticate = (keyNumber: number): Uint8Array => Uint8Array.of(said = keyNumber);
    const reserving = { isNeeded: () => isNeeded, changes: () => [] };
    const { message } = await durable.seal(payload, authenticate, { reserving });
    assertEquals([said, durable.usedKeys], [generationOf(a, message) + 1, said]);
    return before;
  };
  assertEquals([await seal(), await seal()], [0, 1]);
  await durable.close();
  await load();
  assertEquals([await seal(), await seal(true)], [2, 3]);
  await load(); // after a crash
  assertEquals(await seal(), 3 + reservedGenerations);
  await world.commit(a, () => ({}));
  const commit = world.log.at(-1);
  assert(commit);
  await durable.receive(commit.bytes, anything);
  await load();
  assertEquals([await seal(), await seal()], [0, 1]);
});

Deno.test("messages are consumed in any order, each for good, and no key comes back", async () => {
  const { world, a, b } = await createPair();
  const store = await createStore();
  const durable = await DurableGroup.save(b.member, store);
  const sealed: Uint8Array[] = [];
  for (let i = 0; i < 4; i++) sealed.push((await a.joined.seal(payload, payload)).message);
  const receipts: ConsumptionReceipt[] = [];
  for (const message of sealed) {
    const { receipt } = await durable.receive(message, anything);
    assert(receipt);
    receipts.push(receipt);
  }
  const consume = async (i: number): Promise<number> => {
    const changes = receipts.slice(i, i + 1).flatMap((receipt) => durable.consume(receipt));
    await store.batch(changes);
    return changes.length;
  };
  /** The outcomes of the same messages after a restart. */
  const outcomes = async (): Promise<string[]> => {
    const loaded = await DurableGroup.load(world.channelId, store, b.deps);
    assert(loaded);
    const kinds = [];
    for (const message of sealed) {
      kinds.push((await loaded.durable.group.receive(message, anything, () => undefined)).kind);
    }
    return kinds;
  };
  assertEquals([await consume(2), await consume(0), await consume(2)], [1, 1, 0]);
  assertEquals(await outcomes(), ["duplicate", "message", "duplicate", "message"]);
  await consume(3);
  assertEquals(await outcomes(), ["duplicate", "message", "duplicate", "duplicate"]);
  await consume(1);
  assertEquals(await outcomes(), ["duplicate", "duplicate", "duplicate", "duplicate"]);
});

Deno.test("keys of a forgotten epoch are gone from disk and do not come back", async () => {
  const { world, a, b } = await createPair();
  const { message } = await a.joined.seal(payload, payload);
  const { receipt } = await b.joined.receive(message, anything);
  assert(receipt);
  await world.commit(a, () => ({}));
  await b.sync();
  await b.joined.forgetBefore(b.member.epoch);
  assertEquals(b.joined.consume(receipt), []);
  await b.acknowledge();
  await b.crash();
  assertEquals((await b.member.receive(message, anything)).kind, "stale");
});

Deno.test("a message of an earlier epoch is read after a restart, and with it goes its key, not the others'", async () => {
  const { world, a, b } = await createPair();
  const c = world.newAgent();
  await world.add(a, c);
  await b.sync();
  const late = [await a.joined.seal(payload, payload), await c.joined.seal(payload, payload)];
  await world.commit(a, () => ({ remove: [c.id] }));
  await b.sync();
  await b.acknowledge();
  await b.crash();
  for (const [i, { message }] of late.entries()) {
    const { outcome, receipt } = await b.joined.receive(message, anything);
    assert(outcome.kind === "message" && receipt !== undefined, outcome.kind);
    assertEquals(
      [outcome.sender.agentId, outcome.sender.owner],
      i === 0 ? [a.id, true] : [c.id, false],
    );
  }
});

Deno.test("our own chain of an epoch that is over is gone, in memory and on disk, whether we spoke or not", async () => {
  const { world, a: speaker, b: silent } = await createPair();
  assert(await world.send(speaker, payload));
  await world.commit(speaker, () => ({}));
  await silent.sync();
  for (const agent of [speaker, silent]) {
    for (const restart of [false, true]) {
      if (restart) await agent.crash();
      const past = agent.member.past.get(1n);
      assert(past !== undefined && !past.secretTree.leaves.has(past.ownLeaf));
      assertThrows(
        () => past.secretTree.generation(past.ownLeaf, "application"),
        MlsFault,
        "deleted",
      );
    }
  }
});

Deno.test("a commit whose state would not fit into a record is neither made nor followed, and nothing is lost", async () => {
  const { world, a, b } = await createPair();
  const store = await createStore();
  let maxValueBytes = 100_000;
  const records: GroupRecords = {
    list: (kind) => store.list(kind),
    batch: (changes) => store.batch(changes),
    get maxValueBytes(): number {
      return maxValueBytes;
    },
  };
  const durable = await DurableGroup.save(b.member, records);
  await world.commit(a, () => ({}));
  const commit = world.log.at(-1);
  assert(commit);
  maxValueBytes = 500;
  const { outcome } = await durable.receive(commit.bytes, anything);
  assert(outcome.kind === "refused" && outcome.reason.includes("at most 500"), outcome.kind);
  await assertRejects(() => durable.prepare({}), MlsFault, "at most 500");
  maxValueBytes = 100_000;
  assertEquals((await durable.receive(commit.bytes, anything)).outcome.kind, "commit");
  await durable.prepare({});
  assertEquals(durable.group.authenticator, a.member.authenticator);
});

Deno.test("members with more and fewer keys of their own come to one verdict on a state that hardly fits", async () => {
  const { world, a, b } = await createPair();
  const c = world.newAgent();
  await world.add(a, c);
  await b.sync();
  let maxValueBytes = 20_000;
  const durables = await Promise.all([b, c].map(async ({ member }) => {
    const store = await createStore();
    const records = {
      list: (kind: string) => store.list(kind),
      batch: (changes: readonly RecordChange[]) => store.batch(changes),
      get maxValueBytes(): number {
        return maxValueBytes;
      },
    };
    return await DurableGroup.save(member, records);
  }));
  await world.commit(a, () => ({}));
  const commit = world.log.at(-1);
  assert(commit);
  // A key of a path is longer than a step.
  for (maxValueBytes = 1_000;; maxValueBytes += 50) {
    const outcomes = await Promise.all(
      durables.map((durable) => durable.receive(commit.bytes, anything)),
    );
    const [first, second] = outcomes.map(({ outcome }) => outcome.kind);
    assertEquals(first, second, `with ${maxValueBytes} bytes`);
    if (first === "commit") break;
  }
  assert(maxValueBytes > 1_000, "it never hardly fit");
});

Deno.test("a membership that another one replaces needs to forget nothing, also when it is asked to meanwhile", async () => {
  const { a } = await createPair();
  const before = a.joined.forgetBefore(1);
  a.joined.retire();
  await a.joined.forgetBefore(1);
  await before;
  await assertRejects(() => a.joined.seal(payload, payload), MlsFault, "joined the channel anew");
});

Deno.test("a commit that the relay would find too long is not made", async () => {
  const { world, a } = await createPair();
  const padded = Group.restore(a.member.parts, { ...a.deps, padding: () => limits.commitBytes });
  assertThrows(() => padded.prepare({}), MlsFault, "change fewer members");
  assertEquals(await world.commit(a, () => ({})), 1);
});
