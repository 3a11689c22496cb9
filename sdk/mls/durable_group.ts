/**
 * A group that survives a crash at any point. The full epoch is written once per commit; a message writes its sender's chain,
 * about a hundred bytes, and only when the application is done with it: until then it can be read again. Nothing is sent
 * before what makes it safe to send is on disk: keys for sending are reserved in blocks, and a block that a crash cut short
 * is skipped, never used again.
 * Long because every write of a group is here, each with what must go with it.
 */
import type { ChannelId, OwnersChange } from "../../proto/mod.ts";
import { maxValueBytes, type RecordChange, type RecordStore, type StoredRecord } from "../store/mod.ts";
import { channelIdOf } from "./channel_extensions.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import type { Epoch } from "./epoch.ts";
import { type Change, Group, type MemberDeps, type PreparedCommit, type Sealed, type SealingRoom } from "./group.ts";
import { Consumption, type Receipt } from "./consumption.ts";
import { perform } from "./job.ts";
import type { CommitSummary } from "./members.ts";
import type { PastEpoch } from "./past_epochs.ts";
import type { CommitRules, Outcome, Preview } from "./receive.ts";
import type { SecretTree } from "./secret_tree.ts";
import {
  decodeEpoch,
  encodeCandidate,
  encodeChanges,
  encodeEntry,
  encodeEpoch,
  encodeFounding,
  encodeFrontier,
  encodeParent,
  encodePastEpoch,
  encodeProposalFrom,
  encodeRatchets,
  type FoundingCandidate,
  sharedBytesOf,
} from "./state_codec.ts";
import {
  changesId,
  entryId,
  epochId,
  foundingId,
  frontierId,
  kindOf,
  parentId,
  pastId,
  proposalId,
  ratchetId,
  readGroup,
  splitByEpoch,
} from "./stored_group.ts";

/** The part of the encrypted store that a group needs. */
export interface Records {
  batch(changes: readonly RecordChange[]): Promise<void>;
  list(kind: string): Promise<readonly StoredRecord[]>;
  /** Bytes that one record may have; the store's own limit when it is not given. */
  readonly maxValueBytes?: number;
}

/** Keys for sending that one write to disk makes safe. */
export const reservedGenerations = 64;
/** Messages may be this many epochs late before their keys are gone: a week of healing commits, twice. */
export const maxPastEpochs = 2048;

/** Room for a member's own keys in the record of an epoch: a path has 32 nodes at most. */
const ownKeyBytes = 8 * 1024;

/** Deletions in one write to the store. */
const maxDeletions = 1000;

/** The part of the state that a commit advances. */
interface Standing {
  readonly epoch: Epoch;
  readonly changes: readonly OwnersChange[];
}

export interface Sealing extends SealingRoom {
  /** Things that are reserved in one write with keys. */
  readonly reserving?: {
    /** There are keys, and what goes with them is used up. */
    readonly isNeeded: () => boolean;
    readonly changes: () => readonly RecordChange[];
  };
}

/** Returns the changes to write together with a commit; called when the group has advanced. */
export type Alongside = (summary: CommitSummary) => readonly RecordChange[];

const nothing: Alongside = () => [];

export type { Receipt };

export interface Received {
  readonly outcome: Outcome;
  /** Of a message: to be given to `consume` once the application is done with it. */
  readonly receipt?: Receipt;
}

export interface LoadedGroup {
  readonly durable: DurableGroup;
  /** A commit, or a generation, of ours whose fate is unknown: the log says whether it was taken. */
  readonly candidate: PreparedCommit | undefined;
  readonly founding: FoundingCandidate | undefined;
}

export class DurableGroup {
  readonly group: Group;
  readonly #records: Records;
  readonly #kind: string;
  /** Generation up to which the disk allows us to send in the current epoch. */
  #reservedUntil: number;
  /** A commit of ours was prepared and neither accepted nor discarded. */
  #candidate: boolean;
  #received = 0;
  readonly #consumption = new Consumption();
  /** Why this object must not be used any more: what it holds in memory is not what lies on disk. */
  #ended: unknown;
  #isRetired = false;
  #tail: Promise<unknown> = Promise.resolve();
  /** References of the proposals that are on disk. */
  readonly #proposals: Set<string>;
  /** Of epochs whose size was looked at before they began. */
  readonly #encoded = new WeakMap<Epoch, Uint8Array>();

