/**
 * Where everything lies in linear memory; the compiler puts constants before it. `wipe` wipes all
 * of it: what was signed may be a private message.
 *
 *   SCRATCH  field elements and points of the calculation that runs
 *   WINDOW   one piece of what SHA-512 hashes
 *   TERMS    points and their scalars, as the caller writes them
 *   DIGITS   of each term, its scalar as 256 signed digits
 *   TABLES   of each term, eight odd multiples of its point
 */
export const SCRATCH: usize = 0x1000;
export const STATE: usize = 0x1800; // eight words
export const SCHEDULE: usize = 0x1880; // 80 words
export const RESULT: usize = 0x1b40; // 64 bytes

export const WINDOW: usize = 0x2000;
export const WINDOW_BYTES: usize = 0x2000;
/** Behind the text: its end and its length, in up to two blocks. */
export const WINDOW_SLACK: usize = 0x100;

/**
 * 32 bytes of encoding, whether it is a key (u32), 4 of nothing, 32 of scalar, 8 of zero behind it.
 */
export const TERM_BYTES: usize = 80;
export const IS_KEY: usize = 32;
export const SCALAR: usize = 40;
/** More terms than that are summed in turns: the doublings of a turn are then a hundredth of it. */
export const MAX_TERMS: usize = 256;
export const DIGIT_COUNT: usize = 256;
export const TABLE_POINTS: usize = 8;
export const POINT_BYTES: usize = 160;
export const TABLE_BYTES: usize = TABLE_POINTS * POINT_BYTES;

export const TERMS: usize = WINDOW + WINDOW_BYTES + WINDOW_SLACK;
export const DIGITS: usize = TERMS + MAX_TERMS * TERM_BYTES;
export const TABLES: usize = DIGITS + MAX_TERMS * DIGIT_COUNT;
