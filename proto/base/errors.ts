/**
 * The one closed list of error codes. Codes are stable: new ones may be added, none renamed or
 * removed. The public text of an error says what failed and what to do; nothing internal and no
 * secret is ever part of it.
 */
import { shownSentence } from "./shown_text.ts";

/**
 * Classes of the client library's errors: those of the interface, and those that tell what else to
 * do.
 */
export type ErrorClass =
  | "TransportError"
  | "AuthError"
  | "ChannelError"
  | "QuotaExceededError"
  | "MlsError"
  | "InvalidArgumentError"
  | "StoreError"
  | "UnavailableError"
  | "RemovedError"
  | "RemoteError"
  | "InternalError";

/** The reason of a failure, for programs. A code is never renamed; new ones may be added. */
export type ErrorCode =
  // The client library's table in the interface.
  | "join_timeout"
  | "auth_failed"
  | "auth_key_invalid"
  | "transport_error"
  | "connection_error"
  | "listener_died"
  | "channel_error"
  | "quota_exceeded"
  | "mls_error"
  // Requests in general, over HTTP and to the relay.
  | "invalid_request"
  | "not_found"
  | "method_not_allowed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "internal"
  | "overloaded"
  // Accounts and keys.
  | "email_taken"
  | "key_limit_reached"
  | "account_suspended"
  | "conflict"
  | "code_invalid"
  | "csrf_failed"
  // Sessions with the relay.
  | "protocol_error"
  | "unsupported_version"
  | "unknown_operation"
  | "session_expired"
  | "session_replaced"
  | "slow_reader"
  | "relay_draining"
  | "certificate_changed"
  // Channels.
  | "name_taken"
  | "epoch_conflict"
  | "state_conflict"
  | "not_allowed"
  | "member_limit_reached"
  | "already_member"
  | "identity_present"
  | "queue_full"
  | "storage_full"
  | "cursor_invalid"
  | "key_package_invalid"
  | "key_package_missing"
  | "join_rejected"
  | "membership_lapsed"
  | "link_invalid"
  | "removed"
  | "members_must_update"
  | "successor_needed"
  | "choice_needed"
  | "not_attested"
  | "members_not_attested"
  // Content of messages.
  | "content_invalid"
  | "request_timeout"
  | "remote_error"
  // The client's own disk.
  | "store_locked"
  | "store_corrupt"
  | "store_full"
  | "store_failed"
  | "passphrase_wrong";

export interface ErrorMapping {
  readonly http: number;
  /** Status code of gRPC, as its number on the wire. */
  readonly grpc: number;
  /**
   * Application error code with which a QUIC connection or WebTransport session closes for this
   * reason.
   */
  readonly close: number;
  readonly errorClass: ErrorClass;
  /** Whether the same call may succeed later, with nothing changed. */
  readonly retryable: boolean;
}

const grpc = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const map = (http: number, grpc: number, close: number, errorClass: ErrorClass): ErrorMapping => ({
  http,
  grpc,
  close,
  errorClass,
  retryable: false,
});

/** Like `map`, for what passes. */
const passing = (...mapping: Parameters<typeof map>): ErrorMapping => ({
  ...map(...mapping),
  retryable: true,
});

