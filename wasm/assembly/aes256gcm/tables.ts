/**
 * Derives the S-box tables from the definition of the field, once, when the module is instantiated.
 * Nothing here is secret.
 *
 * Inversion in GF(256) after Mike Hamburg, "Accelerating AES with Vector Permute Instructions"
 * (CHES 2009). Take t with t + t^16 = 1 and write x = i·t + j·t^16 with i, j in the subfield
 * GF(16), k = i + j, n = t^17, a = 1/n. With
 *
 *   io = 1/(1/i + a/k) + j        jo = 1/(1/j + a/k) + i
 *
 * one finds 1/io = ((n+1)·i + n·j)/N and 1/jo = (n·i + (n+1)·j)/N where N = x^17, and since 1/x =
 * (j·t + i·t^16)/N,
 *
 *   1/x = (1/io)·(n·t + (n+1)·t^16) + (1/jo)·((n+1)·t + n·t^16):
 *
 * a function of io plus a function of jo. So an S-box is a handful of lookups in tables of 16
 * entries. Division by zero gives infinity, stored as 0x80: `swizzle` answers 0 for any index above
 * 15, which is exactly 1/infinity.
 */
import {
  A_OVER, IN_HIGH, IN_LOW, INVERSE, NIBBLE, ONCE_IO, ONCE_JO, OUT_IO, OUT_JO, ROTATE, TWICE_IO, TWICE_JO,
} from "./layout";

const INFINITY: u8 = 0x80;

function multiply(a: u32, b: u32): u32 {
  let product: u32 = 0;
  for (let bit = 0; bit < 8; bit++) {
    if (b & (1 << bit)) product ^= a;
    a <<= 1;
    if (a & 0x100) a ^= 0x11b;
  }
  return product;
}

/** x^16: the conjugate over GF(16). */
function conjugate(x: u32): u32 {
  for (let i = 0; i < 4; i++) x = multiply(x, x);
  return x;
}

/** x^254. */
function invert(x: u32): u32 {
  let result: u32 = 1;
  for (let i = 0; i < 254; i++) result = multiply(result, x);
  return result;
}

/** The smallest t with t + t^16 = 1. */
function findT(): u32 {
  let t: u32 = 2;
  while ((t ^ conjugate(t)) != 1) t++;
  return t;
}

/** The smallest w in GF(16) but not in GF(4): 1, w, w², w³ are a basis of GF(16) over bits. */
function findW(): u32 {
  let w: u32 = 2;
  while (conjugate(w) != w || multiply(multiply(w, w), multiply(w, w)) == w) w++;
  return w;
}

/** The element of GF(16) that a nibble stands for. */
function element(nibble: u32): u32 {
  const w = findW();
  let sum: u32 = 0;
  let power: u32 = 1;
  for (let bit = 0; bit < 4; bit++) {
    if (nibble & (1 << bit)) sum ^= power;
    power = multiply(power, w);
  }
  return sum;
}

function nibbleOf(x: u32): u32 {
  let nibble: u32 = 0;
  while (element(nibble) != x) nibble++;
  return nibble;
}

/**
 * Tower representation of an AES byte: i in the high nibble, k = i + j in the low one. From x = i +
 * k·t^16.
 */
function toTower(x: u32): u32 {
  const k = x ^ conjugate(x);
  const i = x ^ multiply(k, conjugate(findT()));
  return (nibbleOf(i) << 4) | nibbleOf(k);
}

/** The linear part of the S-box's affine map; its constant 0x63 is folded into the round keys. */
function affine(x: u32): u32 {
  return (x ^ (x << 1) ^ (x << 2) ^ (x << 3) ^ (x << 4) ^ (x >> 7) ^ (x >> 6) ^ (x >> 5) ^ (x >> 4)) & 0xff;
}

function storeOutputs(nibble: u32, inverse: u32, once: usize, twice: usize, out: usize): void {
  const s = affine(inverse);
  store<u8>(once + nibble, <u8>toTower(s));
  store<u8>(twice + nibble, <u8>toTower(multiply(s, 2)));
  store<u8>(out + nibble, <u8>s);
}

/**
 * A row of four blocks of four columns each: column c of row r comes from column c + r of the same
 * block.
 */
function storeRotations(): void {
  for (let at = 0; at < 16; at++) {
    for (let row = 1; row < 4; row++) {
      store<u8>(ROTATE + ((row - 1) << 4) + at, <u8>((at & 12) | ((at + row) & 3)));
    }
  }
}

export function deriveTables(): void {
  v128.store(NIBBLE, i8x16.splat(15));
  storeRotations();
  const t = findT();
  const u = conjugate(t);
  const n = multiply(t, u);
  const io = multiply(n, t) ^ multiply(n ^ 1, u);
  const jo = multiply(n ^ 1, t) ^ multiply(n, u);
  for (let nibble: u32 = 0; nibble < 16; nibble++) {
    store<u8>(IN_LOW + nibble, <u8>toTower(nibble));
    store<u8>(IN_HIGH + nibble, <u8>toTower(nibble << 4));
    const inverse = invert(element(nibble));
    store<u8>(INVERSE + nibble, nibble == 0 ? INFINITY : <u8>nibbleOf(inverse));
    store<u8>(A_OVER + nibble, nibble == 0 ? INFINITY : <u8>nibbleOf(multiply(invert(n), inverse)));
    storeOutputs(nibble, multiply(inverse, io), ONCE_IO, TWICE_IO, OUT_IO);
    storeOutputs(nibble, multiply(inverse, jo), ONCE_JO, TWICE_JO, OUT_JO);
  }
}
