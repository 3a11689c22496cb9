/**
 * Guarantees under every attack on the relay's edge. In the test command they are counts: everybody
 * is served, and memory stays. How long somebody waited is judged in the campaign, on a machine
 * that has nothing else to do.
 */
import { assertLess, assertLessOrEqual } from "@std/assert";
import { inCampaign } from "../campaign.ts";
import type { Siege } from "./siege.ts";

const p99Ms = 100;
/**
 * The runtime collects garbage late: under every attack its heap grows by 100 to 160 MiB at first.
 */
const grownBytes = (inCampaign ? 200 : 150) * 2 ** 20;
/** From the first half of a long attack to the second: such a heap does not go on growing. */
const settledRatio = 1.2;
const recoveredMs = 10_000;

/** How long an attack lasts. */
export const siegeMs = inCampaign ? 60_000 : 3_000;

export function assertServed({ siege }: Pick<Siege<unknown>, "siege">, failedAtMost = 0): void {
  assertLessOrEqual(siege.errors, failedAtMost, siege.reasons.join("\n"));
}

/**
 * In the campaign, where attackers have a core of their own: as quickly as in peace, three times
 * over.
 */
export function assertPrompt({ peace, siege }: Pick<Siege<unknown>, "peace" | "siege">): void {
  if (inCampaign) assertLess(siege.p99Ms, Math.max(p99Ms, 3 * peace.p99Ms));
}

/**
 * Honest agents were all served, by a process that did not grow; in the campaign also in time, and
 * as before within seconds.
 */
export function assertHeld(held: Siege<unknown>): void {
  const { peace, siege, idleBytes, halfwayBytes, peakBytes } = held;
  assertServed(held);
  assertLess(peakBytes - idleBytes, grownBytes);
  if (inCampaign) {
    assertLess(peakBytes, settledRatio * halfwayBytes, "the service's memory goes on growing");
  }
  if (inCampaign) assertLess(siege.p99Ms, Math.max(p99Ms, 4 * peace.p99Ms));
  assertRecovered(held);
}

/** Served as in peace again. */
export function assertRecovered({ recoveryMs }: Pick<Siege<unknown>, "recoveryMs">): void {
  assertLess(recoveryMs, inCampaign ? recoveredMs : Infinity);
}
