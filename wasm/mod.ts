/**
 * Ciphers, hashes and the verification of signatures in WebAssembly: synchronous, the same in Deno,
 * Node and browsers. Code that sees secret keys is constant-time; `verifyEd25519Batch` sees none.
 */
export {
  Aes256Gcm,
  type Aes256GcmOptions,
  keyBytes,
  maxInputBytes,
  maxPrefixBytes,
  maxSeals,
  nonceBytes,
  type OpenInput,
  type SealInput,
  tagBytes,
} from "./aes256gcm.ts";
export {
  type ChaChaInput,
  type ChaChaOpenInput,
  type ChaChaSealInput,
  openChaCha20Poly1305,
  sealChaCha20Poly1305,
} from "./chacha20poly1305.ts";
export { type SignedBytes, verifyEd25519Batch } from "./ed25519_batch.ts";
export { CipherError, type CipherErrorCode } from "./errors.ts";
export { createInstances } from "./instances.ts";
export { hkdfExpandSha256, hmacSha256, sha256 } from "./sha256.ts";
