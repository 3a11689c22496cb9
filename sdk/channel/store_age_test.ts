import { assertEquals } from "@std/assert";
import { parseChannelId } from "../../proto/mod.ts";
import { createMemoryDisk, openMemory } from "../store/memory.ts";
import { RecordStore } from "../store/mod.ts";
import { newAnchor, readAnchor } from "./anchor.ts";
import { HealthLog } from "./health.ts";
import { StoreAge, type StoreAgeDeps } from "./store_age.ts";

const channelId = parseChannelId("A".repeat(22));
const membership = { channelId, epoch: 3, durable: { isUnknownOwn: () => Promise.resolve(false) } };
const memory = { counter: 0, reservation: 0, position: 0, candidate: undefined };

Deno.test("a commit that is given up does not undo what was written of the membership before its turn", async () => {
  const store = await RecordStore.open(
    openMemory(createMemoryDisk(), (length) => crypto.getRandomValues(new Uint8Array(length))),
  );
  const deps: Pick<StoreAgeDeps, "store"> = { store };
  const age = new StoreAge(
    { anchor: newAnchor(undefined), membership, health: new HealthLog(() => 0, () => {}) },
    deps as StoreAgeDeps, // cast: nothing but the store is asked here
  );
  const hash = new Uint8Array(32).fill(7);
  const change = age.discarded({ epoch: 3, hash });
  // The group is busy; meanwhile the relay says where the membership began, which is written at once.
  assertEquals(await age.compare({ joinedSequence: 5, acknowledged: 5 }, memory), undefined);
  await store.batch([change()]);
  assertEquals(await readAnchor(store, channelId), { ...newAnchor(5), discarded: [{ epoch: 3, hash }] });
  await store.close();
});