  private constructor(group: Group, records: Records, candidate: boolean) {
    this.#candidate = candidate;
    this.group = group;
    this.#records = records;
    this.#kind = kindOf(channelIdOf(group.current.context));
    this.#reservedUntil = this.usedKeys;
    this.#proposals = new Set(group.proposals.keys());
  }

  /**
   * Writes a group that was just created or joined, in place of an earlier membership, and `alongside` with it: all or
   * nothing. Refuses to start the epoch again that is on disk already: its keys may have been used. Whether the new one has a
   * lower number says nothing: it was entered by a KeyPackage that is used once.
   */
  static async save(group: Group, records: Records, alongside: readonly RecordChange[] = []): Promise<DurableGroup> {
    const durable = new DurableGroup(group, records, false);
    const stored = await records.list(durable.#kind);
    const epoch = stored.find(({ id }) => id === epochId);
    const known = epoch && decodeEpoch(epoch.value);
    if (known !== undefined && equalBytes(known.confirmationTag, group.current.confirmationTag)) {
      throw new MlsFault("This epoch of the channel is stored already; load it instead");
    }
    const before = known?.context.epoch;
    // First what is over in the earlier membership too, because it may be much; the rest in one write with the new one.
    const { over, current } = splitByEpoch(stored.map(({ id }) => id), before);
    await durable.#deleteAll(over);
    await durable.#write([
      ...current.map((id) => durable.#delete(id)),
      ...durable.#epochChanges(group.current),
      ...durable.#ownersChanges([]),
      durable.#put(entryId, encodeEntry(group.entry)),
      ...alongside,
    ]);
    return durable;
  }

  /** The epoch that is on disk, if there is one. */
  static async storedEpoch(channelId: ChannelId, records: Pick<RecordStore, "get">): Promise<number | undefined> {
    const stored = await records.get(kindOf(channelId), epochId);
    return stored && Number(decodeEpoch(stored).context.epoch);
  }

  /** The group as it was last written, and a commit whose fate is unknown: compare its hash with the log. */
  static async load(
    channelId: ChannelId,
    records: Records,
    deps: MemberDeps,
  ): Promise<LoadedGroup | undefined> {
    const stored = readGroup(await records.list(kindOf(channelId)));
    if (stored === undefined) return undefined;
    const { current, candidate, founding, ...rest } = stored;
    const group = Group.restore({ epoch: current, ...rest }, deps);
    const durable = new DurableGroup(group, records, candidate !== undefined);
    return { durable, candidate, founding };
  }

  /**
   * Keys for messages of the present epoch that are used, or will not be. After a crash, those of the whole block. One
   * beyond them, if it was used, was used by another copy of these records.
   */
  get usedKeys(): number {
    const { secretTree, ownLeaf } = this.group.current;
    return secretTree.leaves.get(ownLeaf)?.application.generation ?? 0;
  }

