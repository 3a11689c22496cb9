/**
 * AES-256: key schedule and counter mode, four blocks at a time. A vector holds one row of the
 * state of four blocks, so ShiftRows is one permutation a row and MixColumns is plain xor. Bytes
 * stay in the tower representation of `tables.ts`.
 *
 * Constant time: state and round keys are touched only by xor, and, shift by a constant, and
 * `i8x16.swizzle`, which looks up a 16-byte table inside a register; no instruction of these has a
 * duration or an address that depends on its operands. Loop bounds and addresses come from the
 * number of blocks, which is public.
 *
 * Constants of the inner loop are loaded from memory rather than written in the code: compilers
 * would build the latter again in every round.
 */
import {
  A_OVER, IN_HIGH, IN_LOW, INVERSE, KEY, NIBBLE, NONCE, ONCE_IO, ONCE_JO, OUT_IO, OUT_JO, ROTATE, ROUNDS, TWICE_IO,
  TWICE_JO,
} from "./layout";

@inline
function lookup(table: v128, index: v128): v128 {
  return i8x16.swizzle(table, index);
}

@inline
function xor(a: v128, b: v128): v128 {
  return v128.xor(a, b);
}

/** The constant of the S-box's affine map, in every byte. */
@inline
function affineConstant(): v128 {
  return i8x16.splat(0x63);
}

@inline
function lowNibbles(x: v128): v128 {
  return v128.and(x, i8x16.splat(15));
}

@inline
function highNibbles(x: v128): v128 {
  return i8x16.shr_u(x, 4);
}

@inline
function toTower(x: v128): v128 {
  return xor(lookup(v128.load(IN_LOW), lowNibbles(x)), lookup(v128.load(IN_HIGH), highNibbles(x)));
}

/** 1/(1/x + ak) + y: both halves of the inversion, see `tables.ts`. */
@inline
function half(inverse: v128, x: v128, ak: v128, y: v128): v128 {
  return xor(lookup(inverse, xor(lookup(inverse, x), ak)), y);
}

/** The S-box without its constant, from tower representation to AES bytes. */
function substitute(tower: v128): v128 {
  const inverse = v128.load(INVERSE);
  const k = lowNibbles(tower);
  const i = highNibbles(tower);
  const j = xor(i, k);
  const ak = lookup(v128.load(A_OVER), k);
  const io = half(inverse, i, ak, j);
  const jo = half(inverse, j, ak, i);
  return xor(lookup(v128.load(OUT_IO), io), lookup(v128.load(OUT_JO), jo));
}

@inline
function substituteWord(word: u32): u32 {
  return i32x4.extract_lane(xor(substitute(toTower(i32x4.splat(word))), affineConstant()), 0);
}

/**
 * Stores one round key as four rows, each repeated for four blocks. Round keys 1 to 14 take up the
 * S-box's constant, which MixColumns leaves unchanged (its coefficients add to 1); all but the last
 * are in tower representation.
 */
function storeRoundKey(to: usize, round: u32, key: v128): void {
  if (round > 0) key = xor(key, affineConstant());
  if (round < ROUNDS) key = toTower(key);
  const columns = i32x4.splat(0x0c080400);
  v128.store(to, lookup(key, columns));
  v128.store(to, lookup(key, i8x16.add(columns, i8x16.splat(1))), 16);
  v128.store(to, lookup(key, i8x16.add(columns, i8x16.splat(2))), 32);
  v128.store(to, lookup(key, i8x16.add(columns, i8x16.splat(3))), 48);
}

/** FIPS 197, section 5.2, for eight-word keys: each new round key from the two before it. */
export function expandKey(context: usize): void {
  let older = v128.load(KEY);
  let newer = v128.load(KEY, 16);
  let constant: u32 = 1;
  storeRoundKey(context, 0, older);
  storeRoundKey(context + 64, 1, newer);
  for (let round: u32 = 2; round <= ROUNDS; round++) {
    let word: u32 = substituteWord(i32x4.extract_lane(newer, 3));
    if ((round & 1) == 0) {
      word = rotr<u32>(word, 8) ^ constant;
      constant <<= 1;
    }
    const w0 = <u32>i32x4.extract_lane(older, 0) ^ word;
    const w1 = <u32>i32x4.extract_lane(older, 1) ^ w0;
    const w2 = <u32>i32x4.extract_lane(older, 2) ^ w1;
    const w3 = <u32>i32x4.extract_lane(older, 3) ^ w2;
    older = newer;
    newer = i32x4.replace_lane(i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(w0), 1, w1), 2, w2), 3, w3);
    storeRoundKey(context + (<usize>round << 6), round, newer);
  }
}

/**
 * Encrypts four counter blocks, given as rows in tower representation with round key 0 added, and
 * adds the result to the four blocks at `text`. With A = S(state) and B = 2·S(state), row r after
 * MixColumns is A0+A1+A2+A3 + Ar + Br + B(r+1).
 */
