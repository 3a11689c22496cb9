import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { MlsFault } from "./codec.ts";
import { DurableGroup, type Records, reservedGenerations } from "./durable_group.ts";
import { decodeSealedMessage, openSenderData } from "./framing.ts";
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

/** A store whose next write fails when asked to. */
async function createFailingStore(): Promise<{ records: Records; store: RecordStore; fail: () => void }> {
  const random = createRandom(9);
  const store = await RecordStore.open(openMemory(createMemoryDisk(), (length) => random.bytes(length)));
  let failing = false;
  const records: Records = {
    list: (kind) => store.list(kind),
    batch: (changes) => failing ? Promise.reject(new Error("disk full")) : store.batch(changes),
  };
  return { records, store, fail: () => void (failing = true) };
}

function generationOf(agent: Agent, message: Uint8Array): number {
  const { suiteId, secrets } = agent.member.current;
  return openSenderData(decodeSealedMessage(message), aeadOf[suiteId], secrets.senderData).generation;
}

Deno.test("generations never repeat across crashes, before, at and after the end of a block", async () => {
  const { a } = await createPair();
  const seen = new Set<number>();
  for (const burst of [1, reservedGenerations - 1, reservedGenerations, reservedGenerations + 1, 3]) {
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
  await assertRejects(() => durable.receive(message, anything), MlsFault, "could not be written");
  await assertRejects(() => durable.seal(payload, payload), MlsFault, "load it again");
  await assertRejects(() => durable.prepare({}), MlsFault, "load it again");
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
  const prepared = await a.joined.prepare({});
  await assertRejects(() => a.joined.prepare({}), MlsFault, "under way");
  await a.crash();
  assertEquals(a.candidate?.hash, prepared.hash);
  await assertRejects(() => a.joined.prepare({}), MlsFault, "under way");
  await a.joined.discard();
  await a.joined.prepare({});
});

Deno.test("an erased channel leaves nothing on disk, whatever was going on, and takes nothing more", async () => {
  const { world, a, b } = await createPair();
  const { records, store } = await createFailingStore();
  const durable = await DurableGroup.save(b.member, records);
  await world.commit(a, () => ({}));
  const commit = world.log.at(-1);
  assert(commit);
  const { message } = await a.joined.seal(payload, payload);
  await Promise.all([durable.receive(commit.bytes, anything), durable.receive(message, anything), durable.erase()]);
  assertEquals((await DurableGroup.load(world.channelId, store, b.deps))?.durable, undefined);
  await assertRejects(() => durable.seal(payload, payload), MlsFault, "erased");
});

Deno.test("consuming an earlier message after a later one brings no key back", async () => {
  const { a, b } = await createPair();
  const sealed = [await a.joined.seal(payload, payload), await a.joined.seal(payload, payload)];
  const receipts = [];
  for (const { message } of sealed) receipts.push((await b.joined.receive(message, anything)).receipt);
  const [first, second] = receipts;
  assert(first && second);
  assertEquals(b.joined.consume(second).length, 1);
  assertEquals(b.joined.consume(first), []);
  assertEquals(b.joined.consume(second), []);
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
