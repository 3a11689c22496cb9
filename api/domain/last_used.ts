/**
 * When each key was last used, written behind the requests: `note` only remembers, `flush` (called
 * every second) writes what was noted in one statement, at most once per key and minute.
 */
import type { KeyId } from "../../proto/mod.ts";
import type { Clock, KeyStore } from "./deps.ts";

const lastUsedIntervalMs = 60_000;
/**
 * Far above the keys that one process sees in a minute; beyond it a key may be written more often,
 * never lost.
 */
const maxRemembered = 100_000;

export interface LastUsed {
  note(keyId: KeyId): void;
  flush(): Promise<void>;
}

export function createLastUsed(
  { store, clock }: { store: Pick<KeyStore, "recordUse">; clock: Clock },
): LastUsed {
  const writtenAtMs = new Map<KeyId, number>();
  const pending = new Set<KeyId>();
  return {
    note: (keyId) => {
      const beforeMs = writtenAtMs.get(keyId);
      if (beforeMs === undefined || clock() - beforeMs >= lastUsedIntervalMs) pending.add(keyId);
    },
    flush: async () => {
      if (pending.size === 0) return;
      const nowMs = clock();
      const keyIds = [...pending];
      pending.clear();
      if (writtenAtMs.size + keyIds.length > maxRemembered) writtenAtMs.clear();
      for (const keyId of keyIds) writtenAtMs.set(keyId, nowMs);
      try {
        await store.recordUse(keyIds, nowMs, lastUsedIntervalMs);
      } catch (error) {
        // Not written: these keys are due again at the next flush.
        for (const keyId of keyIds) {
          writtenAtMs.delete(keyId);
          pending.add(keyId);
        }
        throw error;
      }
    },
  };
}
