/**
 * Keeps a channel's log small: cursors are written, what everybody has taken is trimmed, what is
 * too old or too much gives way to gaps, and members that were absent for too long lapse.
 */
import { type AgentId, foundingEpoch, type GapReason } from "../../../proto/mod.ts";
import type { Entry } from "../../engine/engine.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import { emptyBody } from "../channel/entry_body.ts";

/** Trimming fewer entries than this, of a queue that is short, waits until everything is taken. */
const worthTrimming = 256;
const longQueueBytes = 256 * 1024;
/** Read at once to find out how much to drop. */
const dropBytes = 1024 * 1024;
/** A snapshot that is this far behind is renewed when a channel is dropped from memory. */
const staleSnapshot = 64;
/** Cursors in one write. */
const cursorsAtOnce = 64;

type CareDeps = Pick<CoreDeps, "engine" | "cluster" | "nowMs" | "meter">;

export async function careForQueue(
  channel: LoadedChannel,
  config: CoreConfig,
  deps: CareDeps,
): Promise<void> {
  await writeCursors(channel, deps);
  await forgetFormer(channel, config, deps);
  await trimLog(channel, deps);
  while (await dropMessages(channel, config, deps));
  await lapseAbsent(channel, config, deps);
}

export async function writeCursors(channel: LoadedChannel, { engine }: CareDeps): Promise<void> {
  const moved = channel.takeMoved();
  const parts = Array.from(
    { length: Math.ceil(moved.length / cursorsAtOnce) },
    (_, part) => moved.slice(part * cursorsAtOnce, (part + 1) * cursorsAtOnce),
  );
  const writing = parts.map((part) => engine.moveCursors(channel.channelId, part));
  await Promise.all(writing).catch((error) => {
    channel.putBackMoved(moved);
    throw error;
  });
}

/**
 * A removed member is forgotten once it has read of its removal, or was absent for too long, or
 * takes room that others need.
 */
async function forgetFormer(
  channel: LoadedChannel,
  config: CoreConfig,
  { engine, nowMs }: CareDeps,
): Promise<void> {
  const lapsed = nowMs() - config.limits.lapseAgeMs;
  for (const [agentId, { endSequence, reason, timeMs }] of [...channel.state.former]) {
    const told = reason === "left" || reason === "lapsed" ||
      (channel.cursor(agentId) ?? endSequence) >= endSequence ||
      timeMs < lapsed;
    if (!(told || channel.full) || channel.subscriptions.has(agentId)) continue;
    channel.forgetReader(agentId);
    await engine.dropCursor(channel.channelId, agentId);
  }
}

export async function saveSnapshot(
  channel: LoadedChannel,
  { engine }: CareDeps,
  behind = staleSnapshot,
): Promise<void> {
  const { sequence } = channel.state;
  if (sequence - channel.snapshotSequence < behind) return;
  await engine.saveSnapshot(channel.channelId, { sequence, state: channel.state.encode() });
  channel.snapshotSequence = sequence;
}

/** The last entry that nobody needs any more. */
export function trimmable(channel: LoadedChannel): number {
  const { members, former } = channel.state;
  let through = channel.head;
  for (const [agentId, { leaving }] of members) {
    if (leaving === undefined) through = Math.min(through, channel.progress(agentId));
  }
  for (const agentId of former.keys()) {
    through = Math.min(through, channel.cursor(agentId) ?? through);
  }
  return through;
}

async function trimLog(channel: LoadedChannel, deps: CareDeps): Promise<void> {
  const through = trimmable(channel);
  const gain = through - channel.trimmed;
  const eager = channel.full || channel.queueBytes > longQueueBytes;
  channel.full = false;
  if (gain <= 0 || (gain < worthTrimming && through < channel.head && !eager)) return;
  if (channel.snapshotSequence < through) await saveSnapshot(channel, deps, 1);
  await deps.engine.trim(channel.channelId, through);
  channel.trimmed = through;
  channel.dropItems(through);
  channel.queueBytes = (await deps.engine.queueSize(channel.channelId)).bytes;
}

