/** Erasing a channel takes several writes, the keys first. A crash between them leaves the rest to the next start. */
import type { ChannelId } from "../../proto/mod.ts";
import { epochId, kindOf } from "../mls/stored_group.ts";
import type { RecordChange, RecordStore } from "../store/mod.ts";
import { forgetChannel } from "./records.ts";

/** In one write to the store. */
const maxDeletions = 1000;

/** Returns whether the channel was being erased. Then nothing is left of it. */
export async function finishErasing(
  store: Pick<RecordStore, "has" | "list" | "batch" | "faults">,
  channelId: ChannelId,
): Promise<boolean> {
  const kind = kindOf(channelId);
  // In a store that is damaged the keys may be missing for another reason.
  if (store.has(kind, epochId) || store.faults.length > 0) return false;
  const rest = (await store.list(kind)).map(({ id }): RecordChange => ({ type: "delete", kind, id }));
  for (let at = 0; at < rest.length; at += maxDeletions) await store.batch(rest.slice(at, at + maxDeletions));
  await forgetChannel(store, channelId);
  return true;
}
