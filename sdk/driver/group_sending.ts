/**
 * Messages that a program gives as one frame: they go as one bundle where that is possible, and each gets its own
 * answer.
 */
import { maxBundledMessages } from "../../proto/mod.ts";
import { invalidArgument } from "../base/errors.ts";
import type { Sent } from "../channel/messages/send_options.ts";
import type { SendGroup } from "../channel/messages/bundles.ts";
import type { Fields } from "../host/fields.ts";
import type { Header } from "../host/frames.ts";
import { encodeError } from "../host/wire_errors.ts";
import { type Answer, type Call, channelOf } from "./operation.ts";
import { messageIdOf, sendOptionsOf } from "./sending.ts";

/** With `bundle`, the id that the program would repeat to the next host, they have ids of their own too. */
export async function sendAll(call: Call): Promise<Answer> {
  const { fields, bytes, signal } = call;
  const messages = cut(fields.optionalObjects("messages") ?? [], bytes);
  const group = groupOf(fields, messages.map((each) => each.fields));
  const all = messages.map((message) => ({ bytes: message.bytes, options: sendOptionsOf(message.fields, signal) }));
  const channel = await channelOf(call);
  // All of them before anything else happens, so that they wait together.
  const sending = all.map(({ bytes, options }) => channel.send(bytes, { ...options, ...(group && { group }) }));
  const results = await Promise.allSettled(sending);
  signal.throwIfAborted();
  return { ok: { sent: results.map(resultOf) } };
}

function resultOf(result: PromiseSettledResult<Sent>): Header {
  if (result.status === "rejected") return { error: encodeError(result.reason) };
  const { id, accepted } = result.value;
  return { id, accepted };
}

function groupOf(fields: Fields, messages: readonly Fields[]): SendGroup | undefined {
  const id = fields.optionalText("bundle");
  if (id === undefined) return undefined;
  const ids = new Set(messages.map((each) => messageIdOf(each.text("message"))));
  if (messages.length < 2 || ids.size < messages.length) {
    throw invalidArgument("Messages that go as one are at least two, and have ids of their own");
  }
  return { id: messageIdOf(id), size: messages.length, isAgain: fields.flag("again") };
}

/** Each has its `length`, and together they are all of the bytes. */
function cut(messages: readonly Fields[], bytes: Uint8Array): { fields: Fields; bytes: Uint8Array }[] {
  if (messages.length === 0 || messages.length > maxBundledMessages) {
    throw invalidArgument(`Give 1 to ${maxBundledMessages} messages, not ${messages.length}`);
  }
  let at = 0;
  const parts = messages.map((fields) => {
    const length = fields.number("length");
    if (!Number.isSafeInteger(length) || length < 0) throw invalidArgument("A length is a whole number from 0 up");
    return { fields, bytes: bytes.subarray(at, at += length) };
  });
  if (at !== bytes.length) throw invalidArgument(`The messages have ${at} bytes, and ${bytes.length} came`);
  return parts;
}
