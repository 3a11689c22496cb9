/**
 * SHA-512 (FIPS 180-4 section 6.4) of what is verified. The eight variables change roles every
 * round instead of their values.
 */
import { RESULT, SCHEDULE, STATE, WINDOW } from "./layout";

/** The first 64 bits of the fractional parts of the cube roots of the first 80 primes. */
const ROUND_CONSTANTS: usize = memory.data<u64>([
  0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
  0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
  0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
  0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
  0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
  0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
  0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
  0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
  0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
  0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
  0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
  0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
  0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
  0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
  0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
  0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
]);

const BLOCK_BYTES: usize = 128;

@inline
function big0(x: u64): u64 {
  return rotr(x, 28) ^ rotr(x, 34) ^ rotr(x, 39);
}

@inline
function big1(x: u64): u64 {
  return rotr(x, 14) ^ rotr(x, 18) ^ rotr(x, 41);
}

@inline
function small0(x: u64): u64 {
  return rotr(x, 1) ^ rotr(x, 8) ^ x >> 7;
}

@inline
function small1(x: u64): u64 {
  return rotr(x, 19) ^ rotr(x, 61) ^ x >> 6;
}

@inline
function choose(x: u64, y: u64, z: u64): u64 {
  return z ^ x & (y ^ z);
}

@inline
function majority(x: u64, y: u64, z: u64): u64 {
  return x & y | z & (x | y);
}

/** The first 64 bits of the fractional parts of the square roots of the first 8 primes. */
export function beginHash(): void {
  store<u64>(STATE, 0x6a09e667f3bcc908);
  store<u64>(STATE, 0xbb67ae8584caa73b, 8);
  store<u64>(STATE, 0x3c6ef372fe94f82b, 16);
  store<u64>(STATE, 0xa54ff53a5f1d36f1, 24);
  store<u64>(STATE, 0x510e527fade682d1, 32);
  store<u64>(STATE, 0x9b05688c2b3e6c1f, 40);
  store<u64>(STATE, 0x1f83d9abfb41bd6b, 48);
  store<u64>(STATE, 0x5be0cd19137e2179, 56);
}

/** Takes in a window of whole blocks. */
export function absorbHash(bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += BLOCK_BYTES) compress(WINDOW + at);
}

/**
 * Takes in the last piece of a message of `total` bytes (before it, whole blocks only), and writes
 * the hash.
 */
export function finishHash(bytes: usize, total: u32): void {
  const end = (bytes + 17 + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
  memory.fill(WINDOW + bytes, 0, end - bytes);
  store<u8>(WINDOW + bytes, 0x80);
  store<u64>(WINDOW + end - 8, bswap<u64>(<u64>total << 3));
  absorbHash(end);
  for (let at: usize = 0; at < 64; at += 8) store<u64>(RESULT + at, bswap<u64>(load<u64>(STATE + at)));
}

function expandBlock(block: usize): void {
  for (let i: usize = 0; i < BLOCK_BYTES; i += 8) store<u64>(SCHEDULE + i, bswap<u64>(load<u64>(block + i)));
  for (let w = SCHEDULE; w < SCHEDULE + 512; w += 8) {
    store<u64>(w, small1(load<u64>(w, 112)) + load<u64>(w, 72) + small0(load<u64>(w, 8)) + load<u64>(w), 128);
  }
}

/** Takes one block of 128 bytes into the state. */
function compress(block: usize): void {
  expandBlock(block);
  let a = load<u64>(STATE), b = load<u64>(STATE, 8), c = load<u64>(STATE, 16), d = load<u64>(STATE, 24);
  let e = load<u64>(STATE, 32), f = load<u64>(STATE, 40), g = load<u64>(STATE, 48), h = load<u64>(STATE, 56);
  for (let i: usize = 0; i < 640; i += 64) {
    const k = ROUND_CONSTANTS + i, w = SCHEDULE + i;
    let t: u64;
    t = h + big1(e) + choose(e, f, g) + load<u64>(k) + load<u64>(w);
    d += t;
    h = t + big0(a) + majority(a, b, c);
    t = g + big1(d) + choose(d, e, f) + load<u64>(k, 8) + load<u64>(w, 8);
    c += t;
    g = t + big0(h) + majority(h, a, b);
    t = f + big1(c) + choose(c, d, e) + load<u64>(k, 16) + load<u64>(w, 16);
    b += t;
    f = t + big0(g) + majority(g, h, a);
    t = e + big1(b) + choose(b, c, d) + load<u64>(k, 24) + load<u64>(w, 24);
    a += t;
    e = t + big0(f) + majority(f, g, h);
    t = d + big1(a) + choose(a, b, c) + load<u64>(k, 32) + load<u64>(w, 32);
    h += t;
    d = t + big0(e) + majority(e, f, g);
    t = c + big1(h) + choose(h, a, b) + load<u64>(k, 40) + load<u64>(w, 40);
    g += t;
    c = t + big0(d) + majority(d, e, f);
    t = b + big1(g) + choose(g, h, a) + load<u64>(k, 48) + load<u64>(w, 48);
    f += t;
    b = t + big0(c) + majority(c, d, e);
    t = a + big1(f) + choose(f, g, h) + load<u64>(k, 56) + load<u64>(w, 56);
    e += t;
    a = t + big0(b) + majority(b, c, d);
  }
  store<u64>(STATE, load<u64>(STATE) + a);
  store<u64>(STATE, load<u64>(STATE, 8) + b, 8);
  store<u64>(STATE, load<u64>(STATE, 16) + c, 16);
  store<u64>(STATE, load<u64>(STATE, 24) + d, 24);
  store<u64>(STATE, load<u64>(STATE, 32) + e, 32);
  store<u64>(STATE, load<u64>(STATE, 40) + f, 40);
  store<u64>(STATE, load<u64>(STATE, 48) + g, 48);
  store<u64>(STATE, load<u64>(STATE, 56) + h, 56);
}
