/**
 * A member's confirmation of an epoch (`epochStatement`, signed) as it is carried in the plaintext
 * of another channel: of fixed length, so that a message's padding has room for it or not, and
 * nothing else changes.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { decodeContent, encodeContent } from "./content.ts";
import { WireError } from "../base/errors.ts";
import { binaryIdBytes, binaryIdFromBytes, binaryIdToBytes, type ChannelId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";

export interface Confirmation {
  readonly channelId: ChannelId;
  readonly epoch: number;
  readonly state: Uint8Array;
  readonly signature: Uint8Array;
}

const epochAt = binaryIdBytes;
const stateAt = epochAt + 8;
const signatureAt = stateAt + 32;

export function encodeConfirmation(
  { channelId, epoch, state, signature }: Confirmation,
): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(epoch));
  return concatBytes(binaryIdToBytes(channelId), number, state, signature);
}

/** Throws `WireError`. */
export function decodeConfirmation(bytes: Uint8Array): Confirmation {
  if (bytes.length !== limits.contentConfirmationBytes) {
    throw refused(`it has ${bytes.length} bytes`);
  }
  const epoch = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(epochAt));
  if (!Number.isSafeInteger(epoch)) throw refused("its epoch is too large");
  return {
    channelId: binaryIdFromBytes<ChannelId>(bytes.slice(0, epochAt)),
    epoch,
    state: bytes.slice(stateAt, signatureAt),
    signature: bytes.slice(signatureAt),
  };
}

/**
 * The same content, with a confirmation beside it. Undefined for content that has one, or that this
 * version does not know.
 */
export function carryConfirmation(
  plaintext: Uint8Array,
  confirmation: Confirmation,
): Uint8Array | undefined {
  const decoded = decodeContent(plaintext);
  if (decoded.form === "later") return undefined;
  const { kind, fields, body } = decoded.form === "raw"
    ? { kind: "message" as const, fields: {}, body: decoded.body }
    : decoded.content;
  if (fields.confirmation !== undefined) return undefined;
  return encodeContent({
    kind,
    fields: { ...fields, confirmation: encodeConfirmation(confirmation) },
    body,
  });
}

function refused(why: string): WireError {
  return new WireError("invalid_request", `Cannot use the confirmation: ${why}`);
}
