import { assertEquals } from "@std/assert";
import { LogPlace, type OwnCommit } from "./log_place.ts";

const own = (sequence: number, epoch: number): OwnCommit => ({ sequence, epoch, hash: new Uint8Array(32) });
const entry = (sequence: number, epoch: number): { sequence: number; epoch: number } => ({ sequence, epoch });

Deno.test("entries have the log's epoch at their place, which delivered commits and our own commits raise", () => {
  const place = new LogPlace(10, 3, [own(12, 3)]);
  assertEquals(place.judge(entry(11, 3), 4), "here");
  assertEquals(place.judge(entry(11, 4), 4), "ahead");
  assertEquals(place.judge(entry(13, 3), 4), "over");
  assertEquals(place.judge(entry(13, 4), 4), "here");
  place.pass(13);
  assertEquals(place.position, { sequence: 13, epoch: 4 });
  place.pass(14, 5);
  assertEquals([place.judge(entry(15, 4), 5), place.judge(entry(15, 5), 5)], ["over", "here"]);
});

Deno.test("what is read again has the epochs that it had the first time", () => {
  const place = new LogPlace(10, 3, [own(12, 3)]);
  place.pass(15);
  place.rewind({ sequence: 10, epoch: 3 });
  assertEquals([place.judge(entry(11, 3), 4), place.judge(entry(13, 4), 4)], ["here", "here"]);
});

Deno.test("an older store does not know the epoch: it may rise up to the group's, and is known from there on", () => {
  const place = new LogPlace(10, undefined, []);
  assertEquals(place.judge(entry(11, 7), 6), "ahead");
  for (const [sequence, epoch] of [[11, 4], [12, 5]] as const) {
    assertEquals(place.judge(entry(sequence, epoch), 6), "here");
    place.pass(sequence, epoch);
    place.settle(6);
    assertEquals(place.position.epoch, undefined);
  }
  assertEquals(place.judge(entry(13, 4), 6), "over");
  place.pass(13, 6);
  place.settle(6);
  assertEquals(place.position, { sequence: 13, epoch: 6 });
  assertEquals(place.judge(entry(14, 7), 7), "ahead");
});

Deno.test("our commits are kept until they are read, at most 1000, and a few of those that were", () => {
  const place = new LogPlace(0, 0, []);
  for (let n = 0; n < 3000; n++) place.accepted(own(n + 1, n), 0);
  assertEquals(place.ownCommits.length, 1000);
  place.accepted(own(3001, 3000), 2991);
  assertEquals(place.ownCommits.length, 16);
  assertEquals([place.ownCommitOf(2984), place.ownCommitOf(2985)?.sequence], [undefined, 2986]);
  place.restart(5000, 4000);
  assertEquals([place.ownCommits.length, place.position], [0, { sequence: 5000, epoch: 4000 }]);
});
