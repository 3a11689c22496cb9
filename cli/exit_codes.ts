/**
 * The CLI's exit codes with their meanings. Scripts rely on them: new ones may be added, none
 * changed.
 */
import { errorCodes, isErrorCode } from "../proto/mod.ts";

export const exitCodes = {
  done: { code: 0, meaning: "done" },
  unexpected: { code: 1, meaning: "something unexpected went wrong" },
  usage: { code: 2, meaning: "bad input: wrong command line or refused value" },
  credential: { code: 3, meaning: "credential missing or not accepted" },
  refused: { code: 4, meaning: "the service refused: not found, not allowed, already taken" },
  unavailable: {
    code: 5,
    meaning: "the service cannot be reached or is busy, or no answer came in time",
  },
  limit: { code: 6, meaning: "a limit is reached: the plan's quota, or too many requests" },
  unhealthy: { code: 7, meaning: "doctor found something that does not work" },
  interrupted: { code: 130, meaning: "interrupted with Ctrl-C (listen ends with 0)" },
} as const;

export type Exit = keyof typeof exitCodes;

/** How the CLI ends for an error of API, relay or SDK. */
export function exitOf(code: string): Exit {
  switch (code) {
    case "invalid_request":
    case "channel_error":
    case "payload_too_large":
    case "unsupported_media_type":
      return "usage";
    case "email_taken":
    case "key_limit_reached":
    case "conflict":
    case "code_invalid":
      return "refused";
    case "rate_limited":
      return "limit";
    case "passphrase_wrong":
      return "credential";
    case "internal":
      return "unexpected";
  }
  switch (isErrorCode(code) ? errorCodes[code].errorClass : undefined) {
    case "AuthError":
      return "credential";
    case "QuotaExceededError":
      return "limit";
    case "TransportError":
      return "unavailable";
    case "ChannelError":
    case "RemovedError":
    case "RemoteError":
    case "MlsError":
    case "StoreError":
      return "refused";
    case "UnavailableError":
      return "unavailable";
    case "InvalidArgumentError":
      return "usage";
    case "InternalError":
    case undefined:
      return "unexpected";
  }
}
