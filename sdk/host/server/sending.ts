/** A program's fields for a message that it sends. */
import type { FieldsOf } from "../../../proto/host/fields.ts";
import type { message } from "../../../proto/host/operations.ts";
import { type MessageId, parseBinaryId } from "../../../proto/mod.ts";
import { invalidArgument } from "../../base/errors.ts";
import type { SendOptions } from "../../channel/messages/send_options.ts";

export type MessageFields = FieldsOf<typeof message>;

export function sendOptionsOf(
  { message, ...options }: MessageFields,
  signal: AbortSignal,
): SendOptions {
  return { ...options, ...(message !== undefined && { id: messageIdOf(message) }), signal };
}

export function messageIdOf(text: string): MessageId {
  try {
    return parseBinaryId<MessageId>(text);
  } catch {
    throw invalidArgument("A message id is 16 bytes in base64url");
  }
}
