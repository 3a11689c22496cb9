/** The three ways into a channel: made by us, joined by a Welcome, opened again from disk. Each is durable when it resolves. */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, type ChannelId, type ChannelName } from "../../proto/mod.ts";
import { channelIdOf } from "../mls/channel_extensions.ts";
import { defaultSuiteId, type SuiteId } from "../mls/crypto/suite.ts";
import { DurableGroup } from "../mls/durable_group.ts";
import { stateOf } from "../mls/epoch.ts";
import { Group, type PreparedCommit } from "../mls/group.ts";
import { createKeyPackage, type OwnKeyPackage } from "../mls/key_package.ts";
import { credentialOf } from "../mls/leaf.ts";
import { kindOf } from "../mls/stored_group.ts";
import type { FoundingCandidate } from "../mls/state_codec.ts";
import type { RecordChange } from "../store/mod.ts";
import { type Anchor, newAnchor, putAnchor, readAnchor } from "./anchor.ts";
import { nothingConfirmed, readConfirmations, replaceStates } from "./confirmation_records.ts";
import { type ChannelDeps, memberDepsOf } from "./deps.ts";
import { type BadCommit, deleteBadCommit, readBadCommit, readReturn } from "./bad_commit.ts";
import { endErasing } from "./erasing.ts";
import { deleteForeign, type ForeignGeneration, readForeign } from "./foreign_generation.ts";
import { type ChangedKeys, ChannelTrust } from "./key_changes.ts";
import type { LogPosition } from "./reading/log_place.ts";
import {
  type ChannelRecord,
  type CounterRecord,
  deletePosition,
  forgetSenders,
  type KnownBefore,
  type Landmarks,
  listSenders,
  newChannelRecord,
  noCounters,
  noLandmarks,
  putChannel,
  putCounters,
  putLandmarks,
  putPosition,
  putTrust,
  readChannel,
  readCounters,
  readLandmarks,
  readLog,
  readPosition,
  readTrust,
  type SenderRecord,
} from "./records.ts";
import { readKeyAges, type SeenLeaf } from "./key_age_records.ts";
import type { ConfirmationRecords } from "./upkeep/confirmation_state.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** A channel as it is entered, with what goes on from there. */
export interface EnteredChannel {
  readonly durable: DurableGroup;
  readonly record: ChannelRecord;
  readonly trust: ChannelTrust;
  readonly anchor: Anchor;
  /** A commit of ours whose fate is not known. */
  readonly candidate: PreparedCommit | undefined;
  /** Those that were given up in this epoch, and that the relay may take yet. */
  readonly given: readonly PreparedCommit[];
  /** Generations of ours that the relay may have taken. */
  readonly foundings: readonly FoundingCandidate[];
  /** The commit at which it is stopped. */
  readonly bad: BadCommit | undefined;
  /** When it was last let in again after it was stopped. */
  readonly returnedMs: number | undefined;
  /** A later generation that it does not follow. */
  readonly foreign: ForeignGeneration | undefined;
  /** Undefined when the relay knows better: just joined. */
  readonly position: LogPosition | undefined;
  /** The log that the position is of; undefined when it has just joined. */
  readonly log: Uint8Array | undefined;
  readonly landmarks: Landmarks;
  readonly counters: CounterRecord;
  readonly senders: ReadonlyMap<AgentId, SenderRecord>;
  readonly confirmations: ConfirmationRecords;
  readonly keyAges: ReadonlyMap<AgentId, SeenLeaf>;
}

/** A membership that is not on disk yet. */
export interface PreparedChannel {
  readonly channelId: ChannelId;
  /** The KeyPackage that goes with it; undefined when none does. */
  readonly key: string | undefined;
  /** In one write with these changes. */
  readonly enter: (alongside: readonly RecordChange[]) => Promise<EnteredChannel>;
}

/** A group of one, of which we are the owner. */
export function prepareCreated(channelId: ChannelId, name: ChannelName, deps: ChannelDeps): PreparedChannel {
  const own = createOwnLeaf(deps);
  const trust = new ChannelTrust([]);
  const group = Group.create({ channelId, name }, own, memberDepsOf(deps, trust.policy));
  const enter: PreparedChannel["enter"] = async (used) =>
    partsOf(await writeEntered(group, { name, trust, position: 0, used }, deps), trust, 0);
  return { channelId, key: undefined, enter };
}

