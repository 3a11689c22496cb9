/**
 * Regular work while the API runs: writes uses of keys, reads a rotated key file again, deletes
 * expired rows, sends mail.
 */
import type { KeyRingSource } from "./key_ring_file.ts";
import type { ExpiryStore } from "./domain/account_store.ts";
import type { Clock } from "./domain/deps.ts";
import type { MailQueue } from "./domain/mail/mail_queue.ts";
import type { LastUsed } from "./domain/last_used.ts";
import type { UsageService } from "./domain/usage.ts";
import { describeError, type Log, type LogLevel } from "../server/mod.ts";

/** `last_used_at` must be visible within two seconds. */
const lastUsedFlushMs = 1000;
const keyRingReloadMs = 2000;
const forgetLeasesMs = 5000;
/** A code is waited for by a person. */
const mailMs = 250;
const forgetExpiredMs = 60_000;

export interface UpkeepDeps {
  readonly lastUsed: LastUsed;
  readonly keyRing: Pick<KeyRingSource, "reload">;
  readonly usage: Pick<UsageService, "forgetClosed">;
  readonly mail: Pick<MailQueue, "pump">;
  readonly store: ExpiryStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls again and again; returns how to stop. */
  readonly every: (ms: number, run: () => Promise<void>) => () => void;
}

/**
 * Returns how to stop, which includes a last flush. Failures are logged and tried again at the next
 * turn.
 */
export function startUpkeep(deps: UpkeepDeps): () => Promise<void> {
  const { lastUsed, keyRing, usage, mail, store, clock, log, every } = deps;
  const attempt = async (
    work: () => Promise<void>,
    level: LogLevel,
    failure: string,
  ): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log(level, failure, { error: describeError(error) });
    }
  };
  const flush = (): Promise<void> => attempt(lastUsed.flush, "warn", "last_used_at not written");
  const stops = [
    every(lastUsedFlushMs, flush),
    every(keyRingReloadMs, () => attempt(keyRing.reload, "error", "token keys not reloaded")),
    every(forgetLeasesMs, () => attempt(usage.forgetClosed, "warn", "old leases not deleted")),
    every(
      forgetExpiredMs,
      () => attempt(() => store.forgetExpired(clock()), "warn", "expired rows not deleted"),
    ),
    every(mailMs, () => attempt(mail.pump, "warn", "mail not looked for")),
  ];
  return async () => {
    for (const stop of stops) stop();
    await flush();
  };
}
