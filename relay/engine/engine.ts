/**
 * The relay's storage: the only holder of authoritative channel state. Small and asynchronous, so
 * that a replicated log can take the place of the embedded database and any of several relays can
 * serve any session. An engine knows sequences, epochs and idempotency keys; the meaning of an
 * entry is the core's business, and its body is opaque here.
 */
import type { AccountId, AgentId, ChannelId, ChannelName, GapReason } from "../../proto/mod.ts";

export interface Engine {
  /**
   * Makes a channel at epoch 0 with an empty log, listed for its creator. The same `nonce` of a
   * creator gets the original.
   */
  createChannel(channel: NewChannel): Promise<CreateOutcome>;
  /**
   * A channel's head and last snapshot, or undefined when it never existed or was purged after
   * closing.
   */
  findChannel(channelId: ChannelId): Promise<ChannelRecord | undefined>;
  /** Ids of the open channels that list this agent or were created by this account, ascending. */
  listChannels(query: ListQuery): Promise<ChannelPage>;
  /**
   * Open channels that list this agent since an entry that it has not consumed, ascending. Costs
   * what it answers, however many channels list the agent.
   */
  listJoining(query: JoiningQuery): Promise<ChannelPage>;
  /**
   * Returns the bytes that wait for an agent in such channels of one account, and how many other
   * accounts have something waiting for it.
   */
  joining(query: WaitingQuery): Promise<WelcomeBacklog>;

  /** Whether an open channel lists this agent. */
  isListed(agentId: AgentId): Promise<boolean>;

  /**
   * Channels that hold an application message older than this: they want care although nobody uses
   * them.
   */
  agedChannels(
    query: { readonly beforeMs: number; readonly limit: number },
  ): Promise<readonly ChannelId[]>;

  /**
   * Adds one entry, if the channel is at `entry.epoch` (a founding: between `fromEpoch` and there,
   * and without a change behind `judgedAt`) and open. Everything about the entry – its key, the
   * lists of its agents, the records, the charge – becomes durable with it or not at all. Resolves
   * when it is durable, and after every watcher of this process was told. Appends of one caller to
   * one channel take effect in the order in which they were called.
   */
  append(channelId: ChannelId, entry: NewEntry): Promise<AppendOutcome>;
  /**
   * Entries after a position, oldest first: at least one if there is one, then up to `maxBytes` of
   * bodies, and never so many that it takes long: the answer is the end of the log only when it
   * reaches the head. A gap that began earlier is told from the position on.
   */
  read(
    channelId: ChannelId,
    from: { readonly after: number; readonly maxBytes: number },
  ): Promise<readonly LogItem[]>;
  /**
   * The original answer to an entry's key, for as long as keys are remembered. Knows of every
   * `append` that was called before it.
   */
  findKey(channelId: ChannelId, key: string): Promise<AppendedEntry | undefined>;
  /** The commit that ended an epoch. Remembered after the entry itself was trimmed. */
  findCommit(channelId: ChannelId, epoch: number): Promise<CommitTrace | undefined>;
  /**
   * Calls back for every entry appended from now on by any caller, in order, once it is durable.
   * Returns a function to stop.
   */
  watch(channelId: ChannelId, listener: (entry: Entry) => void): () => void;

  /** The fold of the log up to a sequence, so that a restart need not read what came before. */
  saveSnapshot(channelId: ChannelId, snapshot: Snapshot): Promise<void>;
  /** How far each member is. */
  cursors(channelId: ChannelId): Promise<ReadonlyMap<AgentId, Cursor>>;
  /**
   * Never moves back, and does nothing for an agent without a cursor (it was dropped). Durable when
   * it resolves. Rejects when one is beyond the log; the others have moved then.
   */
  moveCursors(channelId: ChannelId, moves: readonly CursorMove[]): Promise<void>;
  /**
   * Drops the cursor of an agent that is no longer listed; an agent that was added again keeps its
   * new cursor.
   */
  dropCursor(channelId: ChannelId, agentId: AgentId): Promise<void>;

  /** Returns the size of the channel's application messages. */
  queueSize(channelId: ChannelId): Promise<QueueSize>;
  /**
   * Deletes every entry up to `through`: all members are done with them. Only up to the last
   * snapshot.
   */
  trim(channelId: ChannelId, through: number): Promise<void>;
  /**
   * Application messages up to `through` give way to gaps; neighbouring gaps of one reason become
   * one.
   */
  dropMessages(channelId: ChannelId, through: number, reason: GapReason): Promise<void>;
  /** Forgets what is older than these times. */
  forget(before: ForgetBefore): Promise<void>;
  /** Forgets a closed channel at once, even if members have not read it. */
  purge(channelId: ChannelId): Promise<void>;