/** The leaf of somebody that begins a group. */
export function createOwnLeaf(deps: ChannelDeps, suiteId: SuiteId = defaultSuiteId): OwnKeyPackage {
  const nowMs = deps.relayNowMs();
  return createKeyPackage({
    suiteId,
    identity: deps.identity,
    notBeforeMs: nowMs - dayMs,
    notAfterMs: nowMs + dayMs,
    lastResort: false,
    randomBytes: (length) => deps.runtime.randomBytes(length),
    signatures: deps.signatures,
  });
}

export interface ExpectedChannel {
  readonly name: ChannelName;
  /** From an invite: the Welcome must lead there, and be made by the inviter. */
  readonly channelId?: ChannelId;
  readonly inviter?: AgentId;
  /** The last epoch of a membership that ended for this one. */
  readonly formerly?: number;
}

/** Throws `MlsFault` for a Welcome that does not verify or leads elsewhere. */
export async function prepareJoined(
  welcome: Uint8Array,
  expected: ExpectedChannel,
  deps: ChannelDeps,
): Promise<PreparedChannel> {
  const own = await deps.keyPackages.findFor(welcome);
  const trust = expected.channelId === undefined
    ? new ChannelTrust([])
    : await readTrust(deps.store, expected.channelId);
  const memberDeps = memberDepsOf(deps, trust.policy);
  const group = await memberDeps.carryOut(Group.beginJoin(welcome, own, memberDeps, expected));
  const [spent] = await deps.keyPackages.used(own, group.identifiers);
  const channelId = channelIdOf(group.current.context);
  // A record that is damaged is found before anything is given up for this.
  await Promise.all([deps.store.list(kindOf(channelId)), changesOfEntering(channelId, group, deps)]);
  // Of a membership in whose place the new one comes: it may be erased before the write, or go on until then.
  const before = Math.max(await latestEpoch(channelId, deps), expected.formerly ?? 0);
  const { name } = expected;
  const byOwner = group.members().some(({ agentId, owner }) => owner && agentId === expected.inviter);
  const enter: PreparedChannel["enter"] = async (alongside) => {
    const used = [...await deps.keyPackages.usedNow(own, group.identifiers), ...alongside];
    const formerly = Math.max(before, await latestEpoch(channelId, deps));
    const entrance = { name, trust, position: undefined, used, byOwner, formerly };
    return partsOf(await writeEntered(group, entrance, deps), trust, undefined);
  };
  return { channelId, key: spent?.type === "delete" ? spent.id : undefined, enter };
}

/** The last epoch of a channel that this agent was in, as far as its store knows. */
export async function latestEpoch(channelId: ChannelId, { store }: Pick<ChannelDeps, "store">): Promise<number> {
  const { formerEpoch } = await readAnchor(store, channelId);
  return Math.max(formerEpoch, await DurableGroup.storedEpoch(channelId, store) ?? 0);
}

/** A channel of which this agent was a member when it last ran. Undefined when it never came to be: a crash while joining. */
export async function openChannel(channelId: ChannelId, deps: ChannelDeps): Promise<EnteredChannel | undefined> {
  const record = await readChannel(deps.store, channelId);
  const trust = await readTrust(deps.store, channelId);
  const loaded = await DurableGroup.load(channelId, deps.store, memberDepsOf(deps, trust.policy));
  if (record === undefined || loaded === undefined) return undefined;
  return {
    ...loaded,
    bad: await readBadCommit(deps.store, channelId),
    returnedMs: await readReturn(deps.store, channelId),
    foreign: await readForeign(deps.store, channelId),
    record,
    trust,
    anchor: await readAnchor(deps.store, channelId),
    position: await readPosition(deps.store, channelId),
    log: await readLog(deps.store, channelId),
    landmarks: await readLandmarks(deps.store, channelId),
    counters: await readCounters(deps.store, channelId),
    senders: await listSenders(deps.store, channelId),
    confirmations: await readConfirmations(deps.store, channelId, record.joinedEpoch),
    keyAges: await readKeyAges(deps.store, channelId),
  };
}