  /**
   * Seals a message. Waits for the disk once in `reservedGenerations` messages. `authenticate` is called when the key is safe to
   * use, with its number in this epoch, from 1, and returns the authenticated data.
   */
  seal(
    payload: Uint8Array,
    authenticate: Uint8Array | ((keyNumber: number) => Uint8Array),
    { reserving, ...room }: Sealing = {},
  ): Promise<Sealed> {
    return this.#exclusive(async () => {
      const isSpent = this.usedKeys >= this.#reservedUntil;
      if (isSpent || reserving?.isNeeded() === true) await this.#reserve(reserving?.changes() ?? []);
      const authenticatedData = typeof authenticate === "function" ? authenticate(this.usedKeys + 1) : authenticate;
      return await this.group.seal(payload, authenticatedData, room);
    });
  }

  /**
   * A commit and what it did is durable when this resolves, and with it what `alongside` answers about it; a message only once
   * what `consume` answers is written.
   */
  receive(message: Uint8Array, rules: CommitRules, alongside: Alongside = nothing): Promise<Received> {
    return this.#exclusive(async () => {
      const before = this.#standing;
      const outcome = await this.group.receive(message, rules, (next) => this.#tooLargeToFollow(next));
      if (outcome.kind === "commit") await this.#moved(before, alongside(outcome.summary));
      const places = [this.group.current, ...this.group.past.takeTouched()];
      const changes = places.flatMap((place) => this.#derivedChanges(place));
      if (outcome.kind === "proposal") changes.push(...this.#proposalChanges());
      if (changes.length > 0) await this.#write(changes);
      if (outcome.kind !== "message") return { outcome };
      const place = places.find(({ context }) => Number(context.epoch) === outcome.epoch);
      const ratchets = place?.secretTree.leaves.get(outcome.sender.leafIndex);
      if (place === undefined || ratchets === undefined) throw new MlsFault("A message has no sender in the group");
      const { key: { generation, key, nonce }, sender: { leafIndex } } = outcome;
      const { epoch } = place.context;
      const receipt = { order: ++this.#received, epoch, leafIndex, ratchets, generation, key: { key, nonce } };
      this.#consumption.received(ratchetId(place, leafIndex), receipt);
      return { outcome, receipt };
    });
  }

  /** Opens a message before its turn. No key is used up and nothing is written: it can be received later. */
  preview(message: Uint8Array, preview: Preview): Promise<Outcome | undefined> {
    return this.#exclusive(async () => await perform(this.group.beginPreview(message, preview)));
  }

  /**
   * Returns the changes to write, with the new position, when the application is done with a message; see
   * `consumption.ts`.
   */
  consume(receipt: Receipt): RecordChange[] {
    const { epoch, leafIndex } = receipt;
    const known = epoch === this.group.current.context.epoch || this.group.past.has(epoch);
    if (this.#ended !== undefined || !known) return [];
    const id = ratchetId({ context: { epoch } }, leafIndex);
    const ratchets = this.#consumption.consume(id, receipt);
    return ratchets === undefined ? [] : [this.#put(id, encodeRatchets(ratchets))];
  }

  /** A commit of ours that is safe to send: its candidate state is durable. */
  prepare(change: Change): Promise<PreparedCommit> {
    return this.#exclusive(() => this.#prepare(change));
  }

  /** The same for a change that was planned in this epoch. Undefined when the group has left it meanwhile. */
  prepareIn(epoch: number, change: Change): Promise<PreparedCommit | undefined> {
    return this.#exclusive(() => epoch === this.group.epoch ? this.#prepare(change) : Promise.resolve(undefined));
  }

  async #prepare(change: Change): Promise<PreparedCommit> {
    if (this.#candidate) throw new MlsFault("A commit is under way already: accept or discard it first");
    const prepared = this.group.prepare(change);
    const candidate = encodeCandidate(prepared, this.#encode(prepared.next));
    const tooLarge = this.#tooLarge(candidate.length) ?? this.#tooLargeToFollow(prepared.next);
    if (tooLarge !== undefined) throw new MlsFault(tooLarge);
    this.#candidate = true;
    await this.#write([this.#put("candidate", candidate), ...this.#ownChanges(0)]);
    return prepared;
  }

  /** The relay took our commit. */
  accept(prepared: PreparedCommit, alongside: Alongside = nothing): Promise<void> {
    return this.#exclusive(async () => {
      const before = this.#standing;
      this.group.accept(prepared);
      await this.#moved(before, alongside(prepared.summary));
    });
  }

  /** Our commit lost its race: the candidate goes, the group stays. `alongside` is asked when it is written. */
  discard(alongside: () => readonly RecordChange[] = () => []): Promise<void> {
    return this.#exclusive(async () => {
      await this.#write([this.#delete("candidate"), ...alongside()]);
      this.#candidate = false;
    });
  }

  /** Whether a message of this epoch is our own, and sealed with a key that we have not used. */
  isUnknownOwn(message: Uint8Array): Promise<boolean> {
    return this.#exclusive(async () => await this.group.isUnknownOwn(message));
  }

  /** A generation of ours that is safe to send. It goes when the group moves, and not before: it may be in the log. */
  prepareFounding(founding: FoundingCandidate): Promise<void> {
    return this.#exclusive(() => this.#write([this.#put(foundingId, encodeFounding(founding))]));
  }

  /** A new generation: its first epoch takes the present one's place, which stays for messages that are not read yet. */
  enterGeneration(
    { next, changes }: Pick<FoundingCandidate, "next" | "changes">,
    alongside: () => readonly RecordChange[],
  ): Promise<void> {
    return this.#exclusive(async () => {
      const before = this.#standing;
      this.group.enterGeneration(next, changes);
      await this.#moved(before, alongside());
    });
  }

  /** Every message before this epoch was consumed or has expired. */
  async forgetBefore(epoch: number): Promise<void> {
    const forgotten = this.#exclusive(async () => {
      await this.#deleteAll(this.group.past.forgetBefore(BigInt(epoch)).flatMap((past) => this.#recordsOf(past)));
    });
    await forgotten.catch((fault) => {
      // With a membership that is over, everything of it goes.
      if (!this.#isRetired) throw fault;
    });
  }

  /** Another membership takes this one's place. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Nothing more of this membership is written. */
  retire(): void {
    this.#isRetired = true;
    this.#ended ??= new MlsFault("This agent has joined the channel anew");
  }

  /** Resolves when no write is pending; this object writes nothing any more. The state on disk can be loaded again. */
  async close(): Promise<void> {
    // Behind what is under way. An object that has ended already refuses, and writes nothing either.
    await this.#exclusive(async () => {
      try {
        await this.#giveBack();
      } finally {
        this.#ended ??= new MlsFault("The channel was closed here; open it again");
      }
    }).catch(() => {});
  }

  /** Keys that were reserved and not used: the next start begins with them, so that receivers need not step over them. */
  async #giveBack(): Promise<void> {
    if (this.usedKeys >= this.#reservedUntil) return;
    this.#reservedUntil = this.usedKeys;
    await this.#write(this.#ownChanges(0));
  }

  /** After a write that failed, memory is ahead of the disk, and going on could use a key twice after a restart. */
  async #write(changes: readonly RecordChange[]): Promise<void> {
    try {
      await this.#records.batch(changes);
    } catch (cause) {
      this.#ended = cause;
      throw cause;
    }
  }

  async #deleteAll(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#consumption.forget(id);
    for (let at = 0; at < ids.length; at += maxDeletions) {
      await this.#write(ids.slice(at, at + maxDeletions).map((id) => this.#delete(id)));
    }
  }

  async #reserve(alongside: readonly RecordChange[]): Promise<void> {
    await this.#write([...this.#ownChanges(reservedGenerations), ...alongside]);
    this.#reservedUntil = this.usedKeys + reservedGenerations;
  }

  /**
   * Our own chains, as a restart would find them: that of messages moved on to where it is safe again. The disk never holds a
   * key under which something was sent.
   */
  #ownChanges(more: number): RecordChange[] {
    const epoch = this.group.current;
    const { secretTree, ownLeaf } = epoch;
    const ahead = Math.max(more, this.#reservedUntil - this.usedKeys);
    const application = secretTree.ahead(ownLeaf, "application", ahead);
    const handshake = secretTree.ahead(ownLeaf, "handshake", 0);
    const derived = this.#derivedChanges(epoch);
    return [...derived, this.#put(ratchetId(epoch, ownLeaf), encodeRatchets({ handshake, application }))];
  }

  get #standing(): Standing {
    return { epoch: this.group.current, changes: this.group.changes };
  }

  async #moved(before: Standing, alongside: readonly RecordChange[]): Promise<void> {
    this.#reservedUntil = 0;
    this.#candidate = false;
    const { current, past, parent } = this.group;
    const old = past.get(before.epoch.context.epoch);
    const forgotten = past.forgetBeyond(maxPastEpochs);
    await this.#write([
      ...this.#epochChanges(current),
      ...this.#ownersChanges(before.changes),
      this.#delete("candidate"),
      this.#delete(foundingId),
      parent === undefined ? this.#delete(parentId) : this.#put(parentId, encodeParent(parent)),
      ...Array.from(this.#proposals, (reference) => this.#delete(proposalId(reference))),
      ...(old === undefined ? [] : [
        ...this.#treeChanges(old),
        this.#put(pastId(old), encodePastEpoch(old)),
        this.#delete(ratchetId(old, old.ownLeaf)),
      ]),
      ...alongside,
    ]);
    this.#proposals.clear();
    await this.#deleteAll(forgotten.flatMap((each) => this.#recordsOf(each)));
  }

  #epochChanges(epoch: Epoch): RecordChange[] {
    return [this.#put(epochId, this.#encode(epoch)), ...this.#treeChanges(epoch)];
  }

  #ownersChanges(before: readonly OwnersChange[]): RecordChange[] {
    const { changes } = this.group;
    return changes === before || changes.length === 0 ? [] : [this.#put(changesId, encodeChanges(changes))];
  }

  #encode(epoch: Epoch): Uint8Array {
    const encoded = this.#encoded.get(epoch) ?? encodeEpoch(epoch);
    this.#encoded.set(epoch, encoded);
    return encoded;
  }

  /**
   * Called before a commit is sent or followed: afterwards the old epoch would be gone and the new one not on disk.
   * Counts only what all members share, and reserves room for the rest, so that all members come to the same verdict.
   */
  #tooLargeToFollow(next: Epoch): string | undefined {
    return this.#tooLarge(sharedBytesOf(next, this.#encode(next)) + ownKeyBytes);
  }

  #tooLarge(length: number): string | undefined {
    const most = this.#records.maxValueBytes ?? maxValueBytes;
    if (length <= most) return undefined;
    return `The channel's state would take ${length} bytes, and a stored record has at most ${most}: remove members`;
  }

  #proposalChanges(): RecordChange[] {
    const fresh = [...this.group.proposals].filter(([reference]) => !this.#proposals.has(reference));
    return fresh.map(([reference, proposal]) => {
      this.#proposals.add(reference);
      return this.#put(proposalId(reference), encodeProposalFrom(proposal));
    });
  }

  /** Somebody spoke for the first time in this epoch: a new frontier, and the chains that left it. */
  #derivedChanges(place: Pick<Epoch, "context" | "secretTree">): RecordChange[] {
    const derived = place.secretTree.takeDerived();
    return derived.size === 0 ? [] : this.#treeChanges(place, derived);
  }

  #treeChanges(
    place: Pick<Epoch, "context" | "secretTree">,
    derived: ReturnType<SecretTree["takeDerived"]> = place.secretTree.takeDerived(),
  ): RecordChange[] {
    return [
      this.#put(frontierId(place), encodeFrontier(place.secretTree)),
      ...Array.from(derived, ([leaf, ratchets]) => this.#put(ratchetId(place, leaf), encodeRatchets(ratchets))),
    ];
  }

  #recordsOf(past: PastEpoch): string[] {
    const leaves = [...past.secretTree.leaves.keys()].map((leaf) => ratchetId(past, leaf));
    return [pastId(past), frontierId(past), ...leaves];
  }

  #put(id: string, value: Uint8Array): RecordChange {
    return { type: "put", kind: this.#kind, id, value };
  }

  #delete(id: string): RecordChange {
    return { type: "delete", kind: this.#kind, id };
  }

  /** In the order of the calls: what is written belongs to what the group just did. */
  #exclusive<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(() => {
      if (this.#ended !== undefined) throw this.#ended;
      return act();
    });
    this.#tail = result.catch(() => {});
    return result;
  }
}
