/**
 * SHA-256 (FIPS 180-4), HMAC (RFC 2104) and what HKDF (RFC 5869) takes of it: the exports of the
 * module. A caller brings a message through the window piece by piece; every piece but the last
 * fills it:
 *
 *   hash   `begin`, each piece: `absorb`; the last: `finish`
 *   HMAC   `setKey`, `beginMac`, each piece: `absorb`; the last: `finishMac`
 *   wipe   always
 *
 * Nothing here branches on a message or takes an address from it; lengths are public.
 */
import { beginState, compress } from "./compress";
import {
  BLOCK, INNER, KEY, OUTER, RESULT, SECRETS, SECRETS_END, STATE, WINDOW, WINDOW_BYTES, WINDOW_SLACK,
} from "./layout";

export const keyAt: usize = KEY;
export const resultAt: usize = RESULT;
export const windowAt: usize = WINDOW;
export const windowBytes: usize = WINDOW_BYTES;

const BLOCK_BYTES: usize = 64;
const HASH_BYTES: usize = 32;

export function begin(): void {
  beginState();
}

/** Takes in a window of whole blocks. */
export function absorb(bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += BLOCK_BYTES) compress(WINDOW + at);
}

/**
 * Takes in the last piece of a message of `total` bytes (before it, whole blocks only), padded (a
 * one bit, zeros, the length in bits), and writes the hash.
 */
export function finish(bytes: usize, total: u32): void {
  const end = (bytes + 9 + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
  memory.fill(WINDOW + bytes, 0, end - bytes);
  store<u8>(WINDOW + bytes, 0x80);
  store<u64>(WINDOW + end - 8, bswap<u64>(<u64>total << 3));
  absorb(end);
  writeHash();
}

/** Prepares HMAC with the key at `keyAt`, filled up with zeros to a block. */
export function setKey(): void {
  keyBlock(0x36);
  storeState(INNER);
  keyBlock(0x5c);
  storeState(OUTER);
}

export function beginMac(): void {
  loadState(INNER);
}

/** Takes in the last piece of what is authenticated, `total` bytes in all, and writes the MAC. */
export function finishMac(bytes: usize, total: u32): void {
  finish(bytes, total + <u32>BLOCK_BYTES);
  v128.store(BLOCK, v128.load(RESULT));
  v128.store(BLOCK, v128.load(RESULT, 16), 16);
  v128.store(BLOCK, i64x2.splat(0), 32);
  v128.store(BLOCK, i64x2.splat(0), 48);
  store<u8>(BLOCK + HASH_BYTES, 0x80);
  store<u64>(BLOCK + BLOCK_BYTES - 8, bswap<u64>(<u64>(BLOCK_BYTES + HASH_BYTES) << 3));
  loadState(OUTER);
  compress(BLOCK);
  writeHash();
}

/**
 * Forgets everything about the last message, of which at most `bytes` bytes were in the window at
 * once.
 */
export function wipe(bytes: usize): void {
  memory.fill(SECRETS, 0, SECRETS_END - SECRETS);
  memory.fill(WINDOW, 0, bytes + WINDOW_SLACK);
}

function keyBlock(pad: i8): void {
  const pads = i8x16.splat(pad);
  for (let at: usize = 0; at < BLOCK_BYTES; at += 16) v128.store(BLOCK + at, v128.xor(v128.load(KEY + at), pads));
  beginState();
  compress(BLOCK);
}

function storeState(to: usize): void {
  v128.store(to, v128.load(STATE));
  v128.store(to, v128.load(STATE, 16), 16);
}

function loadState(from: usize): void {
  v128.store(STATE, v128.load(from));
  v128.store(STATE, v128.load(from, 16), 16);
}

function writeHash(): void {
  for (let at: usize = 0; at < HASH_BYTES; at += 4) store<u32>(RESULT + at, bswap<u32>(load<u32>(STATE + at)));
}
