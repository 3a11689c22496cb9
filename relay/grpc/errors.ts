/**
 * Errors of the wire contract as gRPC and Connect carry them: status code, public text, and an
 * ErrorDetail.
 */
import { type Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema, errorToDetail } from "../../proto/wire/grpc.ts";
import { type ErrorBody, errorCodes, isErrorCode, WireError } from "../../proto/mod.ts";
import type { EndReason } from "../core/client_link.ts";
import type { Stranger } from "../strangers.ts";

export function toConnectError(body: ErrorBody): ConnectError {
  const code: Code = errorCodes[isErrorCode(body.code) ? body.code : "internal"].grpc;
  return new ConnectError(body.message, code, undefined, [{
    desc: ErrorDetailSchema,
    value: errorToDetail(body),
  }]);
}

/** Told to clients of a fault of ours; the log has the rest. */
export const ownFault = {
  code: "internal",
  message: "The relay failed to answer: try again later",
} as const;

/** The reason why a session ended, for a caller that still uses it. */
export function endedError(reason: EndReason | undefined): ConnectError {
  return toConnectError(
    reason ?? { code: "auth_failed", message: "The session has ended: authenticate again" },
  );
}

/** Why a call was refused; undefined when the relay did not say it. */
export function reasonOf(error: unknown): EndReason | undefined {
  const [detail] = error instanceof ConnectError ? error.findDetails(ErrorDetailSchema) : [];
  return detail !== undefined && isErrorCode(detail.code)
    ? { code: detail.code, message: detail.message }
    : undefined;
}

/** The stranger that has a place. Throws a ConnectError when it has none. */
export function admitted(stranger: Stranger | { readonly refused: EndReason }): Stranger {
  if ("refused" in stranger) throw toConnectError(stranger.refused);
  return stranger;
}

/**
 * A breach of the contract is the caller's mistake and is reported; everything else stays inside.
 */
export function toPublicError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof WireError) {
    return toConnectError({ code: error.code, message: error.message });
  }
  return toConnectError(ownFault);
}
