/**
 * What the core puts into the body of a log entry. A message is its id and its ciphertext, stored once for all members; a
 * commit or a Welcome is the request that brought it, in the wire's own frozen encoding; a leave statement is its signature.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import {
  binaryIdFromBytes,
  binaryIdToBytes,
  decodeClientEnvelope,
  encodeRequest,
  type MessageId,
  type RequestBody,
} from "../../proto/mod.ts";

const messageIdBytes = 16;
/** Stored requests answer to nobody. */
const storedId = 1;

export function encodeMessageBody(messageId: MessageId, ciphertext: Uint8Array): Uint8Array {
  return concatBytes(binaryIdToBytes(messageId), ciphertext);
}

export function decodeMessageBody(body: Uint8Array): { messageId: MessageId; ciphertext: Uint8Array } {
  return {
    messageId: binaryIdFromBytes(body.subarray(0, messageIdBytes)),
    ciphertext: body.subarray(messageIdBytes),
  };
}

export function encodeStored<Name extends "SendCommit" | "SendWelcome">(
  operation: Name,
  body: RequestBody<Name>,
): Uint8Array {
  return encodeRequest(storedId, operation, body);
}

export function decodeCommitBody(bytes: Uint8Array): RequestBody<"SendCommit"> {
  const envelope = decodeClientEnvelope(bytes);
  if (envelope.operation !== "SendCommit") throw new TypeError("A commit's entry holds another request");
  return envelope.body;
}

export function decodeWelcomeBody(bytes: Uint8Array): RequestBody<"SendWelcome"> {
  const envelope = decodeClientEnvelope(bytes);
  if (envelope.operation !== "SendWelcome") throw new TypeError("A Welcome's entry holds another request");
  return envelope.body;
}
