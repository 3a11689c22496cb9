/**
 * Where everything lies in linear memory. Every address is fixed before a key or a message is
 * known.
 *
 *   SECRETS  key, nonce, state of Poly1305; wiped by `wipe`
 *   ROOM     always zero: room before a result, which its receiver fills
 *   WINDOW   one piece of a message and what follows it; wiped by `wipe`
 */
export const SECRETS: usize = 0x400;
export const KEY: usize = SECRETS; // 32 bytes
export const NONCE: usize = SECRETS + 0x20; // 12 bytes
/**
 * The first block of keystream: r, then s (RFC 8439 section 2.6), and the rest of a group of four
 * blocks.
 */
export const ONE_TIME_KEY: usize = SECRETS + 0x40;
/** Five limbs of 26 bits each, as u64. */
export const MULTIPLIER: usize = SECRETS + 0x140;
export const SUM: usize = SECRETS + 0x180;
export const SECRETS_END: usize = SECRETS + 0x1c0;

export const ROOM_BYTES: usize = 0x200;
export const WINDOW: usize = 0x1000;
/**
 * A multiple of four blocks of keystream, so that only the last piece of a message ends inside a
 * group.
 */
export const WINDOW_BYTES: usize = 0x10000;
/** Behind the text: the rest of its last group of keystream, the length block, the tag. */
export const WINDOW_SLACK: usize = 0x120;
