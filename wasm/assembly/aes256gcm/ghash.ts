/**
 * GHASH, eight blocks at a time: Y ← (Y + X1)·H^8 + X2·H^7 + … + X8·H, reduced once.
 *
 * A product X·H is a sum over the nibbles of X. For each k, one vector lists byte k of nibble·H for
 * all sixteen nibbles; a `swizzle` of it by the high nibbles of X gives byte k of sixteen products
 * at once, that of byte p of X belonging to position p + k of the result. So for each k the
 * products of eight blocks are added, and Horner's rule shifts them into place, one byte a step.
 * Low nibbles are summed apart and multiplied by x^4 at the end.
 *
 * Constant time: hash key and blocks are touched only by xor, and, shifts by a constant, and
 * swizzles of registers; addresses and loop bounds depend on the number of blocks alone.
 */
import { addKeystreamFrom } from "./aes";
import { BATCH, HASH, MASK, NONCE, ROUND_KEYS_BYTES } from "./layout";

const POWERS: usize = 8;
/** All powers of one byte position. */
const POSITION_BYTES: usize = POWERS * 16;

@inline
function xor(a: v128, b: v128): v128 {
  return v128.xor(a, b);
}

/**
 * Multiplies eight blocks, the first with the running hash added, by H^8 to H, and adds the
 * products.
 */
function multiplyBatch(tables: usize, from: usize, hash: v128): v128 {
  const nibble = i8x16.splat(15);
  const x0 = xor(v128.load(from), hash);
  const x1 = v128.load(from, 16);
  const x2 = v128.load(from, 32);
  const x3 = v128.load(from, 48);
  const x4 = v128.load(from, 64);
  const x5 = v128.load(from, 80);
  const x6 = v128.load(from, 96);
  const x7 = v128.load(from, 112);
  const high0 = i8x16.shr_u(x0, 4);
  const low0 = v128.and(x0, nibble);
  const high1 = i8x16.shr_u(x1, 4);
  const low1 = v128.and(x1, nibble);
  const high2 = i8x16.shr_u(x2, 4);
  const low2 = v128.and(x2, nibble);
  const high3 = i8x16.shr_u(x3, 4);
  const low3 = v128.and(x3, nibble);
  const high4 = i8x16.shr_u(x4, 4);
  const low4 = v128.and(x4, nibble);
  const high5 = i8x16.shr_u(x5, 4);
  const low5 = v128.and(x5, nibble);
  const high6 = i8x16.shr_u(x6, 4);
  const low6 = v128.and(x6, nibble);
  const high7 = i8x16.shr_u(x7, 4);
  const low7 = v128.and(x7, nibble);
  const zero = i64x2.splat(0);
  let highLower = zero;
  let highUpper = zero;
  let lowLower = zero;
  let lowUpper = zero;
  for (let table = tables + 15 * POSITION_BYTES; table >= tables; table -= POSITION_BYTES) {
    const t0 = v128.load(table, 0);
    const t1 = v128.load(table, 16);
    const t2 = v128.load(table, 32);
    const t3 = v128.load(table, 48);
    const t4 = v128.load(table, 64);
    const t5 = v128.load(table, 80);
    const t6 = v128.load(table, 96);
    const t7 = v128.load(table, 112);
    highUpper = oneByteUp(highLower, highUpper);
    lowUpper = oneByteUp(lowLower, lowUpper);
    highLower = xor(oneByteUp(zero, highLower), xor(
      xor(xor(i8x16.swizzle(t0, high0), i8x16.swizzle(t1, high1)), xor(i8x16.swizzle(t2, high2), i8x16.swizzle(t3, high3))),
      xor(xor(i8x16.swizzle(t4, high4), i8x16.swizzle(t5, high5)), xor(i8x16.swizzle(t6, high6), i8x16.swizzle(t7, high7))),
    ));
    lowLower = xor(oneByteUp(zero, lowLower), xor(
      xor(xor(i8x16.swizzle(t0, low0), i8x16.swizzle(t1, low1)), xor(i8x16.swizzle(t2, low2), i8x16.swizzle(t3, low3))),
      xor(xor(i8x16.swizzle(t4, low4), i8x16.swizzle(t5, low5)), xor(i8x16.swizzle(t6, low6), i8x16.swizzle(t7, low7))),
    ));
  }
  return reduce(
    xor(highLower, timesX4(zero, lowLower)),
    xor(highUpper, timesX4(lowLower, lowUpper)),
  );
}

