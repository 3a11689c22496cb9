/**
 * The content of a message, inside the MLS plaintext (docs/protocol.md). A payload without any of
 * it stays exactly its bytes; an enveloped one begins with a fixed tag. The relay sees neither. A
 * later version may send kinds and fields that this one does not know: they are told apart from
 * what is broken, because only the second is somebody's fault.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type CborMap, type CborValue, decodeFirstCbor, encodeCbor } from "../base/cbor.ts";
import { WireError } from "../base/errors.ts";
import {
  type AgentId,
  binaryIdBytes,
  binaryIdFromBytes,
  binaryIdToBytes,
  type MessageId,
  parseAgentId,
} from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import {
  binaryId,
  bool,
  fixedBytes,
  type Infer,
  list,
  optional,
  parsedText,
  type SchemaField,
  struct,
  text,
  uint,
} from "../base/schema.ts";

/**
 * In the order of their numbers on the wire; 4 is reserved. `error` is the reply of a handler that
 * failed; `receipt` says what became of messages (`receipt.ts`).
 */
export const contentKinds = [
  "message",
  "request",
  "reply",
  "error",
  undefined,
  "receipt",
] as const;
export type ContentKind = NonNullable<(typeof contentKinds)[number]>;

/**
 * How much a sender wants to learn of its message. `delivered`: also what prevents it. `done`: that
 * the program has said so, as well.
 */
export type ReceiptWanted = "delivered" | "done";

/** By their numbers on the wire. */
const receiptsWanted: Readonly<Record<ReceiptWanted, number>> = { delivered: 1, done: 3 };

const agentIdCharacters = 22;
export const replySecretBytes = 16;
const visible = /^[\x20-\x7e]+$/;
/** Control characters have no place in what programs and people compare. */
const visibleText = (max: number): SchemaField<string> =>
  parsedText(
    "visible ASCII",
    max,
    (value) => visible.test(value) ? value : refuse("a text has invisible characters"),
  );

const fieldsSchema = struct({
  contentType: [1, optional(visibleText(limits.contentTypeBytes))],
  to: [2, optional(addressees())],
  replyTo: [3, optional(binaryId<MessageId>())],
  conversation: [4, optional(text(limits.conversationBytes, 1))],
  deadlineMs: [5, optional(uint())],
  expiryMs: [6, optional(uint())],
  headers: [7, optional(headers())],
  error: [8, optional(visibleText(limits.contentErrorBytes))],
  again: [9, optional(bool())],
  replySecret: [10, optional(fixedBytes(replySecretBytes))],
  retryAfterMs: [11, optional(uint())],
  /** The sender's, of another channel: for its client, not for programs; see `confirmation.ts`. */
  confirmation: [32, optional(fixedBytes(limits.contentConfirmationBytes))],
  /** Its sender asks those that it is for. */
  receipt: [33, optional(receiptWanted())],
});

/** Fields of an envelope about its body. Times are milliseconds since 1970 by the relay's clock. */
export type ContentFields = Infer<typeof fieldsSchema>;

export interface Content {
  readonly kind: ContentKind;
  readonly fields: ContentFields;
  readonly body: Uint8Array;
}

export type DecodedContent =
  /** The bytes are the payload. */
  | { readonly form: "raw"; readonly body: Uint8Array }
  | { readonly form: "enveloped"; readonly content: Content }
  /** Of a later version: to be skipped. */
  | { readonly form: "later"; readonly what: string };

/** CBOR tag 0x53544154, "STAT". */
export const contentTag: Uint8Array = Uint8Array.of(0xda, 0x53, 0x54, 0x41, 0x54);
const version = 1;
const fourItems = 0x84;
const byteString = 0x40;
/** A version or kind is one byte: an integer below 24. */
const smallInteger = 24;
/** Fields below this number must be understood, others may be ignored. */
const mayBeIgnored = 32;
const headBytes = contentTag.length + 3;
const known: ReadonlySet<CborValue> = new Set(
  Object.values(fieldsSchema.shape).map(([key]) => key),
);

