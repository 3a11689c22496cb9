/**
 * The three ways into a channel: made by us, joined by a Welcome, opened again from disk. Each is
 * durable when it resolves.
 */
import {
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  type ChannelName,
  parseChannelId,
} from "../../../proto/mod.ts";
import { channelIdOf } from "../../mls/channel_extensions.ts";
import { DurableGroup } from "../../mls/durable_group.ts";
import { Group } from "../../mls/group.ts";
import { leafHashOf } from "../../mls/ratchet_tree.ts";
import { newSealing, type SealingChoice } from "../../mls/sealing_rules.ts";
import { kindOf } from "../../mls/stored_group.ts";
import type { RecordChange } from "../../store/mod.ts";
import { anchorOf } from "../connection/anchor.ts";
import { type ChannelRecords, channels, factsKind } from "../channel_kinds.ts";
import { leaveBody } from "../departure/leave_body.ts";
import { type ChannelDeps, memberDepsOf } from "../deps.ts";
import {
  beginMembership,
  createOwnLeaf,
  type EnteredChannel,
  type EnteredMembership,
  enteredNow,
  type Entrance,
} from "../entering.ts";
import { ChannelTrust } from "../group/key_changes.ts";
import { checkWelcomed, type WelcomeDemands } from "../group/welcome_demands.ts";
import { channelOf, type ChannelStore, type MembershipRecord, trustOf } from "../records.ts";
import { decodeChannel } from "../stored_channel.ts";

/** The caller waits for the error that keeps it out, not for this. */
const farewellMs = 10_000;

/** A membership that is not on disk yet. */
export interface PreparedChannel {
  readonly channelId: ChannelId;
  /** The KeyPackage that goes with it; undefined when none does. */
  readonly key: string | undefined;
  /** In one write with these changes. */
  readonly enter: (alongside: readonly RecordChange[]) => Promise<EnteredChannel>;
}

/** The channels that this store knows. */
export async function listChannels(store: Pick<ChannelStore, "list">): Promise<MembershipRecord[]> {
  return (await store.list(channels)).map(({ id, value }) => channelOf(parseChannelId(id), value));
}

/** All records of a channel besides its MLS state, in one scan of the disk. */
export async function readRecords(
  store: Pick<ChannelStore, "list">,
  channelId: ChannelId,
): Promise<ChannelRecords> {
  return new Map((await store.list(factsKind(channelId))).map(({ id, value }) => [id, value]));
}

/** A group of one, of which we are the owner. */
export function prepareCreated(
  channelId: ChannelId,
  { name, sealing }: { readonly name: ChannelName; readonly sealing: SealingChoice },
  deps: ChannelDeps,
): PreparedChannel {
  const own = createOwnLeaf(deps);
  const trust = new ChannelTrust([]);
  const start = { channelId, name, sealing: newSealing(sealing) };
  const group = Group.create(start, own, memberDepsOf(deps, trust.policy));
  const enter: PreparedChannel["enter"] = async (used) =>
    enteredNow(await writeEntered(group, { name, trust, position: 0, used }, deps), trust);
  return { channelId, key: undefined, enter };
}

export interface ExpectedChannel {
  readonly name: ChannelName;
  /** From an invite: the Welcome must lead there, and be made by the inviter. */
  readonly channelId?: ChannelId;
  readonly inviter?: AgentId;
  /** The last epoch of a membership that ended for this one. */
  readonly formerly?: number;
  readonly demands?: WelcomeDemands;
}

/**
 * Throws `MlsFault` for a Welcome that does not verify or leads elsewhere, and `StaticError` for
 * one that is not as the joiner demands.
 */