/** Where each code leads, on every way out. */
export const errorCodes: Readonly<Record<ErrorCode, ErrorMapping>> = {
  // The client library's table in the interface.
  join_timeout: passing(504, grpc.deadlineExceeded, 0x101, "TransportError"),
  auth_failed: map(401, grpc.unauthenticated, 0x102, "AuthError"),
  auth_key_invalid: map(401, grpc.unauthenticated, 0x103, "AuthError"),
  transport_error: passing(502, grpc.unavailable, 0x104, "TransportError"),
  connection_error: passing(502, grpc.unavailable, 0x105, "TransportError"),
  listener_died: map(500, grpc.internal, 0x106, "TransportError"),
  channel_error: map(400, grpc.invalidArgument, 0x107, "ChannelError"),
  quota_exceeded: map(429, grpc.resourceExhausted, 0x108, "QuotaExceededError"),
  mls_error: map(409, grpc.failedPrecondition, 0x109, "MlsError"),

  // Requests in general, over HTTP and to the relay.
  invalid_request: map(400, grpc.invalidArgument, 0x110, "InvalidArgumentError"),
  not_found: map(404, grpc.notFound, 0x111, "ChannelError"),
  method_not_allowed: map(405, grpc.unimplemented, 0x112, "InvalidArgumentError"),
  payload_too_large: map(413, grpc.outOfRange, 0x113, "InvalidArgumentError"),
  unsupported_media_type: map(415, grpc.invalidArgument, 0x114, "InvalidArgumentError"),
  rate_limited: passing(429, grpc.resourceExhausted, 0x115, "UnavailableError"),
  internal: map(500, grpc.internal, 0x116, "InternalError"),
  overloaded: passing(503, grpc.unavailable, 0x117, "UnavailableError"),

  // Accounts and keys.
  email_taken: map(409, grpc.alreadyExists, 0x120, "AuthError"),
  key_limit_reached: map(409, grpc.resourceExhausted, 0x121, "AuthError"),
  account_suspended: map(403, grpc.permissionDenied, 0x122, "AuthError"),
  conflict: map(409, grpc.aborted, 0x123, "AuthError"),
  code_invalid: map(400, grpc.invalidArgument, 0x124, "AuthError"),
  csrf_failed: map(403, grpc.permissionDenied, 0x125, "AuthError"),

  // Sessions with the relay.
  protocol_error: map(400, grpc.invalidArgument, 0x130, "TransportError"),
  unsupported_version: map(400, grpc.failedPrecondition, 0x131, "TransportError"),
  unknown_operation: map(404, grpc.unimplemented, 0x132, "TransportError"),
  session_expired: map(401, grpc.unauthenticated, 0x133, "AuthError"),
  session_replaced: map(409, grpc.aborted, 0x134, "TransportError"),
  slow_reader: passing(429, grpc.resourceExhausted, 0x135, "UnavailableError"),
  relay_draining: passing(503, grpc.unavailable, 0x136, "UnavailableError"),
  certificate_changed: map(502, grpc.failedPrecondition, 0x137, "TransportError"),

  // Channels.
  name_taken: map(409, grpc.alreadyExists, 0x140, "ChannelError"),
  epoch_conflict: passing(409, grpc.aborted, 0x141, "MlsError"),
  not_allowed: map(403, grpc.permissionDenied, 0x142, "ChannelError"),
  member_limit_reached: map(409, grpc.resourceExhausted, 0x143, "ChannelError"),
  already_member: map(409, grpc.alreadyExists, 0x144, "ChannelError"),
  identity_present: map(409, grpc.alreadyExists, 0x164, "ChannelError"),
  queue_full: passing(429, grpc.resourceExhausted, 0x145, "ChannelError"),
  cursor_invalid: map(416, grpc.outOfRange, 0x146, "ChannelError"),
  key_package_invalid: map(400, grpc.invalidArgument, 0x147, "MlsError"),
  key_package_missing: passing(404, grpc.failedPrecondition, 0x148, "MlsError"),
  join_rejected: map(403, grpc.permissionDenied, 0x149, "ChannelError"),
  membership_lapsed: map(410, grpc.failedPrecondition, 0x14a, "ChannelError"),
  state_conflict: map(409, grpc.failedPrecondition, 0x14b, "MlsError"),
  storage_full: passing(507, grpc.resourceExhausted, 0x14c, "ChannelError"),
  link_invalid: map(400, grpc.invalidArgument, 0x14d, "InvalidArgumentError"),
  removed: map(410, grpc.failedPrecondition, 0x163, "RemovedError"),
  members_must_update: map(409, grpc.failedPrecondition, 0x14e, "ChannelError"),
  successor_needed: map(409, grpc.failedPrecondition, 0x14f, "ChannelError"),
  choice_needed: map(409, grpc.failedPrecondition, 0x165, "ChannelError"),
  not_attested: map(403, grpc.permissionDenied, 0x166, "ChannelError"),
  members_not_attested: map(409, grpc.failedPrecondition, 0x167, "ChannelError"),

  // Content of messages: between members, never from the relay.
  content_invalid: map(400, grpc.invalidArgument, 0x160, "ChannelError"),
  request_timeout: passing(504, grpc.deadlineExceeded, 0x161, "TransportError"),
  remote_error: map(502, grpc.aborted, 0x162, "RemoteError"),

  // The client's own disk.
  store_locked: passing(409, grpc.failedPrecondition, 0x150, "StoreError"),
  store_corrupt: map(500, grpc.internal, 0x151, "StoreError"),
  store_full: map(507, grpc.resourceExhausted, 0x154, "StoreError"),
  store_failed: map(500, grpc.internal, 0x153, "StoreError"),
  passphrase_wrong: map(401, grpc.unauthenticated, 0x152, "StoreError"),
};

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCodes, text);
}

/** The code with which a peer closed, or undefined for one this version does not know. */
export function errorCodeOfClose(close: number): ErrorCode | undefined {
  return closeCodes.get(close);
}

const closeCodes: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(errorCodes).flatMap(([code, { close }]) =>
    isErrorCode(code) ? [[close, code]] : []
  ),
);

/**
 * Bytes or values from outside that break the contract. The only exception that decoders and
 * parsers of this package throw. `requestId` is set when the envelope was readable enough to answer
 * the request instead of ending the session.
 */
export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: ErrorCode;
  readonly requestId: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; requestId?: number } = {},
  ) {
    super(
      shownSentence(message),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.requestId = options.requestId;
  }
}
