/**
 * Verification of many Ed25519 signatures at once: the exports of the module. Nothing here is
 * constant-time.
 *
 *   hash   `beginHash`, each full window: `absorbHash`; the last piece: `finishHash`
 *   sum    `beginSum`, each turn of at most `maxTerms` terms, written at `termsAt`: `addTerms`; then `sumIsZero`
 *   wipe   always
 */
import {
  DIGIT_COUNT, DIGITS, IS_KEY, MAX_TERMS, RESULT, SCALAR, SCRATCH, TABLE_BYTES, TABLES, TERM_BYTES, TERMS, WINDOW,
  WINDOW_BYTES, WINDOW_SLACK,
} from "./layout";

export { absorbHash, beginHash, finishHash } from "./sha512";
export { addTerms, beginSum, sumIsZero } from "./sum";

export const resultAt: usize = RESULT;
export const windowAt: usize = WINDOW;
export const windowBytes: usize = WINDOW_BYTES;
export const termsAt: usize = TERMS;
export const termBytes: usize = TERM_BYTES;
export const isKeyAt: usize = IS_KEY;
export const scalarAt: usize = SCALAR;
export const maxTerms: usize = MAX_TERMS;

/**
 * Forgets everything, of which at most `bytes` bytes were in the window, and `terms` terms were
 * written, at once.
 */
export function wipe(bytes: usize, terms: usize): void {
  memory.fill(SCRATCH, 0, WINDOW - SCRATCH);
  memory.fill(WINDOW, 0, bytes + WINDOW_SLACK);
  memory.fill(TERMS, 0, terms * TERM_BYTES);
  memory.fill(DIGITS, 0, terms * DIGIT_COUNT);
  memory.fill(TABLES, 0, terms * TABLE_BYTES);
}