  /**
   * Returns the size of all channels of an account, including closed ones until they are forgotten.
   */
  accountBytes(account: AccountId): Promise<number>;
  /** Closed channels of an account that are not forgotten yet, the longest closed first. */
  closedChannels(
    query: { readonly account: AccountId; readonly limit: number },
  ): Promise<readonly ChannelId[]>;
  /** The open channel of an account that takes most. */
  largestChannel(account: AccountId): Promise<ChannelId | undefined>;

  /**
   * Writes a copy of everything that is durable to a file, while work goes on. It can be opened in
   * place of the original.
   */
  backUp(path: string, timeMs: number): Promise<void>;
  /**
   * Takes out of the files what was deleted before. Returns false when that cannot be now: call it
   * again later.
   */
  wipe(timeMs: number): Promise<boolean>;
  /** The present size, and the room that is left. */
  storage(): StorageSize;
  /** How long the disk has left a write unconfirmed. */
  diskMs(): number;

  readonly records: Records;
  readonly leases: LeaseBook;
  readonly keyPackages: KeyPackagePools;

  /** Writes what is under way, then lets go of everything. */
  close(): Promise<void>;
}

/** How far an agent has come. */
export type CursorMove = readonly [agentId: AgentId, cursor: Cursor];

/** Positions of a member in the log. Both begin just before the entry that added it. */
export interface Cursor {
  /** The last entry that it is done with. */
  readonly consumed: number;
  /**
   * The last one that it said so of itself: the relay moves the other one past entries that are not
   * for it.
   */
  readonly acknowledged: number;
}

export interface NewChannel {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly account: AccountId;
  readonly creator: AgentId;
  readonly nonce: Uint8Array;
  readonly timeMs: number;
  /** Open channels that the account may have, this one included. */
  readonly maxOpen?: number;
  /** Limit for all channels of the account, this one included. */
  readonly accountBytes?: number;
}

export type CreateOutcome =
  | { readonly kind: "created" }
  | { readonly kind: "duplicate"; readonly original: ChannelRecord }
  | { readonly kind: "name_taken" }
  | { readonly kind: "too_many" }
  | { readonly kind: "full" };

export interface ChannelRecord extends Omit<NewChannel, "nonce" | "maxOpen" | "accountBytes"> {
  readonly epoch: number;
  /** Sequence of the last entry; 0 when there is none. */
  readonly head: number;
  readonly closedAtMs?: number;
  readonly snapshot?: Snapshot;
}

export interface Snapshot {
  /** The last entry that it includes. */
  readonly sequence: number;
  readonly state: Uint8Array;
}

export interface ChannelPage {
  readonly channels: readonly ChannelId[];
  readonly more: boolean;
}

export interface ListQuery {
  readonly agentId: AgentId;
  readonly account: AccountId;
  readonly after?: ChannelId;
  readonly limit: number;
}

export type JoiningQuery = Omit<ListQuery, "account">;

export interface WaitingQuery {
  readonly agentId: AgentId;
  readonly account: AccountId;
  /** This one, of the account's, is not counted. */
  readonly except: ChannelId;
}

export interface WelcomeBacklog {
  readonly channelsOfAccount: number;
  /** The bytes of the Welcomes that wait in those channels. */
  readonly bytesOfAccount: number;
  /** Up to a thousand. */
  readonly otherAccounts: number;
}

export const entryKinds = [
  "message",
  "commit",
  "founding",
  "welcome",
  "leave",
  "lapse",
  "close",
] as const;
export type EntryKind = (typeof entryKinds)[number];

export interface EntryHead {
  readonly kind: EntryKind;
  /**
   * The epoch in which it was made; a commit or a founding begins the next one, `close` ends the
   * log.
   */
  readonly epoch: number;
  readonly sender: AgentId;
  readonly timeMs: number;
  /**
   * The version of the body's encoding, from 1. The core defines it, see
   * `core/channel/entry_body.ts`.
   */
  readonly bodyVersion: number;
  /** Not copied, and shared by all listeners: nobody changes it any more. */
  readonly body: Uint8Array;
}

