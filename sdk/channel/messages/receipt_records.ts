/** Receipts on disk: those that this agent owes, and messages of ours that ask for them. */
import {
  type AgentId,
  type ChannelId,
  type MessageId,
  parseAgentId,
  parseBinaryId,
  receiptStates,
} from "../../../proto/mod.ts";
import type { SpentReceipts } from "../../content/receipt_budget.ts";
import type { RecordChange } from "../../store/mod.ts";
import {
  type ChannelRecords,
  deleteRecord,
  fieldsOf,
  fieldsUnder,
  putRecord,
} from "../channel_kinds.ts";
import type { ReceiptRequest, ReceiptStatement } from "./asked_receipts.ts";
import { keyOf, type ReceiptDebt } from "./owed_receipts_state.ts";

/** Only what is on disk is read again, so `noted` and `due` are one. */
export function putDebt(channelId: ChannelId, debt: ReceiptDebt): RecordChange {
  const { state, isAcknowledged, at, sinceMs } = debt;
  return putRecord(channelId, `owed/${keyOf(debt)}`, [
    receiptStates.indexOf(state),
    isAcknowledged,
    at === "told",
    Math.round(sinceMs),
  ]);
}

export function deleteDebt(channelId: ChannelId, key: string): RecordChange {
  return deleteRecord(channelId, `owed/${key}`);
}

export function debtsOf(records: ChannelRecords): readonly ReceiptDebt[] {
  return fieldsUnder(records, "owed").map(([key, fields]) => {
    const [id = "", asker = ""] = key.split(".");
    return {
      id: parseBinaryId<MessageId>(id),
      asker: parseAgentId(asker),
      state: stateOf(fields.number(0)),
      isAcknowledged: fields.flag(1),
      at: fields.flag(2) ? "told" : "due",
      sinceMs: fields.number(3),
    };
  });
}

export function putAsked(channelId: ChannelId, { id, sentMs, by }: ReceiptRequest): RecordChange {
  return putRecord(channelId, `asked/${id}`, [
    Math.round(sentMs),
    Array.from(by, ([agentId, said]) => [
      agentId,
      said === undefined ? null : receiptStates.indexOf(said.state),
      said === undefined ? null : Math.round(said.atMs),
    ]),
  ]);
}

export function deleteAsked(channelId: ChannelId, id: MessageId): RecordChange {
  return deleteRecord(channelId, `asked/${id}`);
}

export function askedOf(records: ChannelRecords): readonly ReceiptRequest[] {
  return fieldsUnder(records, "asked").map(([id, fields]) => ({
    id: parseBinaryId<MessageId>(id),
    sentMs: fields.number(0),
    by: new Map(
      fields.rows(1).map((row): [AgentId, ReceiptStatement | undefined] => {
        const [state, atMs] = [row.optionalNumber(1), row.optionalNumber(2)];
        const said = state === undefined || atMs === undefined
          ? undefined
          : { state: stateOf(state), atMs };
        return [parseAgentId(row.text(0)), said];
      }),
    ),
  }));
}

export function putSpent(channelId: ChannelId, { day, receipts }: SpentReceipts): RecordChange {
  return putRecord(channelId, "receipts", [day, receipts]);
}

export function spentOf(records: ChannelRecords): SpentReceipts | undefined {
  const fields = fieldsOf(records, "receipts");
  return fields && { day: fields.number(0), receipts: fields.number(1) };
}

function stateOf(number: number): (typeof receiptStates)[number] {
  const state = receiptStates[number];
  if (state === undefined) throw new RangeError(`A receipt was noted in state ${number}`);
  return state;
}
