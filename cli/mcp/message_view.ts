/**
 * A message as a model gets it: data, with the agent id of its sender, which the group
 * authenticates, and who that is to the user.
 */
import { agentForModel, type SeenAgent, shown } from "../../proto/mod.ts";
import type { Envelope } from "../../sdk/mod.ts";
import { isoTime } from "../texts/amounts.ts";
import { textOf } from "../texts/channel_texts.ts";
import { seenText, seenValue } from "./screening.ts";

/** The parts of a message that are shown. */
export type ShownMessage =
  & Pick<
    Envelope,
    "id" | "timeMs" | "bytes" | "contentType" | "to" | "replyTo" | "conversation" | "receipt"
  >
  & { readonly sender: ShownSender };

/** The sender as far as it is told. */
export type ShownSender =
  & Pick<Envelope["sender"], "agentId" | "identity" | "keyUnchanged" | "knownAs">
  & Pick<SeenAgent, "attested" | "badgeExpired" | "sameAccount">;

/** A request of another agent, which waits for its reply. */
export interface RequestToAnswer {
  readonly attempt: number;
  readonly deadlineMs: number;
}

const maxNameLength = 256;
const maxEscapeLength = "\\u{10ffff}".length;
/** Half of an escape or of a character, where a text is cut. */
const halves = /(?:\\u?(?:\{[0-9a-f]*)?|[\ud800-\udbff])$/;

export interface ViewOptions {
  /** Characters of its text at most. */
  readonly maxLength: number;
  /** Without the names that senders chose for themselves. */
  readonly hideNames: boolean;
  /** An earlier session was given it, and may have done what it asks for. */
  readonly isAgain?: boolean;
}

export function viewOf(
  channel: string,
  message: ShownMessage,
  options: ViewOptions,
  request?: RequestToAnswer,
): object {
  const { id, sender, timeMs, replyTo, conversation, to } = message;
  const name = (text: string): string => shown(text, { max: maxNameLength });
  return {
    channel,
    id,
    kind: request === undefined ? "message" : "request",
    from: { agent_id: sender.agentId, ...agentForModel(sender, options) },
    time: isoTime(timeMs),
    to_you_alone: to && to.length === 1,
    reply_to: replyTo,
    ...(message.receipt === "done" && { wants_done: true }),
    ...(conversation !== undefined && { conversation: name(conversation) }),
    ...(request !== undefined && { reply_before: isoTime(request.deadlineMs) }),
    ...((options.isAgain === true || (request?.attempt ?? 1) > 1) && { given_before: true }),
    ...contentOf(message, options.maxLength),
  };
}

/** A reply to a request of this agent. */
export function replyView(channel: string, reply: ShownMessage, options: ViewOptions): object {
  // cast: an object of this file
  const { kind: _, ...rest } = viewOf(channel, reply, options) as Record<string, unknown>;
  return rest;
}

function contentOf({ bytes, contentType }: ShownMessage, maxLength: number): object {
  const text = textOf(bytes);
  if (text === undefined) return { binary_bytes: bytes.length };
  if (contentType === "application/json" && text.length <= maxLength) {
    const value = parsed(text);
    const seen = value && seenValue(value.json);
    // Escapes are longer than what they stand for.
    if (seen !== undefined && text.length + maxEscapeLength * seen.escaped <= maxLength) {
      return { json: seen.value, ...escapedIn(seen.escaped) };
    }
  }
  // No more is looked at than can be shown: escapes are longer than what they stand for, and a line
  // break is two characters at most.
  const beginning = text.slice(0, 2 * maxLength);
  const seen = seenText(beginning);
  const isWhole = beginning.length === text.length && seen.text.length <= maxLength;
  const cut = isWhole ? {} : { cut_from_characters: text.length };
  return {
    text: seen.text.slice(0, maxLength).replace(halves, ""),
    ...cut,
    ...escapedIn(seen.escaped),
  };
}

function escapedIn(escaped: number): object {
  return escaped === 0 ? {} : { invisible_characters_escaped: escaped };
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
