/** Small made-up channels, agents and entries for tests of engines. */
import {
  type AccountId,
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  parseAccountId,
  parseChannelName,
} from "../../../proto/mod.ts";
import { assertEquals } from "@std/assert";
import type {
  AppendOutcome,
  Engine,
  HeldLease,
  LogItem,
  NewChannel,
  NewEntry,
  PooledKeyPackage,
} from "../engine.ts";

/** The number's bytes, big-endian, so that ids ascend with their numbers. */
export function bytesOf(number: number, length = 16): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(length - 4, number);
  return bytes;
}

export function sampleAgent(number: number): AgentId {
  return agentIdOf(bytesOf(number, 32), bytesOf(number));
}

export function sampleAccount(number: number): AccountId {
  return parseAccountId(`00000000-0000-4000-8000-${String(number).padStart(12, "0")}`);
}

export function sampleChannelId(number: number): ChannelId {
  return binaryIdFromBytes<ChannelId>(bytesOf(number));
}

export function sampleChannel(number: number, changes: Partial<NewChannel> = {}): NewChannel {
  return {
    channelId: sampleChannelId(number),
    name: parseChannelName(`org/tests/channel-${number}`),
    account: sampleAccount(1),
    creator: sampleAgent(1),
    nonce: bytesOf(number),
    timeMs: 1000,
    ...changes,
  };
}

/** A channel that was made a moment ago. */
export async function createChannel(
  engine: Engine,
  number: number,
  changes?: Partial<NewChannel>,
): Promise<ChannelId> {
  const channel = sampleChannel(number, changes);
  assertEquals(await engine.createChannel(channel), { kind: "created" });
  return channel.channelId;
}

export function message(key: string, changes: Partial<NewEntry> = {}): NewEntry {
  return {
    kind: "message",
    epoch: 0,
    sender: sampleAgent(1),
    timeMs: 2000,
    bodyVersion: 1,
    body: new TextEncoder().encode(key),
    key,
    added: [],
    removed: [],
    ...changes,
  };
}

export function commit(key: string, epoch: number, changes: Partial<NewEntry> = {}): NewEntry {
  return message(key, {
    kind: "commit",
    epoch,
    commitHash: new TextEncoder().encode(key),
    ...changes,
  });
}

export function founding(
  key: string,
  range: Required<Pick<NewEntry, "epoch" | "fromEpoch">>,
  changes: Partial<NewEntry> = {},
): NewEntry {
  return commit(key, range.epoch, { kind: "founding", ...range, ...changes });
}

/** Appends one after the other and returns the last sequence. */
export async function appendAll(
  engine: Engine,
  channelId: ChannelId,
  entries: readonly NewEntry[],
): Promise<number> {
  let sequence = 0;
  for (const entry of entries) sequence = appended(await engine.append(channelId, entry)).sequence;
  return sequence;
}

/** The outcome, which must be `appended`. */
export function appended(outcome: AppendOutcome): Extract<AppendOutcome, { kind: "appended" }> {
  if (outcome.kind !== "appended") {
    throw new Error(`The entry was not appended: ${JSON.stringify(outcome)}`);
  }
  return outcome;
}

/** All that is in a log, read page by page. */
export async function readAll(
  engine: Engine,
  channelId: ChannelId,
  maxBytes = 100_000,
): Promise<LogItem[]> {
  const items: LogItem[] = [];
  for (let after = 0;;) {
    const page = await engine.read(channelId, { after, maxBytes });
    const last = page.at(-1);
    if (last === undefined) return items;
    items.push(...page);
    after = last.kind === "gap" ? last.lastSequence : last.sequence;
  }
}

/** A log in a line: `message 1, commit 2, gap 3-5 age`. */
export async function describeLog(engine: Engine, channelId: ChannelId): Promise<string> {
  const items = await readAll(engine, channelId);
  return items.map((item) =>
    item.kind === "gap"
      ? `gap ${item.sequence}-${item.lastSequence} ${item.reason} ${item.messages}`
      : `${item.kind} ${item.sequence}`
  ).join(", ");
}

export function sampleLease(changes: Partial<HeldLease> = {}): HeldLease {
  return {
    leaseId: "lease-1",
    fence: 7,
    account: sampleAccount(1),
    granted: 3,
    expiresAtMs: 99_000,
    ...changes,
  };
}

export function samplePackage(number: number, notAfterMs = 10_000): PooledKeyPackage {
  return { bytes: bytesOf(number, 40), reference: bytesOf(number, 32), notAfterMs };
}
