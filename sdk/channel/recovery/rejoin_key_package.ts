/** Whether a KeyPackage is still good with which this agent has asked to come back. */
import type { RecoveryFacts, RejoinKeyPackage } from "./recovery_state.ts";

/** One that nobody has used is made anew this long before it expires. */
const renewMs = 7 * 24 * 60 * 60 * 1000;

/**
 * False also before its time: then a clock was ahead when it was made. And when this agent has got
 * other badges: those that it shows may be why nobody lets it in.
 */
export function isUsable(
  { badges, notBeforeMs, notAfterMs }: RejoinKeyPackage,
  facts: Pick<RecoveryFacts, "badges" | "relayNowMs">,
): boolean {
  const nowMs = facts.relayNowMs;
  return badges === facts.badges() && notBeforeMs <= nowMs && nowMs + renewMs <= notAfterMs;
}
