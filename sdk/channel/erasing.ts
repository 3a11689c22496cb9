/**
 * Erasing a channel takes several writes: first a note that it is being erased, then the keys, then the rest, and the note
 * together with the channel's record (`forgetChannel`). A crash between them leaves what remains to the next start. Without the
 * note nothing is erased: in a store that was damaged, keys are missing for another reason.
 */
import type { ChannelId } from "../../proto/mod.ts";
import { epochId, kindOf } from "../mls/stored_group.ts";
import type { RecordChange, RecordStore, StoreError } from "../store/mod.ts";
import { deleteAll, erasing } from "./records.ts";

/** From here on it is erased at the next start, if not before. Its group writes nothing any more. */
export async function noteErasing(store: Pick<RecordStore, "put">, channelId: ChannelId): Promise<void> {
  await store.put(erasing, channelId, Uint8Array.of(1));
}

export function isErasing(store: Pick<RecordStore, "has">, channelId: ChannelId): boolean {
  return store.has(erasing, channelId);
}

/** Can be repeated when it failed. In a store that is damaged it deletes what can be read, and throws. */
export async function eraseKeys(store: Pick<RecordStore, "list" | "batch">, channelId: ChannelId): Promise<void> {
  const kind = kindOf(channelId);
  const damaged: StoreError[] = [];
  const ids = (await store.list(kind, (error) => damaged.push(error))).map(({ id }) => id);
  // Without its epoch a channel cannot be loaded, whatever else is left behind.
  const inOrder = [epochId, ...ids.filter((id) => id !== epochId)];
  await deleteAll(store, inOrder.map((id) => ({ type: "delete", kind, id })));
  if (damaged[0] !== undefined) throw damaged[0];
}

/** Whether the store has the keys of a channel. Reads nothing of the disk. */
export function hasKeys(store: Pick<RecordStore, "has">, channelId: ChannelId): boolean {
  return store.has(kindOf(channelId), epochId);
}

/** The change that withdraws the note. */
export function endErasing(channelId: ChannelId): RecordChange {
  return { type: "delete", kind: erasing, id: channelId };
}
