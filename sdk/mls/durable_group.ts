/**
 * A group that survives a crash at any point: `recorded_group.ts` says what must be on disk, and
 * this waits until it is. Nothing is sent before what makes it safe to send is written.
 */
import type { ChannelId } from "../../proto/mod.ts";
import type { LoadedRecord, RecordChange, RecordStore } from "../store/mod.ts";
import { channelIdOf } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import type { ConsumptionReceipt } from "./consumption.ts";
import type {
  Change,
  Group,
  MemberDeps,
  PreparedCommit,
  ReadyMessage,
  SealingRoom,
} from "./group.ts";
import { perform } from "./job.ts";
import type { CommitSummary } from "./members.ts";
import type { CommitRules, Preview, ReceiveOutcome } from "./receive.ts";
import {
  type LoadedRecords,
  type ReceivedOutcome,
  RecordedGroup,
  type RecordedStep,
  type RecordLimits,
} from "./recorded_group.ts";
import { decodeEpoch, type FoundingCandidate } from "./state_codec.ts";
import { epochId, kindOf } from "./stored_group.ts";

/**
 * The part of the encrypted store that a group needs. The store's own limit holds where none is
 * given.
 */
export interface GroupRecords extends RecordLimits {
  batch(changes: readonly RecordChange[]): Promise<void>;
  list(kind: string): Promise<readonly LoadedRecord[]>;
}

/** Deletions in one write to the store. */
const maxDeletions = 1000;

export interface SealingOptions extends SealingRoom {
  /** Things that are reserved in one write with keys. */
  readonly reserving?: {
    /** There are keys, and what goes with them is used up. */
    readonly isNeeded: () => boolean;
    readonly changes: () => readonly RecordChange[];
  };
}

/** Returns the changes to write together with a commit; called when the group has advanced. */
export type ChangesWithCommit = (summary: CommitSummary) => readonly RecordChange[];

const nothing: ChangesWithCommit = () => [];

export type { ConsumptionReceipt, ReceivedOutcome };
export { maxPastEpochs, reservedGenerations } from "./recorded_group.ts";

export interface LoadedGroup extends Pick<LoadedRecords, "candidate" | "given" | "foundings"> {
  readonly durable: DurableGroup;
}

export class DurableGroup {
  readonly #recorded: RecordedGroup;
  readonly #records: GroupRecords;
  /**
   * Why this object must not be used any more: what it holds in memory is not what lies on disk.
   */
  #ended: unknown;
  #isRetired = false;
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(recorded: RecordedGroup, records: GroupRecords) {
    this.#recorded = recorded;
    this.#records = records;
  }

  /**
   * Writes a group that was just created or joined, in place of an earlier membership, and
   * `alongside` with it: all or nothing. The `foundings` of the earlier one stay, by their hashes.
   */
  static async save(
    group: Group,
    records: GroupRecords,
    alongside: readonly RecordChange[] = [],
    foundings: readonly string[] = [],
  ): Promise<DurableGroup> {
    const stored = await records.list(kindOf(channelIdOf(group.current.context)));
    const { recorded, over, write } = RecordedGroup.save(group, stored, records, foundings);
    const durable = new DurableGroup(recorded, records);
    // First what is over in the earlier membership too, because it may be much; the rest in one
    // write with the new one.
    await durable.#writeInParts(over);
    await durable.#write(() => [...write, ...alongside]);
    return durable;
  }

  /** The epoch that is on disk, if there is one. */
  static async storedEpoch(
    channelId: ChannelId,
    records: Pick<RecordStore, "get">,
  ): Promise<number | undefined> {
    const stored = await records.get(kindOf(channelId), epochId);
    return stored && Number(decodeEpoch(stored).context.epoch);
  }

  /**
   * The group as it was last written, and a commit whose fate is unknown: compare its hash with the
   * log.
   */
  static async load(
    channelId: ChannelId,
    records: GroupRecords,
    deps: MemberDeps,
  ): Promise<LoadedGroup | undefined> {
    return DurableGroup.restore(await records.list(kindOf(channelId)), records, deps);
  }

