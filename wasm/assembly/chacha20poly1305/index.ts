/**
 * ChaCha20-Poly1305 (RFC 8439 section 2.8): the exports of the module. A caller brings a message
 * through the window piece by piece; every piece but the last fills it:
 *
 *   begin    per message, with key and nonce in their places, then `absorb` for each piece of the associated data
 *   seal     each piece of text: `crypt`, `absorb`; the last: `crypt`, `appendTag`
 *   open     each piece of text: `absorb`; the last: `checkTag`; then, only if it returned 1, `crypt` for each piece
 *   wipe     always
 */
import { addKeystream } from "./chacha20";
import {
  KEY, NONCE, ONE_TIME_KEY, ROOM_BYTES, SECRETS, SECRETS_END, WINDOW, WINDOW_BYTES, WINDOW_SLACK,
} from "./layout";
import { addBlocks, beginSum, tagOfSum } from "./poly1305";

export const keyAt: usize = KEY;
export const nonceAt: usize = NONCE;
export const roomBytes: usize = ROOM_BYTES;
export const windowAt: usize = WINDOW;
export const windowBytes: usize = WINDOW_BYTES;

/**
 * Starts a message: the one-time key of Poly1305 is the keystream of block 0, so the text starts
 * with block 1.
 */
export function begin(): void {
  memory.fill(ONE_TIME_KEY, 0, 64);
  addKeystream(ONE_TIME_KEY, 64, 0);
  beginSum();
}

/**
 * Adds the keystream of block `counter` (1 for the first of the text) and following to the window.
 */
export function crypt(bytes: usize, counter: u32): void {
  addKeystream(WINDOW, bytes, counter);
}

/** Authenticates the window, padded with zeros to whole blocks. */
export function absorb(bytes: usize): void {
  addBlocks(WINDOW, padToBlocks(bytes));
}

/** Authenticates the last piece of text and the lengths, and returns the tag. */
function finish(bytes: usize, aadBytes: u32, textBytes: u32): v128 {
  const blocks = padToBlocks(bytes);
  const lengths = WINDOW + (blocks << 4);
  store<u64>(lengths, <u64>aadBytes);
  store<u64>(lengths, <u64>textBytes, 8);
  addBlocks(WINDOW, blocks + 1);
  return tagOfSum();
}

/** Ends a sealed message: its tag then stands in the window, behind the last piece of text. */
export function appendTag(bytes: usize, aadBytes: u32, textBytes: u32): void {
  v128.store(WINDOW + bytes, finish(bytes, aadBytes, textBytes));
}

/**
 * 1 when the tag behind the last piece of ciphertext is right. All its bytes are compared at once,
 * in one register.
 */
export function checkTag(bytes: usize, aadBytes: u32, textBytes: u32): i32 {
  const received = v128.load(WINDOW + bytes);
  return i32(!v128.any_true(v128.xor(received, finish(bytes, aadBytes, textBytes))));
}

/**
 * Forgets everything about the last message, of which at most `bytes` bytes were in the window at
 * once.
 */
export function wipe(bytes: usize): void {
  memory.fill(SECRETS, 0, SECRETS_END - SECRETS);
  memory.fill(WINDOW, 0, bytes + WINDOW_SLACK);
}

/** Zeros the bytes behind the text up to a whole block, and returns the number of blocks. */
function padToBlocks(bytes: usize): usize {
  const end = (bytes + 15) & ~15;
  for (let at = bytes; at < end; at++) store<u8>(WINDOW + at, 0);
  return end >> 4;
}
