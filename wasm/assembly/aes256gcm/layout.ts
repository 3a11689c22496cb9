/**
 * Where everything lies in linear memory. Every address below is fixed before a key or a message is
 * known, which is half of the constant-time argument; the other half is in `aes.ts` and `ghash.ts`.
 *
 *   TABLES    constants of the S-box, public, written once by `tables.ts`
 *   SECRETS   key, nonce, running hash, tag mask, one batch of blocks; wiped by `wipe`
 *   WINDOW    one piece of a message and the length block behind it; wiped by `wipe`
 *   CONTEXTS  one context per key: round keys, then the tables of GHASH; allocated by `core.ts`
 */

/** Sixteen-byte tables, each looked up by `i8x16.swizzle` only. */
export const TABLES: usize = 0x400;
export const IN_LOW: usize = TABLES; // AES byte → tower representation, by nibble
export const IN_HIGH: usize = TABLES + 0x10;
export const INVERSE: usize = TABLES + 0x20; // 1/x in GF(16)
export const A_OVER: usize = TABLES + 0x30; // a/x in GF(16)
export const ONCE_IO: usize = TABLES + 0x40; // S-box output in tower representation
export const ONCE_JO: usize = TABLES + 0x50;
export const TWICE_IO: usize = TABLES + 0x60; // the same, times x
export const TWICE_JO: usize = TABLES + 0x70;
export const OUT_IO: usize = TABLES + 0x80; // S-box output as an AES byte
export const OUT_JO: usize = TABLES + 0x90;
export const NIBBLE: usize = TABLES + 0xa0; // 15 in every byte
export const ROTATE: usize = TABLES + 0xb0; // ShiftRows of rows 1 to 3

/** Directly before the window, so that one fill wipes both. */
export const SECRETS: usize = 0xe00;
export const KEY: usize = SECRETS; // 32 bytes
export const NONCE: usize = SECRETS + 0x20; // 12 bytes
export const HASH: usize = SECRETS + 0x30;
export const MASK: usize = SECRETS + 0x40; // four blocks, the first is E(counter 1)
export const BATCH: usize = SECRETS + 0x100; // eight blocks
// The last 64 bytes before the window take the prefix of a result.

export const WINDOW: usize = 0x1000;
/** A multiple of eight blocks, so that only the last piece of a message ends inside a batch. */
export const WINDOW_BYTES: usize = 0x10000;
/** Behind the text: the length block, the tag, and the rest of the last group of four blocks. */
export const WINDOW_SLACK: usize = 0x40;

export const CONTEXTS: usize = WINDOW + WINDOW_BYTES + WINDOW_SLACK;
export const ROUNDS: u32 = 14;
/** Four vectors a round key, 15 round keys. */
export const ROUND_KEYS_BYTES: usize = 15 * 64;
/** For each of 16 byte positions, for each of 8 powers of H, one vector. */
export const HASH_TABLE_BYTES: usize = 16 * 8 * 16;
export const CONTEXT_BYTES: usize = ROUND_KEYS_BYTES + HASH_TABLE_BYTES;
