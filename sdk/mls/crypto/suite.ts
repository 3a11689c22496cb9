/**
 * The two MLS cipher suites that Static speaks, on noble alone: the same code in every runtime. Everything here is
 * synchronous; what needs randomness gets it from outside.
 */
import { gcm } from "@noble/ciphers/aes.js";
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { type CiphersuiteName, ciphersuites } from "ts-mls/crypto/ciphersuite.js";

/** RFC 9420 section 17.1; both with X25519, SHA-256 and Ed25519. */
export type SuiteId = 1 | 3;

/** ChaCha20-Poly1305 is two to three times faster than AES in JavaScript, and constant-time. */
export const defaultSuiteId: SuiteId = 3;

/** As ts-mls calls them. */
export const suiteNames: Readonly<Record<SuiteId, CiphersuiteName>> = {
  1: "MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519",
  3: "MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519",
};

/** The suite of that name, if it is one of ours. */
export function suiteIdOf(name: CiphersuiteName): SuiteId | undefined {
  const id = ciphersuites[name];
  return id === 1 || id === 3 ? id : undefined;
}

export interface Aead {
  /** RFC 9180 section 7.3. */
  readonly hpkeId: number;
  readonly keyBytes: number;
  readonly nonceBytes: number;
  seal(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Uint8Array;
  /** Throws when the tag is wrong. */
  open(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, ciphertext: Uint8Array): Uint8Array;
}

const chacha: Aead = {
  hpkeId: 3,
  keyBytes: 32,
  nonceBytes: 12,
  seal: (key, nonce, aad, plaintext) => chacha20poly1305(key, nonce, aad).encrypt(plaintext),
  open: (key, nonce, aad, ciphertext) => chacha20poly1305(key, nonce, aad).decrypt(ciphertext),
};

const aes128: Aead = {
  hpkeId: 1,
  keyBytes: 16,
  nonceBytes: 12,
  seal: (key, nonce, aad, plaintext) => gcm(key, nonce, aad).encrypt(plaintext),
  open: (key, nonce, aad, ciphertext) => gcm(key, nonce, aad).decrypt(ciphertext),
};

export const aeadOf: Readonly<Record<SuiteId, Aead>> = { 1: aes128, 3: chacha };

/** Length of hashes, secrets and MACs in both suites. */
export const hashBytes = 32;

/** HKDF-Extract (RFC 5869) with SHA-256. */
export function extract(salt: Uint8Array, keyMaterial: Uint8Array): Uint8Array {
  return hmac(sha256, salt, keyMaterial);
}

/** HKDF-Expand with SHA-256. Almost always one block, which is one HMAC. */
export function expand(pseudorandomKey: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  if (length > 255 * hashBytes) throw new RangeError(`HKDF cannot expand to ${length} bytes`);
  const input = new Uint8Array(info.length + 1);
  input.set(info);
  input[info.length] = 1;
  const first = hmac(sha256, pseudorandomKey, input);
  if (length <= hashBytes) return length === hashBytes ? first : first.slice(0, length);
  const blocks = [first];
  while (blocks.length * hashBytes < length) {
    const previous = blocks.at(-1) ?? first;
    blocks.push(hmac(sha256, pseudorandomKey, concatBytes(previous, info, Uint8Array.of(blocks.length + 1))));
  }
  return concatBytes(...blocks).slice(0, length);
}