/** Drops a part of the messages that are too old or too many; returns whether there may be more. */
async function dropMessages(
  channel: LoadedChannel,
  config: CoreConfig,
  deps: CareDeps,
): Promise<boolean> {
  const { engine, nowMs, meter } = deps;
  const { queueBytesPerChannel, queueAgeMs } = config.limits;
  const before = await engine.queueSize(channel.channelId);
  channel.queueBytes = before.bytes;
  const tooOld = before.oldestMs !== undefined && before.oldestMs < nowMs() - queueAgeMs;
  if (!tooOld && before.bytes <= queueBytesPerChannel) return false;
  const reason: GapReason = tooOld ? "age" : "size";
  const items = await engine.read(channel.channelId, {
    after: channel.dropped,
    maxBytes: dropBytes,
  });
  let excess = before.bytes - queueBytesPerChannel;
  let through = 0;
  const last = items.at(-1);
  const end = last?.kind === "gap" ? last.lastSequence : last?.sequence;
  for (const item of items) {
    if (item.kind !== "message") continue;
    if (tooOld ? item.timeMs >= nowMs() - queueAgeMs : excess <= 0) break;
    excess -= item.body.length;
    through = item.sequence;
  }
  if (through === 0) {
    // A page without a message to drop: nothing but commits and gaps, so look behind them.
    if (end === undefined || items.some(({ kind }) => kind === "message")) return false;
    channel.dropped = end;
    return true;
  }
  // The fold knows what each member sent last, and cannot read it again from a gap.
  if (channel.snapshotSequence < through) await saveSnapshot(channel, deps, 1);
  await engine.dropMessages(channel.channelId, through, reason);
  channel.dropItems(through);
  channel.dropped = through;
  const after = await engine.queueSize(channel.channelId);
  channel.queueBytes = after.bytes;
  meter.messagesDropped += before.messages - after.messages;
  return after.messages > 0;
}

/**
 * A member is absent when it has left something unread for too long; one that has read everything
 * holds nothing up.
 */
async function lapseAbsent(
  channel: LoadedChannel,
  config: CoreConfig,
  deps: CareDeps,
): Promise<void> {
  const behind = [...channel.state.members].filter(([agentId, { leaving }]) =>
    leaving === undefined && channel.progress(agentId) < channel.head
  ).map(([agentId]) => agentId);
  behind.sort((a, b) => channel.progress(a) - channel.progress(b));
  // The last one that is in could be let in by nobody. Counted here: the fold hears of a lapse
  // later.
  let active =
    [...channel.state.members.keys()].filter((agentId) => channel.state.isActive(agentId)).length;
  for (const agentId of behind) {
    const next = await firstEntryAfter(channel, channel.progress(agentId), deps);
    if (next === undefined) return;
    const tooOld = next.timeMs < deps.nowMs() - config.limits.lapseAgeMs;
    if (!tooOld && commitsSince(channel, next) <= config.limits.lapseCommits) return;
    if (channel.subscriptions.has(agentId) || deps.cluster?.isOnline(agentId)) continue;
    if (active-- <= 1) return;
    await lapse(channel, agentId, deps);
  }
}

/** Counts commits of the present generation alone: those of earlier ones do not count any more. */
function commitsSince({ state: { epoch, generation } }: LoadedChannel, next: Entry): number {
  return epoch - Math.max(next.epoch, foundingEpoch(generation));
}

/** Gaps have no time of their own. */
async function firstEntryAfter(
  channel: LoadedChannel,
  after: number,
  { engine }: CareDeps,
): Promise<Entry | undefined> {
  for (let position = after;;) {
    const [item] = await engine.read(channel.channelId, { after: position, maxBytes: 1 });
    if (item?.kind !== "gap") return item;
    position = item.lastSequence;
  }
}

/** Once for each membership; its own founding ends a lapse, and another may follow. */
function lapseKey(
  { state: { generation } }: LoadedChannel,
  agentId: AgentId,
  joinedSequence: number,
): string {
  return [`lapse:${agentId}:${joinedSequence}`, ...(generation === 0 ? [] : [generation])].join(
    ":",
  );
}

async function lapse(
  channel: LoadedChannel,
  agentId: AgentId,
  { engine, nowMs, meter }: CareDeps,
): Promise<void> {
  const member = channel.state.members.get(agentId);
  if (member === undefined || !channel.state.isActive(agentId)) return;
  const outcome = await engine.append(channel.channelId, {
    kind: "lapse",
    epoch: channel.state.epoch,
    sender: agentId,
    timeMs: nowMs(),
    ...emptyBody,
    key: lapseKey(channel, agentId, member.joinedSequence),
    added: [],
    removed: [],
  });
  if (outcome.kind === "appended") meter.membersLapsed++;
}
