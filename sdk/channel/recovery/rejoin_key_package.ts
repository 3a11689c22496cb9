/** How long a KeyPackage is good with which this agent asks to come back. */
import type { RejoinKeyPackage } from "./recovery_state.ts";

/** One that nobody has used is made anew this long before it expires. */
const renewMs = 7 * 24 * 60 * 60 * 1000;

/** False also before its time: then a clock was ahead when it was made. */
export function isUsable({ notBeforeMs, notAfterMs }: RejoinKeyPackage, nowMs: number): boolean {
  return notBeforeMs <= nowMs && nowMs + renewMs <= notAfterMs;
}
