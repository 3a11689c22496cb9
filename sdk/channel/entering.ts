/** A membership that begins, or goes on: with everything that its channel needs. */
import { sha256 } from "@noble/hashes/sha2.js";
import type { AgentId, ChannelName } from "../../proto/mod.ts";
import { type BadgePlace, nowhere } from "../mls/badges.ts";
import { channelIdOf } from "../mls/channel_extensions.ts";
import { defaultSuiteId, type SuiteId } from "../mls/crypto/suite.ts";
import type { DurableGroup } from "../mls/durable_group.ts";
import { stateOf } from "../mls/epoch.ts";
import type { Group, PreparedCommit } from "../mls/group.ts";
import { createKeyPackage, type OwnKeyPackage } from "../mls/key_package.ts";
import { credentialOf } from "../mls/leaf.ts";
import type { FoundingCandidate } from "../mls/state_codec.ts";
import type { RecordChange } from "../store/mod.ts";
import { type Anchor, anchorOf, newAnchor, putAnchor } from "./connection/anchor.ts";
import { deleteBadCommit } from "./recovery/bad_commit.ts";
import { type ChannelRecords, noRecords } from "./channel_kinds.ts";
import { putBegun, replaceStates } from "./upkeep/confirmation_records.ts";
import type { ChannelDeps } from "./deps.ts";
import { deleteForeign } from "./recovery/foreign_generation.ts";
import type { ChangedKeys, ChannelTrust } from "./group/key_changes.ts";
import {
  deletePosition,
  endErasing,
  forgetSenders,
  type FormerKnowledge,
  type MembershipRecord,
  newChannelRecord,
  noCounters,
  noLandmarks,
  putChannel,
  putCounters,
  putLandmarks,
  putPosition,
  putTrust,
} from "./records.ts";
import { decodeChannel, type StoredChannel } from "./stored_channel.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** A channel as it is entered, with what goes on from there. */
export interface EnteredChannel extends StoredChannel {
  readonly durable: DurableGroup;
  readonly record: MembershipRecord;
  /** A commit of ours whose fate is not known. */
  readonly candidate: PreparedCommit | undefined;
  /** Commits of ours that were given up in this epoch, and that the relay may take yet. */
  readonly given: readonly PreparedCommit[];
  /** Generations of ours that the relay may have taken. */
  readonly foundings: readonly FoundingCandidate[];
}

/** The leaf of somebody that begins a group. */
export function createOwnLeaf(
  deps: ChannelDeps,
  suiteId: SuiteId = defaultSuiteId,
  place: BadgePlace = nowhere,
): OwnKeyPackage {
  const nowMs = deps.relayNowMs();
  const badges = deps.badges?.(place);
  return createKeyPackage({
    suiteId,
    identity: deps.identity,
    notBeforeMs: nowMs - dayMs,
    notAfterMs: nowMs + dayMs,
    badges,
    lastResort: false,
    randomBytes: (length) => deps.runtime.randomBytes(length),
    signatures: deps.signatures,
  });
}

/** A membership that begins. */
export interface BegunMembership {
  readonly record: MembershipRecord;
  readonly anchor: Anchor;
  /** Identities that were known under another key. */
  readonly changed: ChangedKeys;
}

/** The same, with everything that goes with it on disk. */
export interface EnteredMembership extends BegunMembership {
  readonly durable: DurableGroup;
}

export interface Entrance {
  readonly name: ChannelName;
  readonly trust: ChannelTrust;
  /** Where the log is read from; undefined when the relay knows better. */
  readonly position: number | undefined;
  /**
   * Records of the things that led here: the KeyPackage, which could open the Welcome again, and
   * the nonce of a creation, which would lead into this channel again.
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
  /** This agent's further knowledge of members; see `Membership.knownIn`. */
  readonly known?: FormerKnowledge;
}

/**
 * Returns it, and what is to be written in one with its group. `before` is what its channel has
 * left on disk.
 */
export function beginMembership(
  group: Group,
  { name, trust, position, used, byOwner = false, rejoined = false, formerly, removed = [], known }:
    Entrance,
  { before, nowMs }: { readonly before: ChannelRecords; readonly nowMs: number },
): BegunMembership & { readonly changes: readonly RecordChange[] } {
  const channelId = channelIdOf(group.current.context);
  const members = Array.from(group.current.tree.leaves(), ([, { node }]) => credentialOf(node));
  const changed = trust.enter(members, { byOwner });
  const { tree, ownLeaf } = group.current;
  const joinedLeaf = sha256(tree.leaf(ownLeaf)?.encoded ?? new Uint8Array(0));
  const { epoch } = group;
  const knownBefore = { removed, ...(known !== undefined && { known }) };
  const record = newChannelRecord({
    channelId,
    name,
    joinedEpoch: epoch,
    joinedLeaf,
    rejoined,
    ...knownBefore,
  });
  const { cameBackMs, formerEpoch } = anchorOf(before);
  const anchor = newAnchor(position, {
    cameBackMs,
    formerEpoch: Math.max(formerEpoch, formerly ?? 0),
  });
  const changes = [
    putChannel(record),
    putAnchor(channelId, anchor),
    putTrust(channelId, trust),
    position === undefined
      ? deletePosition(channelId)
      : putPosition(channelId, { sequence: position, epoch }),
    putLandmarks(channelId, noLandmarks),
    putCounters(channelId, noCounters),
    deleteBadCommit(channelId),
    deleteForeign(channelId),
    // An earlier membership whose erasure failed left this note: the next start must not erase this
    // one.
    endErasing(channelId),
    ...forgetSenders(channelId, before),
    ...replaceStates(channelId, before, { epoch, state: stateOf(group.current) }),
    putBegun(channelId, { epoch, atMs: nowMs }),
    ...used,
  ];
  return { record, anchor, changed, changes };
}

/** A channel whose membership has just begun. */
export function enteredNow(
  { durable, record, anchor }: EnteredMembership,
  trust: ChannelTrust,
): EnteredChannel {
  const { joinedSequence: sequence } = anchor;
  const position = sequence === undefined ? undefined : { sequence, epoch: durable.group.epoch };
  const nothing = decodeChannel(record, noRecords);
  return {
    ...nothing,
    durable,
    record,
    trust,
    anchor,
    position,
    candidate: undefined,
    given: [],
    foundings: [],
  };
}
