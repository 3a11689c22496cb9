/** Waiting for something to become true. */
import { interrupted } from "./failure.ts";
import type { Platform } from "./platform/platform.ts";

/** How often to look. */
const lookMs = 25;

/** Answers whether it did in time. Throws when the user interrupts. */
export function waitUntil(platform: Platform, timeoutMs: number, condition: () => boolean): Promise<boolean> {
  const deadlineMs = platform.nowMs() + timeoutMs;
  let stop = (): void => {};
  const watching = new Promise<boolean>((resolve, reject) => {
    const look = (): void => {
      try {
        if (platform.interrupted.aborted) reject(interrupted());
        else if (condition()) resolve(true);
        else if (platform.nowMs() >= deadlineMs) resolve(false);
      } catch (error) {
        reject(error);
      }
    };
    stop = platform.every(lookMs, look);
    look();
  });
  return watching.finally(() => stop());
}
