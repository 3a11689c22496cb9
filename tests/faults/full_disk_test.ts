/** Disks of agents that are full or read-only, at every step of the store: what a user is told, and that nothing is lost. */
import { assert, assertEquals } from "@std/assert";
import { testWhen } from "../support/mod.ts";
import { fillEverywhere, range, refuseReadOnly, type Use, valueBytes } from "./full_disk.ts";
import { SmallDisk, smallDisks } from "./small_disk.ts";
import { useStore } from "./store_use.ts";

const inDeno: Use = (folder, numbers) => useStore(folder, numbers, valueBytes);

testWhen(
  smallDisks,
  "wherever a disk gets full, the store says so, and with room again everything acknowledged is there",
  () => fillEverywhere(inDeno),
);

testWhen(smallDisks, "a store on a read-only disk says so, also one that is new, and goes on afterwards", async () => {
  await refuseReadOnly(inDeno);
});

testWhen(smallDisks, "a store whose log becomes a table on a full disk says so, and loses nothing", async () => {
  // More than LevelDB keeps in memory.
  const [count, bytes] = [40, 200_000];
  await using disk = await SmallDisk.mount(64);
  const folder = `${disk.folder}/agent`;
  await useStore(folder, [0], bytes);
  await disk.fill({ leavingPages: 1400 });
  const { refused, acknowledged } = await useStore(folder, range(1, count), bytes);
  assertEquals([refused?.step, refused?.code], ["write", "store_full"]);
  await disk.free();
  const after = await useStore(folder, [], bytes);
  assertEquals(after.refused, undefined);
  for (const number of [0, ...acknowledged]) assert(after.found.includes(number), `${number} of ${acknowledged}`);
});
