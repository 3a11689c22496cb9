/**
 * Numbers modulo p = 2^255 - 19: ten limbs of 26 and 25 bits in turn, signed, 40 bytes in memory,
 * after the reference code of Ed25519. For public data only: nothing here is constant-time by
 * promise.
 *
 * A product is carried: its limbs are at most 1.01·2^25 and 1.01·2^24. Sums and differences are
 * not. A product of a sum of m carried numbers and one of n stays below 2^63 as long as m·n is at
 * most 50; the point formulas need 12.
 */

export const FIELD_BYTES: usize = 40;

const HALF26: i64 = 1 << 25;
const HALF25: i64 = 1 << 24;

/**
 * Writes the limbs of a product, carried so that each is at most a little above half of its size.
 * Rounding carries go up in two chains side by side; what leaves at 2^255 comes back times 19.
 */
@inline
function storeCarried(
  h: usize, h0: i64, h1: i64, h2: i64, h3: i64, h4: i64, h5: i64, h6: i64, h7: i64, h8: i64, h9: i64,
): void {
  let carry = h0 + HALF26 >> 26; h1 += carry; h0 -= carry << 26;
  carry = h4 + HALF26 >> 26; h5 += carry; h4 -= carry << 26;
  carry = h1 + HALF25 >> 25; h2 += carry; h1 -= carry << 25;
  carry = h5 + HALF25 >> 25; h6 += carry; h5 -= carry << 25;
  carry = h2 + HALF26 >> 26; h3 += carry; h2 -= carry << 26;
  carry = h6 + HALF26 >> 26; h7 += carry; h6 -= carry << 26;
  carry = h3 + HALF25 >> 25; h4 += carry; h3 -= carry << 25;
  carry = h7 + HALF25 >> 25; h8 += carry; h7 -= carry << 25;
  carry = h4 + HALF26 >> 26; h5 += carry; h4 -= carry << 26;
  carry = h8 + HALF26 >> 26; h9 += carry; h8 -= carry << 26;
  carry = h9 + HALF25 >> 25; h0 += carry * 19; h9 -= carry << 25;
  carry = h0 + HALF26 >> 26; h1 += carry; h0 -= carry << 26;
  store<i32>(h, <i32>h0);
  store<i32>(h, <i32>h1, 4);
  store<i32>(h, <i32>h2, 8);
  store<i32>(h, <i32>h3, 12);
  store<i32>(h, <i32>h4, 16);
  store<i32>(h, <i32>h5, 20);
  store<i32>(h, <i32>h6, 24);
  store<i32>(h, <i32>h7, 28);
  store<i32>(h, <i32>h8, 32);
  store<i32>(h, <i32>h9, 36);
}

/** h = f·g. */
export function multiply(h: usize, f: usize, g: usize): void {
  const f0 = <i64>load<i32>(f), f1 = <i64>load<i32>(f, 4), f2 = <i64>load<i32>(f, 8), f3 = <i64>load<i32>(f, 12);
  const f4 = <i64>load<i32>(f, 16), f5 = <i64>load<i32>(f, 20), f6 = <i64>load<i32>(f, 24), f7 = <i64>load<i32>(f, 28);
  const f8 = <i64>load<i32>(f, 32), f9 = <i64>load<i32>(f, 36);
  const g0 = <i64>load<i32>(g), g1 = <i64>load<i32>(g, 4), g2 = <i64>load<i32>(g, 8), g3 = <i64>load<i32>(g, 12);
  const g4 = <i64>load<i32>(g, 16), g5 = <i64>load<i32>(g, 20), g6 = <i64>load<i32>(g, 24), g7 = <i64>load<i32>(g, 28);
  const g8 = <i64>load<i32>(g, 32), g9 = <i64>load<i32>(g, 36);
  const f1Twice = f1 * 2, f3Twice = f3 * 2, f5Twice = f5 * 2, f7Twice = f7 * 2, f9Twice = f9 * 2;
  const g1By19 = g1 * 19, g2By19 = g2 * 19, g3By19 = g3 * 19, g4By19 = g4 * 19, g5By19 = g5 * 19;
  const g6By19 = g6 * 19, g7By19 = g7 * 19, g8By19 = g8 * 19, g9By19 = g9 * 19;
  const h0 = f0 * g0 + f1Twice * g9By19 + f2 * g8By19 + f3Twice * g7By19 + f4 * g6By19 + f5Twice * g5By19 +
    f6 * g4By19 + f7Twice * g3By19 + f8 * g2By19 + f9Twice * g1By19;
  const h1 = f0 * g1 + f1 * g0 + f2 * g9By19 + f3 * g8By19 + f4 * g7By19 + f5 * g6By19 + f6 * g5By19 + f7 * g4By19 +
    f8 * g3By19 + f9 * g2By19;
  const h2 = f0 * g2 + f1Twice * g1 + f2 * g0 + f3Twice * g9By19 + f4 * g8By19 + f5Twice * g7By19 + f6 * g6By19 +
    f7Twice * g5By19 + f8 * g4By19 + f9Twice * g3By19;
  const h3 = f0 * g3 + f1 * g2 + f2 * g1 + f3 * g0 + f4 * g9By19 + f5 * g8By19 + f6 * g7By19 + f7 * g6By19 +
    f8 * g5By19 + f9 * g4By19;
  const h4 = f0 * g4 + f1Twice * g3 + f2 * g2 + f3Twice * g1 + f4 * g0 + f5Twice * g9By19 + f6 * g8By19 +
    f7Twice * g7By19 + f8 * g6By19 + f9Twice * g5By19;
  const h5 = f0 * g5 + f1 * g4 + f2 * g3 + f3 * g2 + f4 * g1 + f5 * g0 + f6 * g9By19 + f7 * g8By19 + f8 * g7By19 +
    f9 * g6By19;
  const h6 = f0 * g6 + f1Twice * g5 + f2 * g4 + f3Twice * g3 + f4 * g2 + f5Twice * g1 + f6 * g0 + f7Twice * g9By19 +
    f8 * g8By19 + f9Twice * g7By19;
  const h7 = f0 * g7 + f1 * g6 + f2 * g5 + f3 * g4 + f4 * g3 + f5 * g2 + f6 * g1 + f7 * g0 + f8 * g9By19 +
    f9 * g8By19;
  const h8 = f0 * g8 + f1Twice * g7 + f2 * g6 + f3Twice * g5 + f4 * g4 + f5Twice * g3 + f6 * g2 + f7Twice * g1 +
    f8 * g0 + f9Twice * g9By19;
  const h9 = f0 * g9 + f1 * g8 + f2 * g7 + f3 * g6 + f4 * g5 + f5 * g4 + f6 * g3 + f7 * g2 + f8 * g1 + f9 * g0;
  storeCarried(h, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9);
}

