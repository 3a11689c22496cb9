/**
 * The authenticated data of an application message: its id, its sender's counters, what its sender
 * says about its own past, and its word about the log. Members deduplicate by the id and notice
 * gaps by the counters, the relay charges by their number, and nobody can forge them.
 */
import { WireError } from "../base/errors.ts";
import { type LogWord, logWordBytes, nothingSaid, readLogWord, writeLogWord } from "./log_word.ts";
import { binaryIdBytes, binaryIdFromBytes, binaryIdToBytes, type MessageId } from "../base/ids.ts";

/** Counters in a row. */
export interface CounterRange {
  readonly first: number;
  readonly count: number;
}

export interface MessageAad {
  readonly messageId: MessageId;
  /**
   * 1 for a sender's first message in this channel, then one more each; retries keep theirs. Of a
   * bundle, its first one's.
   */
  readonly counter: number;
  /** How many messages it holds, each with a counter of its own. */
  readonly count: number;
  /**
   * Of the key that seals it, among its sender's keys for messages of this epoch, from 1; 0 from a
   * sender that does not say.
   */
  readonly keyNumber: number;
  /** Counters before this one's that will not come. */
  readonly gone: CounterRange | undefined;
}

/** In one bundle. */
export const maxBundledMessages = 64;

const [counterAt, countAt, keyNumberAt, goneAt, goneCountAt, wordAt] = [
  16,
  24,
  26,
  30,
  38,
  42,
] as const;
/** Always, so that the length says nothing about what happened to the sender. */
export const messageAadBytes = wordAt + logWordBytes;

/**
 * A single message of a sender that has nothing to say about its past, nor about the log, unless
 * more is given.
 */
export function encodeMessageAad(
  { messageId, counter, count = 1, keyNumber = 0, gone, word = nothingSaid }:
    & Pick<MessageAad, "messageId" | "counter">
    & Partial<MessageAad & { readonly word: LogWord }>,
): Uint8Array {
  const fits = count < 2 ** 16 && keyNumber < 2 ** 32 && (gone?.count ?? 0) < 2 ** 32;
  if (!fits) throw new RangeError("A number of authenticated data is too large");
  const bytes = new Uint8Array(messageAadBytes);
  const view = new DataView(bytes.buffer);
  bytes.set(binaryIdToBytes(messageId));
  view.setBigUint64(counterAt, BigInt(counter));
  view.setUint16(countAt, count);
  view.setUint32(keyNumberAt, keyNumber);
  view.setBigUint64(goneAt, BigInt(gone?.first ?? 0));
  view.setUint32(goneCountAt, gone?.count ?? 0);
  writeLogWord(bytes.subarray(wordAt), word);
  return bytes;
}

/**
 * Throws `WireError`. Later versions may append: what follows is ignored, because members negotiate
 * nothing.
 */
export function decodeMessageAad(bytes: Uint8Array): MessageAad {
  if (bytes.length < messageAadBytes) {
    refuse(`Authenticated data has ${bytes.length} bytes, at least ${messageAadBytes} are needed`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const messageId = binaryIdFromBytes<MessageId>(bytes.subarray(0, binaryIdBytes));
  const counter = readCounter(view, counterAt);
  const count = view.getUint16(countAt);
  if (count < 1 || count > maxBundledMessages) {
    refuse(`A message holds 1 to ${maxBundledMessages} messages, not ${count}`);
  }
  // Each of them has a counter, which its receivers keep on disk.
  if (counter > Number.MAX_SAFE_INTEGER - (count - 1)) {
    refuse("The last counter of a message is beyond 2^53 - 1");
  }
  return {
    messageId,
    counter,
    count,
    keyNumber: view.getUint32(keyNumberAt),
    gone: readGone(view, counter),
  };
}

/**
 * Of authenticated data that is known to be some. Apart, because the relay does not read it, nor
 * does a look at counters alone.
 */
export function readMessageWord(bytes: Uint8Array): LogWord {
  return readLogWord(bytes.subarray(wordAt));
}

function readGone(view: DataView, counter: number): CounterRange | undefined {
  const [first, count] = [readCounter(view, goneAt), view.getUint32(goneCountAt)];
  if (count === 0) return undefined;
  if (first < 1 || first + count > counter) {
    refuse("Counters that do not come stand before the message that says so");
  }
  return { first, count };
}

function readCounter(view: DataView, at: number): number {
  const counter = view.getBigUint64(at);
  if (counter > BigInt(Number.MAX_SAFE_INTEGER)) refuse("A message counter is beyond 2^53 - 1");
  return Number(counter);
}

function refuse(why: string): never {
  throw new WireError("invalid_request", why);
}
