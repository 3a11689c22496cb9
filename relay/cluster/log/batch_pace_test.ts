import { assert, assertEquals } from "@std/assert";
import { BatchPace } from "./batch_pace.ts";

interface Stage {
  nowMs: number;
  readonly pace: BatchPace;
}

function createStage(): Stage {
  const stage: Stage = {
    nowMs: 0,
    pace: new BatchPace({
      nowMs: () => stage.nowMs,
      after: () => () => {},
      flush: () => {},
    }),
  };
  return stage;
}

/** So many a second, evenly. Returns which of them waited. */
function waitsOf(stage: Stage, count: number, perSecond: number): boolean[] {
  const fromMs = stage.nowMs;
  return Array.from({ length: count }, (_, index) => {
    stage.nowMs = fromMs + index * 1_000 / perSecond;
    stage.pace.came();
    return stage.pace.waits(stage.nowMs);
  });
}

Deno.test("commands wait for others above 500 a second, and not below", () => {
  assert(!waitsOf(createStage(), 2_000, 490).includes(true));
  const waits = waitsOf(createStage(), 2_000, 600);
  assertEquals([waits[499], waits.slice(700).includes(false)], [false, false]);
});

Deno.test("a rush that is over holds up nobody", () => {
  const stage = createStage();
  waitsOf(stage, 5_000, 5_000);
  const waits = (nowMs: number): boolean => stage.pace.waits(stage.nowMs = nowMs);
  assertEquals([1_000, 1_950, 60_000].map(waits), [true, false, false]);
});