/** h = f². */
export function square(h: usize, f: usize): void {
  const f0 = <i64>load<i32>(f), f1 = <i64>load<i32>(f, 4), f2 = <i64>load<i32>(f, 8), f3 = <i64>load<i32>(f, 12);
  const f4 = <i64>load<i32>(f, 16), f5 = <i64>load<i32>(f, 20), f6 = <i64>load<i32>(f, 24), f7 = <i64>load<i32>(f, 28);
  const f8 = <i64>load<i32>(f, 32), f9 = <i64>load<i32>(f, 36);
  const f0Twice = f0 * 2, f1Twice = f1 * 2, f2Twice = f2 * 2, f3Twice = f3 * 2, f4Twice = f4 * 2;
  const f5Twice = f5 * 2, f6Twice = f6 * 2, f7Twice = f7 * 2, f8Twice = f8 * 2, f9Twice = f9 * 2;
  const f5By19 = f5 * 19, f6By19 = f6 * 19, f7By19 = f7 * 19, f8By19 = f8 * 19, f9By19 = f9 * 19;
  const f7By38 = f7 * 38, f9By38 = f9 * 38;
  const h0 = f0 * f0 + f1Twice * f9By38 + f2Twice * f8By19 + f3Twice * f7By38 + f4Twice * f6By19 + f5Twice * f5By19;
  const h1 = f0Twice * f1 + f2Twice * f9By19 + f3Twice * f8By19 + f4Twice * f7By19 + f5Twice * f6By19;
  const h2 = f0Twice * f2 + f1Twice * f1 + f3Twice * f9By38 + f4Twice * f8By19 + f5Twice * f7By38 + f6 * f6By19;
  const h3 = f0Twice * f3 + f1Twice * f2 + f4Twice * f9By19 + f5Twice * f8By19 + f6Twice * f7By19;
  const h4 = f0Twice * f4 + f1Twice * f3Twice + f2 * f2 + f5Twice * f9By38 + f6Twice * f8By19 + f7Twice * f7By19;
  const h5 = f0Twice * f5 + f1Twice * f4 + f2Twice * f3 + f6Twice * f9By19 + f7Twice * f8By19;
  const h6 = f0Twice * f6 + f1Twice * f5Twice + f2Twice * f4 + f3Twice * f3 + f7Twice * f9By38 + f8 * f8By19;
  const h7 = f0Twice * f7 + f1Twice * f6 + f2Twice * f5 + f3Twice * f4 + f8Twice * f9By19;
  const h8 = f0Twice * f8 + f1Twice * f7Twice + f2Twice * f6 + f3Twice * f5Twice + f4 * f4 + f9Twice * f9By19;
  const h9 = f0Twice * f9 + f1Twice * f8 + f2Twice * f7 + f3Twice * f6 + f4Twice * f5;
  storeCarried(h, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9);
}

