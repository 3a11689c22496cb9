/**
 * Where everything lies in linear memory: the constants of the compression function first, where
 * the compiler puts them, then what `wipe` wipes. Every address is fixed before a key or a message
 * is known.
 */
export const SECRETS: usize = 0x800;
export const STATE: usize = SECRETS; // eight words
/** The states after HMAC's inner and outer key block. */
export const INNER: usize = SECRETS + 0x20;
export const OUTER: usize = SECRETS + 0x40;
/** The request: a hash or a MAC. */
export const RESULT: usize = SECRETS + 0x60; // 32 bytes
/** HMAC's key, and one block that is made here. */
export const KEY: usize = SECRETS + 0x80; // 64 bytes
export const BLOCK: usize = SECRETS + 0xc0; // 64 bytes
export const SCHEDULE: usize = SECRETS + 0x100; // 64 words
export const SECRETS_END: usize = SECRETS + 0x200;

export const WINDOW: usize = 0x1000;
/** A multiple of a block, so that only the last piece of a message ends inside one. */
export const WINDOW_BYTES: usize = 0x4000;
/** Behind the text: its end and its length (section 5.1.1). */
export const WINDOW_SLACK: usize = 0x80;
