/**
 * Everything that the SDK throws. The class says what kind of thing went wrong, `code` is from the closed list of the wire
 * contract, and the message says what to do next.
 */
import { type ErrorBody, type ErrorClass, type ErrorCode, errorCodes, isErrorCode } from "../../proto/mod.ts";

/** What an error may carry beside its code and text. */
export interface StaticErrorOptions {
  /** What it comes from. */
  readonly cause?: unknown;
  /** When trying again makes sense. */
  readonly retryAfterMs?: number;
  /** With `epoch_conflict`: the channel's epoch. */
  readonly epoch?: number;
}

/**
 * Everything that this library throws.
 *
 * @example What a program does with an error
 * ```ts
 * import { type Channel, StaticError } from "static-sdk";
 *
 * async function trySend(channel: Channel): Promise<string> {
 *   try {
 *     await channel.send("");
 *   } catch (error) {
 *     if (error instanceof StaticError) return `${error.code}: ${error.message}`;
 *     throw error;
 *   }
 *   return "sent";
 * }
 * ```
 */
export class StaticError extends Error {
  /** The class, by name. */
  override readonly name: string = "StaticError";
  /** What went wrong, for programs. */
  readonly code: ErrorCode;
  /** When trying again makes sense. */
  readonly retryAfterMs: number | undefined;
  /** With `epoch_conflict`: the channel's epoch. */
  readonly epoch: number | undefined;

  /** @internal Errors come from the library. */
  constructor(code: ErrorCode, message: string, options: StaticErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.epoch = options.epoch;
  }
}

/** The relay or the API could not be reached, was lost, or is too busy. */
export class TransportError extends StaticError {
  /** The class, by name. */
  override readonly name = "TransportError";
}

/** A key, token or passphrase is missing, wrong, expired or revoked. */
export class AuthError extends StaticError {
  /** The class, by name. */
  override readonly name = "AuthError";
}

/** A channel's name, membership or limits do not allow it. */
export class ChannelError extends StaticError {
  /** The class, by name. */
  override readonly name = "ChannelError";
}

/** The plan's message limit is reached. */
export class QuotaExceededError extends StaticError {
  /** The class, by name. */
  override readonly name = "QuotaExceededError";
}

/** MLS state is corrupt or out of step. */
export class MlsError extends StaticError {
  /** The class, by name. */
  override readonly name = "MlsError";
}

const classes: Readonly<
  Record<ErrorClass, new (code: ErrorCode, message: string, options?: StaticErrorOptions) => StaticError>
> = { TransportError, AuthError, ChannelError, QuotaExceededError, MlsError };

/** The error of the class that belongs to this code. */
export function createError(code: ErrorCode, message: string, options?: StaticErrorOptions): StaticError {
  return new classes[errorCodes[code].errorClass](code, message, options);
}

/** What the relay answered. A code that this version does not know is treated like `internal`. */
export function errorFromRelay({ code, message, epoch, retryAfterMs }: ErrorBody): StaticError {
  const known = isErrorCode(code) ? code : "internal";
  return createError(known, message, {
    ...(epoch !== undefined && { epoch }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

export function isCode(error: StaticError, ...codes: readonly StaticError["code"][]): boolean;
export function isCode(error: unknown, ...codes: readonly StaticError["code"][]): error is StaticError;
export function isCode(error: unknown, ...codes: readonly StaticError["code"][]): error is StaticError {
  return error instanceof StaticError && codes.includes(error.code);
}
