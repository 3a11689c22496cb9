/**
 * ChaCha20 (RFC 8439 section 2.4), four blocks at a time: a vector holds one word of the state of
 * four blocks, so a round is additions, xors and rotations of whole vectors. None of these has a
 * duration or an address that depends on its operands.
 */
import { KEY, NONCE } from "./layout";

@inline
function add(a: v128, b: v128): v128 {
  return i32x4.add(a, b);
}

@inline
function xor(a: v128, b: v128): v128 {
  return v128.xor(a, b);
}

@inline
function rotate16(x: v128): v128 {
  return i8x16.shuffle(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
}

@inline
function rotate12(x: v128): v128 {
  return v128.or(i32x4.shl(x, 12), i32x4.shr_u(x, 20));
}

@inline
function rotate8(x: v128): v128 {
  return i8x16.shuffle(x, x, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
}

@inline
function rotate7(x: v128): v128 {
  return v128.or(i32x4.shl(x, 7), i32x4.shr_u(x, 25));
}

@inline
function keyWord(index: usize): v128 {
  return v128.load32_splat(KEY + (index << 2));
}

@inline
function nonceWord(index: usize): v128 {
  return v128.load32_splat(NONCE + (index << 2));
}

/** Four counters that follow each other. */
@inline
function counters(first: u32): v128 {
  return add(i32x4.splat(<i32>first), i32x4(0, 1, 2, 3));
}

@inline
function addTo(at: usize, keystream: v128): void {
  v128.store(at, xor(v128.load(at), keystream));
}

/** Adds four words of each of four blocks: they lie in the columns of four vectors. */
@inline
function addColumns(at: usize, a: v128, b: v128, c: v128, d: v128): void {
  const ab01 = i32x4.shuffle(a, b, 0, 4, 1, 5);
  const ab23 = i32x4.shuffle(a, b, 2, 6, 3, 7);
  const cd01 = i32x4.shuffle(c, d, 0, 4, 1, 5);
  const cd23 = i32x4.shuffle(c, d, 2, 6, 3, 7);
  addTo(at, i64x2.shuffle(ab01, cd01, 0, 2));
  addTo(at + 64, i64x2.shuffle(ab01, cd01, 1, 3));
  addTo(at + 128, i64x2.shuffle(ab23, cd23, 0, 2));
  addTo(at + 192, i64x2.shuffle(ab23, cd23, 1, 3));
}

/** Adds the keystream of four blocks to 256 bytes. */
function addGroup(at: usize, counter: u32): void {
  // "expand 32-byte k"
  let x0 = i32x4.splat(0x61707865), x1 = i32x4.splat(0x3320646e), x2 = i32x4.splat(0x79622d32), x3 = i32x4.splat(0x6b206574);
  let x4 = keyWord(0), x5 = keyWord(1), x6 = keyWord(2), x7 = keyWord(3);
  let x8 = keyWord(4), x9 = keyWord(5), x10 = keyWord(6), x11 = keyWord(7);
  let x12 = counters(counter), x13 = nonceWord(0), x14 = nonceWord(1), x15 = nonceWord(2);
  for (let i = 0; i < 10; i++) {
    // Quarter rounds of the columns.
    x0 = add(x0, x4); x1 = add(x1, x5); x2 = add(x2, x6); x3 = add(x3, x7);
    x12 = rotate16(xor(x12, x0)); x13 = rotate16(xor(x13, x1)); x14 = rotate16(xor(x14, x2)); x15 = rotate16(xor(x15, x3));
    x8 = add(x8, x12); x9 = add(x9, x13); x10 = add(x10, x14); x11 = add(x11, x15);
    x4 = rotate12(xor(x4, x8)); x5 = rotate12(xor(x5, x9)); x6 = rotate12(xor(x6, x10)); x7 = rotate12(xor(x7, x11));
    x0 = add(x0, x4); x1 = add(x1, x5); x2 = add(x2, x6); x3 = add(x3, x7);
    x12 = rotate8(xor(x12, x0)); x13 = rotate8(xor(x13, x1)); x14 = rotate8(xor(x14, x2)); x15 = rotate8(xor(x15, x3));
    x8 = add(x8, x12); x9 = add(x9, x13); x10 = add(x10, x14); x11 = add(x11, x15);
    x4 = rotate7(xor(x4, x8)); x5 = rotate7(xor(x5, x9)); x6 = rotate7(xor(x6, x10)); x7 = rotate7(xor(x7, x11));
    // Quarter rounds of the diagonals.
    x0 = add(x0, x5); x1 = add(x1, x6); x2 = add(x2, x7); x3 = add(x3, x4);
    x15 = rotate16(xor(x15, x0)); x12 = rotate16(xor(x12, x1)); x13 = rotate16(xor(x13, x2)); x14 = rotate16(xor(x14, x3));
    x10 = add(x10, x15); x11 = add(x11, x12); x8 = add(x8, x13); x9 = add(x9, x14);
    x5 = rotate12(xor(x5, x10)); x6 = rotate12(xor(x6, x11)); x7 = rotate12(xor(x7, x8)); x4 = rotate12(xor(x4, x9));
    x0 = add(x0, x5); x1 = add(x1, x6); x2 = add(x2, x7); x3 = add(x3, x4);
    x15 = rotate8(xor(x15, x0)); x12 = rotate8(xor(x12, x1)); x13 = rotate8(xor(x13, x2)); x14 = rotate8(xor(x14, x3));
    x10 = add(x10, x15); x11 = add(x11, x12); x8 = add(x8, x13); x9 = add(x9, x14);
    x5 = rotate7(xor(x5, x10)); x6 = rotate7(xor(x6, x11)); x7 = rotate7(xor(x7, x8)); x4 = rotate7(xor(x4, x9));
  }
  addColumns(
    at,
    add(x0, i32x4.splat(0x61707865)),
    add(x1, i32x4.splat(0x3320646e)),
    add(x2, i32x4.splat(0x79622d32)),
    add(x3, i32x4.splat(0x6b206574)),
  );
  addColumns(at + 16, add(x4, keyWord(0)), add(x5, keyWord(1)), add(x6, keyWord(2)), add(x7, keyWord(3)));
  addColumns(at + 32, add(x8, keyWord(4)), add(x9, keyWord(5)), add(x10, keyWord(6)), add(x11, keyWord(7)));
  addColumns(at + 48, add(x12, counters(counter)), add(x13, nonceWord(0)), add(x14, nonceWord(1)), add(x15, nonceWord(2)));
}

/**
 * Adds the keystream that begins with block `counter`, in whole groups: what follows the text in
 * its last group is garbage.
 */
export function addKeystream(at: usize, bytes: usize, counter: u32): void {
  const end = at + bytes;
  for (; at < end; at += 256) {
    addGroup(at, counter);
    counter += 4;
  }
}