export async function prepareJoined(
  welcome: Uint8Array,
  expected: ExpectedChannel,
  deps: ChannelDeps,
): Promise<PreparedChannel> {
  const own = await deps.keyPackages.findFor(welcome);
  const trust = expected.channelId === undefined
    ? new ChannelTrust([])
    : trustOf(await readRecords(deps.store, expected.channelId));
  const memberDeps = memberDepsOf(deps, trust.policy);
  const group = await memberDeps.carryOut(Group.beginJoin(welcome, own, memberDeps, expected));
  try {
    checkWelcomed(group, expected.inviter, expected.demands ?? {}, deps.recogniser);
  } catch (error) {
    await stayOut(group, deps);
    throw error;
  }
  const [spent] = await deps.keyPackages.used(own, group.identifiers);
  const channelId = channelIdOf(group.current.context);
  // A record that is damaged is found before anything is given up for this.
  await deps.store.list(kindOf(channelId));
  // The new membership may replace another one, which may be erased before the write, or go on
  // until then.
  const before = Math.max(await latestEpoch(channelId, deps), expected.formerly ?? 0);
  const { name } = expected;
  const byOwner = group.members().some(({ agentId, owner }) =>
    owner && agentId === expected.inviter
  );
  const enter: PreparedChannel["enter"] = async (alongside) => {
    const used = [...await deps.keyPackages.usedNow(own, group.identifiers), ...alongside];
    const formerly = Math.max(before, await latestEpoch(channelId, deps));
    const entrance = { name, trust, position: undefined, used, byOwner, formerly };
    return enteredNow(await writeEntered(group, entrance, deps), trust);
  };
  return { channelId, key: spent?.type === "delete" ? spent.id : undefined, enter };
}

/**
 * The inviter has let it in, so it is a member until it says that it leaves: the others would have
 * it among them for ever, and no later invite could let it in. If the relay cannot be told, that is
 * so.
 */
async function stayOut(group: Group, deps: ChannelDeps): Promise<void> {
  const { tree, ownLeaf, context } = group.current;
  const leaf = tree.leaf(ownLeaf);
  if (leaf === undefined) return;
  const body = leaveBody({
    channelId: channelIdOf(context),
    groupId: binaryIdFromBytes<ChannelId>(context.groupId),
    leafHash: leafHashOf(leaf),
  }, deps);
  await deps.session.call("LeaveChannel", body, { timeoutMs: farewellMs }).catch(() => {});
}

/** The last epoch of a channel that this agent was in, as far as its store knows. */
export async function latestEpoch(
  channelId: ChannelId,
  { store }: Pick<ChannelDeps, "store">,
): Promise<number> {
  const { formerEpoch } = anchorOf(await readRecords(store, channelId));
  return Math.max(formerEpoch, await DurableGroup.storedEpoch(channelId, store) ?? 0);
}

/**
 * A channel of which this agent was a member when it last ran. Undefined when it never came to be:
 * a crash while joining.
 */
export async function openChannel(
  channelId: ChannelId,
  deps: ChannelDeps,
): Promise<EnteredChannel | undefined> {
  const { store } = deps;
  const [value, records, group] = await Promise.all([
    store.get(channels, channelId),
    readRecords(store, channelId),
    store.list(kindOf(channelId)),
  ]);
  if (value === undefined) return undefined;
  const record = channelOf(channelId, value);
  const stored = decodeChannel(record, records);
  const restored = DurableGroup.restore(group, store, memberDepsOf(deps, stored.trust.policy));
  return restored && { ...stored, ...restored, record };
}

/**
 * In one write: after a crash there is all of the new membership, or the one before it as it was.
 */
export async function writeEntered(
  group: Group,
  entrance: Entrance,
  { store, runtime }: Pick<ChannelDeps, "store" | "runtime">,
): Promise<EnteredMembership> {
  const before = await readRecords(store, channelIdOf(group.current.context));
  const nowMs = runtime.nowMs();
  const { changes, ...begun } = beginMembership(group, entrance, { before, nowMs });
  return { ...begun, durable: await DurableGroup.save(group, store, changes, entrance.foundings) };
}
