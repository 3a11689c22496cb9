/**
 * Protobuf ⇄ envelope for every operation, both ways, lossless. There is no code per operation: a
 * field's number in `relay.proto` is its key in the CBOR body, so the descriptors drive the
 * conversion and the body's own schema checks it.
 */
import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import type { CborMap, CborValue } from "../base/cbor.ts";
import {
  type Delivery,
  DeliverySchema,
  type ErrorDetail,
  ErrorDetailSchema,
  methodOf,
  paddingField,
  uncapitalize,
} from "./descriptors.ts";
import type { NoticeEnvelope } from "./envelope.ts";
import { WireError } from "../base/errors.ts";
import {
  type CallName,
  calls,
  type ErrorBody,
  errorBody,
  type NoticeName,
  notices,
  type ReplyBody,
  type RequestBody,
} from "./operations.ts";
import type { AnyStruct } from "../base/schema.ts";

/**
 * Throws `WireError` when a value breaks the limits of the contract, as decoding an envelope would.
 */
export function requestFromMessage<Name extends CallName>(
  name: Name,
  message: Message,
): RequestBody<Name> {
  const body = parse(calls[name].request, methodOf(name).input, message, name);
  return body as RequestBody<Name>; // cast: parsed by this operation's own schema
}

export function requestToMessage<Name extends CallName>(
  name: Name,
  body: RequestBody<Name>,
): Message {
  return encode(calls[name].request, methodOf(name).input, body);
}

export function replyFromMessage<Name extends CallName>(
  name: Name,
  message: Message,
): ReplyBody<Name> {
  const body = parse(calls[name].reply, methodOf(name).output, message, name);
  return body as ReplyBody<Name>; // cast: parsed by this operation's own schema
}

export function replyToMessage<Name extends CallName>(name: Name, body: ReplyBody<Name>): Message {
  return encode(calls[name].reply, methodOf(name).output, body);
}

export function noticeFromDelivery(
  { notice: { case: caseName, value } }: Delivery,
): NoticeEnvelope {
  const name = noticeNameByCase.get(caseName ?? "");
  if (name === undefined || value === undefined) {
    throw new WireError(
      "invalid_request",
      "A Delivery carries a notice that this version does not know",
    );
  }
  const body = parse(notices[name].body, noticeDescriptor(name), value, name);
  // cast: parsed by this notice's own schema
  return { kind: "notice", operation: name, body } as NoticeEnvelope;
}

export function noticeToDelivery({ operation, body }: NoticeEnvelope): Delivery {
  const value = encode(notices[operation].body, noticeDescriptor(operation), body);
  return create(DeliverySchema, { notice: { case: uncapitalize(operation), value } });
}

export function errorFromDetail(detail: ErrorDetail): ErrorBody {
  return errorBody.parse(mapFromMessage(ErrorDetailSchema, detail), "ErrorDetail");
}

export function errorToDetail(body: ErrorBody): ErrorDetail {
  return messageFromMap(ErrorDetailSchema, errorBody.encode(body));
}

function parse(
  schema: AnyStruct,
  descriptor: DescMessage,
  message: Message,
  where: string,
): unknown {
  return schema.parse(mapFromMessage(descriptor, message), where);
}

function encode(schema: AnyStruct, descriptor: DescMessage, body: unknown): Message {
  // cast: callers pass the body of this schema
  return messageFromMap(descriptor, schema.encode(body as never));
}

function mapFromMessage(descriptor: DescMessage, message: Message): CborMap {
  // cast: read by the descriptor's names
  const source = message as unknown as Readonly<Record<string, unknown>>;
  const map: CborMap = new Map();
  for (const field of descriptor.fields) {
    const value = source[field.localName];
    if (field.number === paddingField || value === undefined) continue;
    map.set(
      field.number,
      Array.isArray(value) ? value.map((item) => fromField(field, item)) : fromField(field, value),
    );
  }
  return map;
}

function messageFromMap<Desc extends DescMessage>(
  descriptor: Desc,
  map: CborMap,
): MessageShape<Desc> {
  const message = create(descriptor);
  const target = message as Record<string, unknown>; // cast: written by the descriptor's names
  for (const field of descriptor.fields) {
    const value = map.get(field.number);
    if (value === undefined) continue;
    target[field.localName] = Array.isArray(value)
      ? value.map((item) => toField(field, item))
      : toField(field, value);
  }
  return message;
}

function fromField(field: DescField, value: unknown): CborValue {
  // cast: the descriptor says so
  if (field.message !== undefined) return mapFromMessage(field.message, value as Message);
  if (typeof value !== "bigint") return value as CborValue; // cast: text, bytes, boolean, number
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new WireError("invalid_request", `${field.localName} is beyond 2^53 - 1`);
  }
  return Number(value);
}

function toField(field: DescField, value: CborValue): unknown {
  if (field.message !== undefined) {
    if (!(value instanceof Map)) {
      throw new TypeError(`${field.localName} is a message but its schema is not a struct`);
    }
    return messageFromMap(field.message, value);
  }
  return typeof value === "number" && field.scalar === ScalarType.UINT64 ? BigInt(value) : value;
}

function noticeDescriptor(name: NoticeName): DescMessage {
  const descriptor = DeliverySchema.field[uncapitalize(name)]?.message;
  if (descriptor === undefined) throw new TypeError(`Delivery.${name} is not a message`);
  return descriptor;
}

const noticeNameByCase: ReadonlyMap<string, NoticeName> = new Map(
  // cast: keys of the table
  Object.keys(notices).map((name) => [uncapitalize(name), name as NoticeName]),
);
