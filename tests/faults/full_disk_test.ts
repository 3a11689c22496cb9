/**
 * Disks of agents that are full or read-only, at every step of the store: what a user is told, and
 * that nothing is lost.
 */
import { testWhen } from "../support/mod.ts";
import { fillEverywhere, refuseReadOnly, type Use, valueBytes } from "./full_disk.ts";
import { smallDisks } from "./small_disk.ts";
import { useStore } from "./store_use.ts";

const inDeno: Use = (folder, numbers) => useStore(folder, numbers, valueBytes);

testWhen(
  smallDisks,
  "wherever a disk gets full, the store says so, and with room again everything acknowledged is there",
  () => fillEverywhere(inDeno),
);

testWhen(
  smallDisks,
  "a store on a read-only disk says so, also one that is new, and goes on afterwards",
  async () => {
    await refuseReadOnly(inDeno);
  },
);
