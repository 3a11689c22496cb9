/**
 * A group and the records that keep it. Nothing here waits and nothing writes: an operation changes
 * the group and returns what must be on disk before anything follows from it. The full epoch is
 * written once per commit; a message writes its sender's chain, about a hundred bytes, and only
 * when the application is done with it: until then it can be read again. Keys for sending are
 * reserved in blocks, and a block that a crash cut short is skipped, never used again.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import type { OwnersChange } from "../../proto/mod.ts";
import { type LoadedRecord, maxValueBytes, type RecordChange } from "../store/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { channelIdOf } from "./channel_extensions.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import { Consumption, type ConsumptionReceipt } from "./consumption.ts";
import type { Epoch } from "./epoch.ts";
import {
  type Change,
  Group,
  type MemberDeps,
  type PreparedCommit,
  type ReadyMessage,
  type SealingRoom,
} from "./group.ts";
import { followedBy, type Job, type StartedJob } from "./job.ts";
import type { PastEpoch } from "./past_epochs.ts";
import type { CommitRules, JudgedMessage, Preview, ReceiveOutcome } from "./receive.ts";
import { RosterRecords } from "./roster.ts";
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
  givenId,
  kindOf,
  parentId,
  pastId,
  proposalId,
  ratchetId,
  readGroup,
  rosterId,
  splitByEpoch,
  type StoredGroup,
} from "./stored_group.ts";

/** Keys for sending that one write to disk makes safe. */
export const reservedGenerations = 64;
/**
 * Messages may be this many epochs late before their keys are gone: a week of healing commits,
 * twice.
 */
export const maxPastEpochs = 2048;

/** Room for a member's own keys in the record of an epoch: a path has 32 nodes at most. */
const ownKeyBytes = 8 * 1024;

/** The part of the state that a commit advances. */
interface AdvancingState {
  readonly epoch: Epoch;
  readonly changes: readonly OwnersChange[];
}

/** The result of an operation, and the records that go with it. */
export interface RecordedStep<T> {
  readonly result: T;
  /** In one write, before anything that follows from the result. */
  readonly write: readonly RecordChange[];
  /**
   * Records of epochs that are forgotten, and much if they are many: deleted behind the write, in
   * any parts.
   */
  readonly over: readonly RecordChange[];
}

export interface ReceivedOutcome {
  readonly outcome: ReceiveOutcome;
  /**
   * The receipt of a message. Give it to `consume` once the application is done with the message.
   */
  readonly receipt?: ConsumptionReceipt;
}

export interface LoadedRecords {
  readonly recorded: RecordedGroup;
  /** A commit of ours whose fate is unknown: the log says whether it was taken. */
  readonly candidate: PreparedCommit | undefined;
  /** Commits of ours that were given up, and that the relay may take yet. */
  readonly given: readonly PreparedCommit[];
  /** Generations of ours that the relay may have taken. */
  readonly foundings: readonly FoundingCandidate[];
}

/** A new membership in place of an earlier one. */
export interface SavedRecords {
  readonly recorded: RecordedGroup;
  /**
   * Records of epochs that were over in the earlier membership too: deleted before the write, in
   * any parts.
   */
  readonly over: readonly RecordChange[];
  readonly write: readonly RecordChange[];
}

/** Bytes that one record may have. */
export interface RecordLimits {
  readonly maxValueBytes?: number;
}

const nothing: RecordedStep<void> = { result: undefined, write: [], over: [] };

export class RecordedGroup {
  readonly group: Group;
  readonly #limits: RecordLimits;
  readonly #kind: string;
  /** Generation up to which the disk allows us to send in the current epoch. */
  #reservedUntil: number;
  /** A commit of ours is kept, and neither accepted nor discarded. */
  #candidate: boolean;
  /** The names of the records of our commits that were given up. */
  readonly #given: Set<string>;
  #received = 0;
  readonly #consumption = new Consumption();
  readonly #rosters: RosterRecords;
  /** References of the proposals that are on disk. */
  readonly #proposals: Set<string>;
  /** The encoded epochs whose size was looked at before they began. */
  readonly #encoded = new WeakMap<Epoch, Uint8Array>();
  /** The encoded commits of ours whose size was looked at. */
  readonly #candidates = new WeakMap<PreparedCommit, Uint8Array>();

  private constructor(
    group: Group,
    limits: RecordLimits,
    candidate: boolean,
    { given, rosters }: Pick<StoredGroup, "given" | "rosters">,
  ) {
    this.#rosters = new RosterRecords(rosters);
    this.#candidate = candidate;
    this.#given = new Set(given.map(({ hash }) => givenId(hash)));
    this.group = group;
    this.#limits = limits;
    this.#kind = kindOf(channelIdOf(group.current.context));
    this.#reservedUntil = this.usedKeys;
    this.#proposals = new Set(group.proposals.keys());
  }

