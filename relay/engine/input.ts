/**
 * Checks of callers' input, made before anything is queued, so that no group is undone for one
 * caller's mistake.
 */
import { limits } from "../../proto/mod.ts";
import {
  type CursorMove,
  entryKinds,
  type NewChannel,
  type NewEntry,
  type Snapshot,
  type StorageLimits,
} from "./engine.ts";
import { EngineError } from "./errors.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

export const engineLimits = Object.freeze({
  /** Idempotency keys, keys of records, lease ids. */
  keyChars: 512,
  nonceBytes: 64,
  commitHashBytes: 64,
  bodyVersion: 0xffff,
  /** One entry: more than any envelope, because the core adds what it knows about it. */
  bodyBytes: 2 * limits.envelopeBytes,
  snapshotBytes: 16 * MiB,
  recordBytes: 1 * MiB,
  /** Agents whose lists one entry changes. */
  agentsPerEntry: limits.membersPerChannel,
  channelsPerPage: 10_000,
  /** Cursors that one call moves, so that others come between. */
  cursorsPerCall: 64,
  /** Items that one `read` answers, so that it takes a few milliseconds at most. */
  itemsPerRead: 512,
});

function refuse(what: string, why: string): never {
  throw new EngineError("invalid", `The relay's engine was given a wrong ${what}: ${why}`);
}

/** Positions, epochs, times and counts: what SQLite and JavaScript both hold exactly. */
export function checkCount(what: string, value: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    refuse(what, "it must be an integer of at least 0");
  }
  if (value > max) refuse(what, `${value} is above ${max}`);
}

export function checkText(
  what: string,
  value: string,
  maxChars: number = engineLimits.keyChars,
): void {
  if (value.length === 0) refuse(what, "it is empty");
  if (value.length > maxChars) refuse(what, `${value.length} characters are above ${maxChars}`);
}

export function checkBytes(what: string, value: Uint8Array, maxBytes: number): void {
  if (value.length > maxBytes) refuse(what, `${value.length} bytes are above ${maxBytes}`);
}

export function checkChannel({ channelId, name, nonce, timeMs }: NewChannel): void {
  checkText("channel id", channelId);
  checkText("channel name", name);
  if (nonce.length === 0) refuse("nonce", "it is empty");
  checkBytes("nonce", nonce, engineLimits.nonceBytes);
  checkCount("time", timeMs);
}

export function checkEntry(entry: NewEntry): void {
  if (!entryKinds.includes(entry.kind)) {
    refuse("entry", `its kind ${JSON.stringify(entry.kind)} is unknown`);
  }
  checkText("key", entry.key);
  checkCount("epoch", entry.epoch, Number.MAX_SAFE_INTEGER - 1);
  checkCount("time", entry.timeMs);
  checkCount("version of a body", entry.bodyVersion, engineLimits.bodyVersion);
  checkBytes("body", entry.body, engineLimits.bodyBytes);
  checkCount("number of added agents", entry.added.length, engineLimits.agentsPerEntry);
  checkCount("number of removed agents", entry.removed.length, engineLimits.agentsPerEntry);
  const isTraced = entry.kind === "commit" || entry.kind === "founding";
  if (isTraced !== (entry.commitHash !== undefined)) {
    refuse("entry", "a commit or a founding has a commit hash, and nothing else has");
  }
  if ((entry.kind === "founding") !== (entry.fromEpoch !== undefined)) {
    refuse("entry", "a founding says from which epoch on it is taken, and nothing else does");
  }
  if (entry.fromEpoch !== undefined) checkCount("first epoch", entry.fromEpoch, entry.epoch);
  if (entry.judgedAt !== undefined) checkCount("position", entry.judgedAt);
  if (
    entry.isRoutine && (entry.kind !== "commit" || entry.added.length + entry.removed.length > 0)
  ) {
    refuse("entry", "only a commit that adds and removes nobody is routine");
  }
  if (entry.commitHash !== undefined) {
    checkBytes("commit hash", entry.commitHash, engineLimits.commitHashBytes);
  }
  for (const edit of entry.records ?? []) {
    checkText("record key", edit.key);
    if (edit.kind === "replace") checkBytes("record", edit.value, engineLimits.recordBytes);
  }
  if (entry.room !== undefined) checkRoom(entry.room);
  if (entry.charge !== undefined) {
    checkCount("charge", entry.charge.payloadBytes);
    checkCount("charge", entry.charge.messages);
  }
}

export function checkCursors(moves: readonly CursorMove[]): void {
  checkCount("number of cursors", moves.length, engineLimits.cursorsPerCall);
  for (const [, { consumed, acknowledged }] of moves) {
    checkCount("position", consumed);
    checkCount("position", acknowledged);
  }
}

function checkRoom({ channelBytes, accountBytes }: StorageLimits): void {
  checkCount("room in the channel", channelBytes);
  checkCount("room of the account", accountBytes);
}

export function checkSnapshot({ sequence, state }: Snapshot): void {
  checkCount("snapshot sequence", sequence);
  checkBytes("snapshot", state, engineLimits.snapshotBytes);
}
