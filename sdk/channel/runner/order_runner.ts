/**
 * Carries out what `stepOrder` finds. Its steps write nothing and wait for nothing, so they are
 * made at once; what is known goes to disk with others' writes.
 */
import { type AgentId, type LogWord, readMessageWord } from "../../../proto/mod.ts";
import type { LongHash } from "../../mls/crypto/long_hash.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import { stepOrder, wordOf } from "../order/order.ts";
import {
  type OrderBeginning,
  type OrderEvent,
  type OrderFinding,
  orderRecord,
  type OrderState,
  restoreOrder,
} from "../order/order_state.ts";
import type { LogEntry } from "../reading/reading_state.ts";
import { type ChannelStore, putOrder } from "../records.ts";

export interface OrderParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly longHash: LongHash;
  readonly store: Pick<ChannelStore, "batch">;
  /** The position that is on disk. */
  readonly durable: () => number;
  readonly onFault: (fault: unknown) => void;
}

/** A message of ours under its counter, sealed in this epoch. */
interface SealedCounter {
  readonly counter: number;
  readonly epoch: number;
}

interface OpenedMessage {
  readonly sender: AgentId;
  readonly sequence: number;
  readonly epoch: number;
  readonly authenticatedData: Uint8Array;
}

export class OrderRunner {
  readonly #parts: OrderParts;
  readonly #state: OrderState;

  constructor(beginning: Omit<OrderBeginning, "channelId" | "epoch">, parts: OrderParts) {
    this.#parts = parts;
    const { channelId, epoch } = parts.membership;
    this.#state = restoreOrder({ ...beginning, channelId, epoch });
  }

  /** Said with a message that is sealed now. */
  get word(): LogWord {
    return wordOf(this.#state, this.#parts.membership.epoch);
  }

  // Reading

  /** The log was read up to here, where it is in this epoch. */
  passed(
    { sequence, epoch }: { readonly sequence: number; readonly epoch: number },
    entry: LogEntry | undefined,
  ): void {
    if (
      entry?.operation === "DeliverMessage" && entry.body.sequence === sequence &&
      entry.body.epoch === epoch
    ) {
      return this.#step({
        type: "passed",
        sequence,
        epoch,
        digest: this.#parts.longHash(entry.body.ciphertext),
      });
    }
    const isGap = entry?.operation === "DeliverGap" && entry.body.lastSequence === sequence;
    this.#step({ type: "passed", sequence, epoch, isGap });
  }

  opened({ authenticatedData, ...message }: OpenedMessage): void {
    this.#step({ type: "opened", ...message, word: readMessageWord(authenticatedData) });
  }

  /** A commit of ours stands there, and begins this epoch. */
  moved(sequence: number, epoch: number): void {
    this.#step({ type: "moved", sequence, epoch });
  }

  lost(): void {
    this.#step({ type: "lost", epoch: this.#parts.membership.epoch });
  }

  /** A membership begins behind this entry. */
  entered(sequence: number): void {
    this.#step({ type: "entered", sequence, epoch: this.#parts.membership.epoch });
  }

  // Sending

  departs(sealed: SealedCounter, ciphertext: Uint8Array): void {
    this.#step({ type: "departs", ...sealed, digest: this.#parts.longHash(ciphertext) });
  }

  stands(sealed: SealedCounter, sequence: number): void {
    this.#step({ type: "stands", ...sealed, sequence });
  }

  dropped(sealed: SealedCounter, mayStand: boolean): void {
    this.#step({ type: "dropped", ...sealed, mayStand });
  }

  // On disk

  /**
   * To be written with this position. While the disk knows that we send, nothing: killed then, we
   * are not sure anyway.
   */
  changesAt(position: number): RecordChange[] {
    return this.#state.isOpen ? [] : [this.#recordAt(position)];
  }

  #recordAt(position: number): RecordChange {
    return putOrder(this.#parts.membership.channelId, orderRecord(this.#state, position));
  }

  /** The disk knows that this process may send. */
  get isOpen(): boolean {
    return this.#state.isOpen;
  }

  /** To be written before anything is sent. */
  opening(): RecordChange {
    this.#step({ type: "opening" });
    return this.#recordAt(this.#parts.durable());
  }

  /** The channel is closed here. */
  close(): Promise<void> {
    this.#step({ type: "closing" });
    const { store, durable, onFault } = this.#parts;
    return store.batch([this.#recordAt(durable())]).catch(onFault);
  }

  #step(event: OrderEvent): void {
    for (const finding of stepOrder(this.#state, event)) this.#report(finding);
  }

  #report({ kind, sender, from, to }: OrderFinding): void {
    const seen = kind === "reordered" ? "messages in another order" : "more or fewer messages";
    const text =
      `${sender} has seen ${seen} than this agent, at entries ${from} to ${to} of the log: the relay shows ` +
      "members different logs, or that member lies; compare with others outside of Static";
    this.#parts.health.report(kind, text, { about: sender });
  }
}
