/**
 * The compression function of SHA-256 (FIPS 180-4 section 6.2.2). Only additions, logic and
 * rotations by constants touch the message, at addresses that do not depend on it. The eight
 * variables change roles every round instead of their values.
 */
import { SCHEDULE, STATE } from "./layout";

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUND_CONSTANTS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

@inline
function big0(x: u32): u32 {
  return rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22);
}

@inline
function big1(x: u32): u32 {
  return rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25);
}

@inline
function small0(x: u32): u32 {
  return rotr(x, 7) ^ rotr(x, 18) ^ x >> 3;
}

@inline
function small1(x: u32): u32 {
  return rotr(x, 17) ^ rotr(x, 19) ^ x >> 10;
}

@inline
function choose(x: u32, y: u32, z: u32): u32 {
  return z ^ x & (y ^ z);
}

@inline
function majority(x: u32, y: u32, z: u32): u32 {
  return x & y | z & (x | y);
}

/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
export function beginState(): void {
  store<u32>(STATE, 0x6a09e667);
  store<u32>(STATE, 0xbb67ae85, 4);
  store<u32>(STATE, 0x3c6ef372, 8);
  store<u32>(STATE, 0xa54ff53a, 12);
  store<u32>(STATE, 0x510e527f, 16);
  store<u32>(STATE, 0x9b05688c, 20);
  store<u32>(STATE, 0x1f83d9ab, 24);
  store<u32>(STATE, 0x5be0cd19, 28);
}

function expandBlock(block: usize): void {
  for (let i: usize = 0; i < 64; i += 4) store<u32>(SCHEDULE + i, bswap<u32>(load<u32>(block + i)));
  for (let w = SCHEDULE; w < SCHEDULE + 192; w += 4) {
    store<u32>(w, small1(load<u32>(w, 56)) + load<u32>(w, 36) + small0(load<u32>(w, 4)) + load<u32>(w), 64);
  }
}

/** Takes one block of 64 bytes into the state. */
export function compress(block: usize): void {
  expandBlock(block);
  let a = load<u32>(STATE), b = load<u32>(STATE, 4), c = load<u32>(STATE, 8), d = load<u32>(STATE, 12);
  let e = load<u32>(STATE, 16), f = load<u32>(STATE, 20), g = load<u32>(STATE, 24), h = load<u32>(STATE, 28);
  for (let i: usize = 0; i < 256; i += 32) {
    const k = ROUND_CONSTANTS + i, w = SCHEDULE + i;
    let t: u32;
    t = h + big1(e) + choose(e, f, g) + load<u32>(k) + load<u32>(w);
    d += t;
    h = t + big0(a) + majority(a, b, c);
    t = g + big1(d) + choose(d, e, f) + load<u32>(k, 4) + load<u32>(w, 4);
    c += t;
    g = t + big0(h) + majority(h, a, b);
    t = f + big1(c) + choose(c, d, e) + load<u32>(k, 8) + load<u32>(w, 8);
    b += t;
    f = t + big0(g) + majority(g, h, a);
    t = e + big1(b) + choose(b, c, d) + load<u32>(k, 12) + load<u32>(w, 12);
    a += t;
    e = t + big0(f) + majority(f, g, h);
    t = d + big1(a) + choose(a, b, c) + load<u32>(k, 16) + load<u32>(w, 16);
    h += t;
    d = t + big0(e) + majority(e, f, g);
    t = c + big1(h) + choose(h, a, b) + load<u32>(k, 20) + load<u32>(w, 20);
    g += t;
    c = t + big0(d) + majority(d, e, f);
    t = b + big1(g) + choose(g, h, a) + load<u32>(k, 24) + load<u32>(w, 24);
    f += t;
    b = t + big0(c) + majority(c, d, e);
    t = a + big1(f) + choose(f, g, h) + load<u32>(k, 28) + load<u32>(w, 28);
    e += t;
    a = t + big0(b) + majority(b, c, d);
  }
  store<u32>(STATE, load<u32>(STATE) + a);
  store<u32>(STATE, load<u32>(STATE, 4) + b, 4);
  store<u32>(STATE, load<u32>(STATE, 8) + c, 8);
  store<u32>(STATE, load<u32>(STATE, 12) + d, 12);
  store<u32>(STATE, load<u32>(STATE, 16) + e, 16);
  store<u32>(STATE, load<u32>(STATE, 20) + f, 20);
  store<u32>(STATE, load<u32>(STATE, 24) + g, 24);
  store<u32>(STATE, load<u32>(STATE, 28) + h, 28);
}
