/**
 * Properties of a key beyond its name, as fields of requests and responses. A plain key has none.
 */
import { z } from "@hono/zod-openapi";
import {
  channelRights,
  isChannelPattern,
  maxTokenScopes,
  parseChannelId,
} from "../../proto/mod.ts";
import {
  fitsToken,
  keyKinds,
  type KeyOptions,
  plainTraits,
  scopes,
} from "../domain/key_permissions.ts";
import type { FieldError } from "./errors.ts";
import { isoTime, timestamp } from "./fields.ts";

const dayMs = 24 * 3600 * 1000;
const guestMs = 30 * dayMs;
const longestMs = 3650 * dayMs;
const maxMessages = 1_000_000_000_000;
/**
 * The limit of a publishable key that was given none: anybody may have the key, and its account
 * pays.
 */
export const publishableMessages = 1_000;

const isUnique = (items: readonly unknown[]): boolean => new Set(items).size === items.length;

export const channelPowers = z.array(z.strictObject({
  pattern: z.string().max(191).refine(
    isChannelPattern,
    "must be three components, each a name or *, or * alone",
  )
    .openapi({
      example: "acme/ops/*",
      description: "A channel's name in three parts; `*` stands for any part.",
    }),
  allow: z.array(z.enum(channelRights)).min(1).max(channelRights.length).refine(
    isUnique,
    "must not repeat",
  )
    .describe("What agents may do in these channels."),
})).min(1).max(maxTokenScopes).refine(
  fitsToken,
  "must be fewer or shorter: a token would pass 4 KiB",
)
  .openapi({
    description:
      "The rights of the key's tokens in each channel; all rights in every channel when left out.",
  });

const shared = {
  kind: z.enum(keyKinds).describe(
    "`secret` unless given. `publishable` may be public; `guest` is for one channel.",
  ),
  expires_at: timestamp.describe("When the key stops working; never when left out."),
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).refine(isUnique, "must not repeat")
    .describe("What the key may do with this API; everything when left out."),
  channels: channelPowers,
  channel_id: z.string().regex(/^[\w-]{22}$/, "must be a channel's id").openapi({
    example: "AAAAAAAAAAAAAAAAAAAAAA",
    description: "The one channel of a guest pass.",
  }),
  message_limit: z.int().min(1).max(maxMessages).openapi({
    description:
      "Messages a calendar month (UTC). A publishable key has 1,000 when it is left out.",
  }),
};

/** Fields of a request. */
export const newTraits = {
  kind: shared.kind.optional(),
  expires_at: shared.expires_at.optional(),
  scopes: shared.scopes.optional(),
  channels: shared.channels.optional(),
  channel_id: shared.channel_id.optional(),
  message_limit: shared.message_limit.optional(),
};

/** Fields of an answer: what the key has, and nothing for a plain key. */
export const traitFields = newTraits;

type NewKeyOptions = z.infer<z.ZodObject<typeof newTraits>>;

/** Returns what is wrong, or the traits. */
export function readTraits(
  given: NewKeyOptions,
  nowMs: number,
): KeyOptions | readonly FieldError[] {
  const { kind = "secret", channels } = given;
  const expiresAtMs = given.expires_at === undefined ? null : Date.parse(given.expires_at);
  const problems: FieldError[] = [];
  const wrong = (field: keyof NewKeyOptions, problem: string): void =>
    void problems.push({ field, problem });
  if (expiresAtMs !== null && (expiresAtMs <= nowMs || expiresAtMs > nowMs + longestMs)) {
    wrong("expires_at", "must be in the future, within ten years");
  }
  if (kind !== "secret" && given.scopes !== undefined) {
    wrong("scopes", `must not be given for a ${kind} key`);
  }
  if (channels !== undefined && given.scopes !== undefined && !given.scopes.includes("tokens")) {
    wrong("channels", "must not be given without the scope tokens");
  }
  if (kind === "publishable" && channels === undefined) {
    wrong("channels", "must be given for a publishable key");
  }
  if (kind === "guest") problems.push(...guestProblems(given, expiresAtMs, nowMs));
  else if (given.channel_id !== undefined) {
    wrong("channel_id", "must be given for guest passes only");
  }
  if (problems.length > 0) return problems;
  return {
    ...plainTraits,
    kind,
    expiresAtMs,
    powers: powersOf(given),
    channelId: given.channel_id === undefined ? null : parseChannelId(given.channel_id),
    messageLimit: given.message_limit ?? (kind === "publishable" ? publishableMessages : null),
  };
}

function powersOf({ kind, scopes, channels }: NewKeyOptions): KeyOptions["powers"] {
  if (kind === "guest" || (scopes === undefined && channels === undefined)) return null;
  return { scopes: scopes ?? ["tokens"], ...(channels !== undefined && { channels }) };
}

function guestProblems(
  given: NewKeyOptions,
  expiresAtMs: number | null,
  nowMs: number,
): FieldError[] {
  const problems: FieldError[] = [];
  if (given.channels !== undefined) {
    problems.push({ field: "channels", problem: "must not be given for a guest pass" });
  }
  for (const field of ["channel_id", "expires_at", "message_limit"] as const) {
    if (given[field] === undefined) {
      problems.push({ field, problem: "must be given for a guest pass" });
    }
  }
  if (expiresAtMs !== null && expiresAtMs > nowMs + guestMs) {
    problems.push({ field: "expires_at", problem: "must be within 30 days for a guest pass" });
  }
  return problems;
}

export function traitsBody(
  { kind, expiresAtMs, powers, channelId, messageLimit }: KeyOptions,
): NewKeyOptions {
  return {
    ...(kind !== "secret" && { kind }),
    ...(expiresAtMs !== null && { expires_at: isoTime(expiresAtMs) }),
    ...(kind === "secret" && powers !== null && { scopes: [...powers.scopes] }),
    ...(powers?.channels !== undefined && {
      channels: powers.channels.map(({ pattern, allow }) => ({ pattern, allow: [...allow] })),
    }),
    ...(channelId !== null && { channel_id: channelId }),
    ...(messageLimit !== null && { message_limit: messageLimit }),
  };
}