const needs: Readonly<Record<ContentKind, readonly (keyof ContentFields)[]>> = {
  message: [],
  request: ["to", "deadlineMs", "replySecret"],
  reply: ["to", "replyTo", "expiryMs"],
  error: ["to", "replyTo", "expiryMs", "error"],
  receipt: ["to"],
};
/** Fields that mean something in these kinds only. */
const belongings: readonly {
  readonly name: keyof ContentFields;
  readonly owners: readonly ContentKind[];
}[] = [
  { name: "deadlineMs", owners: ["request"] },
  { name: "again", owners: ["request"] },
  { name: "replySecret", owners: ["request"] },
  { name: "error", owners: ["error"] },
  { name: "retryAfterMs", owners: ["error"] },
  { name: "receipt", owners: ["message", "request"] },
];

/** Throws `WireError` for fields beyond their limits. */
export function encodeContent({ kind, fields, body }: Content): Uint8Array<ArrayBuffer> {
  const encoded = encodeCbor(encodeFields(check(kind, fields)));
  if (encoded.length > limits.contentFieldsBytes) {
    refuse(`its fields take more than ${limits.contentFieldsBytes} bytes`);
  }
  const bodyAt = headBytes + encoded.length + headLength(body.length);
  const bytes = new Uint8Array(bodyAt + body.length);
  bytes.set(contentTag);
  bytes[contentTag.length] = fourItems;
  bytes[contentTag.length + 1] = version;
  bytes[contentTag.length + 2] = contentKinds.indexOf(kind);
  bytes.set(encoded, headBytes);
  writeHead(bytes, headBytes + encoded.length, body.length);
  bytes.set(body, bodyAt);
  return bytes;
}

/** Bytes that an application sends as they are. */
export function encodeRawPayload(payload: Uint8Array): Uint8Array {
  return hasTag(payload) ? encodeContent({ kind: "message", fields: {}, body: payload }) : payload;
}

/**
 * The body is a part of `plaintext`, not a copy. Throws `WireError` for what no version may send.
 */
export function decodeContent(plaintext: Uint8Array): DecodedContent {
  if (!hasTag(plaintext)) return { form: "raw", body: plaintext };
  const [sentVersion, kindNumber] = [
    plaintext[contentTag.length + 1],
    plaintext[contentTag.length + 2],
  ];
  if (
    plaintext[contentTag.length] !== fourItems || sentVersion === undefined ||
    kindNumber === undefined
  ) {
    return refuse("it is not an array of four");
  }
  if (sentVersion >= smallInteger || kindNumber >= smallInteger) {
    refuse("its version or kind is not a small integer");
  }
  if (sentVersion !== version) return { form: "later", what: `version ${sentVersion}` };
  const kind = contentKinds[kindNumber];
  if (kind === undefined) return { form: "later", what: `kind ${kindNumber}` };
  const { value, length } = decodeFirstCbor(
    plaintext.subarray(headBytes),
    limits.contentFieldsBytes,
  );
  if (!(value instanceof Map)) return refuse("its fields are not a map");
  for (const key of value.keys()) {
    if (known.has(key)) continue;
    if (typeof key !== "number" || key < 0) refuse("a field is not numbered");
    if (key < mayBeIgnored) return { form: "later", what: `field ${key}` };
    value.delete(key);
  }
  const fields = check(kind, fieldsSchema.parse(value, "content"));
  return {
    form: "enveloped",
    content: { kind, fields, body: bodyOf(plaintext, headBytes + length) },
  };
}

/** Inputs of a reply's id. */
export interface AnsweredRequest {
  readonly id: MessageId;
  readonly from: AgentId;
  readonly secret: Uint8Array;
}

/**
 * Under which the relay takes a handler's reply to a request once, however often it is sent. The
 * relay sees both ids. The secret stands in the encrypted request, so that the relay cannot tell
 * that they belong together.
 */
export function replyIdOf({ id, from, secret }: AnsweredRequest, handler: AgentId): MessageId {
  const label = concatBytes(utf8ToBytes("static reply"), Uint8Array.of(0));
  const digest = hmac(
    sha256,
    secret,
    concatBytes(label, binaryIdToBytes(id), utf8ToBytes(from + handler)),
  );
  return binaryIdFromBytes(digest.subarray(0, binaryIdBytes));
}

function hasTag(bytes: Uint8Array): boolean {
  for (let i = 0; i < contentTag.length; i++) if (bytes[i] !== contentTag[i]) return false;
  return true;
}

