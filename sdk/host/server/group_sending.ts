/**
 * Messages that a program gives as one frame: they go as one bundle where that is possible, and
 * each gets its own answer.
 */
import type { FieldsOf } from "../../../proto/host/fields.ts";
import type { talking } from "../../../proto/host/operations.ts";
import { invalidArgument } from "../../base/errors.ts";
import type { Sent } from "../../channel/messages/send_options.ts";
import type { SendGroup } from "../../channel/messages/bundles.ts";
import type { FrameHeader } from "../frames.ts";
import { missing } from "../fields.ts";
import { encodeError } from "../wire_errors.ts";
import { channelOf, type OperationAnswer, type OperationCall } from "./operation.ts";
import { messageIdOf, sendOptionsOf } from "./sending.ts";

type SendAllFields = FieldsOf<typeof talking.sendAll.fields>;
type SendAllMessage = SendAllFields["messages"][number];

/**
 * With `bundle`, the id that the program would repeat to the next host, they have ids of their own
 * too.
 */
export async function sendAll(call: OperationCall<SendAllFields>): Promise<OperationAnswer> {
  const { fields, bytes, signal } = call;
  const parts = cut(fields.messages, bytes);
  const group = groupOf(fields);
  const all = fields.messages.map(({ length: _, ...message }) => sendOptionsOf(message, signal));
  const channel = await channelOf(call, fields.channel);
  // All of them before anything else happens, so that they wait together.
  const sending = parts.map((part, i) =>
    channel.send(part, { ...all[i], ...(group && { group }) })
  );
  const results = await Promise.allSettled(sending);
  signal.throwIfAborted();
  return { ok: { sent: results.map(resultOf) } };
}

function resultOf(result: PromiseSettledResult<Sent>): FrameHeader {
  if (result.status === "rejected") return { error: encodeError(result.reason) };
  return { ...result.value };
}

function groupOf({ bundle, messages, again = false }: SendAllFields): SendGroup | undefined {
  if (bundle === undefined) return undefined;
  const ids = new Set(
    messages.map(({ message }) => messageIdOf(message ?? missing("message", "text"))),
  );
  if (messages.length < 2 || ids.size < messages.length) {
    throw invalidArgument("Messages that go as one are at least two, and have ids of their own");
  }
  return { id: messageIdOf(bundle), size: messages.length, isAgain: again };
}

/** Each has its `length`, and together they are all of the bytes. */
function cut(messages: readonly SendAllMessage[], bytes: Uint8Array): Uint8Array[] {
  let at = 0;
  const parts = messages.map(({ length }) => bytes.subarray(at, at += length));
  if (at !== bytes.length) {
    throw invalidArgument(`The messages have ${at} bytes, and ${bytes.length} came`);
  }
  return parts;
}
