/**
 * Points of edwards25519, -x² + y² = 1 + d·x²·y², after the reference code of Ed25519. A point is
 * four field elements behind each other: X, Y, Z, T with x = X/Z, y = Y/Z, T = XY/Z. A sum first
 * exists as ((X : Z), (Y : T)), from which `extend` makes a point; what is added lies in memory as
 * (Y + X, Y - X, Z, 2d·T). For public data only: not constant-time.
 */
import { add, copy, FIELD_BYTES, fromBytes, multiply, setNumber, square, squareTimes, subtract, toBytes } from "./field";
import { SCRATCH } from "./layout";

const D: usize = memory.data<i32>([
  -10913610, 13857413, -15372611, 6949391, 114729, -8787816, -6275908, -3247719, -18696448, -12055116,
]);
const TWO_D: usize = memory.data<i32>([
  -21827239, -5839606, -30745221, 13898782, 229458, 15978800, -12551817, -6495438, 29715968, 9444199,
]);
/** A square root of -1. */
const ROOT_OF_MINUS_1: usize = memory.data<i32>([
  -32595792, -7943725, 9377950, 3500415, 12389472, -272473, -25146209, -2005654, 326686, 11406482,
]);

const T0: usize = SCRATCH, T1: usize = SCRATCH + 0x30, T2: usize = SCRATCH + 0x60;
const U: usize = SCRATCH + 0x90, V: usize = SCRATCH + 0xc0, V3: usize = SCRATCH + 0xf0, VXX: usize = SCRATCH + 0x120;
const CHECK: usize = SCRATCH + 0x150;
const BYTES: usize = SCRATCH + 0x180; // 32 bytes
/** The sum before `extend`. */
const SUM: usize = SCRATCH + 0x200;

@inline
function x(point: usize): usize {
  return point;
}

@inline
function y(point: usize): usize {
  return point + FIELD_BYTES;
}

@inline
function z(point: usize): usize {
  return point + 2 * FIELD_BYTES;
}

@inline
function t(point: usize): usize {
  return point + 3 * FIELD_BYTES;
}

function isZero(f: usize): bool {
  toBytes(BYTES, f);
  return !v128.any_true(v128.or(v128.load(BYTES), v128.load(BYTES, 16)));
}

/** Whether the y of an encoding is below p, its only form. */
function isCanonical(encoded: usize): bool {
  if (load<u64>(encoded) < 0xffffffffffffffed) return true;
  if ((load<u64>(encoded, 8) & load<u64>(encoded, 16)) != 0xffffffffffffffff) return true;
  return (load<u64>(encoded, 24) & 0x7fffffffffffffff) != 0x7fffffffffffffff;
}

/** h = f^(2^252 - 3): f^((p - 5)/8). */
function power(h: usize, f: usize): void {
  squareTimes(T0, f, 1); // 2
  squareTimes(T1, T0, 2); // 8
  multiply(T1, f, T1); // 9
  multiply(T0, T0, T1); // 11
  square(T0, T0); // 22
  multiply(T0, T1, T0); // 2^5 - 1
  squareTimes(T1, T0, 5);
  multiply(T0, T1, T0); // 2^10 - 1
  squareTimes(T1, T0, 10);
  multiply(T1, T1, T0); // 2^20 - 1
  squareTimes(T2, T1, 20);
  multiply(T1, T2, T1); // 2^40 - 1
  squareTimes(T1, T1, 10);
  multiply(T0, T1, T0); // 2^50 - 1
  squareTimes(T1, T0, 50);
  multiply(T1, T1, T0); // 2^100 - 1
  squareTimes(T2, T1, 100);
  multiply(T1, T2, T1); // 2^200 - 1
  squareTimes(T1, T1, 50);
  multiply(T0, T1, T0); // 2^250 - 1
  squareTimes(T0, T0, 2);
  multiply(h, T0, f); // 2^252 - 3
}

