/** A channel as a store knows it, besides its MLS state: for tests. */
import type { ChannelId } from "../../../proto/mod.ts";
import type { RecordStore } from "../../store/mod.ts";
import { readRecords } from "../runner/entrances.ts";
import { decodeChannel, type StoredChannel } from "../stored_channel.ts";

export async function storedChannel(
  store: Pick<RecordStore, "list">,
  channelId: ChannelId,
): Promise<StoredChannel> {
  return decodeChannel({ channelId, joinedEpoch: 0 }, await readRecords(store, channelId));
}
