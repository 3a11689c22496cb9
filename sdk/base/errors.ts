/**
 * Everything that the SDK throws. The class says what to do, `code` is from the closed list of the
 * wire contract, and the message says it in words. No program needs to read the words: what they
 * are about stands beside them.
 */
import {
  type AgentId,
  type ChannelName,
  type ErrorBody,
  type ErrorClass,
  type ErrorCode,
  errorCodes,
  isErrorCode,
  shownSentence,
} from "../../proto/mod.ts";

/** Optional fields of an error beside its code and text. */
export interface StaticErrorOptions {
  /** The error that caused this one. */
  readonly cause?: unknown;
  /** When trying again makes sense. */
  readonly retryAfterMs?: number | undefined;
  /** Whether trying again makes sense, where the code does not say. */
  readonly retryable?: boolean | undefined;
  /** With `epoch_conflict`: the channel's epoch. */
  readonly epoch?: number | undefined;
  /** The channel that it is about. */
  readonly channel?: ChannelName | undefined;
  /** The part of the service that could not be reached. */
  readonly unreachable?: Unreachable | undefined;
  /** The members that it is about. */
  readonly members?: readonly string[] | undefined;
}

/** A part of the service that could not be reached, and where it should be. */
export interface Unreachable {
  /** Which part. */
  readonly service: "api" | "relay";
  /** Its address. */
  readonly url: string;
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
 *     if (!(error instanceof StaticError)) throw error;
 *     return error.retryable ? `later: ${error.retryAfterMs ?? 1000}` : `${error.code}: ${error.message}`;
 *   }
 *   return "sent";
 * }
 * ```
 */
export class StaticError extends Error {
  /** The class, by name. */
  override readonly name: string = "StaticError";
  /** The error code. Programs should check it instead of the text. */
  readonly code: ErrorCode;
  /** Whether the same call may succeed later, with nothing changed. */
  readonly retryable: boolean;
  /** When trying again makes sense. */
  readonly retryAfterMs: number | undefined;
  /** With `epoch_conflict`: the channel's epoch. */
  readonly epoch: number | undefined;
  /** With `name_taken`: this agent is in the channel already. */
  readonly channel: ChannelName | undefined;
  /** With `connection_error`: the part of the service that could not be reached. */
  readonly unreachable: Unreachable | undefined;
  /**
   * With `members_must_update`: the members that must update. With `successor_needed`: the possible
   * successors. With `identity_present`, to the one that adds: the member that has the identity.
   * With `choice_needed`: those that `recover()` would leave out beside the sender of the commit.
   */
  readonly members: readonly string[] | undefined;

  /** Errors come from the library; a program makes only those of `RemoteError`. */
  constructor(code: ErrorCode, message: string, options: StaticErrorOptions = {}) {
    super(
      shownSentence(message),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.retryable = options.retryable ?? errorCodes[code].retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.epoch = options.epoch;
    this.channel = options.channel;
    this.unreachable = options.unreachable;
    this.members = options.members;
  }
}

/** The relay or the API could not be reached or was lost. */
export class TransportError extends StaticError {
  /** The class, by name. */
  override readonly name: string = "TransportError";
}

/** The service is busy or unavailable for a while: try again after `retryAfterMs`. */
export class UnavailableError extends TransportError {
  /** The class, by name. */
  override readonly name = "UnavailableError";
}

/** Something failed that should not have: a mistake of this library or of the service. */
export class InternalError extends TransportError {
  /** The class, by name. */
  override readonly name = "InternalError";
}

/** A key or token is missing, wrong, expired or revoked. */
export class AuthError extends StaticError {
  /** The class, by name. */
  override readonly name = "AuthError";
}

/** A channel's name, membership or limits do not allow it. */
export class ChannelError extends StaticError {
  /** The class, by name. */
  override readonly name: string = "ChannelError";
}

/** Fields of a `RemovedError`. */
export interface RemovedErrorOptions extends StaticErrorOptions {
  /** The member that removed this agent. */
  readonly by?: AgentId;
  /** When. */
  readonly atMs?: number;
}

/** This agent was removed from the channel. */
export class RemovedError extends ChannelError {
  /** The class, by name. */
  override readonly name = "RemovedError";
  /**
   * The owner that removed this agent; undefined when only the relay says so, which does not tell
   * who.
   */
  readonly by: AgentId | undefined;
  /** When, by the relay's clock; undefined when this agent was not there to see it. */
  readonly atMs: number | undefined;

  /** Comes from the library. */
  constructor(code: ErrorCode, message: string, options: RemovedErrorOptions = {}) {
    super(code, message, options);
    this.by = options.by;
    this.atMs = options.atMs;
  }
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

/** The call is wrong: change its arguments. */
export class InvalidArgumentError extends StaticError {
  /** The class, by name. */
  override readonly name = "InvalidArgumentError";
}

/** The data directory: in use by another process, damaged, or locked with another passphrase. */
export class StoreError extends StaticError {
  /** The class, by name. */
  override readonly name = "StoreError";
}

/**
 * The handler of a request failed. A handler throws it to tell the requester why; the requester
 * gets it from `request`.
 */
export class RemoteError extends StaticError {
  /** The class, by name. */
  override readonly name = "RemoteError";
  /** The handler's own error code; `handler_failed` when it gave none. */
  readonly remoteCode: string;

  /** `message` is for people on the other side. */
  constructor(message: string, { remoteCode = "failed", ...options }: RemoteErrorOptions = {}) {
    super("remote_error", message, options);
    this.remoteCode = remoteCode;
  }
}

/** Fields of a failure that a handler reports. */
export interface RemoteErrorOptions extends StaticErrorOptions {
  /** For programs: 1 to 64 visible ASCII characters; `failed` when not given. */
  readonly remoteCode?: string;
}

type Options = StaticErrorOptions & RemovedErrorOptions;
type ErrorMaker = (code: ErrorCode, message: string, options?: Options) => StaticError;

function made(
  ErrorType: new (code: ErrorCode, message: string, options?: Options) => StaticError,
): ErrorMaker {
  return (code, message, options) => new ErrorType(code, message, options);
}

const makers: Readonly<Record<ErrorClass, ErrorMaker>> = {
  TransportError: made(TransportError),
  AuthError: made(AuthError),
  ChannelError: made(ChannelError),
  QuotaExceededError: made(QuotaExceededError),
  MlsError: made(MlsError),
  InvalidArgumentError: made(InvalidArgumentError),
  StoreError: made(StoreError),
  UnavailableError: made(UnavailableError),
  RemovedError: made(RemovedError),
  RemoteError: (_, message, options) => new RemoteError(message, options),
  InternalError: made(InternalError),
};

/** The error of the class that belongs to this code. */
export function createError(code: ErrorCode, message: string, options?: Options): StaticError {
  return makers[errorCodes[code].errorClass](code, message, options);
}

/** The call is wrong. */
export function invalidArgument(message: string): StaticError {
  return createError("invalid_request", message);
}

/**
 * Converts an error reply of the relay. A code that this version does not know is treated like
 * `internal`.
 */
export function errorFromRelay({ code, message, epoch, retryAfterMs }: ErrorBody): StaticError {
  const known = isErrorCode(code) ? code : "internal";
  return createError(known, message, { epoch, retryAfterMs });
}

/**
 * The code of a refusal over HTTP: the one that it names, or busy by its status alone, which a
 * proxy may have answered.
 */
export function codeOfHttp(status: unknown, named?: string): ErrorCode | undefined {
  if (named !== undefined && isErrorCode(named)) return named;
  return status === 429 ? "rate_limited" : status === 503 ? "overloaded" : undefined;
}

export function isCode(error: StaticError, ...codes: readonly StaticError["code"][]): boolean;
export function isCode(
  error: unknown,
  ...codes: readonly StaticError["code"][]
): error is StaticError;
export function isCode(
  error: unknown,
  ...codes: readonly StaticError["code"][]
): error is StaticError {
  return error instanceof StaticError && codes.includes(error.code);
}

/** Whether the relay has surely not taken the message. */
export function isRefusal(error: StaticError): boolean {
  return isCode(
    error,
    "quota_exceeded",
    "queue_full",
    "storage_full",
    "payload_too_large",
    "invalid_request",
    "not_found",
    "not_allowed",
  );
}

/** Returns the text of anything that a program throws. */
export function messageOf(thrown: unknown): string {
  return textOf(() => thrown instanceof Error ? thrown.message : thrown);
}

/** Returns a text that is read in a value of a program, also when the value has none, or throws. */
export function textOf(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return "a value that has no text";
  }
}
