/**
 * Properties of a key beyond its name, from flags and for people. The API decides what makes sense
 * together.
 */
import type { ApiKeyOptions } from "../../proto/mod.ts";
import { parseCount, parseDurationMs } from "../arguments/values.ts";
import type { FlagSpec, ParsedArguments } from "../command.ts";
import { badInput } from "../failure.ts";
import { grouped, isoTime, utc } from "../texts/amounts.ts";

export const traitFlags: readonly FlagSpec[] = [
  {
    name: "kind",
    value: "KIND",
    summary: "publishable (for browsers) or guest (one channel); secret when not given",
  },
  {
    name: "scope",
    value: "LIST",
    summary: "its scopes, as in tokens,badges; all when not given",
  },
  {
    name: "channels",
    value: "LIST",
    summary: 'channel rights of its tokens, as in "acme/ops/*:send,receive acme/x/y:receive"',
  },
  { name: "channel-id", value: "ID", summary: "the one channel of a guest pass" },
  { name: "expires", value: "DURATION", summary: "time until it expires, as in 12h or 30d" },
  { name: "limit", value: "MESSAGES", summary: "its limit of messages per month" },
];

export function readTraits(given: ParsedArguments, nowMs: number): ApiKeyOptions {
  const [kind, scope, channels, channelId, expires, limit] = traitFlags.map(({ name }) =>
    given.value(name)
  );
  return {
    kind,
    scopes: scope?.split(","),
    channels: channels?.trim().split(/\s+/).map(parseChannels),
    channel_id: channelId,
    ...(expires !== undefined &&
      { expires_at: isoTime(nowMs + parseDurationMs("expires", expires)) }),
    ...(limit !== undefined && { message_limit: parseCount("limit", limit) }),
  };
}

/** `acme/ops/*:send,receive`. */
function parseChannels(text: string): { pattern: string; allow: string[] } {
  const [pattern = "", rights = "", ...more] = text.split(":");
  if (pattern !== "" && rights !== "" && more.length === 0) {
    return { pattern, allow: rights.split(",") };
  }
  throw badInput(
    `--channels ${text} is not a channel pattern with rights`,
    'Write it as "acme/ops/*:send,receive"',
  );
}

/** Undefined for a plain key. */
export function describeTraits(traits: ApiKeyOptions): string | undefined {
  const { kind, scopes, channels = [], channel_id, expires_at, message_limit } = traits;
  const parts = [
    kind,
    scopes?.join(","),
    ...channels.map(({ pattern, allow }) => `${pattern}:${allow.join(",")}`),
    channel_id === undefined ? undefined : `#${channel_id}`,
    message_limit === undefined ? undefined : `${grouped(message_limit)} a month`,
    expires_at === undefined ? undefined : `until ${utc(Date.parse(expires_at))}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(" ");
}
