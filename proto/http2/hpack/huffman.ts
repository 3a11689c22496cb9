/**
 * The Huffman code of RFC 7541 Appendix B. The code is canonical (codes of one length are
 * consecutive, in symbol order), so the lengths alone define it; codes and the decoder's table are
 * computed from them once.
 */

const eos = 256;

/** Bits of the code of each byte value, then of EOS. */
// deno-fmt-ignore
const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];

const invalid = 0xffffffff;
const emits = 0x100;
const codes = canonicalCodes(codeLengths);
const automaton = createAutomaton();

/**
 * Encoded size in bytes, to decide whether Huffman is worth it. Characters above 0xff are the
 * caller's mistake.
 */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += codeLengths[text.charCodeAt(i)] ?? 0;
  return (bits + 7) >> 3;
}

/**
 * Writes the code of `text` at `at` and returns where it ends; the caller made room with
 * `huffmanLength`.
 */
export function huffmanEncode(text: string, out: Uint8Array, at: number): number {
  let [pending, bits, end] = [0, 0, at];
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i);
    let left = codeLengths[symbol] ?? 0;
    const code = codes[symbol] ?? 0;
    while (left > 0) {
      const taken = Math.min(left, 8 - bits);
      left -= taken;
      pending = pending << taken | (code >>> left) & ((1 << taken) - 1);
      bits += taken;
      if (bits === 8) {
        out[end++] = pending;
        pending = 0;
        bits = 0;
      }
    }
  }
  // Padding is the most significant bits of EOS: ones (§5.2).
  if (bits > 0) out[end++] = pending << (8 - bits) | (0xff >> bits);
  return end;
}

/**
 * Decodes `bytes[start, end)` into `out` and returns the number of bytes, or undefined when the
 * code is invalid (EOS inside, padding longer than 7 bits or not of ones) or when `out` is too
 * small.
 */
export function huffmanDecode(
  bytes: Uint8Array,
  range: { start: number; end: number },
  out: Uint8Array,
): number | undefined {
  let [state, length] = [0, 0];
  for (let i = range.start; i < range.end; i++) {
    const byte = bytes[i] ?? 0;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = automaton.steps[state << 4 | byte >> shift & 15] ?? invalid;
      if (step === invalid) return undefined;
      if ((step & emits) !== 0) {
        if (length === out.length) return undefined;
        out[length++] = step & 0xff;
      }
      state = step >> 9;
    }
  }
  return automaton.accepting[state] === 1 ? length : undefined;
}

/** For each length in turn, consecutive codes in symbol order. */
function canonicalCodes(lengths: readonly number[]): Uint32Array {
  const result = new Uint32Array(lengths.length);
  let code = 0;
  for (let length = 1; length <= 30; length++) {
    lengths.forEach((other, symbol) => {
      if (other === length) result[symbol] = code++;
    });
    code = code * 2;
  }
  return result;
}

/**
 * The decoder walks four bits at a time. A state is an inner node of the code's tree, numbered; a
 * step is `next state << 9 | emits << 8 | symbol`. No code is shorter than five bits, so a step
 * emits at most one byte.
 */
function createAutomaton(): { steps: Uint32Array; accepting: Uint8Array } {
  const children: (number | undefined)[][] = [[]];
  codeLengths.forEach((length, symbol) => {
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit--) {
      const branch = ((codes[symbol] ?? 0) >>> bit) & 1;
      const row = children[node] ?? [];
      // Leaves are stored as negative numbers: -1 - symbol.
      if (bit === 0) row[branch] = -1 - symbol;
      else node = row[branch] ??= children.push([]) - 1;
    }
  });
  const steps = new Uint32Array(children.length * 16);
  for (let state = 0; state < children.length; state++) {
    for (let nibble = 0; nibble < 16; nibble++) {
      steps[state << 4 | nibble] = walk(children, state, nibble);
    }
  }
  const accepting = new Uint8Array(children.length);
  // The end may come at the root or after up to seven bits of padding, all ones.
  let node: number | undefined = 0;
  for (let depth = 0; depth < 8 && node !== undefined; depth++) {
    accepting[node] = 1;
    node = children[node]?.[1];
  }
  return { steps, accepting };
}

function walk(
  children: readonly (readonly (number | undefined)[])[],
  state: number,
  nibble: number,
): number {
  let [node, emitted] = [state, 0];
  for (let bit = 3; bit >= 0; bit--) {
    const next = children[node]?.[nibble >> bit & 1];
    if (next === undefined || next === -1 - eos) return invalid;
    if (next < 0) emitted = emits | (-1 - next);
    node = Math.max(next, 0);
  }
  return (node << 9 | emitted) >>> 0;
}