function encryptFour(context: usize, text: usize, s0: v128, s1: v128, s2: v128, s3: v128): void {
  const inverse = v128.load(INVERSE);
  const aOver = v128.load(A_OVER);
  const onceIo = v128.load(ONCE_IO);
  const onceJo = v128.load(ONCE_JO);
  const twiceIo = v128.load(TWICE_IO);
  const twiceJo = v128.load(TWICE_JO);
  const nibble = v128.load(NIBBLE);
  const rotate1 = v128.load(ROTATE);
  const rotate2 = v128.load(ROTATE, 16);
  const rotate3 = v128.load(ROTATE, 32);
  const last = context + (<usize>ROUNDS << 6);
  for (let key = context + 64; key < last; key += 64) {
    s1 = lookup(s1, rotate1);
    s2 = lookup(s2, rotate2);
    s3 = lookup(s3, rotate3);
    const k0 = v128.and(s0, nibble);
    const i0 = highNibbles(s0);
    const j0 = xor(i0, k0);
    const ak0 = lookup(aOver, k0);
    const io0 = half(inverse, i0, ak0, j0);
    const jo0 = half(inverse, j0, ak0, i0);
    const k1 = v128.and(s1, nibble);
    const i1 = highNibbles(s1);
    const j1 = xor(i1, k1);
    const ak1 = lookup(aOver, k1);
    const io1 = half(inverse, i1, ak1, j1);
    const jo1 = half(inverse, j1, ak1, i1);
    const k2 = v128.and(s2, nibble);
    const i2 = highNibbles(s2);
    const j2 = xor(i2, k2);
    const ak2 = lookup(aOver, k2);
    const io2 = half(inverse, i2, ak2, j2);
    const jo2 = half(inverse, j2, ak2, i2);
    const k3 = v128.and(s3, nibble);
    const i3 = highNibbles(s3);
    const j3 = xor(i3, k3);
    const ak3 = lookup(aOver, k3);
    const io3 = half(inverse, i3, ak3, j3);
    const jo3 = half(inverse, j3, ak3, i3);
    const a0 = xor(lookup(onceIo, io0), lookup(onceJo, jo0));
    const a1 = xor(lookup(onceIo, io1), lookup(onceJo, jo1));
    const a2 = xor(lookup(onceIo, io2), lookup(onceJo, jo2));
    const a3 = xor(lookup(onceIo, io3), lookup(onceJo, jo3));
    const b0 = xor(lookup(twiceIo, io0), lookup(twiceJo, jo0));
    const b1 = xor(lookup(twiceIo, io1), lookup(twiceJo, jo1));
    const b2 = xor(lookup(twiceIo, io2), lookup(twiceJo, jo2));
    const b3 = xor(lookup(twiceIo, io3), lookup(twiceJo, jo3));
    const all = xor(xor(a0, a1), xor(a2, a3));
    s0 = xor(xor(xor(xor(a0, v128.load(key)), b0), b1), all);
    s1 = xor(xor(xor(xor(a1, v128.load(key, 16)), b1), b2), all);
    s2 = xor(xor(xor(xor(a2, v128.load(key, 32)), b2), b3), all);
    s3 = xor(xor(xor(xor(a3, v128.load(key, 48)), b3), b0), all);
  }
  addKeystream(
    text,
    lastRound(s0, v128.load(last)),
    lastRound(lookup(s1, rotate1), v128.load(last, 16)),
    lastRound(lookup(s2, rotate2), v128.load(last, 32)),
    lastRound(lookup(s3, rotate3), v128.load(last, 48)),
  );
}

@inline
function lastRound(row: v128, key: v128): v128 {
  return xor(substitute(row), key);
}

/** Interleaves four rows into four blocks and adds them to the text. */
@inline
function addKeystream(text: usize, r0: v128, r1: v128, r2: v128, r3: v128): void {
  const low01 = i8x16.shuffle(r0, r1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const high01 = i8x16.shuffle(r0, r1, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const low23 = i8x16.shuffle(r2, r3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const high23 = i8x16.shuffle(r2, r3, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  addBlock(text, i16x8.shuffle(low01, low23, 0, 8, 1, 9, 2, 10, 3, 11));
  addBlock(text + 16, i16x8.shuffle(low01, low23, 4, 12, 5, 13, 6, 14, 7, 15));
  addBlock(text + 32, i16x8.shuffle(high01, high23, 0, 8, 1, 9, 2, 10, 3, 11));
  addBlock(text + 48, i16x8.shuffle(high01, high23, 4, 12, 5, 13, 6, 14, 7, 15));
}

@inline
function addBlock(at: usize, block: v128): void {
  v128.store(at, xor(v128.load(at), block));
}

/**
 * Row r of the nonce in four blocks, the counter's column 0, in tower representation with round key
 * 0 added.
 */
@inline
function nonceRow(context: usize, nonce: v128, row: i32): v128 {
  // an index above 15 gives 0
  const columns = i8x16.add(i32x4.splat(0x70080400), i8x16.splat(<i8>row));
  return xor(toTower(lookup(nonce, columns)), v128.load(context + (row << 4)));
}

/**
 * The same with byte r of each big-endian counter in its column: representation is linear, so it
 * can be added later.
 */
@inline
function withCounters(nonceRow: v128, counters: v128, row: i32): v128 {
  return xor(nonceRow, toTower(v128.and(i32x4.shl(counters, row << 3), i32x4.splat(0xff000000))));
}

/**
 * Adds the keystream from `counter` on to `bytes` bytes at `text`, rounded up to groups of four
 * blocks.
 */
export function addKeystreamFrom(context: usize, text: usize, bytes: usize, counter: u32): void {
  const nonce = v128.load(NONCE);
  const row0 = nonceRow(context, nonce, 0);
  const row1 = nonceRow(context, nonce, 1);
  const row2 = nonceRow(context, nonce, 2);
  const row3 = nonceRow(context, nonce, 3);
  const end = text + bytes;
  let counters = i32x4.add(i32x4.splat(counter), i32x4(0, 1, 2, 3));
  for (; text < end; text += 64) {
    encryptFour(
      context,
      text,
      withCounters(row0, counters, 0),
      withCounters(row1, counters, 1),
      withCounters(row2, counters, 2),
      withCounters(row3, counters, 3),
    );
    counters = i32x4.add(counters, i32x4.splat(4));
  }
}
