/**
 * Erasing a channel takes several writes: first a note that it is being erased, then the keys, then the rest, and the note
 * together with the channel's record. A crash between them leaves what remains to the next start. Without the note nothing is
 * erased: in a store that was damaged, keys are missing for another reason.
 */
import type { ChannelId } from "../../proto/mod.ts";
import { kindOf } from "../mls/stored_group.ts";
import type { RecordChange, RecordStore } from "../store/mod.ts";
import { erasing, forgetChannel } from "./records.ts";

/** In one write to the store. */
const maxDeletions = 1000;

export async function beginErasing(store: Pick<RecordStore, "put">, channelId: ChannelId): Promise<void> {
  await store.put(erasing, channelId, Uint8Array.of(1));
}

/** Returns whether the channel was being erased. Then nothing is left of it. */
export async function finishErasing(
  store: Pick<RecordStore, "has" | "list" | "batch">,
  channelId: ChannelId,
): Promise<boolean> {
  if (!store.has(erasing, channelId)) return false;
  const kind = kindOf(channelId);
  const rest = (await store.list(kind)).map(({ id }): RecordChange => ({ type: "delete", kind, id }));
  for (let at = 0; at < rest.length; at += maxDeletions) await store.batch(rest.slice(at, at + maxDeletions));
  await forgetChannel(store, channelId);
  return true;
}
