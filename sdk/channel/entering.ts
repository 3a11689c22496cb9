/** The three ways into a channel: made by us, joined by a Welcome, opened again from disk. Each is durable when it resolves. */
import { type AgentId, binaryIdFromBytes, type ChannelId, type ChannelName } from "../../proto/mod.ts";
import { defaultSuiteId } from "../mls/crypto/suite.ts";
import { DurableGroup } from "../mls/durable_group.ts";
import { Group } from "../mls/group.ts";
import { createKeyPackage, credentialOf } from "../mls/leaf.ts";
import { type ChannelDeps, memberDepsOf } from "./deps.ts";
import type { EngineParts } from "./engine.ts";
import {
  type ChannelRecord,
  deletePosition,
  forgetSenders,
  listSenders,
  putChannel,
  putCounter,
  putPosition,
  putTrust,
  readCounter,
  readPosition,
  readTrust,
} from "./records.ts";
import { ChannelTrust } from "./trust.ts";

const dayMs = 24 * 60 * 60 * 1000;

type Parts = Omit<EngineParts, "receive">;

/** A group of one, of which we are the owner. */
export async function createChannel(channelId: ChannelId, name: ChannelName, deps: ChannelDeps): Promise<Parts> {
  const now = deps.relayNowMs();
  const own = await createKeyPackage({
    suiteId: defaultSuiteId,
    identity: deps.identity,
    notBeforeMs: now - dayMs,
    notAfterMs: now + dayMs,
    lastResort: false,
    randomBytes: (length) => deps.runtime.randomBytes(length),
    signatures: deps.signatures,
  });
  const trust = new ChannelTrust([]);
  const group = Group.create(channelId, { name, owners: [deps.agentId] }, own, memberDepsOf(deps, trust.policy));
  const parts = await enter(group, { channelId, name, trust }, deps);
  await deps.store.batch([putPosition(channelId, 0)]);
  return { ...parts, position: 0 };
}

export interface ExpectedChannel {
  readonly name: ChannelName;
  /** From an invite: the Welcome must lead there, and be made by the inviter. */
  readonly channelId?: ChannelId;
  readonly inviter?: AgentId;
}

/** Throws `MlsFault` for a Welcome that does not verify or leads elsewhere; then nothing has changed. */
export async function joinChannel(welcome: Uint8Array, expected: ExpectedChannel, deps: ChannelDeps): Promise<Parts> {
  const own = await deps.keyPackages.findFor(welcome);
  const trust = new ChannelTrust(
    expected.channelId === undefined ? [] : await readTrust(deps.store, expected.channelId),
  );
  const group = Group.join(welcome, own, memberDepsOf(deps, trust.policy), expected);
  const channelId = binaryIdFromBytes<ChannelId>(group.current.context.groupId);
  const parts = await enter(group, { channelId, name: expected.name, trust }, deps);
  // Only now: had the group not been written, the Welcome would still be needed.
  await deps.store.batch(await deps.keyPackages.used(own));
  return parts;
}

/** A channel of which this agent was a member when it last ran. Undefined when it never came to be: a crash while joining. */
export async function openChannel(record: ChannelRecord, deps: ChannelDeps): Promise<Parts | undefined> {
  const { channelId } = record;
  const trust = new ChannelTrust(await readTrust(deps.store, channelId));
  const loaded = await DurableGroup.load(channelId, deps.store, memberDepsOf(deps, trust.policy));
  if (loaded === undefined) return undefined;
  // A crash may have come between a commit and taking note of whom it brought.
  trust.learn(Array.from(loaded.durable.group.current.tree.leaves(), ([, { node }]) => credentialOf(node)));
  return {
    ...loaded,
    record,
    trust,
    position: await readPosition(deps.store, channelId),
    counter: await readCounter(deps.store, channelId) ?? 0,
    senders: await listSenders(deps.store, channelId),
  };
}

/**
 * In an order that a crash cannot hurt: the record first, because a record without a group counts as nothing; the counter
 * last, because starting again at 1 in an old membership would make others take new messages for old ones.
 */
async function enter(
  group: Group,
  { channelId, name, trust }: { channelId: ChannelId; name: ChannelName; trust: ChannelTrust },
  deps: ChannelDeps,
): Promise<Parts> {
  const { store } = deps;
  trust.learn(Array.from(group.current.tree.leaves(), ([, { node }]) => credentialOf(node)));
  const record: ChannelRecord = {
    channelId,
    name,
    joinedEpoch: group.epoch,
    since: new Map(),
    leavers: new Map(),
    lapsed: new Set(),
  };
  const senders = await forgetSenders(store, channelId);
  await store.batch([putChannel(record), putTrust(channelId, trust.keys()), deletePosition(channelId), ...senders]);
  const durable = await DurableGroup.save(group, store);
  await store.batch([putCounter(channelId, 0)]);
  return { durable, candidate: undefined, record, trust, position: undefined, counter: 0, senders: new Map() };
}
