/**
 * Epochs that are over, for messages that were on their way when a commit overtook them. Each keeps
 * the parts for reading, and nothing to speak with: our own chain goes with the epoch.
 */
import type { Epoch } from "./epoch.ts";
import { Roster } from "./roster.ts";
import type { SecretTree } from "./secret_tree.ts";

export interface PastEpoch {
  readonly suiteId: Epoch["suiteId"];
  readonly context: Epoch["context"];
  readonly contextBytes: Uint8Array;
  readonly ownLeaf: number;
  readonly nodeCount: number;
  readonly roster: Roster;
  readonly senderData: Uint8Array;
  readonly secretTree: SecretTree;
}

/** A stored epoch is read when its first message is late enough to need it. */
export type LoadPastEpoch = () => PastEpoch;

export class PastEpochs {
  readonly #epochs: Map<bigint, PastEpoch | LoadPastEpoch>;
  /** Asked for since `takeTouched`. */
  #touched = new Set<PastEpoch>();
  #newest: PastEpoch | undefined;

  constructor(epochs: Iterable<readonly [bigint, LoadPastEpoch]> = []) {
    this.#epochs = new Map(epochs);
  }

  add({ suiteId, context, contextBytes, tree, ownLeaf, secrets, secretTree }: Epoch): PastEpoch {
    secretTree.forget(ownLeaf);
    // Field by field: private keys and the other secrets of an epoch must not outlive it.
    const past = {
      suiteId,
      context,
      contextBytes,
      ownLeaf,
      nodeCount: tree.nodeCount,
      roster: Roster.of(tree, this.#newest?.roster),
      senderData: secrets.senderData,
      secretTree,
    };
    this.#epochs.set(context.epoch, past);
    this.#newest = past;
    return past;
  }

  /** The members of the epoch that ended last, if that was since this was opened. */
  get lastRoster(): Roster | undefined {
    return this.#newest?.roster;
  }

  /** Their numbers, in no order. */
  get numbers(): Iterable<bigint> {
    return this.#epochs.keys();
  }

  has(epoch: bigint): boolean {
    return this.#epochs.has(epoch);
  }

  get(epoch: bigint): PastEpoch | undefined {
    const known = this.#epochs.get(epoch);
    if (known === undefined) return undefined;
    const past = typeof known === "function" ? known() : known;
    this.#epochs.set(epoch, past);
    this.#touched.add(past);
    return past;
  }

  /**
   * Epochs that were read in since this was last asked: the only ones whose secret trees can have
   * changed.
   */
  takeTouched(): PastEpoch[] {
    const touched = [...this.#touched];
    this.#touched = new Set();
    return touched;
  }

  hasBefore(epoch: bigint): boolean {
    for (const each of this.#epochs.keys()) if (each < epoch) return true;
    return false;
  }

  /**
   * All messages before this epoch were read or have expired: their keys are deleted. Returns the
   * forgotten epochs.
   */
  forgetBefore(epoch: bigint): PastEpoch[] {
    return this.#forget([...this.#epochs.keys()].filter((each) => each < epoch));
  }

  /** The oldest beyond so many; their numbers may be far apart. */
  forgetBeyond(count: number): PastEpoch[] {
    if (this.#epochs.size <= count) return [];
    const oldestFirst = [...this.#epochs.keys()].sort((a, b) => a < b ? -1 : 1);
    return this.#forget(oldestFirst.slice(0, oldestFirst.length - count));
  }

  #forget(epochs: readonly bigint[]): PastEpoch[] {
    const forgotten = epochs.flatMap((each) => this.get(each) ?? []);
    for (const past of forgotten) {
      this.#epochs.delete(past.context.epoch);
      this.#touched.delete(past);
    }
    return forgotten;
  }
}
