/** Refusals of a message, in words. */
import { createError, StaticError } from "../../base/errors.ts";
import type { Rejection } from "../messages/outbox_state.ts";

/** The moment of a rejection. */
export interface SendingScene {
  readonly isReachable: boolean;
  readonly suspension: StaticError | undefined;
  readonly timeoutMs: number;
  /** Why the channel is over, if it is. */
  readonly over: StaticError | undefined;
  readonly notArrived: (epoch: number) => StaticError;
}

export function rejectionOf(
  why: Rejection,
  { isReachable, suspension, timeoutMs, over, notArrived }: SendingScene,
): StaticError {
  switch (why.by) {
    case "refused":
      return why.why instanceof StaticError
        ? why.why
        : createError("internal", "Cannot send: the relay refused it");
    case "expired":
      if (suspension !== undefined) return suspendedError(suspension, why.isTried);
      return expired(why.isTried, isReachable, timeoutMs);
    case "silenced":
      return silenced(why.mayStand);
    case "not_arrived":
      return notArrived(why.epoch);
    case "over":
      return over ??
        createError("transport_error", "Cannot send: the client was closed; connect again");
  }
}

/**
 * Nothing is sent while the account is suspended. `isTried`: the relay was given the message
 * before.
 */
export function suspendedError({ message }: StaticError, isTried: boolean): StaticError {
  const fate = isTried ? "; this message may have been delivered or not" : "";
  return createError("account_suspended", `Cannot send: ${message}${fate}`);
}

/** The error for a message whose time is over. */
function expired(isTried: boolean, isReachable: boolean, timeoutMs: number): StaticError {
  const why = isTried
    ? "the relay did not answer, so it may have been delivered or not"
    : isReachable
    ? "the channel could not send yet, so it was not sent; see health()"
    : "the relay could not be reached, so it was not sent; use { queue: true } to send it later";
  const code = isTried || isReachable ? "transport_error" : "connection_error";
  return createError(code, `Cannot send within ${timeoutMs} ms: ${why}`);
}

/** For a message that nobody would show, in this epoch. */
function silenced(mayStand: boolean): StaticError {
  const fate = mayStand ? "; the relay may have taken it before that was so" : "";
  return createError(
    "not_allowed",
    `Cannot send: only owners speak in this channel${fate}; ask an owner to promote this agent`,
  );
}
