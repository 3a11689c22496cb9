/**
 * The authenticated data of an application message: its id and its sender's counter. Members deduplicate by the first and
 * notice gaps by the second, and the relay can forge neither.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { WireError } from "./errors.ts";
import { binaryIdBytes, binaryIdFromBytes, binaryIdToBytes, type MessageId } from "./ids.ts";

export interface MessageAad {
  readonly messageId: MessageId;
  /** 1 for a sender's first message in this channel, then one more each; retries keep theirs. */
  readonly counter: number;
}

const counterBytes = 8;

export function encodeMessageAad({ messageId, counter }: MessageAad): Uint8Array {
  const tail = new Uint8Array(counterBytes);
  new DataView(tail.buffer).setBigUint64(0, BigInt(counter));
  return concatBytes(binaryIdToBytes(messageId), tail);
}

/** Throws `WireError`. Later versions may append: what follows is ignored, because members negotiate nothing. */
export function decodeMessageAad(bytes: Uint8Array): MessageAad {
  if (bytes.length < binaryIdBytes + counterBytes) {
    throw new WireError("invalid_request", `Authenticated data has ${bytes.length} bytes, at least 24 are needed`);
  }
  const counter = new DataView(bytes.buffer, bytes.byteOffset + binaryIdBytes, counterBytes).getBigUint64(0);
  if (counter > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new WireError("invalid_request", "A message counter is beyond 2^53 - 1");
  }
  return { messageId: binaryIdFromBytes(bytes.subarray(0, binaryIdBytes)), counter: Number(counter) };
}
