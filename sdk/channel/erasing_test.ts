import { assert, assertEquals } from "@std/assert";
import { binaryIdFromBytes, type ChannelId } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { kindOf } from "../mls/stored_group.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { beginErasing, finishErasing } from "./erasing.ts";
import { erasing } from "./records.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));

async function storeWith(...kinds: readonly string[]): Promise<RecordStore> {
  const random = createRandom(7);
  const store = await RecordStore.open(openMemory(createMemoryDisk(), (length) => random.bytes(length)));
  for (const kind of kinds) await store.put(kind, channelId, Uint8Array.of(1));
  return store;
}

Deno.test("a channel whose keys are missing for another reason than its erasure stays, with the keys of its members", async () => {
  const store = await storeWith("channels", "trust");
  assertEquals(await finishErasing(store, channelId), false);
  assert(store.has("channels", channelId) && store.has("trust", channelId));
});

Deno.test("an erasure that was begun is finished, keys included, and leaves no note for a channel that comes back", async () => {
  const store = await storeWith("channels", "trust", kindOf(channelId));
  await beginErasing(store, channelId);
  assertEquals(await finishErasing(store, channelId), true);
  for (const kind of ["channels", "trust", kindOf(channelId), erasing]) assert(!store.has(kind, channelId), kind);
  assertEquals(await finishErasing(store, channelId), false);
});
