/**
 * When each key was last used, written behind the requests: `note` only remembers, `flush` (called every second) writes what
 * was noted in one statement, at most once per key and minute.
 */
import type { KeyId } from "../../proto/mod.ts";
import type { Clock, KeyStore } from "./deps.ts";

const lastUsedIntervalMs = 60_000;
/** Far above the keys that one process sees in a minute; beyond it a key may be written more often, never lost. */
const maxRemembered = 100_000;

export interface LastUsed {
  note(keyId: KeyId): void;
  flush(): Promise<void>;
}

export function createLastUsed({ store, clock }: { store: Pick<KeyStore, "recordUse">; clock: Clock }): LastUsed {
  const writtenAt = new Map<KeyId, number>();
  const pending = new Set<KeyId>();
  return {
    note: (keyId) => {
      const before = writtenAt.get(keyId);
      if (before === undefined || clock() - before >= lastUsedIntervalMs) pending.add(keyId);
    },
    flush: async () => {
      if (pending.size === 0) return;
      const now = clock();
      const keyIds = [...pending];
      pending.clear();
      if (writtenAt.size + keyIds.length > maxRemembered) writtenAt.clear();
      for (const keyId of keyIds) writtenAt.set(keyId, now);
      try {
        await store.recordUse(keyIds, now, lastUsedIntervalMs);
      } catch (error) {
        // Not written: these keys are due again at the next flush.
        for (const keyId of keyIds) {
          writtenAt.delete(keyId);
          pending.add(keyId);
        }
        throw error;
      }
    },
  };
}
