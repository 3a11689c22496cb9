/**
 * The claim `static` of a token: under which key its messages are counted, and what its bearer may
 * do in which channels. The API writes it, relays enforce it. A scope is one text,
 * `acme/ops/*:send,receive` or `#<channel id>:send`, so that 32 of them fit into a token. A claim
 * that cannot be read to its last letter is no claim: its token is refused.
 */
import {
  type ChannelId,
  type ChannelName,
  type KeyId,
  parseChannelId,
  parseChannelName,
  parseKeyId,
} from "../base/ids.ts";
import { fieldOf } from "./http_call.ts";

/** Rights that a scope may give in a channel. */
export type ChannelRight = "send" | "receive" | "create" | "invite";
export const channelRights: readonly ChannelRight[] = ["send", "receive", "create", "invite"];

/** Channels whose names match a pattern, or the one channel with an id. */
export type ChannelScope =
  & ({ readonly pattern: string } | { readonly channelId: ChannelId })
  & { readonly allow: readonly ChannelRight[] };

/** The claim of a token beyond the five of the interface. */
export interface TokenGrant {
  /** Null: counted with the account's plain keys. */
  readonly key: KeyId | null;
  readonly scopes: readonly ChannelScope[];
  /** The key is public: many strangers have it, and each of them may send so much. */
  readonly isPublic?: true;
}

export const maxTokenScopes = 32;
const everyChannel = "*";

/** Three components, each a name or `*`; or `*` alone for every channel. */
export function isChannelPattern(text: string): boolean {
  if (text === everyChannel) return true;
  try {
    // A star is no name; in a component's place it stands for any.
    parseChannelName(
      text.split("/").map((component) => component === "*" ? "x" : component).join("/"),
    );
    return true;
  } catch {
    return false;
  }
}

/** Whether every channel that `inner` matches is matched by `outer`. */
export function coversPattern(outer: string, inner: string): boolean {
  const [wide, narrow] = [outer, inner].map((each) =>
    (each === everyChannel ? "*/*/*" : each).split("/")
  );
  return wide !== undefined &&
    wide.every((component, index) => component === "*" || component === narrow?.[index]);
}

/**
 * In the header of a token with the claim, as critical: a relay that does not know it refuses the
 * token.
 */
export const narrowTokenHeader = "static";

/** All rights that the scopes give in a channel. */
export function rightsIn(
  scopes: readonly ChannelScope[],
  channel: { readonly name: ChannelName; readonly channelId?: ChannelId },
): ReadonlySet<ChannelRight> {
  const matching = scopes.filter((scope) =>
    "pattern" in scope
      ? coversPattern(scope.pattern, channel.name)
      : scope.channelId === channel.channelId
  );
  return new Set(matching.flatMap(({ allow }) => allow));
}

export interface GrantClaim {
  readonly key: string | null;
  readonly scopes: readonly string[];
  readonly public?: true;
}

export function formatTokenGrant({ key, scopes, isPublic }: TokenGrant): GrantClaim {
  return {
    key,
    scopes: scopes.map((scope) =>
      `${"pattern" in scope ? scope.pattern : `#${scope.channelId}`}:${scope.allow}`
    ),
    ...(isPublic && { public: true }),
  };
}

/** Undefined for anything that `formatTokenGrant` does not make. */
export function parseTokenGrant(claim: unknown): TokenGrant | undefined {
  const [key, texts, isPublic] = [
    fieldOf(claim, "key"),
    fieldOf(claim, "scopes"),
    fieldOf(claim, "public") === true,
  ];
  if (!Array.isArray(texts) || texts.length > maxTokenScopes) return undefined;
  if (Object.keys(claim ?? {}).length !== (isPublic ? 3 : 2)) return undefined;
  try {
    const scopes = texts.map(parseScope);
    if (key === null) return isPublic ? undefined : { key, scopes };
    return typeof key === "string"
      ? { key: parseKeyId(key), scopes, ...(isPublic && { isPublic }) }
      : undefined;
  } catch {
    return undefined;
  }
}

function parseScope(text: unknown): ChannelScope {
  const [, id, pattern = "", rights = ""] =
    /^(?:#([\w-]{22})|([^:#]+)):([a-z,]+)$/.exec(String(text)) ?? [];
  const allow = rights.split(",").map((right) => channelRights.find((known) => known === right));
  if (!allow.every((right) => right !== undefined)) throw new RangeError("unknown right");
  if (id !== undefined) return { channelId: parseChannelId(id), allow };
  if (!isChannelPattern(pattern)) throw new RangeError("no pattern");
  return { pattern, allow };
}
