/** Small durable records with revisions that never come back. */
import type { Database } from "./database.ts";
import type { Records } from "./engine.ts";
import { type GroupCommit, nextTurn } from "./group_commit.ts";
import { checkBytes, checkCount, checkText, engineLimits } from "./input.ts";

interface Row {
  value: Uint8Array;
  revision: number;
  expires_at_ms: number;
}

/** Deleted at once, so that nobody waits long. */
const sliceRows = 100;

export function createRecords(database: Database, commits: GroupCommit): Records {
  const select = database.prepare<Row>("SELECT value, revision, expires_at_ms FROM record WHERE key = ?");
  const selectRevision = database.prepare<{ revision: number }>("SELECT revision FROM record WHERE key = ?");
  const insert = database.prepare("INSERT INTO record (key, value, expires_at_ms) VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM record WHERE key = ?");
  const removeExpired = database.prepare(`
    DELETE FROM record WHERE revision IN (SELECT revision FROM record WHERE expires_at_ms <= ? LIMIT ${sliceRows})`);

  return {
    get: (key) =>
      commits.read(() => {
        const row = select.get(key);
        return row && { value: row.value, revision: row.revision, expiresAtMs: row.expires_at_ms };
      }),
    put: async (key, { value, expiresAtMs }, revision) => {
      checkText("record key", key);
      checkBytes("record", value, engineLimits.recordBytes);
      checkCount("expiry", expiresAtMs);
      checkCount("revision", revision);
      return await commits.write(() => {
        if ((selectRevision.get(key)?.revision ?? 0) !== revision) return { kind: "conflict" };
        // Not an update: a new row gets a new revision.
        if (revision !== 0) remove.run(key);
        insert.run(key, value, expiresAtMs);
        return { kind: "stored", revision: selectRevision.get(key)?.revision ?? 0 };
      }, { bytes: value.length });
    },
    delete: (key) =>
      commits.write(() => {
        remove.run(key);
      }),
    expire: async (nowMs) => {
      checkCount("time", nowMs);
      while (await commits.write(() => removeExpired.run(nowMs)) === sliceRows) await nextTurn();
    },
  };
}
