/** Talking: messages, requests and events of channels. */
import { concatBytes } from "@noble/hashes/utils.js";
import { invalidArgument, RemoteError } from "../base/errors.ts";
import type { Answer as RequestAnswer } from "../content/answers.ts";
import { ToldElsewhere } from "../content/handler_failure.ts";
import type { AskOptions } from "../content/requester.ts";
import { encodeError } from "../host/wire_errors.ts";
import { encodeEnvelope, encodeEvent } from "../host/wire_values.ts";
import type { Envelope } from "../content/envelope.ts";
import { sendAll } from "./group_sending.ts";
import type { ReadMessage } from "./held.ts";
import { type Answer, type Call, channelOf, type Operation } from "./operation.ts";
import { channelOver } from "./receivers.ts";
import { contentOptionsOf, messageIdOf, sendOptionsOf } from "./sending.ts";
import type { Source, StreamItem } from "./streams.ts";

/** That one answer brings. */
const maxItems = 64;
const nothing = new Uint8Array(0);

export const messageOperations: Readonly<Record<string, Operation>> = {
  send: async (call) => {
    const { id, accepted } = await (await channelOf(call)).send(call.bytes, sendOptionsOf(call.fields, call.signal));
    return { ok: { id, accepted } };
  },
  sendAll,
  request: async (call) => {
    const options = { ...askOptions(call), to: call.fields.text("to") };
    return withEnvelope(await (await channelOf(call)).request(call.bytes, options));
  },
  requestAll: async (call) => {
    call.streams.check();
    const { signal: _, ...options } = askOptions(call);
    const answers = (await channelOf(call)).requestAll(call.bytes, { ...options, to: call.fields.texts("to") });
    return opened(call, {
      next: async () => {
        const { done, value } = await answers.next();
        return done === true ? undefined : answerItem(value);
      },
      end: async () => void await answers.return?.(),
    });
  },
  read,
  receive,
  events: async (call) => {
    call.streams.check();
    const events = call.fields.has("channel") ? (await channelOf(call)).events() : call.held.client.events();
    return opened(call, {
      next: async () => {
        const { done, value } = await events.next();
        return done === true ? undefined : { header: { event: encodeEvent(value) } };
      },
      end: async () => void await events.return?.(),
    });
  },
  serve: async (call) => {
    const { streams, held, fields, tell } = call;
    streams.check();
    const channel = await channelOf(call);
    let stream = 0;
    const source = held.served.serve(channel, fields.optionalNumber("concurrency"), (isIt) => {
      const item = streams.drop(stream, isIt);
      if (item !== undefined) tell({ event: "over", stream, item });
    });
    stream = streams.add(source);
    return { ok: { stream } };
  },
  next,
  passed: ({ streams, fields }) =>
    streams.passed(fields.number("stream"), fields.number("item"), fields.optionalNumber("back")),
  ack,
  finish: ({ streams, fields }) => streams.finish(fields.number("stream"), fields.optionalNumber("item")),
  end: ({ streams, fields }) => streams.end(fields.number("stream")),
  reply: ({ streams, fields, bytes }) => {
    const contentType = fields.optionalText("contentType");
    streams.settle(fields.number("stream"), fields.number("item"), ({ reply }) => reply(bytes, contentType));
  },
  fail: ({ streams, fields }) => {
    const [message, remoteCode] = [fields.text("message"), fields.optionalText("remoteCode")];
    const [retryable, retryAfterMs] = [fields.flag("retryable"), fields.optionalNumber("retryAfterMs")];
    const options = { retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    // Without a code the handler's own words stay on its side.
    const error = remoteCode === undefined
      ? new ToldElsewhere(message)
      : new RemoteError(message, { ...options, remoteCode });
    streams.settle(fields.number("stream"), fields.number("item"), ({ fail }) => fail(error));
  },
};

async function read(call: Call): Promise<Answer> {
  const { streams, held, fields } = call;
  streams.check();
  const manual = fields.one("ack", ["auto", "manual"]) === "manual";
  const options = { as: fields.optionalText("as"), tail: fields.flag("tail"), all: fields.flag("all"), manual };
  const reader = await held.read(await channelOf(call), options);
  return opened(call, {
    next: async () => {
      const next = await reader.next();
      return next && messageItem(next, manual);
    },
    more: (count) => reader.more?.(count).map((each) => messageItem(each, manual)) ?? [],
    written: async () => await reader.written?.(),
    end: () => reader.end(),
  });
}

/** One item, or with `count` those that are there. */
async function next({ streams, fields, signal }: Call): Promise<Answer> {
  const count = fields.optionalNumber("count") ?? 1;
  if (!Number.isInteger(count) || count < 1 || count > maxItems) {
    throw invalidArgument(`Ask for 1 to ${maxItems} items, not ${count}`);
  }
  const items = await streams.next(fields.number("stream"), signal, count);
  const [first] = items ?? [];
  if (items === undefined || first === undefined) return { ok: { done: true } };
  if (items.length === 1) {
    const { item, content: { header, bytes } } = first;
    return { ok: { item, ...header }, ...(bytes !== undefined && { bytes }) };
  }
  const parts = items.map(({ content: { bytes = nothing } }) => bytes);
  const headers = items.map(({ item, content }, i) => ({ item, length: parts[i]?.length ?? 0, ...content.header }));
  return { ok: { items: headers }, bytes: concatBytes(...parts) };
}

/** An item of a stream, or a message that the host before this one gave, by its place. */
async function ack(call: Call): Promise<void> {
  const { streams, fields, held } = call;
  if (fields.has("stream")) return await streams.ack(fields.number("stream"), fields.number("item"));
  if (held.acknowledge === undefined) throw invalidArgument("Acknowledge an item of a stream");
  const [sequence, timeMs, message] = [
    wholeOf(call, "sequence"),
    wholeOf(call, "timeMs"),
    fields.optionalText("message"),
  ];
  const place = { sequence, timeMs, id: message === undefined ? undefined : messageIdOf(message) };
  await held.acknowledge(await channelOf(call), fields.optionalText("as"), place);
}

function wholeOf({ fields }: Call, name: string): number {
  const value = fields.number(name);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidArgument(`The field "${name}" must be a whole number from 0 to 2^53 - 1`);
}

/** One message at a time, for the whole program; see `Receivers`. */
async function receive(call: Call): Promise<Answer> {
  const { fields, signal, receivers } = call;
  const timeoutMs = fields.optionalNumber("timeoutMs");
  const options = { signal, ...(timeoutMs !== undefined && { timeoutMs }) };
  const received = await receivers.receive(await channelOf(call), options);
  if (received === "over") throw channelOver();
  return received === undefined ? { ok: { none: true } } : withEnvelope(received.envelope);
}

function opened({ streams }: Call, source: Source): Answer {
  return { ok: { stream: streams.add(source) } };
}

function withEnvelope(envelope: Envelope): Answer {
  return { ok: { envelope: encodeEnvelope(envelope) }, bytes: envelope.bytes };
}

function messageItem({ envelope, ack, pass, finish, giveBack, more }: ReadMessage, manual: boolean): StreamItem {
  return {
    header: { envelope: encodeEnvelope(envelope), ...more },
    bytes: envelope.bytes,
    ...(manual && ack !== undefined && { ack }),
    ...(pass !== undefined && { pass }),
    ...(finish !== undefined && { finish }),
    ...(giveBack !== undefined && { giveBack }),
  };
}

function answerItem(answer: RequestAnswer): StreamItem {
  const { from } = answer;
  if (!answer.ok) return { header: { from, error: encodeError(answer.error) } };
  return { header: { from, envelope: encodeEnvelope(answer.reply) }, bytes: answer.reply.bytes };
}

function askOptions({ fields, signal }: Call): AskOptions {
  const [timeoutMs, key] = [fields.optionalNumber("timeoutMs"), fields.optionalText("key")];
  return {
    ...contentOptionsOf(fields),
    signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(key !== undefined && { key }),
  };
}
