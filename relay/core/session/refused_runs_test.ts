import { assertEquals } from "@std/assert";
import { binaryIdFromBytes, type ChannelId, parseChannelId } from "../../../proto/mod.ts";
import { Refusal } from "../refusal.ts";
import { refusedChannels, RefusedRuns } from "./refused_runs.ts";

const channelId = parseChannelId("A".repeat(22));
const refusal = new Refusal("storage_full", "no room", { retryAfterMs: 5_000 });

Deno.test("what is left of a run is refused until a message of a later run comes", () => {
  const runs = new RefusedRuns();
  runs.add(channelId, 3, refusal);
  assertEquals([2, 3, 3].map((run) => runs.refusalOf(channelId, run)), [refusal, refusal, refusal]);
  assertEquals(runs.refusalOf(channelId, 4), undefined);
  runs.add(channelId, 5, refusal);
  runs.add(channelId, 4, refusal);
  assertEquals(runs.refusalOf(channelId, 5), refusal);
});

Deno.test("a session remembers refusals of as many channels as it reads by default, the newest ones", () => {
  const runs = new RefusedRuns();
  const channels = Array.from(
    { length: refusedChannels + 1 },
    (_, i) =>
      binaryIdFromBytes<ChannelId>(
        new Uint8Array(16).fill(i % 256, 0, 8).fill(Math.floor(i / 256), 8),
      ),
  );
  for (const channel of channels) runs.add(channel, 1, refusal);
  const remembered = channels.filter((channel) => runs.refusalOf(channel, 1) !== undefined);
  assertEquals(remembered, channels.slice(1));
});

Deno.test("what is in the relay behind a refused message of its run is refused, however late its turn comes", () => {
  const runs = new RefusedRuns();
  const other = parseChannelId("B".repeat(21) + "A");
  const [before, refused, behind] = [1, 2, 3].map(() => runs.enter(channelId, 3));
  const [later, elsewhere] = [runs.enter(channelId, 4), runs.enter(other, 3)];
  if (refused === undefined) throw new TypeError("nothing is refused");
  runs.refuse(refused, refusal);
  assertEquals(runs.refusalOf(channelId, 4), undefined);
  assertEquals(behind?.refusal, refusal);
  for (const free of [before, later, elsewhere]) assertEquals(free?.refusal, undefined);
});
