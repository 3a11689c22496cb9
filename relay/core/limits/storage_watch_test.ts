import { assertEquals, assertThrows } from "@std/assert";
import { Refusal } from "../refusal.ts";
import { StorageWatch } from "./storage_watch.ts";

const MiB = 2 ** 20;

Deno.test("what is taken at once does not use up the reserve before the disk is asked again", () => {
  const clock = { ms: 0 };
  // A reserve of 10 MiB, of which messages and removals need the lower half.
  const disk = { usedBytes: 0, availableBytes: 12 * MiB, capacityBytes: 100 * MiB };
  const watch = new StorageWatch(() => ({ ...disk }), () => clock.ms);
  assertThrows(() => watch.refuseGrowth(8 * MiB), Refusal, "nearly full");
  watch.refuseGrowth(4 * MiB);
  assertThrows(() => watch.refuseGrowth(1), Refusal, "nearly full");
  assertEquals(watch.level, "ok", "nothing is on disk yet, so messages go on");
  // Asked again, while nothing of it is written yet: it still counts. Once more, and it is on disk
  // or was never written.
  clock.ms += 1000;
  assertThrows(() => watch.refuseGrowth(1), Refusal, "nearly full");
  clock.ms += 1000;
  watch.refuseGrowth(1);
});
