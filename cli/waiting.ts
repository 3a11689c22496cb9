/** Waiting for something to become true. */
import { interrupted } from "./failure.ts";
import type { Platform } from "./platform/platform.ts";

/** How often to look. */
const lookMs = 25;

/** Answers whether it did in time. Throws when the user interrupts. */
export function waitUntil(platform: Platform, timeoutMs: number, condition: () => boolean): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const deadlineMs = platform.nowMs() + timeoutMs;
  const look = (): void => {
    try {
      if (platform.interrupted.aborted) reject(interrupted());
      else if (condition()) resolve(true);
      else if (platform.nowMs() >= deadlineMs) resolve(false);
    } catch (error) {
      reject(error);
    }
  };
  look();
  const stop = platform.every(lookMs, look);
  return promise.finally(stop);
}
