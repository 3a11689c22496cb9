/**
 * Poly1305 (RFC 8439 section 2.5) over whole blocks, which is all that the AEAD needs: it pads
 * everything to blocks. Numbers modulo 2^130 - 5 are five limbs of 26 bits, so a product of two
 * limbs and the sum of five such products stay below 2^64.
 *
 * Constant time: 64-bit multiplication, addition, shifts by constants and masks only; the last
 * reduction selects by a mask.
 */
import { MULTIPLIER, ONE_TIME_KEY, SUM } from "./layout";

const LIMB: u64 = 0x3ffffff;

/** Takes r from the one-time key, and starts the sum. */
export function beginSum(): void {
  const low = load<u64>(ONE_TIME_KEY) & 0x0ffffffc0fffffff;
  const high = load<u64>(ONE_TIME_KEY, 8) & 0x0ffffffc0ffffffc;
  store<u64>(MULTIPLIER, low & LIMB);
  store<u64>(MULTIPLIER, low >> 26 & LIMB, 8);
  store<u64>(MULTIPLIER, (low >> 52 | high << 12) & LIMB, 16);
  store<u64>(MULTIPLIER, high >> 14 & LIMB, 24);
  store<u64>(MULTIPLIER, high >> 40, 32);
  memory.fill(SUM, 0, 40);
}

/** Adds whole blocks to the running sum: for each, h = (h + block + 2^128)·r. */
export function addBlocks(from: usize, blocks: usize): void {
  const r0 = load<u64>(MULTIPLIER), r1 = load<u64>(MULTIPLIER, 8), r2 = load<u64>(MULTIPLIER, 16);
  const r3 = load<u64>(MULTIPLIER, 24), r4 = load<u64>(MULTIPLIER, 32);
  // The carry at 2^130 comes back times 5.
  const s1 = r1 * 5, s2 = r2 * 5, s3 = r3 * 5, s4 = r4 * 5;
  let h0 = load<u64>(SUM), h1 = load<u64>(SUM, 8), h2 = load<u64>(SUM, 16), h3 = load<u64>(SUM, 24), h4 = load<u64>(SUM, 32);
  for (const end = from + (blocks << 4); from < end; from += 16) {
    const low = load<u64>(from), high = load<u64>(from, 8);
    h0 += low & LIMB;
    h1 += low >> 26 & LIMB;
    h2 += (low >> 52 | high << 12) & LIMB;
    h3 += high >> 14 & LIMB;
    h4 += high >> 40 | 1 << 24;
    const d0 = h0 * r0 + h1 * s4 + h2 * s3 + h3 * s2 + h4 * s1;
    const d1 = h0 * r1 + h1 * r0 + h2 * s4 + h3 * s3 + h4 * s2 + (d0 >> 26);
    const d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s4 + h4 * s3 + (d1 >> 26);
    const d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s4 + (d2 >> 26);
    const d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + (d3 >> 26);
    h0 = (d0 & LIMB) + (d4 >> 26) * 5;
    h1 = (d1 & LIMB) + (h0 >> 26);
    h0 &= LIMB;
    h2 = d2 & LIMB;
    h3 = d3 & LIMB;
    h4 = d4 & LIMB;
  }
  store<u64>(SUM, h0);
  store<u64>(SUM, h1, 8);
  store<u64>(SUM, h2, 16);
  store<u64>(SUM, h3, 24);
  store<u64>(SUM, h4, 32);
}

/** The sum modulo 2^130 - 5, plus s, modulo 2^128. */
export function tagOfSum(): v128 {
  let h0 = load<u64>(SUM), h1 = load<u64>(SUM, 8), h2 = load<u64>(SUM, 16), h3 = load<u64>(SUM, 24), h4 = load<u64>(SUM, 32);
  h2 += h1 >> 26;
  h1 &= LIMB;
  h3 += h2 >> 26;
  h2 &= LIMB;
  h4 += h3 >> 26;
  h3 &= LIMB;
  h0 += (h4 >> 26) * 5;
  h4 &= LIMB;
  h1 += h0 >> 26;
  h0 &= LIMB;
  h2 += h1 >> 26;
  h1 &= LIMB;
  // h + 5 - 2^130 is what remains if it is not negative.
  const g0 = h0 + 5;
  const g1 = h1 + (g0 >> 26);
  const g2 = h2 + (g1 >> 26);
  const g3 = h3 + (g2 >> 26);
  const g4 = h4 + (g3 >> 26) - (1 << 26);
  const less: u64 = 0 - (g4 >> 63);
  h0 = (h0 & less) | (g0 & LIMB & ~less);
  h1 = (h1 & less) | (g1 & LIMB & ~less);
  h2 = (h2 & less) | (g2 & LIMB & ~less);
  h3 = (h3 & less) | (g3 & LIMB & ~less);
  h4 = (h4 & less) | (g4 & LIMB & ~less);
  const low = h0 | h1 << 26 | h2 << 52;
  const high = h2 >> 12 | h3 << 14 | h4 << 40;
  const tagLow = low + load<u64>(ONE_TIME_KEY, 16);
  const tagHigh = high + load<u64>(ONE_TIME_KEY, 24) + u64(tagLow < low);
  return i64x2.replace_lane(i64x2.splat(tagLow), 1, tagHigh);
}
