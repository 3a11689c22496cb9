import { assert, assertEquals } from "@std/assert";
import { limits } from "../../../proto/mod.ts";
import { createRandom } from "../../../tests/support/mod.ts";
import { HealingTurns } from "../runner/healing_turns.ts";

import { healingMs, periodMs, restMs } from "./healing_pace.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const random = createRandom(23);
const leaf = (): string => random.below(0x10000).toString(16).padStart(4, "0");

/** Members that stay online: the oldest keys that were ever there, and the commits of each day. */
function live(
  members: number,
  days: number,
): { readonly oldestMs: number; readonly perDay: readonly number[] } {
  const seen = Array.from(
    { length: members },
    () => ({ leaf: leaf(), atMs: -random.below(restMs(members)) }),
  );
  const perDay = Array.from({ length: days }, () => 0);
  let oldestMs = 0;
  for (const each of seen) {
    let keys = each;
    for (let atMs = 0; atMs < days * dayMs; keys = { leaf: leaf(), atMs }) {
      atMs = healingMs(keys, members, undefined);
      oldestMs = Math.max(oldestMs, atMs - keys.atMs);
      const day = Math.floor(atMs / dayMs);
      if (day >= 0 && day < days) perDay[day] = (perDay[day] ?? 0) + 1;
    }
  }
  return { oldestMs, perDay };
}

/** In the log: one cell's commit, its statement and what the relay adds. */
const commitBytes = 4150;
const lapseCommits = 10_000;

for (const [members, mean] of [[10, 11], [100, 106], [142, 151], [1000, 152]] as const) {
  Deno.test(`${members} members make about ${mean} healing commits a day, within the bounds of a channel`, () => {
    const { oldestMs, perDay } = live(members, 30);
    const all = perDay.reduce((sum, each) => sum + each, 0);
    assert(Math.abs(all / 30 - mean) <= 0.06 * mean + 1, `${all / 30} a day`);
    assert(oldestMs <= periodMs(members), `${oldestMs / hourMs} h`);
    assert(oldestMs <= (members <= 142 ? 24 * hourMs : 7 * dayMs));
    assert(all / 30 * commitBytes < 0.02 * limits.queueBytesPerChannel);
    assert(all * commitBytes < limits.queueBytesPerChannel / 3);
    assert(all < lapseCommits / 2);
  });
}

Deno.test("after a start keys are renewed soon, but not before they have had their rest, and draws spread it", () => {
  const seen = { leaf: "8000", atMs: 0 };
  const start = (atMs: number, draw: number): number => healingMs(seen, 3, { atMs, draw });
  assertEquals(start(5 * hourMs, 0), 5 * hourMs);
  assertEquals(start(5 * hourMs, 0.5), 5 * hourMs + 0.5 * minuteMs);
  assertEquals(start(10 * minuteMs, 0), hourMs, "it was renewed ten minutes before");
  assertEquals(
    healingMs(seen, 1000, { atMs: dayMs, draw: 0 }),
    0.94 * periodMs(1000),
    "in a large channel the clock is first",
  );
});

Deno.test("a fleet that is restarted without end makes no more than one commit in ten minutes", () => {
  for (const members of [2, 10, 100, 1000]) {
    const commits = Math.floor(dayMs / restMs(members)) * members;
    assert(commits <= dayMs / (10 * minuteMs), `${commits} of ${members}`);
  }
});

Deno.test("healing commits of an agent take turns over all its channels, and a clock that was set back holds up none", () => {
  const turns = new HealingTurns(10_000);
  assertEquals([turns.take(1_000), turns.take(1_000), turns.take(15_000)], [0, 10_000, 6_000]);
  const late = new HealingTurns(10_000);
  late.take(1_000 * dayMs);
  assertEquals(late.take(0), hourMs);
});
