/**
 * Reasons that hold up a message which the relay has not taken: a commit that is not here yet, or
 * time.
 */

/** A refusal of the relay, or a lost answer. */
export interface SendRefusal {
  readonly code: string;
  /** For an `epoch_conflict`: where the log is. */
  readonly epoch?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Why nothing is sent for the moment. */
export type Obstacle =
  | { readonly kind: "epoch"; readonly epoch: number }
  | { readonly kind: "wait"; readonly ms: number }
  /** Nothing: what comes next begins a new run. */
  | { readonly kind: "run" };

const busyPauseMs = 500;
const passing: ReadonlySet<string> = new Set([
  "epoch_conflict",
  "rate_limited",
  "overloaded",
  "internal",
  "membership_lapsed",
]);
const lost: ReadonlySet<string> = new Set([
  "transport_error",
  "connection_error",
  "relay_draining",
  "slow_reader",
]);

/**
 * Returns the condition for sending the same message again; undefined for an error that is final.
 */
export function obstacleOf(why: SendRefusal, sealedIn: number): Obstacle | undefined {
  const { code, epoch, retryAfterMs } = why;
  if (code === "epoch_conflict" && (epoch === undefined || epoch > sealedIn)) {
    return { kind: "epoch", epoch: epoch ?? sealedIn + 1 };
  }
  if (passing.has(code) || isNoRoom(why)) return { kind: "wait", ms: retryAfterMs ?? busyPauseMs };
  return lost.has(code) ? { kind: "wait", ms: retryAfterMs ?? 0 } : undefined;
}

/** The relay has no room for it now, and surely has not taken it. */
export function isNoRoom({ code }: SendRefusal): boolean {
  return code === "storage_full" || code === "queue_full";
}
