/**
 * The error of this package, beside a `RangeError` of HKDF. Its text names lengths and limits,
 * never key, nonce or content.
 */

export type CipherErrorCode =
  | "invalid_key"
  | "invalid_nonce"
  | "invalid_input"
  /** Wrong key, nonce or associated data, or a changed ciphertext: which of them cannot be told. */
  | "authentication_failed"
  /** The key has sealed as many messages as random nonces allow. */
  | "key_exhausted"
  | "key_destroyed"
  | "too_many_keys";

export class CipherError extends Error {
  override readonly name = "CipherError";
  readonly code: CipherErrorCode;

  constructor(code: CipherErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
