/**
 * The answer "no": an expected outcome of a request, with a code of the shared list and words for
 * the client.
 */
import type { ErrorBody, ErrorCode } from "../../proto/mod.ts";

export interface RefusalDetail {
  /** With `epoch_conflict`: the current epoch. */
  readonly epoch?: number;
  readonly retryAfterMs?: number;
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: ErrorCode;
  readonly detail: RefusalDetail;

  constructor(code: ErrorCode, message: string, detail: RefusalDetail = {}) {
    super(message);
    this.code = code;
    this.detail = detail;
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, ...this.detail };
  }
}

/**
 * Whether a message that is refused so is sent once more. A bundle that the quota does not take
 * comes again in parts.
 */
export function comesAgain({ code }: Refusal, messages = 1): boolean {
  if (code === "quota_exceeded") return messages > 1;
  return sentAgain.has(code);
}

const sentAgain: ReadonlySet<ErrorCode> = new Set([
  "overloaded",
  "rate_limited",
  "storage_full",
  "queue_full",
  "internal",
]);

/** One text for "does not exist" and "not for you": nobody can tell the two apart. */
export function channelNotFound(): Refusal {
  return new Refusal("not_found", "No such channel, or this agent is not a member of it");
}

/**
 * Nobody knows whether it stands in the log that relays share; a client that asks again is told.
 */
export function logSilent(): Refusal {
  return new Refusal("overloaded", "The relays' log does not answer; try again", {
    retryAfterMs: 1_000,
  });
}

/** A fault of ours. */
export function relayFailed(): Refusal {
  return new Refusal("internal", "The relay failed; try again");
}

/** Something was made for another epoch than the channel's. */
export function epochConflict(epoch: number, why = "apply what was missed and try again"): Refusal {
  return new Refusal("epoch_conflict", `The channel is at epoch ${epoch}; ${why}`, { epoch });
}
