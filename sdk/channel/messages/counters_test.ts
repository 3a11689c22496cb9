import { assertEquals } from "@std/assert";
import { noCounters } from "../records.ts";
import {
  acceptCounters,
  closeCounters,
  type Counters,
  giveUpCounters,
  goneBefore,
  noteCounters,
  reserveCounters,
  restoreCounters,
  takeCounters,
} from "./counters.ts";

function isBeyond({ reserved }: Counters, counter: number): boolean {
  return counter > reserved;
}

Deno.test("a reservation covers as many counters as its keys can seal, and the next does not add to what is left", () => {
  const counters = restoreCounters(noCounters);
  assertEquals(isBeyond(counters, takeCounters(counters, 3)), true);
  assertEquals(reserveCounters(counters, undefined), { reserved: 3 + 4096, known: 0 });
  takeCounters(counters, 10);
  assertEquals(reserveCounters(counters, undefined), { reserved: 13 + 4096, known: 0 });
  assertEquals([isBeyond(counters, 13 + 4096), isBeyond(counters, 13 + 4097)], [false, true]);
});

Deno.test("beside members that do not understand it, no more is reserved than what waits", () => {
  const counters = restoreCounters(noCounters);
  takeCounters(counters, 3);
  reserveCounters(counters, undefined);
  assertEquals(reserveCounters(counters, 0), { reserved: 3, known: 0 });
  assertEquals(reserveCounters(counters, 8), { reserved: 11, known: 0 });
});

Deno.test("what a crash leaves unknown is gone, and told until a message with it is taken; then told on", () => {
  const counters = restoreCounters({ reserved: 100, known: 40 });
  assertEquals(counters.last, 100);
  const first = takeCounters(counters, 1);
  const gone = goneBefore(counters, first);
  assertEquals([first, gone], [101, { first: 41, count: 60 }]);
  assertEquals(goneBefore(counters, takeCounters(counters, 1)), gone);
  acceptCounters(counters, { first: 101, count: 1 }, gone);
  assertEquals(noteCounters(counters).known, 101);
  assertEquals(goneBefore(counters, 103), gone);
});

Deno.test("counters that nobody will use are told as few ranges, the nearest first", () => {
  const counters = restoreCounters(noCounters);
  takeCounters(counters, 20);
  for (const first of [3, 9, 4]) giveUpCounters(counters, { first, count: 1 });
  assertEquals(goneBefore(counters, 21), { first: 9, count: 1 });
  assertEquals(goneBefore(counters, 9), { first: 3, count: 2 });
  assertEquals(goneBefore(counters, 4), { first: 3, count: 1 });
  assertEquals(goneBefore(counters, 3), undefined);
  acceptCounters(counters, { first: 10, count: 1 }, { first: 9, count: 1 });
  assertEquals(goneBefore(counters, 21), { first: 3, count: 2 });
});

Deno.test("nothing counts as known beyond what was neither taken nor told", () => {
  const counters = restoreCounters(noCounters);
  takeCounters(counters, 10);
  acceptCounters(counters, { first: 1, count: 3 }, undefined);
  acceptCounters(counters, { first: 7, count: 4 }, undefined);
  assertEquals(noteCounters(counters).known, 3);
  giveUpCounters(counters, { first: 4, count: 3 });
  assertEquals(noteCounters(counters).known, 3);
  acceptCounters(counters, { first: 11, count: 1 }, { first: 4, count: 3 });
  assertEquals(noteCounters(counters).known, 11);
});

Deno.test("close() gives back what was reserved, unless something is open", () => {
  const counters = restoreCounters(noCounters);
  takeCounters(counters, 2);
  reserveCounters(counters, undefined);
  assertEquals(closeCounters(counters), { reserved: 2 + 4096, known: 0 });
  acceptCounters(counters, { first: 1, count: 2 }, undefined);
  assertEquals(closeCounters(counters), { reserved: 2, known: 2 });
  const next = restoreCounters({ reserved: 2, known: 2 });
  assertEquals([takeCounters(next, 1), goneBefore(next, 3)], [3, undefined]);
});
