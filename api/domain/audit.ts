/**
 * The chain of the audit, checked outside the database that made it: each hash covers the one
 * before and the row's own text.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { equalBytes } from "../../proto/mod.ts";
import type { AuditRow, AuditStore } from "./admin_store.ts";

const pageRows = 1000;

export type AuditVerdict =
  | { readonly outcome: "whole"; readonly rows: number; readonly hash: string }
  | { readonly outcome: "broken"; readonly seq: number; readonly problem: string };

/**
 * With an anchor: that row must have that hash, so that an end which was cut off and made anew
 * shows.
 */
export async function verifyAudit(
  store: AuditStore,
  anchor?: { readonly seq: number; readonly hash: string },
): Promise<AuditVerdict> {
  // First: rows that are added meanwhile belong to the chain but not to this head.
  const head = await store.readAuditHead();
  let [seq, hash] = [0, new Uint8Array(32)];
  if (anchor !== undefined && anchor.seq > head.seq) {
    return { outcome: "broken", seq: anchor.seq, problem: "it is missing: the end was cut off" };
  }
  while (seq < head.seq) {
    const rows = await store.readAudit(seq, pageRows);
    if (rows.length === 0) return { outcome: "broken", seq: seq + 1, problem: "it is missing" };
    for (const row of rows.filter((each) => each.seq <= head.seq)) {
      const problem = judge(row, { seq, hash });
      if (problem !== undefined) return { outcome: "broken", seq: seq + 1, problem };
      [seq, hash] = [row.seq, new Uint8Array(row.hash)];
      if (anchor?.seq === seq && anchor.hash !== hash.toHex()) {
        return {
          outcome: "broken",
          seq,
          problem: "its hash is another one than was exported before",
        };
      }
    }
  }
  if (!equalBytes(hash, head.hash)) {
    return { outcome: "broken", seq, problem: "the head has another hash" };
  }
  return { outcome: "whole", rows: seq, hash: hash.toHex() };
}

/** Returns what is wrong with a row after the one before it. */
export function judge(
  row: AuditRow,
  before: { readonly seq: number; readonly hash: Uint8Array },
): string | undefined {
  if (row.seq !== before.seq + 1) return "it is missing";
  const digest = sha256.create().update(before.hash).update(new TextEncoder().encode(row.body))
    .digest();
  if (!equalBytes(digest, row.hash)) return "its text or the hash before it was changed";
  const [seq, , event, , account]: unknown[] = parseBody(row.body);
  if (seq !== row.seq || event !== row.event || account !== row.accountId) {
    return "its columns do not say what its text says";
  }
  return undefined;
}

function parseBody(body: string): unknown[] {
  try {
    const json: unknown = JSON.parse(body);
    return Array.isArray(json) ? json : [];
  } catch {
    return [];
  }
}

/** One line for each row: what was hashed, and the hash. */
export function exportLine({ body, hash }: AuditRow): string {
  return JSON.stringify({ body, hash: new Uint8Array(hash).toHex() });
}