/** Each is held to its limits as a reader would. */
function encodeFields(fields: ContentFields): CborMap {
  const map: CborMap = new Map();
  for (const name in fields) {
    if (!isFieldName(name) || fields[name] === undefined) continue;
    const [key, field] = fieldsSchema.shape[name];
    // cast: the shape ties the name to this field's type
    const value = field.encode(fields[name] as never);
    field.parse(value, name);
    map.set(key, value);
  }
  return map;
}

function isFieldName(name: string): name is keyof ContentFields {
  return Object.hasOwn(fieldsSchema.shape, name);
}

function check(kind: ContentKind, fields: ContentFields): ContentFields {
  for (const name of needs[kind]) {
    if (fields[name] === undefined) refuse(`a ${kind} has no ${name}`);
  }
  for (const { name, owners } of belongings) {
    if (fields[name] !== undefined && !owners.includes(kind)) refuse(`a ${kind} has ${name}`);
  }
  if (kind !== "message" && kind !== "request" && fields.to?.length !== 1) {
    refuse(`a ${kind} is for one agent`);
  }
  return fields;
}

/** Of a byte string's head in its shortest form. */
function headLength(length: number): number {
  return length < 24 ? 1 : length < 0x100 ? 2 : length < 0x10000 ? 3 : 5;
}

function writeHead(bytes: Uint8Array, at: number, length: number): void {
  const more = headLength(length) - 1;
  bytes[at] = byteString | (more === 0 ? length : more === 4 ? 26 : 23 + more);
  for (let i = 0; i < more; i++) bytes[at + more - i] = (length >>> (8 * i)) & 0xff;
}

/** A byte string that reaches to the end, its head in the shortest form. */
function bodyOf(plaintext: Uint8Array, at: number): Uint8Array {
  const additional = (plaintext[at] ?? 0) - byteString;
  const more = additional < 24 ? 0 : additional === 26 ? 4 : additional - 23;
  let length = 0;
  for (let i = 1; i <= more; i++) length = length * 256 + (plaintext[at + i] ?? 0);
  if (more === 0) length = additional;
  const bodyAt = at + 1 + more;
  if (
    additional < 0 || additional > 26 || headLength(length) !== more + 1 ||
    plaintext.length - bodyAt !== length
  ) {
    return refuse("its body is not a byte string that reaches to the end");
  }
  return plaintext.subarray(bodyAt);
}

/** Ascending, so that one set of addressees has one form. */
function addressees(): SchemaField<readonly AgentId[]> {
  const inner = list(
    parsedText("agent id", agentIdCharacters, parseAgentId),
    limits.contentAddressees,
    1,
  );
  return {
    ...inner,
    parse: (value, where) => {
      const parsed = inner.parse(value, where);
      const ascends = parsed.every((each, i) => i === 0 || (parsed[i - 1] ?? "") < each);
      return ascends ? parsed : refuse(`${where} is not in ascending order, each once`);
    },
    encode: (value) => [...value].sort(),
  };
}

function receiptWanted(): SchemaField<ReceiptWanted> {
  const { delivered, done } = receiptsWanted;
  return {
    type: { kind: "uint", min: delivered, max: done },
    parse: (value, where) =>
      value === delivered
        ? "delivered"
        : value === done
        ? "done"
        : refuse(`${where} is neither ${delivered} nor ${done}`),
    encode: (value) => receiptsWanted[value],
  };
}

function headers(): SchemaField<ReadonlyMap<string, string>> {
  const name = visibleText(limits.contentHeaderNameBytes);
  const content = text(limits.contentHeaderValueBytes);
  return {
    type: { kind: "list", item: content.type, min: 1, max: limits.contentHeaders },
    parse: (value, where) => {
      if (!(value instanceof Map) || value.size === 0) {
        return refuse(`${where} is not a map with entries`);
      }
      if (value.size > limits.contentHeaders) {
        return refuse(`${where} has more than ${limits.contentHeaders} entries`);
      }
      return new Map(
        Array.from(value, ([key, each]) => [name.parse(key, where), content.parse(each, where)]),
      );
    },
    encode: (value) => new Map(value),
  };
}

function refuse(why: string): never {
  throw new WireError("invalid_request", `Cannot use the content: ${why}`);
}
