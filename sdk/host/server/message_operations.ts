/** Talking: messages, requests and events of channels. */
import type { FieldsOf } from "../../../proto/host/fields.ts";
import { talking } from "../../../proto/host/operations.ts";
import { concatBytes } from "@noble/hashes/utils.js";
import { invalidArgument, RemoteError } from "../../base/errors.ts";
import type { Answer as RequestAnswer } from "../../content/answers.ts";
import { RemoteHandlerFailure } from "../../content/handler_failure.ts";
import { missing } from "../fields.ts";
import { encodeError } from "../wire_errors.ts";
import { encodeEnvelope, encodeEvent } from "../wire_values.ts";
import type { Envelope } from "../../content/envelope.ts";
import { sendAll } from "./group_sending.ts";
import type { ReadMessage } from "./agent_handle.ts";
import {
  channelOf,
  checked,
  type OperationAnswer,
  type OperationCall,
  type OperationsByName,
} from "./operation.ts";
import { channelOver } from "./receivers.ts";
import { messageIdOf, sendOptionsOf } from "./sending.ts";
import type { ItemSource, StreamItem } from "./streams.ts";

const nothing = new Uint8Array(0);

type TalkingFields<Op extends keyof typeof talking> = FieldsOf<typeof talking[Op]["fields"]>;

export const messageOperations: OperationsByName = checked(talking, {
  send: async (call) => {
    const { fields: { channel, ...message }, bytes, signal } = call;
    const sent = await (await channelOf(call, channel)).send(bytes, sendOptionsOf(message, signal));
    return { ok: { ...sent } };
  },
  sendAll,
  request: async (call) => {
    const { fields: { channel, ...options }, bytes, signal } = call;
    return withEnvelope(
      await (await channelOf(call, channel)).request(bytes, { ...options, signal }),
    );
  },
  requestAll: async (call) => {
    const { fields: { channel, ...options }, bytes } = call;
    call.streams.check();
    const answers = (await channelOf(call, channel)).requestAll(bytes, options);
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
    const { channel } = call.fields;
    const events = channel === undefined
      ? call.held.client.events()
      : (await channelOf(call, channel)).events();
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
    const channel = await channelOf(call, fields.channel);
    let stream = 0;
    const source = held.served.serve(channel, fields.concurrency, (isIt) => {
      const item = streams.drop(stream, isIt);
      if (item !== undefined) tell({ event: "over", stream, item });
    });
    stream = streams.add(source);
    return { ok: { stream } };
  },
  next,
  passed: ({ streams, fields: { stream, item, back } }) => streams.passed(stream, item, back),
  ack,
  finish: ({ streams, fields: { stream, item } }) => streams.finish(stream, item),
  end: ({ streams, fields: { stream } }) => streams.end(stream),
  reply: ({ streams, fields: { stream, item, contentType }, bytes }) =>
    streams.settle(stream, item, ({ reply }) => reply(bytes, contentType)),
  fail: (
    { streams, fields: { stream, item, message, remoteCode, retryable = false, ...options } },
  ) => {
    // Without a code the handler's own words stay on its side.
    const error = remoteCode === undefined
      ? new RemoteHandlerFailure(message)
      : new RemoteError(message, { ...options, retryable, remoteCode });
    streams.settle(stream, item, ({ fail }) => fail(error));
  },
});

async function read(call: OperationCall<TalkingFields<"read">>): Promise<OperationAnswer> {
  const { streams, held, fields: { channel, ack, as, tail = false, all = false } } = call;
  streams.check();
  const manual = ack === "manual";
  const reader = await held.read(await channelOf(call, channel), { as, tail, all, manual });
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
async function next(
  { streams, fields: { stream, count }, signal }: OperationCall<TalkingFields<"next">>,
): Promise<OperationAnswer> {
  const items = await streams.next(stream, signal, count);
  const [first] = items ?? [];
  if (items === undefined || first === undefined) return { ok: { done: true } };
  if (items.length === 1) {
    const { item, content: { header, bytes } } = first;
    return { ok: { item, ...header }, ...(bytes !== undefined && { bytes }) };
  }
  const parts = items.map(({ content: { bytes = nothing } }) => bytes);
  const headers = items.map(({ item, content }, i) => ({
    item,
    length: parts[i]?.length ?? 0,
    ...content.header,
  }));
  return { ok: { items: headers }, bytes: concatBytes(...parts) };
}

/** An item of a stream, or a message that the host before this one gave, by its place. */
async function ack(call: OperationCall<TalkingFields<"ack">>): Promise<void> {
  const { streams, header, fields: { stream, channel, as, message }, held } = call;
  if (stream !== undefined) return await streams.ack(stream, header.number("item"));
  if (held.acknowledge === undefined) throw invalidArgument("Acknowledge an item of a stream");
  const [sequence, timeMs] = [header.number("sequence"), header.number("timeMs")];
  const place = { sequence, timeMs, id: message === undefined ? undefined : messageIdOf(message) };
  await held.acknowledge(await channelOf(call, channel ?? missing("channel", "text")), as, place);
}

/** One message at a time, for the whole program; see `Receivers`. */
async function receive(call: OperationCall<TalkingFields<"receive">>): Promise<OperationAnswer> {
  const { fields: { channel, ...options }, signal, receivers } = call;
  const received = await receivers.receive(await channelOf(call, channel), { ...options, signal });
  if (received === "over") throw channelOver();
  return received === undefined ? { ok: { none: true } } : withEnvelope(received.envelope);
}

function opened({ streams }: Pick<OperationCall, "streams">, source: ItemSource): OperationAnswer {
  return { ok: { stream: streams.add(source) } };
}

function withEnvelope(envelope: Envelope): OperationAnswer {
  return { ok: { envelope: encodeEnvelope(envelope) }, bytes: envelope.bytes };
}

function messageItem(
  { envelope, ack, pass, finish, giveBack, more }: ReadMessage,
  manual: boolean,
): StreamItem {
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