  /**
   * The records of a group that was just created or joined, in place of those of an earlier
   * membership. Refuses to start the epoch again that is on disk already: its keys may have been
   * used. Whether the new one has a lower number says nothing: it was entered by a KeyPackage that
   * is used once. `foundings` are kept, by their hashes: the relay may take them yet.
   */
  static save(
    group: Group,
    stored: readonly LoadedRecord[],
    limits: RecordLimits,
    foundings: readonly string[] = [],
  ): SavedRecords {
    const recorded = new RecordedGroup(group, limits, false, { given: [], rosters: [] });
    const epoch = stored.find(({ id }) => id === epochId);
    const known = epoch && decodeEpoch(epoch.value);
    if (known !== undefined && equalBytes(known.confirmationTag, group.current.confirmationTag)) {
      throw new MlsFault("This epoch of the channel is stored already; load it instead");
    }
    const kept = new Set(foundings.map(foundingId));
    const { over, current } = splitByEpoch(stored.map(({ id }) => id), known?.context.epoch);
    return {
      recorded,
      over: over.map((id) => recorded.#delete(id)),
      write: [
        ...current.filter((id) => !kept.has(id)).map((id) => recorded.#delete(id)),
        ...recorded.#epochChanges(group.current),
        ...recorded.#ownersChanges([]),
        recorded.#put(entryId, encodeEntry(group.entry)),
      ],
    };
  }

  /** The group as it was last written. */
  static load(
    stored: readonly LoadedRecord[],
    limits: RecordLimits,
    deps: MemberDeps,
  ): LoadedRecords | undefined {
    const read = readGroup(stored);
    if (read === undefined) return undefined;
    const { current, candidate, given, foundings, rosters, ...rest } = read;
    const group = Group.restore({ epoch: current, ...rest }, deps);
    return {
      recorded: new RecordedGroup(group, limits, candidate !== undefined, { given, rosters }),
      candidate,
      given,
      foundings,
    };
  }

  /**
   * Keys for messages of the present epoch that are used, or will not be. After a crash, those of
   * the whole block. One beyond them, if it was used, was used by another copy of these records.
   */
  get usedKeys(): number {
    const { secretTree, ownLeaf } = this.group.current;
    return secretTree.leaves.get(ownLeaf)?.application.generation ?? 0;
  }

  /** The next message needs keys that the disk does not know to be used: `reserve` them first. */
  get needsKeys(): boolean {
    return this.usedKeys >= this.#reservedUntil;
  }

  /** Keys for the next messages, which are safe once this is written. */
  reserve(): RecordChange[] {
    const changes = this.#ownChanges(reservedGenerations);
    this.#reservedUntil = this.usedKeys + reservedGenerations;
    return changes;
  }

  /**
   * Keys that were reserved and will not be used: the next start begins with them, so that
   * receivers need not step over them.
   */
  giveBack(): RecordChange[] {
    if (this.needsKeys) return [];
    this.#reservedUntil = this.usedKeys;
    return this.#ownChanges(0);
  }

  /** Seals a message with a key that was reserved. */
  beginSeal(
    payload: Uint8Array,
    authenticatedData: Uint8Array,
    room?: SealingRoom,
  ): Job<Uint8Array, ReadyMessage> {
    if (this.needsKeys) throw new TypeError("Cannot seal: keys are reserved first");
    return this.group.beginSeal(payload, authenticatedData, room);
  }

  /** A message must be consumed before its key is gone from the disk; see `consume`. */
  beginReceive(
    message: Uint8Array,
    rules: CommitRules,
  ): StartedJob<boolean, RecordedStep<ReceivedOutcome>> {
    const before = this.#standing;
    const begun = this.group.beginReceive(message, rules, (next) => this.#tooLargeToFollow(next));
    return followedBy(begun, (outcome) => this.#receivedAfter(before, outcome));
  }

  #receivedAfter(before: AdvancingState, outcome: ReceiveOutcome): RecordedStep<ReceivedOutcome> {
    const moved = outcome.kind === "commit" ? this.#moved(before) : nothing;
    const places = [this.group.current, ...this.group.past.takeTouched()];
    const write = [...moved.write, ...places.flatMap((place) => this.#derivedChanges(place))];
    if (outcome.kind === "proposal") write.push(...this.#proposalChanges());
    if (outcome.kind !== "message") return { result: { outcome }, write, over: moved.over };
    const place = places.find(({ context }) => Number(context.epoch) === outcome.epoch);
    const ratchets = place?.secretTree.leaves.get(outcome.sender.leafIndex);
    if (place === undefined || ratchets === undefined) {
      throw new MlsFault("A message has no sender in the group");
    }
    const { key: { generation, key, nonce }, sender: { leafIndex } } = outcome;
    const { epoch } = place.context;
    const receipt = {
      order: ++this.#received,
      epoch,
      leafIndex,
      ratchets,
      generation,
      key: { key, nonce },
    };
    this.#consumption.received(ratchetId(place, leafIndex), receipt);
    return { result: { outcome, receipt }, write, over: [] };
  }

  /**
   * The outcome of a commit if it were received, and the epoch that it would begin. Nothing
   * changes: it can be received later.
   */
  tryFollow(commit: Uint8Array, rules: CommitRules): JudgedMessage {
    return this.group.tryFollow(commit, rules, (next) => this.#tooLargeToFollow(next));
  }

  /** Opens a message before its turn. No key is used up: it can be received later. */
  beginPreview(
    message: Uint8Array,
    preview: Preview,
  ): StartedJob<boolean, ReceiveOutcome | undefined> {
    return this.group.beginPreview(message, preview);
  }

  /**
   * The changes to write, with the new position, when the application is done with a message; see
   * `consumption.ts`.
   */
  consume(receipt: ConsumptionReceipt): RecordChange[] {
    const { epoch, leafIndex } = receipt;
    if (epoch !== this.group.current.context.epoch && !this.group.past.has(epoch)) return [];
    const id = ratchetId({ context: { epoch } }, leafIndex);
    const ratchets = this.#consumption.consume(id, receipt);
    return ratchets === undefined ? [] : [this.#put(id, encodeRatchets(ratchets))];
  }

  /**
   * A commit of ours, to be kept before it is sent. One that is not kept has used up a key, and
   * nothing else.
   */
  *beginPrepare(change: Change): InterruptibleWork<PreparedCommit> {
    const prepared = yield* this.group.beginPrepare(change);
    const tooLarge = this.#tooLarge(this.#encodeCandidate(prepared).length) ??
      this.#tooLargeToFollow(prepared.next);
    if (tooLarge !== undefined) throw new MlsFault(tooLarge);
    return prepared;
  }

  /** The commit is safe to send once this is written. */
  keep(prepared: PreparedCommit): RecordChange[] {
    if (this.#candidate) {
      throw new MlsFault("A commit is under way already: accept or discard it first");
    }
    this.#candidate = true;
    return [this.#put("candidate", this.#encodeCandidate(prepared)), ...this.#ownChanges(0)];
  }

  #encodeCandidate(prepared: PreparedCommit): Uint8Array {
    const encoded = this.#candidates.get(prepared) ??
      encodeCandidate(prepared, this.#encode(prepared.next));
    this.#candidates.set(prepared, encoded);
    return encoded;
  }

  /** The relay took our commit. */
  accept(prepared: PreparedCommit): RecordedStep<void> {
    const before = this.#standing;
    this.group.accept(prepared);
    return this.#moved(before);
  }

  /** The relay does not take our commit: the candidate goes, the group stays. */
  discard(): RecordChange[] {
    this.#candidate = false;
    return [this.#delete("candidate")];
  }

  /** Our commits lost their race: nothing of ours is left of this epoch. */
  discardAll(): RecordChange[] {
    return [...this.discard(), ...this.#forgetGiven()];
  }

  /**
   * The candidate is sent no more, and stays: the relay may take it yet. `dropped`: an earlier one
   * that has no room any more.
   */
  give(prepared: PreparedCommit, dropped?: PreparedCommit): RecordChange[] {
    const [id, gone] = [givenId(prepared.hash), dropped && givenId(dropped.hash)];
    this.#given.add(id);
    if (gone !== undefined) this.#given.delete(gone);
    const changes = [...this.discard(), this.#put(id, this.#encodeCandidate(prepared))];
    return gone === undefined ? changes : [...changes, this.#delete(gone)];
  }

  #forgetGiven(): RecordChange[] {
    const changes = Array.from(this.#given, (id) => this.#delete(id));
    this.#given.clear();
    return changes;
  }

  /** Whether a message of this epoch is our own, and sealed with a key that we have not used. */
  isUnknownOwn(message: Uint8Array): boolean | Promise<boolean> {
    return this.group.isUnknownOwn(message);
  }

  /**
   * A generation of ours, which is safe to send once it is written. It stays until
   * `forgetFounding`: the relay may take it.
   */
  prepareFounding(founding: FoundingCandidate): RecordChange {
    return this.#put(foundingId(bytesToHex(founding.hash)), encodeFounding(founding));
  }

  /** `hash`: in hexadecimal. */
  forgetFounding(hash: string): RecordChange {
    return this.#delete(foundingId(hash));
  }

  /**
   * A new generation: its first epoch takes the present one's place, which stays for messages that
   * are not read yet.
   */
  enterGeneration(
    { next, changes }: Pick<FoundingCandidate, "next" | "changes">,
  ): RecordedStep<void> {
    const before = this.#standing;
    this.group.enterGeneration(next, changes);
    return this.#moved(before);
  }

  /** Every message before this epoch was consumed or has expired. Deletions in any parts. */
  forgetBefore(epoch: number): RecordChange[] {
    return this.#forgotten(this.group.past.forgetBefore(BigInt(epoch)));
  }

  #forgotten(epochs: readonly PastEpoch[]): RecordChange[] {
    const records = epochs.flatMap((past) => this.#recordsOf(past)).map((id) => {
      this.#consumption.forget(id);
      return this.#delete(id);
    });
    // Behind the epochs that they were of: an epoch without its members could not be read.
    const rosters = this.#rosters.drop(this.group.past.numbers);
    return [...records, ...rosters.map((epoch) => this.#delete(rosterId({ context: { epoch } })))];
  }

  /** Returns the records to write for an epoch that has just ended. */
  #rosterChanges(past: PastEpoch): RecordChange[] {
    const isNew = this.#rosters.add(past.context.epoch, past.roster);
    return isNew ? [this.#put(rosterId(past), past.roster.bytes)] : [];
  }

  /**
   * Our own chains, as a restart would find them: that of messages moved on to where it is safe
   * again. The disk never holds a key under which something was sent.
   */
  #ownChanges(more: number): RecordChange[] {
    const epoch = this.group.current;
    const { secretTree, ownLeaf } = epoch;
    const ahead = Math.max(more, this.#reservedUntil - this.usedKeys);
    const application = secretTree.ahead(ownLeaf, "application", ahead);
    const handshake = secretTree.ahead(ownLeaf, "handshake", 0);
    const derived = this.#derivedChanges(epoch);
    return [
      ...derived,
      this.#put(ratchetId(epoch, ownLeaf), encodeRatchets({ handshake, application })),
    ];
  }

  get #standing(): AdvancingState {
    return { epoch: this.group.current, changes: this.group.changes };
  }

  #moved(before: AdvancingState): RecordedStep<void> {
    this.#reservedUntil = 0;
    this.#candidate = false;
    const { current, past, parent } = this.group;
    const old = past.get(before.epoch.context.epoch);
    const forgotten = past.forgetBeyond(maxPastEpochs);
    const write = [
      ...this.#epochChanges(current),
      ...this.#ownersChanges(before.changes),
      this.#delete("candidate"),
      ...this.#forgetGiven(),
      parent === undefined ? this.#delete(parentId) : this.#put(parentId, encodeParent(parent)),
      ...Array.from(this.#proposals, (reference) => this.#delete(proposalId(reference))),
      ...(old === undefined ? [] : [
        ...this.#treeChanges(old),
        this.#put(pastId(old), encodePastEpoch(old)),
        ...this.#rosterChanges(old),
        this.#delete(ratchetId(old, old.ownLeaf)),
      ]),
    ];
    this.#proposals.clear();
    return { result: undefined, write, over: this.#forgotten(forgotten) };
  }

  #epochChanges(epoch: Epoch): RecordChange[] {
    return [this.#put(epochId, this.#encode(epoch)), ...this.#treeChanges(epoch)];
  }

  #ownersChanges(before: readonly OwnersChange[]): RecordChange[] {
    const { changes } = this.group;
    return changes === before || changes.length === 0
      ? []
      : [this.#put(changesId, encodeChanges(changes))];
  }

  #encode(epoch: Epoch): Uint8Array {
    const encoded = this.#encoded.get(epoch) ?? encodeEpoch(epoch);
    this.#encoded.set(epoch, encoded);
    return encoded;
  }

  /**
   * Called before a commit is sent or followed: afterwards the old epoch would be gone and the new
   * one not on disk. Counts only what all members share, and reserves room for the rest, so that
   * all members come to the same verdict.
   */
  #tooLargeToFollow(next: Epoch): string | undefined {
    return this.#tooLarge(sharedBytesOf(next, this.#encode(next)) + ownKeyBytes);
  }

  #tooLarge(length: number): string | undefined {
    const most = this.#limits.maxValueBytes ?? maxValueBytes;
    if (length <= most) return undefined;
    return `The channel's state would take ${length} bytes, and a stored record has at most ${most}: remove members`;
  }

  #proposalChanges(): RecordChange[] {
    const fresh = [...this.group.proposals].filter(([reference]) =>
      !this.#proposals.has(reference)
    );
    return fresh.map(([reference, proposal]) => {
      this.#proposals.add(reference);
      return this.#put(proposalId(reference), encodeProposalFrom(proposal));
    });
  }

  /**
   * Somebody spoke for the first time in this epoch: a new frontier, and the chains that left it.
   */
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
      ...Array.from(
        derived,
        ([leaf, ratchets]) => this.#put(ratchetId(place, leaf), encodeRatchets(ratchets)),
      ),
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
}
