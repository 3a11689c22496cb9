import { assertEquals } from "@std/assert";
import { parseChannelId } from "../../proto/mod.ts";
import { Refusal } from "./refusal.ts";
import { RefusedRuns } from "./refused_runs.ts";

const channelId = parseChannelId("A".repeat(22));
const refusal = new Refusal("storage_full", "no room", { retryAfterMs: 5_000 });

Deno.test("what is left of a run is refused until its first refusal is over, and a later run ends it", () => {
  let nowMs = 0;
  const runs = new RefusedRuns(() => nowMs);
  runs.add(channelId, 3, refusal);
  assertEquals([runs.refusalOf(channelId, 2), runs.refusalOf(channelId, 3)], [refusal, refusal]);
  nowMs = 5_000;
  assertEquals(runs.refusalOf(channelId, 3), undefined);
  runs.add(channelId, 3, refusal);
  assertEquals(runs.refusalOf(channelId, 4), undefined);
  assertEquals(runs.refusalOf(channelId, 3), undefined);
  runs.add(channelId, 5, refusal);
  runs.add(channelId, 4, refusal);
  assertEquals(runs.refusalOf(channelId, 5), refusal);
});

Deno.test("what is in the relay behind a refused message of its run is refused, however late its turn comes", () => {
  let nowMs = 0;
  const runs = new RefusedRuns(() => nowMs);
  const other = parseChannelId("B".repeat(21) + "A");
  const [before, refused, behind] = [1, 2, 3].map(() => runs.enter(channelId, 3));
  const [later, elsewhere] = [runs.enter(channelId, 4), runs.enter(other, 3)];
  if (refused === undefined) throw new TypeError("nothing is refused");
  runs.refuse(refused, refusal);
  nowMs = 60_000;
  assertEquals(runs.refusalOf(channelId, 4), undefined);
  assertEquals(behind?.refusal, refusal);
  for (const free of [before, later, elsewhere]) assertEquals(free?.refusal, undefined);
});
