/** What happens by time while the service runs: uses of keys are written, a rotated key file is read again. */
import type { KeyRingSource } from "./data_dir.ts";
import type { LastUsed } from "./domain/last_used.ts";
import { describeError, type Logger } from "./log.ts";

/** `last_used_at` must be visible within two seconds. */
const lastUsedFlushMs = 1000;
const keyRingReloadMs = 2000;

/** Answers how to stop, which includes a last flush. Failures are logged and tried again at the next turn. */
export function startUpkeep(
  { lastUsed, keyRing, logger }: { lastUsed: LastUsed; keyRing: KeyRingSource; logger: Logger },
): () => Promise<void> {
  const flush = async (): Promise<void> => {
    try {
      await lastUsed.flush();
    } catch (error) {
      logger.log("warn", "last_used_at not written", { error: describeError(error) });
    }
  };
  const timers = [
    setInterval(flush, lastUsedFlushMs),
    setInterval(() => {
      keyRing.reload().catch((error) =>
        logger.log("error", "token keys not reloaded", { error: describeError(error) })
      );
    }, keyRingReloadMs),
  ];
  return async () => {
    timers.forEach(clearInterval);
    await flush();
  };
}
