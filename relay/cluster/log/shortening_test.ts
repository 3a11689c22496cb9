import { assertEquals } from "@std/assert";
import type { CopyHead } from "./log_copies.ts";
import { LogCompaction } from "./log_compaction.ts";

const hourMs = 60 * 60 * 1000;

Deno.test("a log is shortened when it has grown by so much, and once a day when by less", async () => {
  const state = { position: 0, nowMs: 0 };
  const purged: number[] = [];
  let newest: CopyHead | undefined;
  const shortening = new LogCompaction({
    copies: {
      newest: () => Promise.resolve(newest),
      save: (_, position) => {
        const before = newest?.position ?? 0;
        newest = { position, name: `${position}`, parts: 1, sha256: "" };
        return Promise.resolve(before);
      },
    },
    every: 100,
    position: () => state.position,
    nowMs: () => state.nowMs,
    folder: undefined,
    copyTo: () => Promise.resolve(state.position),
    purge: (through) => Promise.resolve(void purged.push(through)),
    log: () => {},
  }, 0);
  const at = async (hours: number, position: number): Promise<readonly number[]> => {
    Object.assign(state, { nowMs: hours * hourMs, position });
    await shortening.tend();
    return [newest?.position ?? 0, ...purged];
  };
  assertEquals(await at(1, 99), [0]);
  assertEquals(await at(2, 100), [100]);
  assertEquals(await at(25, 150), [100]);
  assertEquals(await at(26, 150), [150, 100]);
  // Nothing new: no copy of the same again.
  assertEquals(await at(99, 150), [150, 100]);
  assertEquals(await at(100, 151), [151, 100, 150]);
});
