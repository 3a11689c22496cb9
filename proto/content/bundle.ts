/**
 * Several messages as one plaintext: of each its id, its length and its bytes, one after the other.
 * How many there are stands in the authenticated data, because the relay charges by it; so a single
 * message is no bundle and looks as it always did.
 */
import { WireError } from "../base/errors.ts";
import { binaryIdBytes, binaryIdFromBytes, binaryIdToBytes, type MessageId } from "../base/ids.ts";
import { maxBundledMessages } from "../statements/message_aad.ts";

export interface BundledMessage {
  readonly id: MessageId;
  /** The plaintext that would be sealed if the message went alone. */
  readonly plaintext: Uint8Array;
}

/** Bytes that each message takes beside its own. */
export const bundledHeadBytes = binaryIdBytes + 4;
/** Heads included: what fits in four cells with all that goes around it. */
export const maxBundleBytes = 14_000;
/** The largest bundle that the relay accepts: four cells. */
export const maxBundleCiphertextBytes = 16 * 1024;

export function bundleBytesOf(messages: readonly BundledMessage[]): number {
  return messages.reduce((sum, { plaintext }) => sum + bundledHeadBytes + plaintext.length, 0);
}

/**
 * Throws `RangeError` unless there are 2 to 64 messages, none of them empty, with 14,000 bytes in
 * all.
 */
export function encodeBundle(messages: readonly BundledMessage[]): Uint8Array {
  const length = bundleBytesOf(messages);
  const isOne = messages.length > 1 && messages.length <= maxBundledMessages &&
    length <= maxBundleBytes;
  if (!isOne) throw new RangeError(`Cannot bundle ${messages.length} messages of ${length} bytes`);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { id, plaintext } of messages) {
    bytes.set(binaryIdToBytes(id), at);
    view.setUint32(at + binaryIdBytes, plaintext.length);
    bytes.set(plaintext, at + bundledHeadBytes);
    at += bundledHeadBytes + plaintext.length;
  }
  return bytes;
}

/**
 * Throws `WireError` for anything that `encodeBundle` does not write, or that holds another number
 * of messages.
 */
export function decodeBundle(bytes: Uint8Array, count: number): BundledMessage[] {
  if (count < 2 || count > maxBundledMessages) refuse(`it would hold ${count} messages`);
  if (bytes.length > maxBundleBytes) {
    refuse(`it has ${bytes.length} bytes, at most ${maxBundleBytes} are allowed`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const messages: BundledMessage[] = [];
  const ids = new Set<MessageId>();
  for (let at = 0; at < bytes.length;) {
    const start = at + bundledHeadBytes;
    if (start > bytes.length || messages.length === count) refuse("it ends elsewhere than it says");
    const length = view.getUint32(at + binaryIdBytes);
    if (length === 0 || length > bytes.length - start) {
      refuse("a message in it is empty, or longer than what is left");
    }
    const id = binaryIdFromBytes<MessageId>(bytes.subarray(at, at + binaryIdBytes));
    if (ids.has(id)) refuse("two messages in it have one id");
    ids.add(id);
    // Copied: the application may keep one of them for long.
    messages.push({ id, plaintext: bytes.slice(start, start + length) });
    at = start + length;
  }
  if (messages.length !== count) {
    refuse(`it holds ${messages.length} messages, and its sender says ${count}`);
  }
  return messages;
}

function refuse(why: string): never {
  throw new WireError("invalid_request", `Cannot read a bundle: ${why}`);
}
