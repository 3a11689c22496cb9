import { assert, assertEquals } from "@std/assert";
import { binaryIdFromBytes, type ChannelId } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { epochId, kindOf } from "../mls/stored_group.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { eraseChannel, finishErasing } from "./erasing.ts";
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
  await store.put(erasing, channelId, Uint8Array.of(1));
  assertEquals(await finishErasing(store, channelId), true);
  for (const kind of ["channels", "trust", kindOf(channelId), erasing]) assert(!store.has(kind, channelId), kind);
  assertEquals(await finishErasing(store, channelId), false);
});

Deno.test("what is erased goes in parts that a store takes: the note, the epoch and other keys, the rest", async () => {
  const store = await storeWith("channels");
  const kind = kindOf(channelId);
  const ids = [...Array.from({ length: 2500 }, (_, i) => `ratchet/0/${i}`), epochId];
  await store.batch(ids.map((id) => ({ type: "put", kind, id, value: Uint8Array.of(1) })));
  const parts: string[][] = [];
  await eraseChannel({
    list: (kind) => store.list(kind),
    put: (kind, id, value) => {
      parts.push([`put ${kind}`]);
      return store.put(kind, id, value);
    },
    batch: (changes) => {
      parts.push(changes.map(({ type, kind, id }) => type === "delete" && id === epochId ? id : kind));
      return store.batch(changes);
    },
  }, channelId);
  assertEquals(parts.map(({ length }) => length).slice(0, 4), [1, 1000, 1000, 501]);
  assertEquals([parts[0], parts[1]?.[0], parts.at(-1)], [[`put ${erasing}`], epochId, ["channels", erasing]]);
  assertEquals([(await store.list(kind)).length, store.has("channels", channelId)], [0, false]);
});