  /** Restores a group from the stored records of its kind. */
  static restore(
    stored: readonly LoadedRecord[],
    records: GroupRecords,
    deps: MemberDeps,
  ): LoadedGroup | undefined {
    const loaded = RecordedGroup.load(stored, records, deps);
    if (loaded === undefined) return undefined;
    const { recorded, ...rest } = loaded;
    return { durable: new DurableGroup(recorded, records), ...rest };
  }

  get group(): Group {
    return this.#recorded.group;
  }

  /** The number of used keys in the present epoch; see `RecordedGroup`. */
  get usedKeys(): number {
    return this.#recorded.usedKeys;
  }

  /**
   * Seals a message. Waits for the disk once in `reservedGenerations` messages. `authenticate` is
   * called when the key is safe to use, with its number in this epoch, from 1, and returns the
   * authenticated data.
   */
  seal(
    payload: Uint8Array,
    authenticate: Uint8Array | ((keyNumber: number) => Uint8Array),
    { reserving, ...room }: SealingOptions = {},
  ): Promise<ReadyMessage> {
    return this.#exclusive(async () => {
      if (this.#recorded.needsKeys || reserving?.isNeeded() === true) {
        await this.#write(() => [...this.#recorded.reserve(), ...reserving?.changes() ?? []]);
      }
      const authenticatedData = typeof authenticate === "function"
        ? authenticate(this.usedKeys + 1)
        : authenticate;
      return await perform(this.#recorded.beginSeal(payload, authenticatedData, room));
    });
  }

  /**
   * A commit and what it did is durable when this resolves, and with it what `alongside` answers
   * about it; a message only once what `consume` answers is written.
   */
  receive(
    message: Uint8Array,
    rules: CommitRules,
    alongside: ChangesWithCommit = nothing,
  ): Promise<ReceivedOutcome> {
    return this.#exclusive(async () => {
      const step = await perform(this.#recorded.beginReceive(message, rules), this.group.carryOut);
      this.#checkNotEnded();
      const { outcome } = step.result;
      await this.#keep(step, () => outcome.kind === "commit" ? alongside(outcome.summary) : []);
      return step.result;
    });
  }

  /**
   * Opens a message before its turn. No key is used up and nothing is written: it can be received
   * later.
   */
  preview(message: Uint8Array, preview: Preview): Promise<ReceiveOutcome | undefined> {
    return this.#exclusive(async () =>
      await perform(this.#recorded.beginPreview(message, preview))
    );
  }

  /** See `RecordedGroup`. Nothing for one that must not be used any more. */
  consume(receipt: ConsumptionReceipt): RecordChange[] {
    return this.#ended === undefined ? this.#recorded.consume(receipt) : [];
  }

  /** A commit of ours that is safe to send: its candidate state is durable. */
  async prepare(change: Change): Promise<PreparedCommit> {
    const prepared = await this.prepareIn(this.group.epoch, change);
    if (prepared === undefined || !await this.keep(prepared)) {
      throw new MlsFault("The group has left this epoch");
    }
    return prepared;
  }

  /**
   * Prepares the commit for a change that was planned in this epoch. The commit may be sent when it
   * is kept. Returns undefined when the group has left the epoch meanwhile.
   */
  prepareIn(epoch: number, change: Change): Promise<PreparedCommit | undefined> {
    return this.#exclusive(async () =>
      epoch === this.group.epoch
        ? await this.group.carryOut(this.#recorded.beginPrepare(change))
        : undefined
    );
  }

  /**
   * Resolves when the commit is safe to send; with false when the group has left its epoch
   * meanwhile.
   */
  keep(prepared: PreparedCommit): Promise<boolean> {
    return this.#inEpochOf(prepared, () => {
      const changes = this.#recorded.keep(prepared);
      return this.#write(() => changes);
    });
  }

  /** The relay took our commit. Resolves with false when the group has left its epoch meanwhile. */
  accept(prepared: PreparedCommit, alongside: ChangesWithCommit = nothing): Promise<boolean> {
    return this.#inEpochOf(prepared, () => {
      const step = this.#recorded.accept(prepared);
      return this.#keep(step, () => alongside(prepared.summary));
    });
  }

  /**
   * The relay does not take our commit: the candidate goes, the group stays. `alongside` is asked
   * when it is written.
   */
  discard(alongside: () => readonly RecordChange[] = () => []): Promise<void> {
    return this.#exclusive(() => this.#write(() => [...this.#recorded.discard(), ...alongside()]));
  }

  /** Our commits lost their race; see `RecordedGroup`. */
  discardAll(alongside: () => readonly RecordChange[]): Promise<void> {
    return this.#exclusive(() =>
      this.#write(() => [...this.#recorded.discardAll(), ...alongside()])
    );
  }

  /**
   * The candidate is sent no more, and stays; see `RecordedGroup`. Nothing when the group has left
   * its epoch meanwhile.
   */
  async give(
    prepared: PreparedCommit,
    dropped?: PreparedCommit,
    alongside?: () => RecordChange,
  ): Promise<void> {
    const changes = (): RecordChange[] => [
      ...this.#recorded.give(prepared, dropped),
      ...alongside ? [alongside()] : [],
    ];
    await this.#inEpochOf(prepared, () => this.#write(changes));
  }

  #inEpochOf({ epoch }: PreparedCommit, act: () => Promise<void>): Promise<boolean> {
    return this.#exclusive(async () => {
      if (epoch !== this.group.epoch) return false;
      await act();
      return true;
    });
  }

  /** Whether a message of this epoch is our own, and sealed with a key that we have not used. */
  isUnknownOwn(message: Uint8Array): Promise<boolean> {
    return this.#exclusive(async () => await this.#recorded.isUnknownOwn(message));
  }

  /** See `RecordedGroup`. */
  prepareFounding(founding: FoundingCandidate): RecordChange {
    return this.#recorded.prepareFounding(founding);
  }

  forgetFounding(hash: string): RecordChange {
    return this.#recorded.forgetFounding(hash);
  }

  /**
   * A new generation: its first epoch takes the present one's place, which stays for messages that
   * are not read yet.
   */
  enterGeneration(
    generation: Pick<FoundingCandidate, "next" | "changes">,
    alongside: () => readonly RecordChange[],
  ): Promise<void> {
    return this.#exclusive(async () => {
      const step = this.#recorded.enterGeneration(generation);
      await this.#keep(step, alongside);
    });
  }

  /** Every message before this epoch was consumed or has expired. */
  async forgetBefore(epoch: number): Promise<void> {
    if (!this.group.past.hasBefore(BigInt(epoch))) return;
    const forgotten = this.#exclusive(() => this.#writeInParts(this.#recorded.forgetBefore(epoch)));
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

  /**
   * Resolves when no write is pending; this object writes nothing any more. The state on disk can
   * be loaded again.
   */
  async close(): Promise<void> {
    // Behind what is under way. An object that has ended already refuses, and writes nothing
    // either.
    await this.#exclusive(async () => {
      try {
        const changes = this.#recorded.giveBack();
        await this.#write(() => changes);
      } finally {
        this.#ended ??= new MlsFault("The channel was closed here; open it again");
      }
    }).catch(() => {});
  }

  /** `alongside` goes into the same write. */
  async #keep(
    { write, over }: RecordedStep<unknown>,
    alongside: () => readonly RecordChange[] = () => [],
  ): Promise<void> {
    await this.#write(() => [...write, ...alongside()]);
    await this.#writeInParts(over);
  }

  /**
   * After a write that failed, or whose changes could not be told, memory is ahead of the disk, and
   * going on could use a key twice after a restart.
   */
  async #write(changesOf: () => readonly RecordChange[]): Promise<void> {
    try {
      const changes = changesOf();
      if (changes.length > 0) await this.#records.batch(changes);
    } catch (cause) {
      this.#ended = cause;
      throw cause;
    }
  }

  async #writeInParts(changes: readonly RecordChange[]): Promise<void> {
    for (let at = 0; at < changes.length; at += maxDeletions) {
      await this.#write(() => changes.slice(at, at + maxDeletions));
    }
  }

  /** In the order of the calls: what is written belongs to what the group just did. */
  #exclusive<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(() => {
      this.#checkNotEnded();
      return act();
    });
    this.#tail = result.catch(() => {});
    return result;
  }

  #checkNotEnded(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }
}
