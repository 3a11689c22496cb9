import { assert, assertEquals } from "@std/assert";
import { binaryIdFromBytes, type ChannelId } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { epochId, kindOf } from "../mls/stored_group.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { eraseKeys, isErasing, noteErasing } from "./erasing.ts";
import { forgetChannel } from "./records.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));

async function storeWith(...kinds: readonly string[]): Promise<RecordStore> {
  const random = createRandom(7);
  const store = await RecordStore.open(openMemory(createMemoryDisk(), (length) => random.bytes(length)));
  for (const kind of kinds) await store.put(kind, channelId, Uint8Array.of(1));
  return store;
}

Deno.test("what is erased leaves nothing, also no note for a channel that comes back", async () => {
  const store = await storeWith("channels", "trust", kindOf(channelId));
  await noteErasing(store, channelId);
  assert(isErasing(store, channelId));
  await eraseKeys(store, channelId);
  assert(isErasing(store, channelId) && !store.has(kindOf(channelId), channelId));
  await forgetChannel(store, channelId);
  for (const kind of ["channels", "trust"]) assert(!store.has(kind, channelId), kind);
  assert(!isErasing(store, channelId));
});

Deno.test("what is erased goes in parts that a store takes: the note, the epoch and other keys, the rest", async () => {
  const store = await storeWith("channels");
  const kind = kindOf(channelId);
  const ids = [...Array.from({ length: 2500 }, (_, i) => `ratchet/0/${i}`), epochId];
  await store.batch(ids.map((id) => ({ type: "put", kind, id, value: Uint8Array.of(1) })));
  const parts: string[][] = [];
  const watched: Pick<RecordStore, "list" | "put" | "batch"> = {
    list: (kind) => store.list(kind),
    put: (kind, id, value) => {
      parts.push([`put ${kind}`]);
      return store.put(kind, id, value);
    },
    batch: (changes) => {
      parts.push(changes.map(({ type, kind, id }) => type === "delete" && id === epochId ? id : kind));
      return store.batch(changes);
    },
  };
  await noteErasing(watched, channelId);
  await eraseKeys(watched, channelId);
  await forgetChannel(watched, channelId);
  assertEquals(parts.map(({ length }) => length).slice(0, 4), [1, 1000, 1000, 501]);
  assertEquals([parts[0], parts[1]?.[0], parts.at(-1)], [["put erasing"], epochId, ["channels", "erasing"]]);
  assertEquals([(await store.list(kind)).length, store.has("channels", channelId)], [0, false]);
});
