/**
 * From what an application gives to the plaintext of a message. Bytes and text without anything
 * else stay as they are.
 */
import {
  type AgentId,
  type ContentFields,
  type ContentKind,
  encodeContent,
  encodeRawPayload,
  limits,
  type MessageId,
  parseBinaryId,
  type ReceiptWanted,
  WireError,
} from "../../proto/mod.ts";
import { createError, invalidArgument } from "../base/errors.ts";

/** A value that can be sent: bytes, text, or a value as JSON. */
export type Sendable = Uint8Array | string | { readonly json: unknown };

/**
 * Somebody in the channel: its agent id, the name that the user gave it, or what has an agent id,
 * such as a member or a sender.
 */
export type Addressee = string | { readonly agentId: string };

/** Fields that a message can carry. */
export interface ContentOptions {
  /** The type of the content; `application/json` when a value is given as JSON. */
  readonly contentType?: string | undefined;
  /** The conversation that it belongs to, such as the number of an order. */
  readonly conversation?: string | undefined;
  /** Whatever else receivers may want to know; up to 32. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Fields of a message that is not a request. */
export interface MessageOptions extends ContentOptions {
  /** For whom it is; all when not given. An address, not a secret: every member can read it. */
  readonly to?: Addressee | readonly Addressee[] | undefined;
  /** The id of the message that it answers. */
  readonly replyTo?: string | undefined;
  /** After this time it is not shown any more. */
  readonly expiresInMs?: number | undefined;
}

export interface EnvelopeHead {
  readonly kind: ContentKind;
  readonly fields: ContentFields;
}

/** As text: agent ids and names. */
export function addresseesOf(to: Addressee | readonly Addressee[]): readonly string[] {
  const list: readonly Addressee[] = isList(to) ? to : [to];
  if (list.length === 0) {
    throw invalidArgument("Cannot send: `to` names nobody; name a member, or leave it out");
  }
  return list.map((each) => typeof each === "string" ? each : each.agentId);
}

/** `find` gives the agent that is meant, and throws for a text that names nobody. */
export function agentIdsOf(
  to: Addressee | readonly Addressee[],
  find: (named: string) => AgentId,
): readonly AgentId[] {
  return [...new Set(addresseesOf(to).map((each) => checked(() => find(each))))].sort();
}

/** `Array.isArray` does not narrow a read-only list. */
function isList(to: Addressee | readonly Addressee[]): to is readonly Addressee[] {
  return Array.isArray(to);
}

/** The plaintext of an ordinary message. */
export function encodeMessage(
  value: Sendable,
  options: MessageOptions & { readonly receipt?: ReceiptWanted | undefined },
  { nowMs, find }: { readonly nowMs: number; readonly find: (named: string) => AgentId },
): Uint8Array {
  const { to, replyTo, expiresInMs, receipt } = options;
  const fields: ContentFields = {
    ...fieldsOf(value, options),
    ...(to !== undefined && { to: agentIdsOf(to, find) }),
    ...(replyTo !== undefined && { replyTo: checked(() => parseBinaryId<MessageId>(replyTo)) }),
    ...(expiresInMs !== undefined && { expiryMs: nowMs + duration("expiresInMs", expiresInMs) }),
    ...(receipt !== undefined && { receipt }),
  };
  const body = bodyOf(value);
  return Object.keys(fields).length === 0
    ? encodeRawPayload(body)
    : envelope({ kind: "message", fields }, body);
}

export function envelope({ kind, fields }: EnvelopeHead, body: Uint8Array): Uint8Array {
  return checked(() => encodeContent({ kind, fields, body }));
}

/** Returns the fields of a value, from the value itself and the options. */
export function fieldsOf(
  value: Sendable,
  { contentType, conversation, headers }: ContentOptions,
): ContentFields {
  const type = contentType ?? (isJson(value) ? "application/json" : undefined);
  const named = Object.entries(headers ?? {});
  return {
    ...(type !== undefined && { contentType: type }),
    ...(conversation !== undefined && { conversation }),
    ...(named.length > 0 && { headers: new Map(named) }),
  };
}

export function bodyOf(value: Sendable): Uint8Array {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof Uint8Array) return value;
  const text = isJson(value) ? jsonOf(value.json) : undefined;
  if (text !== undefined) return new TextEncoder().encode(text);
  throw invalidArgument("Cannot send this value: give bytes, text, or { json: value }");
}

/** Undefined for what JSON has no form of, such as a function. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createError("invalid_request", `Cannot send this value as JSON: ${why}`, { cause });
  }
}

/** A time from now on, in milliseconds. */
export function duration(name: string, ms: number): number {
  if (Number.isFinite(ms) && ms > 0 && ms <= limits.queueAgeMs) return Math.ceil(ms);
  throw invalidArgument(
    `${name} is ${ms}: give a number of milliseconds above 0, at most ${limits.queueAgeMs} (7 days)`,
  );
}

function isJson(value: Sendable): value is { readonly json: unknown } {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array) &&
    "json" in value;
}

function checked<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof WireError) {
      throw createError(error.code, `Cannot send: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