/** The bytes of `x` moved up by one, the last byte of `below` first. */
@inline
function oneByteUp(below: v128, x: v128): v128 {
  return i8x16.shuffle(below, x, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/**
 * Times x^4. The first bit of a byte has the lowest degree, so this shifts to the right, through
 * all bytes.
 */
@inline
function timesX4(below: v128, x: v128): v128 {
  return xor(i8x16.shr_u(x, 4), oneByteUp(i8x16.shl(below, 4), i8x16.shl(x, 4)));
}

/** The part of x·(x^7 + x^2 + x + 1) that stays inside each byte. */
@inline
function inside(x: v128): v128 {
  return xor(xor(x, i8x16.shr_u(x, 1)), xor(i8x16.shr_u(x, 2), i8x16.shr_u(x, 7)));
}

/** The part that enters the following byte. */
@inline
function across(x: v128): v128 {
  return xor(xor(i8x16.shl(x, 7), i8x16.shl(x, 6)), i8x16.shl(x, 1));
}

/** Reduces modulo x^128 + x^7 + x^2 + x + 1; what leaves the last byte is reduced once more. */
@inline
function reduce(lower: v128, upper: v128): v128 {
  const zero = i64x2.splat(0);
  const carries = across(upper);
  const rest = oneByteUp(carries, zero);
  return xor(
    xor(lower, xor(inside(upper), oneByteUp(zero, carries))),
    xor(inside(rest), oneByteUp(zero, across(rest))),
  );
}

/**
 * Adds whole blocks to the running hash. A short batch comes first, right-aligned behind zero
 * blocks, which add nothing.
 */
export function absorbBlocks(context: usize, from: usize, blocks: usize): void {
  const tables = context + ROUND_KEYS_BYTES;
  let hash = v128.load(HASH);
  const short = blocks & (POWERS - 1);
  if (short != 0) {
    const zeros = (POWERS - short) << 4;
    for (let at: usize = 0; at < zeros; at += 16) v128.store(BATCH + at, i64x2.splat(0));
    v128.store(BATCH + zeros, xor(v128.load(from), hash));
    for (let at: usize = zeros + 16; at < POWERS << 4; at += 16) v128.store(BATCH + at, v128.load(from + at - zeros));
    hash = multiplyBatch(tables, BATCH, i64x2.splat(0));
    from += short << 4;
  }
  const end = from + ((blocks - short) << 4);
  for (; from < end; from += POWERS << 4) hash = multiplyBatch(tables, from, hash);
  v128.store(HASH, hash);
}

/** Byte `position` of nibble·H for all sixteen nibbles, from H, x·H, x²·H and x³·H in the batch. */
@inline
function nibbleTable(position: usize): v128 {
  const at = BATCH + position;
  const bit3 = v128.and(v128.load8_splat(at), i8x16(0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1));
  const bit2 = v128.and(v128.load8_splat(at, 16), i8x16(0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1));
  const bit1 = v128.and(v128.load8_splat(at, 32), i8x16(0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1));
  const bit0 = v128.and(v128.load8_splat(at, 48), i8x16(0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1));
  return xor(xor(bit3, bit2), xor(bit1, bit0));
}

/** Writes the tables of one power of H; power 0 is H^8, power 7 is H. */
function storePower(tables: usize, power: usize, h: v128): void {
  for (let i: usize = 0; i < 4; i++) {
    v128.store(BATCH + (i << 4), h);
    // Times x: one bit to the right through all bytes; a bit that leaves comes back as x^7 + x^2 +
    // x + 1.
    const leaving = i64x2.splat(-(i64x2.extract_lane(h, 1) >> 56 & 1));
    const shifted = v128.or(i8x16.shr_u(h, 1), oneByteUp(i64x2.splat(0), i8x16.shl(h, 7)));
    h = xor(shifted, v128.and(leaving, i64x2(0xe1, 0)));
  }
  for (let position: usize = 0; position < 16; position++) {
    v128.store(tables + position * POSITION_BYTES + (power << 4), nibbleTable(position));
  }
}

/**
 * Prepares H = E(0) and its powers. The context must be zero: powers not yet there must contribute
 * nothing.
 */
export function prepareHash(context: usize): void {
  const tables = context + ROUND_KEYS_BYTES;
  const zero = i64x2.splat(0);
  v128.store(NONCE, zero);
  v128.store(MASK, zero);
  addKeystreamFrom(context, MASK, 16, 0);
  let power = v128.load(MASK);
  for (let slot: usize = POWERS - 1; ; slot--) {
    storePower(tables, slot, power);
    if (slot == 0) return;
    memory.fill(BATCH, 0, POWERS << 4);
    v128.store(BATCH, power, (POWERS - 1) << 4);
    power = multiplyBatch(tables, BATCH, zero);
  }
}
