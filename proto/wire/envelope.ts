/**
 * The CBOR envelope: a map of version, kind, request id, operation and body. Every byte string that
 * decodes has exactly one meaning and one encoding. Requests, replies and errors are matched by id;
 * notices expect no answer.
 */
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from "../base/cbor.ts";
import { WireError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import {
  type CallName,
  calls,
  type ErrorBody,
  errorBody,
  type NoticeBody,
  type NoticeName,
  notices,
  type ReplyBody,
  type RequestBody,
} from "./operations.ts";
import type { AnyStruct } from "../base/schema.ts";

/** Versions and features, which both sides agree on in `GetChallenge` before anything else. */
export const protocolVersion = 2;

/**
 * Of the form of envelopes, which is older than version 2: so each side can tell the other what it
 * speaks.
 */
const envelopeVersion = 1;

/**
 * The most that an envelope adds to the ciphertext of a message, sent or delivered, whatever its
 * ids, epoch and times. MLS padding counts on it: all messages of one number of cells have one
 * length.
 */
export const maxMessageEnvelopeOverhead = 108;

/**
 * Envelopes of a client. A notice is a call marked `quiet`: it is answered only when it fails,
 * under its id.
 */
export type ClientEnvelope = {
  [Name in CallName]: {
    readonly kind: "request" | "notice";
    readonly id: number;
    readonly operation: Name;
    readonly body: RequestBody<Name>;
  };
}[CallName];

export type ReplyEnvelope = {
  [Name in CallName]: {
    readonly kind: "reply";
    readonly id: number;
    readonly operation: Name;
    readonly body: ReplyBody<Name>;
  };
}[CallName];

export type NoticeEnvelope = {
  [Name in NoticeName]: {
    readonly kind: "notice";
    readonly operation: Name;
    readonly body: NoticeBody<Name>;
  };
}[NoticeName];

/** `id` is 0 when the request was too broken to carry one. */
export interface ErrorEnvelope {
  readonly kind: "error";
  readonly id: number;
  readonly body: ErrorBody;
}

/** Envelopes of the relay. */
export type RelayEnvelope = ReplyEnvelope | ErrorEnvelope | NoticeEnvelope;

const key = { version: 1, kind: 2, id: 3, operation: 4, body: 5 } as const;
const kind = { request: 1, reply: 2, error: 3, notice: 4 } as const;
const envelopeKeys = Object.keys(key).length;
/** Errors belong to a request id, not to an operation. */
const errorOperation = 0;

const callNames = namesByNumber(calls);
const noticeNames = namesByNumber(notices);

export function encodeRequest<Name extends CallName>(
  id: number,
  operation: Name,
  body: RequestBody<Name>,
): Uint8Array<ArrayBuffer> {
  const { number, request } = calls[operation];
  return encodeParts(kind.request, id, number, encodeBody(request, body));
}

/** A quiet call that wants no reply; the relay answers only an error. */
export function encodeClientNotice<Name extends CallName>(
  id: number,
  operation: Name,
  body: RequestBody<Name>,
): Uint8Array<ArrayBuffer> {
  const { number, request, quiet } = calls[operation];
  if (!quiet) throw new TypeError(`${operation} must be sent as a request`);
  return encodeParts(kind.notice, id, number, encodeBody(request, body));
}

export function encodeReply<Name extends CallName>(
  id: number,
  operation: Name,
  body: ReplyBody<Name>,
): Uint8Array<ArrayBuffer> {
  const { number, reply } = calls[operation];
  return encodeParts(kind.reply, id, number, encodeBody(reply, body));
}

export function encodeError(id: number, body: ErrorBody): Uint8Array<ArrayBuffer> {
  return encodeParts(kind.error, id, errorOperation, errorBody.encode(body));
}

/** The same bytes for every receiver, so a fan-out encodes once. */
export function encodeNotice<Name extends NoticeName>(
  operation: Name,
  body: NoticeBody<Name>,
): Uint8Array<ArrayBuffer> {
  const { number, body: schema } = notices[operation];
  return encodeParts(kind.notice, 0, number, encodeBody(schema, body));
}

/** At the relay. Throws `WireError`, with `requestId` set whenever the request can be answered. */
export function decodeClientEnvelope(
  bytes: Uint8Array,
  maxBytes: number = limits.envelopeBytes,
): ClientEnvelope {
  const parts = decodeParts(bytes, maxBytes);
  if (parts.kind !== kind.request && parts.kind !== kind.notice) {
    throw new WireError("protocol_error", "A client sends requests and notices only");
  }
  if (parts.id === 0) throw new WireError("protocol_error", "A request needs an id of at least 1");
  const name = callNames.get(parts.operation);
  if (name === undefined) {
    throw new WireError("unknown_operation", `Operation ${parts.operation} does not exist`, {
      requestId: parts.id,
    });
  }
  const call = calls[name];
  if (parts.kind === kind.notice && !call.quiet) {
    throw new WireError("protocol_error", `${name} must be sent as a request`, {
      requestId: parts.id,
    });
  }
  const envelope = {
    kind: parts.kind === kind.request ? "request" : "notice",
    id: parts.id,
    operation: name,
    body: parseBody(call.request, parts, name),
  };
  return envelope as ClientEnvelope; // cast: the body was parsed by this operation's own schema
}

/** At the client. Throws `WireError`. */
export function decodeRelayEnvelope(
  bytes: Uint8Array,
  maxBytes: number = limits.envelopeBytes,
): RelayEnvelope {
  const parts = decodeParts(bytes, maxBytes);
  switch (parts.kind) {
    case kind.reply: {
      const name = callNames.get(parts.operation);
      if (name === undefined) throw unknownToClient(parts.operation);
      const envelope = {
        kind: "reply",
        id: parts.id,
        operation: name,
        body: parseBody(calls[name].reply, parts, name),
      };
      return envelope as ReplyEnvelope; // cast: the body was parsed by this operation's own schema
    }
    case kind.notice: {
      const name = noticeNames.get(parts.operation);
      if (name === undefined || parts.id !== 0) throw unknownToClient(parts.operation);
      const envelope = {
        kind: "notice",
        operation: name,
        body: parseBody(notices[name].body, parts, name),
      };
      return envelope as NoticeEnvelope; // cast: the body was parsed by this notice's own schema
    }
    case kind.error:
      if (parts.operation !== errorOperation) throw unknownToClient(parts.operation);
      return { kind: "error", id: parts.id, body: errorBody.parse(parts.body, "error") };
    default:
      throw new WireError("protocol_error", "The relay sends replies, errors and notices only");
  }
}

interface EnvelopeParts {
  readonly kind: number;
  readonly id: number;
  readonly operation: number;
  readonly body: CborMap;
}

function encodeParts(
  kindNumber: number,
  id: number,
  operation: number,
  body: CborMap,
): Uint8Array<ArrayBuffer> {
  const map: CborMap = new Map<CborValue, CborValue>([
    [key.version, envelopeVersion],
    [key.kind, kindNumber],
    [key.id, id],
    [key.operation, operation],
    [key.body, body],
  ]);
  return encodeCbor(map);
}

/** The version is judged before anything else: another version may have another shape. */
function decodeParts(bytes: Uint8Array, maxBytes: number): EnvelopeParts {
  const map = decodeCbor(bytes, maxBytes);
  if (!(map instanceof Map)) throw new WireError("protocol_error", "An envelope is a map");
  const version = map.get(key.version);
  if (version !== envelopeVersion) {
    throw new WireError(
      "unsupported_version",
      `This side speaks envelopes of version ${envelopeVersion}`,
    );
  }
  const body = map.get(key.body);
  const parts = {
    kind: map.get(key.kind),
    id: map.get(key.id),
    operation: map.get(key.operation),
    body,
  };
  if (
    map.size !== envelopeKeys || !isUint(parts.kind) || !isUint(parts.id) ||
    !isUint(parts.operation) ||
    !(body instanceof Map)
  ) {
    throw new WireError(
      "protocol_error",
      "An envelope has a version, kind, id, operation and body, and nothing else",
    );
  }
  return { kind: parts.kind, id: parts.id, operation: parts.operation, body };
}

function isUint(value: CborValue | undefined): value is number {
  return typeof value === "number" && value >= 0;
}

function encodeBody(schema: AnyStruct, body: unknown): CborMap {
  return schema.encode(body as never); // cast: the caller's generic ties the body to this schema
}

/** A body that breaks its schema is the sender's mistake, answered under its request id. */
function parseBody(schema: AnyStruct, parts: EnvelopeParts, name: string): unknown {
  try {
    return schema.parse(parts.body, name);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new WireError(cause.code, cause.message, { cause, requestId: parts.id });
  }
}

function unknownToClient(operation: number): WireError {
  return new WireError(
    "unknown_operation",
    `The relay sent operation ${operation}, which this version does not know`,
  );
}

function namesByNumber<Name extends string>(
  table: Readonly<Record<Name, { readonly number: number }>>,
): ReadonlyMap<number, Name> {
  const entries = Object.entries<{ readonly number: number }>(table);
  // cast: Object.entries widens the key
  return new Map(entries.map(([name, { number }]) => [number, name as Name]));
}
