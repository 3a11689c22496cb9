/**
 * The one error of the store. Codes are those of the wire contract's list; texts name kinds, never
 * ids, keys or values.
 */

export type StoreErrorCode =
  /** Another process or tab has the store open. */
  | "store_locked"
  /**
   * Something on disk is not what was written: damaged, exchanged, cut off, or older than what was
   * acknowledged.
   */
  | "store_corrupt"
  /** The passphrase, or the key file, is not the one of this store. */
  | "passphrase_wrong"
  /** Written by a newer version of this library, or by a checkout before 0.1.0. */
  | "unsupported_version"
  | "invalid_request"
  | "payload_too_large"
  /** The store was used after it was closed, as the client's own session would say it. */
  | "transport_error"
  /** There is no room for a write. */
  | "store_full"
  /**
   * The disk refused for another reason: it is read-only, this user may not write there, it is
   * broken.
   */
  | "store_failed";

export class StoreFault extends Error {
  override readonly name = "StoreFault";
  readonly code: StoreErrorCode;
  /** The kind of the record that is damaged, when one is. */
  readonly kind: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { cause?: unknown; kind?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = options.kind;
  }
}

/** Throws whatever is none. */
export function damageOf(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  throw error;
}
