/**
 * The generations of a channel: MLS groups that follow each other under one channel id. Epoch
 * numbers go on, so that one number tells both, and everything that orders by epoch orders by
 * generation too.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { binaryIdBytes, binaryIdFromBytes, binaryIdToBytes, type ChannelId } from "../base/ids.ts";

/**
 * Epochs of one generation; a channel that commits every second for a hundred years needs fewer.
 */
const epochsPerGeneration = 2 ** 32;

export function generationOf(epoch: number): number {
  return Math.floor(epoch / epochsPerGeneration);
}

/** The founder's own: the first that members share is the one after it. */
export function foundingEpoch(generation: number): number {
  return generation * epochsPerGeneration;
}

/** Of generation 0 it is the channel's id, of others a hash of both. */
export function groupIdOf(channelId: ChannelId, generation: number): ChannelId {
  if (generation === 0) return channelId;
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(generation));
  return binaryIdFromBytes<ChannelId>(
    sha256(concatBytes(binaryIdToBytes(channelId), number)).slice(0, binaryIdBytes),
  );
}
