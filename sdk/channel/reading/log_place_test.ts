import { assertEquals } from "@std/assert";
import {
  acceptOwn,
  judgeEpoch,
  newPlace,
  type OwnCommit,
  ownCommitOf,
  passEntry,
  placeOf,
  restartPlace,
  rewindPlace,
  settlePlace,
} from "./log_place.ts";

const own = (sequence: number, epoch: number): OwnCommit => ({
  sequence,
  epoch,
  hash: new Uint8Array(32),
});
const entry = (sequence: number, epoch: number): { sequence: number; epoch: number } => ({
  sequence,
  epoch,
});

Deno.test("entries have the log's epoch at their place, which delivered commits and our own commits raise", () => {
  const place = newPlace(10, 3, [own(12, 3)]);
  assertEquals(judgeEpoch(place, entry(11, 3), 4), "here");
  assertEquals(judgeEpoch(place, entry(11, 4), 4), "ahead");
  assertEquals(judgeEpoch(place, entry(13, 3), 4), "over");
  assertEquals(judgeEpoch(place, entry(13, 4), 4), "here");
  passEntry(place, 13);
  assertEquals(placeOf(place), { sequence: 13, epoch: 4 });
  passEntry(place, 14, 5);
  assertEquals([judgeEpoch(place, entry(15, 4), 5), judgeEpoch(place, entry(15, 5), 5)], [
    "over",
    "here",
  ]);
});

Deno.test("what is read again has the epochs that it had the first time", () => {
  const place = newPlace(10, 3, [own(12, 3)]);
  passEntry(place, 15);
  rewindPlace(place, { sequence: 10, epoch: 3 });
  assertEquals([judgeEpoch(place, entry(11, 3), 4), judgeEpoch(place, entry(13, 4), 4)], [
    "here",
    "here",
  ]);
});

Deno.test("an older store does not know the epoch: it may rise up to the group's, and is known from there on", () => {
  const place = newPlace(10, undefined, []);
  assertEquals(judgeEpoch(place, entry(11, 7), 6), "ahead");
  for (const [sequence, epoch] of [[11, 4], [12, 5]] as const) {
    assertEquals(judgeEpoch(place, entry(sequence, epoch), 6), "here");
    passEntry(place, sequence, epoch);
    settlePlace(place, 6);
    assertEquals(placeOf(place).epoch, undefined);
  }
  assertEquals(judgeEpoch(place, entry(13, 4), 6), "over");
  passEntry(place, 13, 6);
  settlePlace(place, 6);
  assertEquals(placeOf(place), { sequence: 13, epoch: 6 });
  assertEquals(judgeEpoch(place, entry(14, 7), 7), "ahead");
});

Deno.test("our commits are kept until they are read, at most 1000, and a few of those that were", () => {
  const place = newPlace(0, 0, []);
  for (let n = 0; n < 3000; n++) acceptOwn(place, own(n + 1, n), 0);
  assertEquals(place.own.length, 1000);
  acceptOwn(place, own(3001, 3000), 2991);
  assertEquals(place.own.length, 16);
  assertEquals([ownCommitOf(place, 2984), ownCommitOf(place, 2985)?.sequence], [undefined, 2986]);
  restartPlace(place, 5000, 4000);
  assertEquals([place.own.length, placeOf(place)], [0, { sequence: 5000, epoch: 4000 }]);
});
