/**
 * Erasing a channel takes several writes: first a note that it is being erased, then the keys, then
 * the rest, and the note together with the channel's record (`forgetChannel`). A crash between them
 * leaves what remains to the next start. Without the note nothing is erased: in a store that was
 * damaged, keys are missing for another reason.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import { epochId, kindOf } from "../../mls/stored_group.ts";
import type { RecordStore } from "../../store/mod.ts";
import { erasing, kindsOf } from "../channel_kinds.ts";
import { deleteChannel } from "../records.ts";

/**
 * From here on it is erased at the next start, if not before. Its group writes nothing any more.
 */
export async function noteErasing(
  store: Pick<RecordStore, "put">,
  channelId: ChannelId,
): Promise<void> {
  await store.put(erasing, channelId, Uint8Array.of(1));
}

export function isErasing(store: Pick<RecordStore, "has">, channelId: ChannelId): boolean {
  return store.has(erasing, channelId);
}

/**
 * Can be repeated when it failed. Without its epoch a channel cannot be loaded, whatever else is
 * left behind.
 */
export async function eraseKeys(
  store: Pick<RecordStore, "batch" | "clear">,
  channelId: ChannelId,
): Promise<void> {
  const kind = kindOf(channelId);
  await store.batch([{ type: "delete", kind, id: epochId }]);
  await store.clear(kind);
}

/** Whether the store has the keys of a channel. Reads nothing of the disk. */
export function hasKeys(store: Pick<RecordStore, "has">, channelId: ChannelId): boolean {
  return store.has(kindOf(channelId), epochId);
}

/**
 * Deletes everything of a channel but its MLS state, which erases itself. An agent that comes back
 * later makes new invites. Its record goes last, with the note that it is being erased: as long as
 * one is there, so is the other.
 */
export async function forgetChannel(
  store: Pick<RecordStore, "clear" | "batch">,
  channelId: ChannelId,
): Promise<void> {
  for (const kind of kindsOf(channelId)) await store.clear(kind);
  await store.batch(deleteChannel(channelId));
}
