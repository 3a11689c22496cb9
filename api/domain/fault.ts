/**
 * A failure that no request caused: a part the API needs is overloaded or away. Expected outcomes
 * (a wrong password, a taken e-mail) are returned as unions instead. The message is public;
 * whatever is internal belongs in `cause`.
 */
import type { ErrorCode } from "../../proto/mod.ts";

export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  /** The fault came of the caller's own crowd, so the attempt counts. */
  readonly isCallersOwn: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number; isCallersOwn?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isCallersOwn = options.isCallersOwn ?? false;
  }
}
