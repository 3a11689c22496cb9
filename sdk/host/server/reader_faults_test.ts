// Durable readers whose disk fails now and then: what was not written is not taken for written.
import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../base/deferred.ts";
import { StaticError } from "../../base/errors.ts";
import type { Channel } from "../../api/channel.ts";
import { Stage } from "../../../tests/support/scenario/stage.ts";
import type { ReaderRecord } from "./reader_records.ts";
import { SharedAgent } from "./shared_agent.ts";
import { live, MemoryRecords, open, type Place, place, take } from "./testing/memory_log.ts";

/** A disk that is full, or slow, when a test says so. */
class FaultyRecords extends MemoryRecords {
  isFull = false;
  /** Each write waits for it. */
  gate: Promise<void> = Promise.resolve();

  override async write(records: readonly ReaderRecord[]): Promise<void> {
    await this.gate;
    this.#check();
    await super.write(records);
  }

  override async delete(name: string): Promise<void> {
    await this.gate;
    this.#check();
    await super.delete(name);
  }

  #check(): void {
    if (this.isFull) throw new Error("disk full");
  }
}

function faultyPlace(...texts: readonly string[]): Place & { readonly records: FaultyRecords } {
  const here = { ...place(), records: new FaultyRecords() };
  for (const text of texts) here.log.say(text);
  return here;
}

Deno.test("a reader that could not be written is not there, and is written when it is opened again", async () => {
  const here = faultyPlace("1", "2");
  const readers = live(here);
  const other = await open(readers);
  here.records.isFull = true;
  await assertRejects(() => open(readers, "b"), Error, "disk full");
  assertEquals((await readers.list()).map(({ name }) => name), ["default"]);
  here.records.isFull = false;
  assertEquals(await take(await open(readers, "b"), 1), ["1"]);
  await take(other, 2);
  await other.finish();
  const after = live(here);
  assertEquals(await take(await open(after, "b"), 2), ["1", "2"], "after a crash");
});

Deno.test("messages that waited only for a reader that could not be written are acknowledged", async () => {
  const here = faultyPlace("1", "2");
  const readers = live(here);
  const other = await open(readers, undefined, { manual: true });
  const given = [await other.next(), await other.next()];
  const gate = createDeferred<void>();
  [here.records.gate, here.records.isFull] = [gate.promise, true];
  const opening = open(readers, "b");
  // wait: a turn of the event loop, after which the reader is being written
  await new Promise((resolve) => setTimeout(resolve));
  const acks = given.map((each) => each?.ack?.().catch(() => {}));
  gate.resolve();
  await assertRejects(() => opening, Error, "disk full");
  await Promise.all(acks);
  assertEquals([...here.log.acknowledged], [0, 1]);
});

Deno.test("a second program waits, too, until the reader that both open is on disk", async () => {
  const here = faultyPlace("1");
  const readers = live(here);
  await open(readers);
  const gate = createDeferred<void>();
  here.records.gate = gate.promise;
  let opened = 0;
  const both = ["b", "b"].map(async (name) => {
    await open(readers, name);
    opened++;
  });
  // wait: a turn of the event loop, in which the second would be done without the disk
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(opened, 0);
  gate.resolve();
  await Promise.all(both);
  assertEquals(here.records.disk.has("b"), true);
});

Deno.test("a reader that could not be deleted goes on", async () => {
  const here = faultyPlace("1", "2");
  const readers = live(here);
  await (await open(readers, "b")).end();
  const other = await open(readers);
  await take(other, 2);
  const gate = createDeferred<void>();
  [here.records.gate, here.records.isFull] = [gate.promise, true];
  const deleting = assertRejects(() => readers.delete("b"), Error, "disk full");
  here.log.say("3");
  await take(other, 1);
  gate.resolve();
  await deleting;
  assertEquals((await readers.list()).map(({ name, behind }) => [name, behind]), [["default", 1], [
    "b",
    3,
  ]]);
  here.records.isFull = false;
  const again = await open(readers, "b", { manual: true });
  const item = await again.next();
  assertEquals(item?.envelope.text(), "1");
  await item?.ack?.();
  assertEquals(await take(await open(live(here), "b"), 1), ["2"], "its position is written again");
  await again.end();
  await readers.delete("b");
  assertEquals(here.records.disk.has("b"), false);
});

Deno.test("a position whose write failed is written when the host stops", async () => {
  const here = faultyPlace("1", "2");
  const readers = live(here);
  await open(readers, "slow");
  const worker = await open(readers, "worker", { manual: true });
  const item = await worker.next();
  here.records.isFull = true;
  await assertRejects(async () => await item?.ack?.(), Error, "disk full");
  here.records.isFull = false;
  await readers.stop();
  assertEquals(await take(await open(live(here), "worker"), 1), ["2"]);
});

Deno.test("a host closes its agent and the readers of all channels, also when one of them cannot be written", async () => {
  await using stage = await Stage.open();
  const { agent } = await stage.actor("alice");
  const shared = await SharedAgent.over(agent);
  const stopped: string[] = [];
  const channels = await Promise.all(
    ["acme/demo/first", "acme/demo/second"].map((each) => shared.manager.create(each)),
  );
  channels.forEach((channel: Channel, i) => {
    shared.readersOf(channel).stop = () => {
      stopped.push(String(i));
      return i === 0 ? Promise.reject(new Error("disk full")) : Promise.resolve();
    };
  });
  await assertRejects(() => shared.close(), Error, "disk full");
  assertEquals(stopped, ["0", "1"]);
  await assertRejects(() => shared.manager.create("acme/demo/third"), StaticError);
});
