/**
 * The two MLS cipher suites that Static speaks: the same code in every runtime. Suite 3, which
 * channels use, runs in the WebAssembly of `wasm/`; AES-128-GCM of suite 1 is noble's. Everything
 * here is synchronous; what needs randomness gets it from outside.
 */
import { gcm } from "@noble/ciphers/aes.js";
import { concatBytes } from "@noble/hashes/utils.js";
import {
  CipherError,
  hkdfExpandSha256,
  hmacSha256,
  openChaCha20Poly1305,
  sealChaCha20Poly1305,
} from "../../../wasm/mod.ts";
import { isMachineFault } from "../codec.ts";
import type { CiphersuiteName } from "../ts_mls.ts";

/** RFC 9420 section 17.1; both with X25519, SHA-256 and Ed25519. */
export type SuiteId = 1 | 3;

/** ChaCha20-Poly1305 is faster than AES without instructions for it, and constant-time. */
export const defaultSuiteId: SuiteId = 3;

/** The names of the suites in ts-mls. */
export const suiteNames: Readonly<Record<SuiteId, CiphersuiteName>> = {
  1: "MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519",
  3: "MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519",
};

/** The suite of that name, if it is one of ours. */
export function suiteIdOf(name: CiphersuiteName): SuiteId | undefined {
  return name === suiteNames[1] ? 1 : name === suiteNames[3] ? 3 : undefined;
}

export interface Aead {
  /** RFC 9180 section 7.3. */
  readonly hpkeId: number;
  readonly keyBytes: number;
  readonly nonceBytes: number;
  readonly tagBytes: number;
  seal(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Uint8Array;
  /** The same for a message: put together where it is sealed, and copied once. */
  sealParts(input: PartsToSeal): Uint8Array;
  /** Throws `authentication_failed` when the tag is wrong. */
  open(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, ciphertext: Uint8Array): Uint8Array;
}

export interface PartsToSeal {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly aad: Uint8Array;
  readonly parts: readonly Uint8Array[];
  /** Zeros behind the parts, sealed with them. */
  readonly paddingBytes: number;
  /** Zeros before the result, for a header. */
  readonly roomBytes: number;
}

const chacha: Aead = {
  hpkeId: 3,
  keyBytes: 32,
  nonceBytes: 12,
  tagBytes: 16,
  seal: (key, nonce, aad, plaintext) =>
    sealChaCha20Poly1305({ key, nonce, aad, parts: [plaintext] }),
  sealParts: sealChaCha20Poly1305,
  open: (key, nonce, aad, ciphertext) => openChaCha20Poly1305({ key, nonce, aad, ciphertext }),
};

const aesTagBytes = 16;
const aes128: Aead = {
  hpkeId: 1,
  keyBytes: 16,
  nonceBytes: 12,
  tagBytes: aesTagBytes,
  seal: (key, nonce, aad, plaintext) => gcm(key, nonce, aad).encrypt(plaintext),
  sealParts: ({ key, nonce, aad, parts, paddingBytes, roomBytes }) => {
    const sealed = gcm(key, nonce, aad).encrypt(
      concatBytes(...parts, new Uint8Array(paddingBytes)),
    );
    return concatBytes(new Uint8Array(roomBytes), sealed);
  },
  open: (key, nonce, aad, ciphertext) => {
    try {
      return gcm(key, nonce, aad).decrypt(ciphertext);
    } catch (cause) {
      if (ciphertext.length >= aesTagBytes && isMachineFault(cause)) throw cause;
      throw new CipherError("authentication_failed", "Cannot open: the tag is missing or wrong");
    }
  },
};

export const aeadOf: Readonly<Record<SuiteId, Aead>> = { 1: aes128, 3: chacha };

/** Length of hashes, secrets and MACs in both suites. */
export const hashBytes = 32;

/** HKDF-Extract (RFC 5869) with SHA-256, of key material in parts. */
export function extract(salt: Uint8Array, ...keyMaterial: readonly Uint8Array[]): Uint8Array {
  return hmacSha256(salt, ...keyMaterial);
}

/** HKDF-Expand with SHA-256. */
export function expand(pseudorandomKey: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  return hkdfExpandSha256(pseudorandomKey, info, length);
}
