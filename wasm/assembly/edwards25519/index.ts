/**
 * What verifying many Ed25519 signatures at once takes, of public data only: the exports of the module.
 *
 *   hash   `beginHash`, each full window: `absorbHash`; the last piece: `finishHash`
 *   sum    `beginSum`, each turn of at most `maxTerms` terms, written at `termsAt`: `addTerms`; then `sumIsZero`
 */
import { IS_KEY, MAX_TERMS, RESULT, SCALAR, TERM_BYTES, TERMS, WINDOW, WINDOW_BYTES } from "./layout";

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
