/**
 * Erasing a channel takes several writes: first a note that it is being erased, then the keys, then the rest, and the note
 * together with the channel's record. A crash between them leaves what remains to the next start. Without the note nothing is
 * erased: in a store that was damaged, keys are missing for another reason.
 */
import type { ChannelId } from "../../proto/mod.ts";
import { epochId, kindOf } from "../mls/stored_group.ts";
import { type RecordChange, type RecordStore, StoreError } from "../store/mod.ts";
import { deleteAll, erasing, forgetChannel } from "./records.ts";

/** Deletes everything of a channel whose group writes nothing any more. Can be repeated when it failed. */
export async function eraseChannel(
  store: Pick<RecordStore, "put" | "list" | "batch">,
  channelId: ChannelId,
): Promise<void> {
  await store.put(erasing, channelId, Uint8Array.of(1));
  await deleteRest(store, channelId);
}

/**
 * Returns whether the channel was being erased. Then nothing is left of it, but in a store that is damaged or open for reading
 * only: there the note stays too, and the other channels can be used.
 */
export async function finishErasing(
  store: Pick<RecordStore, "has" | "list" | "batch">,
  channelId: ChannelId,
): Promise<boolean> {
  if (!store.has(erasing, channelId)) return false;
  try {
    await deleteRest(store, channelId);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "store_corrupt") throw error;
  }
  return true;
}

/** Whether the store has the keys of a channel. Reads nothing of the disk. */
export function hasKeys(store: Pick<RecordStore, "has">, channelId: ChannelId): boolean {
  return store.has(kindOf(channelId), epochId);
}

/** The change that withdraws the note. */
export function endErasing(channelId: ChannelId): RecordChange {
  return { type: "delete", kind: erasing, id: channelId };
}

async function deleteRest(store: Pick<RecordStore, "list" | "batch">, channelId: ChannelId): Promise<void> {
  const kind = kindOf(channelId);
  const damaged: StoreError[] = [];
  const ids = (await store.list(kind, (error) => damaged.push(error))).map(({ id }) => id);
  // Without its epoch a channel cannot be loaded, whatever else is left behind.
  const inOrder = [epochId, ...ids.filter((id) => id !== epochId)];
  await deleteAll(store, inOrder.map((id) => ({ type: "delete", kind, id })));
  if (damaged[0] !== undefined) throw damaged[0];
  await forgetChannel(store, channelId);
}
