/**
 * Sums of multiples of points, after Straus: all terms share the doublings, and each brings a table
 * of eight odd multiples and a scalar in signed digits, of which one in six is not zero. For public
 * data only: not constant-time.
 */
import {
  DIGIT_COUNT, DIGITS, IS_KEY, POINT_BYTES, SCALAR, SCRATCH, TABLE_BYTES, TABLE_POINTS, TABLES, TERM_BYTES, TERMS,
} from "./layout";
import { addSigned, decode, double, isIdentity, setIdentity, toAddend } from "./point";

const TOTAL: usize = SCRATCH + 0x300;
const TURN: usize = SCRATCH + 0x400;
const MULTIPLE: usize = SCRATCH + 0x500;
const TWICE: usize = SCRATCH + 0x600;

/** Bits of a scalar that one digit takes in; digits are odd, from -15 to 15. */
const DIGIT_BITS: i32 = 5;

export function beginSum(): void {
  setIdentity(TOTAL);
}

/** Adds the first `count` terms. False when one of them is no point, or a key of small order. */
export function addTerms(count: usize): bool {
  for (let i: usize = 0; i < count; i++) {
    if (!prepareTerm(TERMS + i * TERM_BYTES, DIGITS + i * DIGIT_COUNT, TABLES + i * TABLE_BYTES)) return false;
  }
  setIdentity(TURN);
  let started = false;
  for (let position: isize = DIGIT_COUNT - 1; position >= 0; position--) {
    if (started) double(TURN, TURN);
    for (let i: usize = 0; i < count; i++) {
      const digit = <i32>load<i8>(DIGITS + i * DIGIT_COUNT + position);
      if (digit == 0) continue;
      started = true;
      addSigned(TURN, TURN, TABLES + i * TABLE_BYTES + <usize>(abs(digit) >> 1) * POINT_BYTES, digit < 0);
    }
  }
  toAddend(MULTIPLE, TURN);
  addSigned(TOTAL, TOTAL, MULTIPLE, false);
  return true;
}

/** Whether the sum, times the cofactor, is zero. */
export function sumIsZero(): bool {
  return hasSmallOrder(TOTAL);
}

/** Whether eight times the point is zero. */
function hasSmallOrder(point: usize): bool {
  double(MULTIPLE, point);
  double(MULTIPLE, MULTIPLE);
  double(MULTIPLE, MULTIPLE);
  return isIdentity(MULTIPLE);
}

function prepareTerm(term: usize, digits: usize, table: usize): bool {
  if (!decode(TURN, term)) return false;
  if (load<u32>(term + IS_KEY) != 0 && hasSmallOrder(TURN)) return false;
  writeDigits(digits, term + SCALAR);
  toAddend(table, TURN);
  double(TWICE, TURN);
  for (let i: usize = 1; i < TABLE_POINTS; i++) {
    addSigned(MULTIPLE, TWICE, table + (i - 1) * POINT_BYTES, false);
    toAddend(table + i * POINT_BYTES, MULTIPLE);
  }
  return true;
}

/** A scalar below 2^253 as the sum of digit·2^position. */
function writeDigits(digits: usize, scalar: usize): void {
  memory.fill(digits, 0, DIGIT_COUNT);
  let position: i32 = 0;
  let carry: i32 = 0;
  while (position < <i32>DIGIT_COUNT) {
    const bits = <i32>(load<u64>(scalar + (position >> 3)) >> (position & 7)) & (1 << DIGIT_BITS) - 1;
    const window = bits + carry;
    if ((window & 1) == 0) {
      position++;
      continue;
    }
    carry = i32(window >= 1 << DIGIT_BITS - 1);
    store<i8>(digits + position, <i8>(window - (carry << DIGIT_BITS)));
    position += DIGIT_BITS;
  }
}