/**
 * Decodes as RFC 8032 section 5.1.3 says. False for what is no point, or not its canonical form.
 */
export function decode(point: usize, encoded: usize): bool {
  if (!isCanonical(encoded)) return false;
  fromBytes(y(point), encoded);
  setNumber(z(point), 1);
  square(U, y(point));
  multiply(V, U, D);
  subtract(U, U, z(point)); // u = y² - 1
  add(V, V, z(point)); // v = d·y² + 1
  square(V3, V);
  multiply(V3, V3, V);
  square(x(point), V3);
  multiply(x(point), x(point), V);
  multiply(x(point), x(point), U); // u·v^7
  power(x(point), x(point));
  multiply(x(point), x(point), V3);
  multiply(x(point), x(point), U); // x = u·v³·(u·v^7)^((p - 5)/8)
  square(VXX, x(point));
  multiply(VXX, VXX, V);
  subtract(CHECK, VXX, U);
  if (!isZero(CHECK)) {
    add(CHECK, VXX, U);
    if (!isZero(CHECK)) return false; // no square root
    multiply(x(point), x(point), ROOT_OF_MINUS_1);
  }
  const wanted = load<u8>(encoded, 31) >> 7;
  toBytes(BYTES, x(point));
  if ((load<u8>(BYTES) & 1) != wanted) {
    if (isZero(x(point))) return false; // x = 0 has no sign
    setNumber(T0, 0);
    subtract(x(point), T0, x(point));
  }
  multiply(t(point), x(point), y(point));
  return true;
}

export function setIdentity(point: usize): void {
  setNumber(x(point), 0);
  setNumber(y(point), 1);
  setNumber(z(point), 1);
  setNumber(t(point), 0);
}

export function isIdentity(point: usize): bool {
  subtract(CHECK, y(point), z(point));
  return isZero(x(point)) && isZero(CHECK);
}

/** Makes the sum a point. */
function extend(point: usize): void {
  multiply(x(point), x(SUM), t(SUM));
  multiply(y(point), y(SUM), z(SUM));
  multiply(z(point), z(SUM), t(SUM));
  multiply(t(point), x(SUM), y(SUM));
}

/** The form in which a point is added. */
export function toAddend(addend: usize, point: usize): void {
  add(x(addend), y(point), x(point));
  subtract(y(addend), y(point), x(point));
  copy(z(addend), z(point));
  multiply(t(addend), t(point), TWO_D);
}

/** point = 2·from. */
export function double(point: usize, from: usize): void {
  square(x(SUM), x(from));
  square(z(SUM), y(from));
  square(t(SUM), z(from));
  add(t(SUM), t(SUM), t(SUM));
  add(y(SUM), x(from), y(from));
  square(T0, y(SUM));
  add(y(SUM), z(SUM), x(SUM));
  subtract(z(SUM), z(SUM), x(SUM));
  subtract(x(SUM), T0, y(SUM));
  subtract(t(SUM), t(SUM), z(SUM));
  extend(point);
}

/** point = from + addend, or from - addend. */
export function addSigned(point: usize, from: usize, addend: usize, negative: bool): void {
  add(x(SUM), y(from), x(from));
  subtract(y(SUM), y(from), x(from));
  multiply(z(SUM), x(SUM), negative ? y(addend) : x(addend));
  multiply(y(SUM), y(SUM), negative ? x(addend) : y(addend));
  multiply(t(SUM), t(addend), t(from));
  multiply(x(SUM), z(from), z(addend));
  add(T0, x(SUM), x(SUM));
  subtract(x(SUM), z(SUM), y(SUM));
  add(y(SUM), z(SUM), y(SUM));
  if (negative) {
    subtract(z(SUM), T0, t(SUM));
    add(t(SUM), T0, t(SUM));
  } else {
    add(z(SUM), T0, t(SUM));
    subtract(t(SUM), T0, t(SUM));
  }
  extend(point);
}
