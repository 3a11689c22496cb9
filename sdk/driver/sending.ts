/** A program's fields for a message that it sends. */
import { type MessageId, parseBinaryId } from "../../proto/mod.ts";
import { invalidArgument } from "../base/errors.ts";
import type { SendOptions } from "../channel/messages/send_options.ts";
import type { Fields } from "../host/fields.ts";

export function sendOptionsOf(fields: Fields, signal: AbortSignal): SendOptions {
  const to = fields.optionalTexts("to");
  const replyTo = fields.optionalText("replyTo");
  const [expiresInMs, timeoutMs] = [fields.optionalNumber("expiresInMs"), fields.optionalNumber("timeoutMs")];
  const message = fields.optionalText("message");
  return {
    ...contentOptionsOf(fields),
    ...(message !== undefined && { id: messageIdOf(message) }),
    signal,
    queue: fields.flag("queue"),
    ...(to !== undefined && { to }),
    ...(replyTo !== undefined && { replyTo }),
    ...(expiresInMs !== undefined && { expiresInMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

export function contentOptionsOf(fields: Fields): Pick<SendOptions, "contentType" | "conversation" | "headers"> {
  const [contentType, conversation] = [fields.optionalText("contentType"), fields.optionalText("conversation")];
  const headers = fields.optionalMap("headers");
  return {
    ...(contentType !== undefined && { contentType }),
    ...(conversation !== undefined && { conversation }),
    ...(headers !== undefined && { headers }),
  };
}

export function messageIdOf(text: string): MessageId {
  try {
    return parseBinaryId<MessageId>(text);
  } catch {
    throw invalidArgument("A message id is 16 bytes in base64url");
  }
}
