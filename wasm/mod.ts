/** AES-256-GCM in WebAssembly: constant-time, synchronous, the same in Deno, Node and browsers. */
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
export { AesGcmError, type AesGcmErrorCode } from "./errors.ts";
