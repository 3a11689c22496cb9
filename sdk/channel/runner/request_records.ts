/**
 * Records of requests on disk: those that were asked under a key, replies to them, and how often
 * requests to us were begun.
 */
import {
  type AgentId,
  type ChannelId,
  decodeContent,
  encodeContent,
  type MessageId,
  parseAgentId,
  parseBinaryId,
  type Recognition,
} from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import type { IncomingEnvelope } from "../../content/incoming.ts";
import type { AttemptCount, RequestRecords, SentRequest } from "../../content/ports.ts";
import { decodeFields, encodeFields, type RecordChange } from "../../store/mod.ts";
import { translating } from "../faults.ts";
import { askedKind, attemptsKind, repliesKind } from "../channel_kinds.ts";
import type { ChannelStore } from "../records.ts";

export function createRequestRecords(
  channelId: ChannelId,
  { store, recognise }: {
    readonly store: Pick<ChannelStore, "get" | "list" | "batch">;
    /** Recognises an agent by the badges that it shows now. */
    readonly recognise: (agentId: AgentId) => Recognition;
  },
): RequestRecords {
  const [asked, replies, attempts] = [
    askedKind(channelId),
    repliesKind(channelId),
    attemptsKind(channelId),
  ];
  const reading = <T>(act: () => Promise<T>): Promise<T> =>
    translating("Cannot read what is noted of requests", act);
  return {
    asked: () =>
      reading(() =>
        store.list(asked).then((all) => all.map(({ id, value }) => decodeAsked(id, value, asked)))
      ),
    putAsked: ({ id, key, secret, to, deadlineMs }) => {
      return {
        type: "put",
        kind: asked,
        id,
        value: encodeFields([key, secret, [...to], deadlineMs]),
      };
    },
    deleteAsked: ({ id, to }) => [
      { type: "delete", kind: asked, id },
      ...to.map((from): RecordChange => ({
        type: "delete",
        kind: replies,
        id: replyKey(id, from),
      })),
    ],
    putReply: (request, reply) => {
      return {
        type: "put",
        kind: replies,
        id: replyKey(request, reply.sender),
        value: encodeReply(reply),
      };
    },
    reply: (request, from) =>
      reading(() =>
        store.get(replies, replyKey(request, from)).then((value) =>
          value && { ...decodeReply(value, { kind: replies, from }), ...recognise(from) }
        )
      ),
    attempts: () =>
      reading(() =>
        store.list(attempts).then((all) =>
          new Map(all.map(({ id, value }) => [id, decodeAttempts(value, attempts)]))
        )
      ),
    putAttempts: (id, { count, deadlineMs }) => ({
      type: "put",
      kind: attempts,
      id,
      value: encodeFields([count, deadlineMs]),
    }),
    deleteAttempts: (id) => ({ type: "delete", kind: attempts, id }),
    write: (changes) => translating("Cannot note the request", () => store.batch(changes)),
  };
}

function replyKey(request: MessageId, from: AgentId): string {
  return `${request}.${from}`;
}

function decodeAsked(id: string, value: Uint8Array, kind: string): SentRequest {
  const fields = decodeFields(value, kind);
  return {
    id: parseBinaryId<MessageId>(id),
    key: fields.text(0),
    secret: fields.bytes(1),
    to: fields.list(2).map((each) => parseAgentId(String(each))),
    deadlineMs: fields.number(3),
  };
}

function decodeAttempts(value: Uint8Array, kind: string): AttemptCount {
  const fields = decodeFields(value, kind);
  return { count: fields.number(0), deadlineMs: fields.number(1) };
}

function encodeReply(
  { id, identity, timeMs, sequence, kind, fields, body }: IncomingEnvelope,
): Uint8Array {
  return encodeFields([id, identity, timeMs, sequence, encodeContent({ kind, fields, body })]);
}

function decodeReply(
  value: Uint8Array,
  { kind, from }: { readonly kind: string; readonly from: AgentId },
): Omit<IncomingEnvelope, "knownAs"> {
  const fields = decodeFields(value, kind);
  const decoded = decodeContent(fields.bytes(4));
  if (decoded.form !== "enveloped" || decoded.content.kind === "receipt") {
    throw createError("internal", "A reply was noted in another form");
  }
  const { kind: replyKind, fields: replyFields, body } = decoded.content;
  return {
    id: parseBinaryId<MessageId>(fields.text(0)),
    sender: from,
    identity: fields.bytes(1),
    // Others are not taken as replies.
    keyUnchanged: true,
    timeMs: fields.number(2),
    sequence: fields.number(3),
    lane: "reply",
    kind: replyKind,
    fields: replyFields,
    body,
  };
}
