/** The refusal for an account that cannot pay for a message. */
import type { Reservation } from "../deps.ts";
import { Refusal } from "../refusal.ts";

export function quotaRefusal(reservation: Exclude<Reservation, { kind: "reserved" }>, nowMs: number): Refusal {
  if (reservation.kind === "exhausted") {
    const { untilMs } = reservation;
    const retryAfterMs = untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
    const message = "The plan's message limit is reached; the account's usage says when it resets";
    return new Refusal("quota_exceeded", message, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  return new Refusal("overloaded", "The relay cannot reach the API to count this message; try again", {
    retryAfterMs: 1_000,
  });
}
