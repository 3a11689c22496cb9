/** Reasons that hold up a message which the relay has not taken: a commit that is not here yet, or time. */
import { createError, isCode, type StaticError } from "../base/errors.ts";

/** Why nothing is sent for the moment. */
export type Obstacle =
  | { readonly kind: "epoch"; readonly epoch: number }
  | { readonly kind: "wait"; readonly ms: number }
  /** Nothing: what comes next begins a new run. */
  | { readonly kind: "run" };

const busyPauseMs = 500;

/** Returns the condition for sending the same message again; undefined for an error that is final. */
export function obstacleOf(error: StaticError, sealedIn: number): Obstacle | undefined {
  if (isCode(error, "epoch_conflict") && (error.epoch === undefined || error.epoch > sealedIn)) {
    return { kind: "epoch", epoch: error.epoch ?? sealedIn + 1 };
  }
  const passing = ["epoch_conflict", "rate_limited", "overloaded", "internal", "membership_lapsed"] as const;
  if (isCode(error, ...passing) || isNoRoom(error)) {
    return { kind: "wait", ms: error.retryAfterMs ?? busyPauseMs };
  }
  if (isCode(error, "transport_error", "connection_error", "relay_draining", "slow_reader")) {
    return { kind: "wait", ms: error.retryAfterMs ?? 0 };
  }
  return undefined;
}

/** The relay has no room for it now, and surely has not taken it. */
export function isNoRoom(error: StaticError): boolean {
  return isCode(error, "storage_full", "queue_full");
}

/** For a message whose time is over. `tried`: the relay was given it. */
export function expiredError(
  { tried, isReachable, timeoutMs }: {
    readonly tried: boolean;
    readonly isReachable: boolean;
    readonly timeoutMs: number;
  },
): StaticError {
  const why = tried
    ? "the relay did not answer, so it may have been delivered or not"
    : isReachable
    ? "the channel could not send yet, so it was not sent; see health()"
    : "the relay could not be reached, so it was not sent; use { queue: true } to send it later";
  const code = tried || isReachable ? "transport_error" : "connection_error";
  return createError(code, `Cannot send within ${timeoutMs} ms: ${why}`);
}

/** For a message that nobody would show, in this epoch. `mayStand`: the relay may have taken it in an earlier one. */
export function silencedError(mayStand: boolean): StaticError {
  const fate = mayStand ? "; the relay may have taken it before that was so" : "";
  return createError(
    "not_allowed",
    `Cannot send: only owners speak in this channel${fate}; ask an owner to promote this agent`,
  );
}
