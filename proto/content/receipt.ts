/**
 * The body of a receipt: what became of messages at one of those that they were for. The table of
 * states is in docs/messages.md#receipts.
 */
import { type CborValue, decodeCbor, encodeCbor } from "../base/cbor.ts";
import { WireError } from "../base/errors.ts";
import { binaryIdBytes, binaryIdFromBytes, binaryIdToBytes, type MessageId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";

/**
 * The fate of a message at one of those that it was for: acknowledged there, held by a rule for a
 * person, refused, or done with, by the program's own word.
 */
export type ReceiptState = "delivered" | "held" | "refused" | "done";

/** In the order of their numbers on the wire, from 1 on. */
export const receiptStates: readonly ReceiptState[] = ["delivered", "held", "refused", "done"];

export interface Receipt {
  readonly id: MessageId;
  readonly state: ReceiptState;
}

/** Also by way of another: what lies between two receipts need not have been said. */
const followers: Readonly<Record<ReceiptState, readonly ReceiptState[]>> = {
  delivered: ["done"],
  held: ["delivered", "refused", "done"],
  refused: [],
  done: [],
};

/** States go forward alone. Undefined: nothing was said yet. */
export function mayFollow(before: ReceiptState | undefined, next: ReceiptState): boolean {
  return before === undefined || followers[before].includes(next);
}

/** Of an array, and of each of its arrays of an id and a state. */
const maxBytes = 3 + limits.contentReceipts * (3 + binaryIdBytes);

export function encodeReceipts(receipts: readonly Receipt[]): Uint8Array<ArrayBuffer> {
  check(receipts);
  return encodeCbor(receipts.map(({ id, state }) => [binaryIdToBytes(id), numberOf(state)]));
}

/** Throws `WireError`. */
export function decodeReceipts(body: Uint8Array): readonly Receipt[] {
  const value = decodeCbor(body, maxBytes);
  if (!Array.isArray(value)) return refuse("it is not a list");
  return check(value.map(receiptOf));
}

function numberOf(state: ReceiptState): number {
  return receiptStates.indexOf(state) + 1;
}

function receiptOf(value: CborValue): Receipt {
  if (!Array.isArray(value) || value.length !== 2) return refuse("an item is not of two");
  const [id, number] = value;
  if (!(id instanceof Uint8Array) || id.length !== binaryIdBytes) {
    return refuse("an item is about no message");
  }
  const state = typeof number === "number" ? receiptStates[number - 1] : undefined;
  if (state === undefined) return refuse("an item has an unknown state");
  return { id: binaryIdFromBytes<MessageId>(id), state };
}

function check(receipts: readonly Receipt[]): readonly Receipt[] {
  const { length } = receipts;
  if (length === 0 || length > limits.contentReceipts) {
    refuse(`it has ${length} items; 1 to ${limits.contentReceipts} are allowed`);
  }
  if (new Set(receipts.map(({ id }) => id)).size !== length) refuse("a message is in it twice");
  return receipts;
}

function refuse(why: string): never {
  throw new WireError("invalid_request", `Cannot use the receipt: ${why}`);
}