export interface NewEntry extends EntryHead {
  /**
   * Unique in its channel: appending the same key again changes nothing and returns the original.
   */
  readonly key: string;
  /**
   * Agents whose list of channels gains this one. Their cursors start just before this entry: it
   * carries their Welcome.
   */
  readonly added: readonly AgentId[];
  /** Agents whose list loses it; applied before `added`. Their cursors stay until dropped. */
  readonly removed: readonly AgentId[];
  /** Identifies a commit or a founding after it was trimmed. */
  readonly commitHash?: Uint8Array;
  /**
   * For a founding, which skips epochs: the engine takes it from this epoch on, as long as the
   * channel has not come to the entry's own epoch.
   */
  readonly fromEpoch?: number;
  /**
   * For a founding: its sender's rights were checked with the log up to this position. A change
   * behind this position makes the founding a conflict. A change is an entry that is neither a
   * message nor a Welcome nor routine.
   */
  readonly judgedAt?: number;
  /**
   * The entry is a commit by which nobody comes or goes, and the owners stay the same. It overtakes
   * no founding.
   */
  readonly isRoutine?: boolean;
  /** Paid from this lease, in the same transaction. */
  readonly charge?: Charge;
  /** The sizes of the Welcomes that it carries, by those who wait for them. */
  readonly welcomeBytes?: ReadonlyMap<AgentId, number>;
  /** Records that change with it. */
  readonly records?: readonly RecordEdit[];
  /** Without it, an entry is never refused for want of room. */
  readonly room?: StorageLimits;
  /**
   * The session in which it was sent, where several relays share a log: void once its agent has a
   * newer one anywhere.
   */
  readonly by?: { readonly agentId: AgentId; readonly session: number };
}

/**
 * A new value for a record that is still the one that was read, or its end. It keeps its expiry,
 * and needs no room.
 */
export type RecordEdit =
  | {
    readonly kind: "replace";
    readonly key: string;
    readonly revision: number;
    readonly value: Uint8Array;
  }
  | { readonly kind: "delete"; readonly key: string };

/** Limits for entries, the new one included. */
export interface StorageLimits {
  /**
   * Entries other than messages, members and records of the channel; a message is not measured
   * against it.
   */
  readonly channelBytes: number;
  /**
   * Everything in all channels of the account that made this one, until those that were closed are
   * forgotten.
   */
  readonly accountBytes: number;
}

export interface ForgetBefore {
  /** Idempotency keys. */
  readonly keysMs: number;
  /** Commit traces. */
  readonly commitsMs: number;
  /** Closed channels that everybody has read to the end. */
  readonly readMs: number;
  /** Closed channels, even if members have not read them. */
  readonly closedMs: number;
}

export interface StorageSize {
  readonly usedBytes: number;
  /** Bytes that may still be added; Infinity when unknown. */
  readonly availableBytes: number;
  /** Both together, and what others have on the same disk; Infinity when nobody can tell. */
  readonly capacityBytes: number;
}

export interface Entry extends EntryHead {
  readonly sequence: number;
}

/** Messages that are gone. */
export interface Gap {
  readonly kind: "gap";
  /** The position of the first message that is gone: a gap takes its place in the order. */
  readonly sequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly reason: GapReason;
}

export type LogItem = Entry | Gap;

export interface AppendedEntry {
  readonly sequence: number;
  /** The entry's own. */
  readonly epoch: number;
  readonly timeMs: number;
}

/** Checked in this order: session, channel, key, epoch, charge, room. */
export type AppendOutcome =
  | ({ readonly kind: "appended" } & AppendedEntry)
  | ({ readonly kind: "duplicate" } & AppendedEntry)
  | { readonly kind: "no_channel" }
  /** The agent of the session has a newer one at another relay. */
  | { readonly kind: "replaced" }
  | { readonly kind: "conflict"; readonly epoch: number }
  | { readonly kind: "lease_spent" }
  | { readonly kind: "full"; readonly of: "channel" | "account" };

export interface CommitTrace {
  readonly sequence: number;
  readonly commitHash: Uint8Array;
  readonly sender: AgentId;
  readonly timeMs: number;
}

export interface QueueSize {
  readonly messages: number;
  readonly bytes: number;
  /** When the oldest of them was appended. */
  readonly oldestMs?: number;
}

/**
 * Small durable records with revisions: a caller that read an old revision cannot overwrite a newer
 * one.
 */
export interface Records {
  get(key: string): Promise<StoredRecord | undefined>;
  /** `revision` of what is replaced, 0 for a record that must not exist yet. */
  put(key: string, record: NewRecord, revision: number): Promise<PutOutcome>;
  delete(key: string): Promise<void>;
  /** Returns the records that belong to a channel. */
  ofChannel(channelId: ChannelId): Promise<readonly (StoredRecord & { readonly key: string })[]>;
  /** Deletes what has expired. */
  expire(nowMs: number): Promise<void>;
}

