/**
 * The end of a message's authenticated data: its sender's word about the channel's log, as it had
 * seen it. Its length is the same whatever is said; zeros say nothing. See docs/guarantees.md.
 */
import { WireError } from "../base/errors.ts";

/** Of this epoch's messages, up to an entry of the log before which the sender knows everything. */
export interface SeenLogPlace {
  /** From 1. */
  readonly place: number;
  /** Modulo 65,536. */
  readonly count: number;
  readonly hash: Uint8Array;
}

export interface LogWord {
  /** Undefined when the sender is not sure. */
  readonly seen: SeenLogPlace | undefined;
  /** The hash at the end of the last epoch before this one that has messages. */
  readonly before: Uint8Array | undefined;
}

export const seenHashBytes = 16;
const [countAt, seenAt, beforeAt] = [5, 7, 23] as const;
export const logWordBytes = 39;
const maxPlace = 2 ** 40 - 1;
export const countModulus = 2 ** 16;

export const nothingSaid: LogWord = Object.freeze({ seen: undefined, before: undefined });

/**
 * Writes a word at a place where there are zeros. Says nothing about a place that it cannot name.
 */
export function writeLogWord(bytes: Uint8Array, { seen, before }: LogWord): void {
  if (seen !== undefined && seen.place > 0 && seen.place <= maxPlace) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    view.setUint8(0, Math.floor(seen.place / 2 ** 32));
    view.setUint32(1, seen.place % 2 ** 32);
    view.setUint16(countAt, seen.count % countModulus);
    bytes.set(hashOf(seen.hash), seenAt);
  }
  if (before !== undefined) bytes.set(hashOf(before), beforeAt);
}

function hashOf(hash: Uint8Array): Uint8Array {
  if (hash.length !== seenHashBytes) {
    throw new RangeError(`A hash of the log has ${seenHashBytes} bytes`);
  }
  return hash;
}

/** Reads the word at the beginning of these bytes. Throws `WireError` when they are too few. */
export function readLogWord(bytes: Uint8Array): LogWord {
  if (bytes.length < logWordBytes) {
    throw new WireError(
      "invalid_request",
      `A word about the log has ${logWordBytes} bytes, not ${bytes.length}`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const place = view.getUint8(0) * 2 ** 32 + view.getUint32(1);
  const before = bytes.slice(beforeAt, logWordBytes);
  const isBefore = before.some((byte) => byte !== 0);
  if (place === 0 && !isBefore) return nothingSaid;
  const seen = { place, count: view.getUint16(countAt), hash: bytes.slice(seenAt, beforeAt) };
  return { seen: place === 0 ? undefined : seen, before: isBefore ? before : undefined };
}
