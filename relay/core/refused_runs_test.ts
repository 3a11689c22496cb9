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
});
