import { assert, assertEquals } from "@std/assert";
import { binaryIdFromBytes, type ChannelId } from "../../../proto/mod.ts";
import { createRandom } from "../../../tests/support/mod.ts";
import { epochId, kindOf } from "../../mls/stored_group.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../../store/mod.ts";
import { kindsOf } from "../channel_kinds.ts";
import { eraseKeys, forgetChannel, isErasing, noteErasing } from "./erasing.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
const keys = kindOf(channelId);

async function storeWith(...kinds: readonly string[]): Promise<RecordStore> {
  const random = createRandom(7);
  const store = await RecordStore.open(
    openMemory(createMemoryDisk(), (length) => random.bytes(length)),
  );
  for (const kind of kinds) await store.put(kind, channelId, Uint8Array.of(1));
  return store;
}

Deno.test("what is erased leaves nothing, also no note for a channel that comes back", async () => {
  const kinds = ["channels", keys, ...kindsOf(channelId)];
  const store = await storeWith(...kinds);
  await noteErasing(store, channelId);
  assert(isErasing(store, channelId));
  await eraseKeys(store, channelId);
  assert(isErasing(store, channelId) && !store.has(keys, channelId));
  await forgetChannel(store, channelId);
  for (const kind of kinds) assert(!store.has(kind, channelId), kind);
  assert(!isErasing(store, channelId));
});

Deno.test("what is erased goes in this order: the note, the epoch, other keys, the rest, and the note with the channel's record", async () => {
  const store = await storeWith("channels");
  const written: string[] = [];
  const watched: Pick<RecordStore, "put" | "batch" | "clear"> = {
    put: (kind, id, value) => {
      written.push(`put ${kind}`);
      return store.put(kind, id, value);
    },
    batch: (changes) => {
      written.push(
        changes.map(({ type, kind, id }) => `${type} ${kind === keys ? id : kind}`).join(),
      );
      return store.batch(changes);
    },
    clear: (kind) => {
      written.push(kind === keys ? "clear keys" : "clear");
      return store.clear(kind);
    },
  };
  await noteErasing(watched, channelId);
  await eraseKeys(watched, channelId);
  await forgetChannel(watched, channelId);
  const rest = kindsOf(channelId).map(() => "clear");
  assertEquals(written, [
    "put erasing",
    `delete ${epochId}`,
    "clear keys",
    ...rest,
    "delete channels,delete erasing",
  ]);
});