export interface NewRecord {
  readonly value: Uint8Array;
  readonly expiresAtMs: number;
  /**
   * The open channel that it belongs to: it is counted there, and goes with it. One that takes
   * another's place is not refused for room.
   */
  readonly of?: {
    readonly channelId: ChannelId;
    readonly most: number;
    readonly room: StorageLimits;
  };
}

export type PutOutcome =
  | { readonly kind: "stored"; readonly revision: number }
  | { readonly kind: "conflict" }
  | { readonly kind: "no_channel" }
  | { readonly kind: "full"; readonly of: "records" | "channel" | "account" };

export interface StoredRecord {
  readonly value: Uint8Array;
  readonly revision: number;
  readonly expiresAtMs: number;
}

export interface Charge {
  readonly leaseId: string;
  readonly fence: number;
  readonly messages: number;
  readonly payloadBytes: number;
}

/** Amounts that are paid for together, all or none. */
export type ChargedAmount = Pick<Charge, "messages" | "payloadBytes">;

/** A part of an account's quota that this relay may consume; see `proto/api/lease.ts`. */
export interface HeldLease {
  readonly leaseId: string;
  readonly fence: number;
  readonly account: AccountId;
  readonly granted: number;
  readonly expiresAtMs: number;
}

export interface LeaseState extends HeldLease {
  /** Charged entries that were appended under it, and their bytes. */
  readonly consumed: number;
  readonly payloadBytes: number;
}

/**
 * Consumption is counted by `append`; a charge beyond `granted` or under another fence is refused
 * there.
 */
export interface LeaseBook {
  open(lease: HeldLease): Promise<void>;
  list(): Promise<readonly LeaseState[]>;
  /**
   * No charge is taken any more, and none is under way when this resolves: the numbers are final.
   */
  stop(leaseId: string): Promise<LeaseState | undefined>;
  /** After the API has taken the final report. */
  forget(leaseId: string): Promise<void>;
}

/**
 * KeyPackages live in memory only, of this process or of the log's nodes: after a restart their
 * owners are asked for new ones.
 */
export interface KeyPackagePools {
  count(agentId: AgentId, nowMs: number): Promise<PoolCount>;
  /**
   * Adds what is not known yet; a KeyPackage that was claimed is remembered until it expires and
   * never taken again.
   */
  put(agentId: AgentId, upload: PoolUpload): Promise<PoolCount>;
  /** One KeyPackage for one claimer. The same `claim` gets the same answer until it expires. */
  claim(agentId: AgentId, claim: PoolClaim): Promise<ClaimedKeyPackage | undefined>;
  /** The account that uploaded last for this agent. */
  ownerOf(agentId: AgentId): Promise<AccountId | undefined>;
  expire(nowMs: number): Promise<void>;
}

export interface PooledKeyPackage {
  readonly bytes: Uint8Array;
  /** KeyPackageRef, by which two uploads of one KeyPackage are known to be the same. */
  readonly reference: Uint8Array;
  readonly notAfterMs: number;
}

export interface PoolUpload {
  readonly keyPackages: readonly PooledKeyPackage[];
  readonly lastResort?: PooledKeyPackage;
  /** Forget what is there first. */
  readonly replace: boolean;
  /** How many may be held; the rest of an upload is ignored. */
  readonly capacity: number;
  /**
   * The account that uploads. Beyond these bytes its longest untouched pools are emptied; when all
   * pools take more than `bytesInAll`, those of the account that has most, with their KeyPackages
   * of last resort when nothing else is left. An account within the guaranteed size loses nothing
   * for others.
   */
  readonly account: AccountId;
  /**
   * The key that the token names, or the account's visitors, and the limit for the pools of these:
   * beyond it only they are emptied.
   */
  readonly key?: { readonly id: string; readonly bytes: number };
  readonly bytesPerAccount: number;
  readonly bytesGuaranteed: number;
  readonly bytesInAll: number;
  readonly nowMs: number;
}

export interface PoolClaim {
  readonly key: string;
  readonly nowMs: number;
  /**
   * The share that the claimer may still have: anything; or that unless less than half of the pool
   * is left; or only the last resort; or nothing but what this key has got before.
   */
  readonly share?: "any" | "half" | "last resort" | "none";
}

export interface PoolCount {
  readonly keyPackages: number;
  /** How many there were after the last upload. */
  readonly filled: number;
  readonly hasLastResort: boolean;
}

export interface ClaimedKeyPackage {
  readonly keyPackage: Uint8Array;
  readonly lastResort: boolean;
  /** Left in the pool. */
  readonly remaining: PoolCount;
}