/** h = f^(2^count). */
export function squareTimes(h: usize, f: usize, count: i32): void {
  square(h, f);
  for (let i = 1; i < count; i++) square(h, h);
}

export function add(h: usize, f: usize, g: usize): void {
  for (let at: usize = 0; at < 32; at += 16) v128.store(h + at, i32x4.add(v128.load(f + at), v128.load(g + at)));
  store<i32>(h, load<i32>(f, 32) + load<i32>(g, 32), 32);
  store<i32>(h, load<i32>(f, 36) + load<i32>(g, 36), 36);
}

export function subtract(h: usize, f: usize, g: usize): void {
  for (let at: usize = 0; at < 32; at += 16) v128.store(h + at, i32x4.sub(v128.load(f + at), v128.load(g + at)));
  store<i32>(h, load<i32>(f, 32) - load<i32>(g, 32), 32);
  store<i32>(h, load<i32>(f, 36) - load<i32>(g, 36), 36);
}

export function copy(h: usize, f: usize): void {
  memory.copy(h, f, FIELD_BYTES);
}

/** A small number. */
export function setNumber(h: usize, value: i32): void {
  memory.fill(h, 0, FIELD_BYTES);
  store<i32>(h, value);
}

@inline
function threeBytes(from: usize): i64 {
  return <i64>load<u16>(from) | <i64>load<u8>(from, 2) << 16;
}

/** From 32 bytes, without the highest bit. */
export function fromBytes(h: usize, from: usize): void {
  storeCarried(
    h,
    <i64>load<u32>(from),
    threeBytes(from + 4) << 6,
    threeBytes(from + 7) << 5,
    threeBytes(from + 10) << 3,
    threeBytes(from + 13) << 2,
    <i64>load<u32>(from, 16),
    threeBytes(from + 20) << 7,
    threeBytes(from + 23) << 5,
    threeBytes(from + 26) << 4,
    (threeBytes(from + 29) & 0x7fffff) << 2,
  );
}

/**
 * The one number from 0 to p - 1 that this is, as 32 bytes. Of a sum or difference of two carried
 * numbers at most.
 */
export function toBytes(to: usize, h: usize): void {
  let h0 = load<i32>(h);
  let h1 = load<i32>(h, 4);
  let h2 = load<i32>(h, 8);
  let h3 = load<i32>(h, 12);
  let h4 = load<i32>(h, 16);
  let h5 = load<i32>(h, 20);
  let h6 = load<i32>(h, 24);
  let h7 = load<i32>(h, 28);
  let h8 = load<i32>(h, 32);
  let h9 = load<i32>(h, 36);
  // How often p fits: what leaves at the top if 19 is added at the bottom.
  let quotient = 19 * h9 + <i32>HALF25 >> 25;
  quotient = h0 + quotient >> 26;
  quotient = h1 + quotient >> 25;
  quotient = h2 + quotient >> 26;
  quotient = h3 + quotient >> 25;
  quotient = h4 + quotient >> 26;
  quotient = h5 + quotient >> 25;
  quotient = h6 + quotient >> 26;
  quotient = h7 + quotient >> 25;
  quotient = h8 + quotient >> 26;
  quotient = h9 + quotient >> 25;
  h0 += 19 * quotient;
  let carry = h0 >> 26; h1 += carry; h0 -= carry << 26;
  carry = h1 >> 25; h2 += carry; h1 -= carry << 25;
  carry = h2 >> 26; h3 += carry; h2 -= carry << 26;
  carry = h3 >> 25; h4 += carry; h3 -= carry << 25;
  carry = h4 >> 26; h5 += carry; h4 -= carry << 26;
  carry = h5 >> 25; h6 += carry; h5 -= carry << 25;
  carry = h6 >> 26; h7 += carry; h6 -= carry << 26;
  carry = h7 >> 25; h8 += carry; h7 -= carry << 25;
  carry = h8 >> 26; h9 += carry; h8 -= carry << 26;
  h9 &= 0x1ffffff;
  store<u32>(to, <u32>h0 | <u32>h1 << 26);
  store<u32>(to, <u32>h1 >> 6 | <u32>h2 << 19, 4);
  store<u32>(to, <u32>h2 >> 13 | <u32>h3 << 13, 8);
  store<u32>(to, <u32>h3 >> 19 | <u32>h4 << 6, 12);
  store<u32>(to, <u32>h5 | <u32>h6 << 25, 16);
  store<u32>(to, <u32>h6 >> 7 | <u32>h7 << 19, 20);
  store<u32>(to, <u32>h7 >> 13 | <u32>h8 << 12, 24);
  store<u32>(to, <u32>h8 >> 20 | <u32>h9 << 6, 28);
}
