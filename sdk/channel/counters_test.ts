import { assertEquals } from "@std/assert";
import { parseChannelId } from "../../proto/mod.ts";
import { decodeFields, type RecordChange } from "../store/mod.ts";
import { Counters } from "./counters.ts";
import { type CounterRecord, noCounters } from "./records.ts";

const channelId = parseChannelId("A".repeat(22));

function recordOf(change: RecordChange | undefined): CounterRecord | undefined {
  if (change?.type !== "put") return undefined;
  const fields = decodeFields(change.value, "counters");
  return { reserved: fields.number(0), known: fields.number(1) };
}

Deno.test("a reservation covers as many counters as its keys can seal, and the next does not add to what is left", () => {
  const counters = new Counters(channelId, noCounters);
  assertEquals(counters.isBeyond(counters.take(3)), true);
  assertEquals(recordOf(counters.reserve()), { reserved: 3 + 4096, known: 0 });
  counters.take(10);
  assertEquals(recordOf(counters.reserve()), { reserved: 13 + 4096, known: 0 });
  assertEquals([counters.isBeyond(13 + 4096), counters.isBeyond(13 + 4097)], [false, true]);
});

Deno.test("beside members that do not understand it, no more is reserved than what waits", () => {
  const counters = new Counters(channelId, noCounters);
  counters.take(3);
  counters.reserve();
  assertEquals(recordOf(counters.reserve(0)), { reserved: 3, known: 0 });
  assertEquals(recordOf(counters.reserve(8)), { reserved: 11, known: 0 });
});

Deno.test("what a crash leaves unknown is gone, and told until a message with it is taken; then told on", () => {
  const counters = new Counters(channelId, { reserved: 100, known: 40 });
  assertEquals(counters.last, 100);
  const first = counters.take(1);
  const gone = counters.goneBefore(first);
  assertEquals([first, gone], [101, { first: 41, count: 60 }]);
  assertEquals(counters.goneBefore(counters.take(1)), gone);
  counters.accepted({ first: 101, count: 1 }, gone);
  assertEquals(recordOf(counters.record)?.known, 101);
  assertEquals(counters.goneBefore(103), gone);
});

Deno.test("counters that nobody will use are told as few ranges, the nearest first", () => {
  const counters = new Counters(channelId, noCounters);
  counters.take(20);
  for (const first of [3, 9, 4]) counters.giveUp({ first, count: 1 });
  assertEquals(counters.goneBefore(21), { first: 9, count: 1 });
  assertEquals(counters.goneBefore(9), { first: 3, count: 2 });
  assertEquals(counters.goneBefore(4), { first: 3, count: 1 });
  assertEquals(counters.goneBefore(3), undefined);
  counters.accepted({ first: 10, count: 1 }, { first: 9, count: 1 });
  assertEquals(counters.goneBefore(21), { first: 3, count: 2 });
});

Deno.test("nothing counts as known beyond what was neither taken nor told", () => {
  const counters = new Counters(channelId, noCounters);
  counters.take(10);
  counters.accepted({ first: 1, count: 3 }, undefined);
  counters.accepted({ first: 7, count: 4 }, undefined);
  assertEquals(recordOf(counters.record)?.known, 3);
  counters.giveUp({ first: 4, count: 3 });
  assertEquals(recordOf(counters.record)?.known, 3);
  counters.accepted({ first: 11, count: 1 }, { first: 4, count: 3 });
  assertEquals(recordOf(counters.record)?.known, 11);
});

Deno.test("close() gives back what was reserved, unless something is open", () => {
  const counters = new Counters(channelId, noCounters);
  counters.take(2);
  counters.reserve();
  assertEquals(recordOf(counters.close()), { reserved: 2 + 4096, known: 0 });
  counters.accepted({ first: 1, count: 2 }, undefined);
  assertEquals(recordOf(counters.close()), { reserved: 2, known: 2 });
  const next = new Counters(channelId, { reserved: 2, known: 2 });
  assertEquals([next.take(1), next.goneBefore(3)], [3, undefined]);
});
