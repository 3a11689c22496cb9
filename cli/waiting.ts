/** Waiting: for something to become true, or for work that knows nothing of Ctrl-C. */
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

/** Throws when the user interrupts; the work then goes on unheard until the program ends. */
export function unlessInterrupted<T>({ interrupted: signal }: Platform, work: Promise<T>): Promise<T> {
  let stop = (): void => {};
  const interruption = new Promise<never>((_, reject) => {
    stop = () => reject(interrupted());
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, interruption]).finally(() => signal.removeEventListener("abort", stop));
}
