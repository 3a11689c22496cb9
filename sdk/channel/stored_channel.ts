/**
 * A channel as its records tell it, besides its MLS state. Decoded without a wait: one scan of the
 * disk has shown them all.
 */
import type { AgentId, ChannelId } from "../../proto/mod.ts";
import { type Anchor, anchorOf } from "./connection/anchor.ts";
import { type BadCommit, badCommitOf, returnOf } from "./recovery/bad_commit.ts";
import type { ChannelRecords } from "./channel_kinds.ts";
import { confirmationsOf } from "./upkeep/confirmation_records.ts";
import { type ForeignGeneration, foreignOf } from "./recovery/foreign_generation.ts";
import { keyAgesOf, type SeenLeaf } from "./upkeep/key_age_records.ts";
import type { ChannelTrust } from "./group/key_changes.ts";
import type { OrderRecord } from "./order/order_state.ts";
import type { LogPosition } from "./reading/log_place.ts";
import {
  type CounterRecord,
  countersOf,
  type Landmarks,
  landmarksOf,
  logOf,
  orderOf,
  positionOf,
  type SenderRecord,
  sendersOf,
  trustOf,
} from "./records.ts";
import { askedOf, debtsOf, spentOf } from "./messages/receipt_records.ts";
import type { SpentReceipts } from "../content/receipt_budget.ts";
import type { ReceiptRequest } from "./messages/asked_receipts.ts";
import type { ReceiptDebt } from "./messages/owed_receipts_state.ts";
import type { ConfirmationRecords } from "./upkeep/confirmation_state.ts";

export interface StoredChannel {
  readonly trust: ChannelTrust;
  readonly anchor: Anchor;
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
  /** Undefined in a membership that has written no position. */
  readonly order: OrderRecord | undefined;
  readonly counters: CounterRecord;
  readonly senders: ReadonlyMap<AgentId, SenderRecord>;
  readonly confirmations: ConfirmationRecords;
  readonly keyAges: ReadonlyMap<AgentId, SeenLeaf>;
  readonly receipts: StoredReceipts;
}

/** Receipts that this agent owes, those that it waits for, and how many it has sent today. */
export interface StoredReceipts {
  readonly owed: readonly ReceiptDebt[];
  readonly asked: readonly ReceiptRequest[];
  readonly spent: SpentReceipts | undefined;
}

/** Throws `StoreError` for a record of another shape. */
export function decodeChannel(
  { channelId, joinedEpoch }: { readonly channelId: ChannelId; readonly joinedEpoch: number },
  records: ChannelRecords,
): StoredChannel {
  return {
    trust: trustOf(records),
    anchor: anchorOf(records),
    bad: badCommitOf(channelId, records),
    returnedMs: returnOf(records),
    foreign: foreignOf(records),
    position: positionOf(records),
    log: logOf(records),
    landmarks: landmarksOf(records),
    order: orderOf(records),
    counters: countersOf(records),
    senders: sendersOf(records),
    confirmations: confirmationsOf(records, joinedEpoch),
    keyAges: keyAgesOf(records),
    receipts: { owed: debtsOf(records), asked: askedOf(records), spent: spentOf(records) },
  };
}