/** A membership that has begun, with everything that goes with it on disk. */
export interface Entered {
  readonly durable: DurableGroup;
  readonly record: ChannelRecord;
  readonly anchor: Anchor;
  /** Identities that were known under another key. */
  readonly changed: ChangedKeys;
}

export interface Entrance {
  readonly name: ChannelName;
  readonly trust: ChannelTrust;
  /** Where the log is read from; undefined when the relay knows better. */
  readonly position: number | undefined;
  /**
   * Of what led here: the KeyPackage, which could open the Welcome again; the nonce of a creation, which would lead into this channel
   * again.
   */
  readonly used: readonly RecordChange[];
  /** An owner vouches for the members that are in it. */
  readonly byOwner?: boolean;
  /** In place of a membership that had lost step. */
  readonly rejoined?: boolean;
  /** The epoch that this agent had reached before. */
  readonly formerly?: number;
  /** Agents that it knew to be removed, and that are not in the group. */
  readonly removed?: readonly AgentId[];
  /** Generations of ours that the relay may take yet, by their hashes. */
  readonly foundings?: readonly string[];
  /** Its further knowledge of members; see `Membership.knownIn`. */
  readonly known?: KnownBefore;
}

/** In one write: after a crash there is all of the new membership, or the one before it as it was. */
export async function writeEntered(
  group: Group,
  { name, trust, position, used, byOwner = false, rejoined = false, formerly, removed = [], foundings = [], known }:
    Entrance,
  { store }: Pick<ChannelDeps, "store">,
): Promise<Entered> {
  const channelId = channelIdOf(group.current.context);
  const members = Array.from(group.current.tree.leaves(), ([, { node }]) => credentialOf(node));
  const changed = trust.enter(members, { byOwner });
  const { tree, ownLeaf } = group.current;
  const joinedLeaf = sha256(tree.leaf(ownLeaf)?.encoded ?? new Uint8Array(0));
  const { epoch } = group;
  const before = { removed, ...(known !== undefined && { known }) };
  const record = newChannelRecord({ channelId, name, joinedEpoch: epoch, joinedLeaf, rejoined, ...before });
  const { cameBackMs, formerEpoch } = await readAnchor(store, channelId);
  const anchor = newAnchor(position, { cameBackMs, formerEpoch: Math.max(formerEpoch, formerly ?? 0) });
  const durable = await DurableGroup.save(group, store, [
    putChannel(record),
    putAnchor(channelId, anchor),
    putTrust(channelId, trust),
    position === undefined ? deletePosition(channelId) : putPosition(channelId, { sequence: position, epoch }),
    putLandmarks(channelId, noLandmarks),
    putCounters(channelId, noCounters),
    deleteBadCommit(channelId),
    deleteForeign(channelId),
    // Of an earlier membership whose erasure failed: the next start must not erase this one.
    endErasing(channelId),
    ...await changesOfEntering(channelId, group, { store }),
    ...used,
  ], foundings);
  return { durable, record, anchor, changed };
}

/** Of records that an earlier membership has left. */
async function changesOfEntering(
  channelId: ChannelId,
  { epoch, current }: Pick<Group, "epoch" | "current">,
  { store }: Pick<ChannelDeps, "store">,
): Promise<readonly RecordChange[]> {
  const states = await replaceStates(store, channelId, { epoch, state: stateOf(current) });
  return [...await forgetSenders(store, channelId), ...states];
}

function partsOf(entered: Entered, trust: ChannelTrust, position: number | undefined): EnteredChannel {
  const { durable, record, anchor } = entered;
  const start = position === undefined ? undefined : { sequence: position, epoch: durable.group.epoch };
  const rest = {
    position: start,
    log: undefined,
    landmarks: noLandmarks,
    counters: noCounters,
    senders: new Map(),
    confirmations: nothingConfirmed,
    keyAges: new Map(),
    bad: undefined,
    returnedMs: undefined,
    foreign: undefined,
  };
  return { durable, candidate: undefined, given: [], foundings: [], record, trust, anchor, ...rest };
}
