/**
 * The body of a log entry. A message is its id and its ciphertext, stored once for all members; a
 * commit or a Welcome is the request that brought it, in the wire's own encoding; a leave statement
 * is the hash of the leaf that it is about, and its signature.
 *
 * Each kind has a list of readers, one per version of its encoding: a relay writes the last and
 * reads them all. To change an encoding, add a reader, and a line to `engine/migrations.ts` so that
 * relays without it refuse the file. A request that is stored must stay readable when the wire
 * changes it: then the reader before keeps the fields as they were.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import {
  binaryIdFromBytes,
  binaryIdToBytes,
  decodeClientEnvelope,
  encodeRequest,
  type MessageId,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { EntryHead } from "../../engine/engine.ts";
import { EngineError } from "../../engine/errors.ts";

/** To be spread into a new entry. */
export type EntryBody = Pick<EntryHead, "body" | "bodyVersion">;
type StoredBody = Pick<EntryHead, "kind" | "body" | "bodyVersion">;
/** The item at `i` reads version `i + 1`. */
type BodyReaders<T> = readonly ((body: Uint8Array) => T)[];

interface StoredMessage {
  readonly messageId: MessageId;
  readonly ciphertext: Uint8Array;
}

type StoredCommit = RequestBody<"SendCommit">;

export type LeaveBody = Pick<RequestBody<"LeaveChannel">, "leafHash" | "signature">;

const messages: BodyReaders<StoredMessage> = [splitMessage];
const commits: BodyReaders<StoredCommit> = [readCommit];
const foundings: BodyReaders<RequestBody<"FoundGeneration">> = [readFounding];
const welcomes: BodyReaders<RequestBody<"SendWelcome">> = [readWelcome];
const leaves: BodyReaders<LeaveBody> = [splitLeave];

const messageIdBytes = 16;
const leafHashBytes = 32;
/** Stored requests answer to nobody. */
const storedId = 1;

/** The body of a lapse or of a channel's end. */
export const emptyBody: EntryBody = { bodyVersion: 1, body: new Uint8Array(0) };

export function encodeMessageBody(messageId: MessageId, ciphertext: Uint8Array): EntryBody {
  return {
    bodyVersion: messages.length,
    body: concatBytes(binaryIdToBytes(messageId), ciphertext),
  };
}

export function decodeMessageBody(entry: StoredBody): StoredMessage {
  return readWith(messages, entry);
}

export function encodeCommitBody(commit: StoredCommit): EntryBody {
  return { bodyVersion: commits.length, body: encodeRequest(storedId, "SendCommit", commit) };
}

export function decodeCommitBody(entry: StoredBody): StoredCommit {
  return readWith(commits, entry);
}

export function encodeFoundingBody(founding: RequestBody<"FoundGeneration">): EntryBody {
  return {
    bodyVersion: foundings.length,
    body: encodeRequest(storedId, "FoundGeneration", founding),
  };
}

export function decodeFoundingBody(entry: StoredBody): RequestBody<"FoundGeneration"> {
  return readWith(foundings, entry);
}

export function encodeWelcomeBody(welcome: RequestBody<"SendWelcome">): EntryBody {
  return { bodyVersion: welcomes.length, body: encodeRequest(storedId, "SendWelcome", welcome) };
}

export function decodeWelcomeBody(entry: StoredBody): RequestBody<"SendWelcome"> {
  return readWith(welcomes, entry);
}

export function encodeLeaveBody({ leafHash, signature }: LeaveBody): EntryBody {
  return { bodyVersion: leaves.length, body: concatBytes(leafHash, signature) };
}

export function decodeLeaveBody(entry: StoredBody): LeaveBody {
  return readWith(leaves, entry);
}

function readWith<T>(readers: BodyReaders<T>, { kind, bodyVersion, body }: StoredBody): T {
  const read = readers[bodyVersion - 1];
  if (read === undefined) {
    const text =
      `Cannot read an entry of kind "${kind}": its body has version ${bodyVersion}, this relay knows up to ` +
      `${readers.length}. Start the relay that wrote it, or a newer one`;
    throw new EngineError("unsupported_version", text);
  }
  return read(body);
}

function splitMessage(body: Uint8Array): StoredMessage {
  return {
    messageId: binaryIdFromBytes(body.subarray(0, messageIdBytes)),
    ciphertext: body.subarray(messageIdBytes),
  };
}

function splitLeave(body: Uint8Array): LeaveBody {
  return { leafHash: body.subarray(0, leafHashBytes), signature: body.subarray(leafHashBytes) };
}

function readCommit(bytes: Uint8Array): StoredCommit {
  const envelope = decodeClientEnvelope(bytes);
  if (envelope.operation !== "SendCommit") {
    throw new TypeError("A commit's entry holds another request");
  }
  return envelope.body;
}

function readFounding(bytes: Uint8Array): RequestBody<"FoundGeneration"> {
  const envelope = decodeClientEnvelope(bytes);
  if (envelope.operation !== "FoundGeneration") {
    throw new TypeError("A founding's entry holds another request");
  }
  return envelope.body;
}

function readWelcome(bytes: Uint8Array): RequestBody<"SendWelcome"> {
  const envelope = decodeClientEnvelope(bytes);
  if (envelope.operation !== "SendWelcome") {
    throw new TypeError("A Welcome's entry holds another request");
  }
  return envelope.body;
}
