/**
 * AES-256-GCM (NIST SP 800-38D) with nonces of 96 bits and tags of 128 bits: the exports of the
 * module. A caller brings a message through the window piece by piece; every piece but the last
 * fills it:
 *
 *   setKey   once
 *   begin    per message, then `absorb` for each piece of the associated data
 *   seal     each piece of text: `crypt`, `absorb`; the last: `crypt`, `appendTag`
 *   open     each piece of text: `absorb`; the last: `checkTag`; then, only if it answered 1, `crypt` for each piece
 *   wipe     always
 */
import { addKeystreamFrom, expandKey } from "./aes";
import { absorbBlocks, prepareHash } from "./ghash";
import {
  CONTEXT_BYTES, CONTEXTS, HASH, KEY, MASK, NONCE, SECRETS, WINDOW, WINDOW_BYTES, WINDOW_SLACK,
} from "./layout";
import { deriveTables } from "./tables";

export const keyAt: usize = KEY;
export const nonceAt: usize = NONCE;
export const windowAt: usize = WINDOW;
export const windowBytes: usize = WINDOW_BYTES;
export const contextsAt: usize = CONTEXTS;
export const contextBytes: usize = CONTEXT_BYTES;

deriveTables();

/** Expands the key at `keyAt` into a context. */
export function setKey(context: usize): void {
  memory.fill(context, 0, CONTEXT_BYTES);
  expandKey(context);
  prepareHash(context);
}

/** Starts a message under the nonce at `nonceAt`: the tag mask is the keystream of counter 1. */
export function begin(context: usize): void {
  const zero = i64x2.splat(0);
  v128.store(HASH, zero);
  v128.store(MASK, zero);
  addKeystreamFrom(context, MASK, 16, 1);
}

/** Adds the keystream of `counter` (2 for the first block of text) and following to the window. */
export function crypt(context: usize, bytes: usize, counter: u32): void {
  addKeystreamFrom(context, WINDOW, bytes, counter);
}

/** Hashes the window, padded with zeros to whole blocks. */
export function absorb(context: usize, bytes: usize): void {
  absorbBlocks(context, WINDOW, padToBlocks(bytes));
}

/** Hashes the last piece of text and the lengths, and returns the tag. */
function finish(context: usize, bytes: usize, aadBytes: u32, textBytes: u32): v128 {
  const blocks = padToBlocks(bytes);
  const lengths = WINDOW + (blocks << 4);
  store<u64>(lengths, bswap<u64>(<u64>aadBytes << 3));
  store<u64>(lengths, bswap<u64>(<u64>textBytes << 3), 8);
  absorbBlocks(context, WINDOW, blocks + 1);
  return v128.xor(v128.load(HASH), v128.load(MASK));
}

/** Ends a sealed message: its tag then stands in the window, behind the last piece of text. */
export function appendTag(context: usize, bytes: usize, aadBytes: u32, textBytes: u32): void {
  v128.store(WINDOW + bytes, finish(context, bytes, aadBytes, textBytes));
}

/**
 * 1 when the tag behind the last piece of ciphertext is right. All its bytes are compared at once,
 * in one register.
 */
export function checkTag(context: usize, bytes: usize, aadBytes: u32, textBytes: u32): i32 {
  const received = v128.load(WINDOW + bytes);
  return i32(!v128.any_true(v128.xor(received, finish(context, bytes, aadBytes, textBytes))));
}

/**
 * Forgets everything about the last message, of which at most `bytes` bytes were in the window at
 * once.
 */
export function wipe(bytes: usize): void {
  memory.fill(SECRETS, 0, WINDOW - SECRETS + bytes + WINDOW_SLACK);
}

/** Forgets a key. */
export function wipeContext(context: usize): void {
  memory.fill(context, 0, CONTEXT_BYTES);
}

/** Zeros the bytes behind the text up to a whole block, and returns the number of blocks. */
function padToBlocks(bytes: usize): usize {
  const end = (bytes + 15) & ~15;
  for (let at = bytes; at < end; at++) store<u8>(WINDOW + at, 0);
  return end >> 4;
}
