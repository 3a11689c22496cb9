/**
 * Rights of a key. A key without powers may do what its kind may; a plain key, which has neither
 * powers nor a limit, is the key of the interface. No key makes another that may do more than
 * itself.
 */
import {
  type ChannelId,
  type ChannelRight,
  channelRights,
  coversPattern,
  type KeyId,
} from "../../proto/mod.ts";
import { formatTokenGrant, type TokenGrant } from "../../proto/mod.ts";

export const keyKinds = ["secret", "publishable", "guest"] as const;
export type KeyKind = typeof keyKinds[number];

export const scopes = [
  "tokens",
  "keys:read",
  "keys:write",
  "usage:read",
  "account",
  "badges",
] as const;
export type KeyScope = typeof scopes[number];

export interface ChannelPermission {
  readonly pattern: string;
  readonly allow: readonly ChannelRight[];
}

export interface KeyPermissions {
  readonly scopes: readonly KeyScope[];
  /** The channels that its tokens are for; undefined for every channel. */
  readonly channels?: readonly ChannelPermission[];
}

/** Properties of a key beyond its name. */
export interface KeyOptions {
  readonly kind: KeyKind;
  readonly expiresAtMs: number | null;
  readonly powers: KeyPermissions | null;
  /** The one channel of a guest pass. */
  readonly channelId: ChannelId | null;
  /** Messages a month. */
  readonly messageLimit: number | null;
}

export const plainTraits: KeyOptions = {
  kind: "secret",
  expiresAtMs: null,
  powers: null,
  channelId: null,
  messageLimit: null,
};

/** A key that exists. */
export interface StoredKeyOptions extends KeyOptions {
  /**
   * Under which its messages are counted: its own id, or that of the first key in its line of
   * rotation.
   */
  readonly countedAs: KeyId;
}

/**
 * Whether its messages are counted with those of all plain keys, and its tokens have the five
 * claims only.
 */
export function isPlain({ kind, powers, messageLimit }: KeyOptions): boolean {
  return kind === "secret" && powers === null && messageLimit === null;
}

export function hasScope({ kind, powers }: KeyOptions, scope: KeyScope): boolean {
  if (kind !== "secret") return scope === "tokens";
  return powers === null || powers.scopes.includes(scope);
}

const guestRights: readonly ChannelRight[] = ["send", "receive"];
const everyRight: readonly ChannelPermission[] = [{ pattern: "*", allow: channelRights }];

/** The extra claim of the key's tokens; undefined for a plain key. */
export function grantOf(traits: StoredKeyOptions): TokenGrant | undefined {
  if (isPlain(traits)) return undefined;
  const { kind, channelId, powers, countedAs: key } = traits;
  if (channelId !== null) return { key, scopes: [{ channelId, allow: guestRights }] };
  return {
    key,
    scopes: powers?.channels ?? everyRight,
    ...(kind === "publishable" && { isPublic: true }),
  };
}

/**
 * Limit of the claim's JSON: with the other claims, the header and the signature a token stays
 * below 4 KiB.
 */
const maxClaimBytes = 2500;

export function fitsToken(channels: readonly ChannelPermission[]): boolean {
  const { scopes } = formatTokenGrant({ key: null, scopes: channels });
  return JSON.stringify(scopes).length <= maxClaimBytes;
}

/** Whether a key with traits `own` may make one with traits `wanted`. */
export function mayMake(own: KeyOptions, wanted: KeyOptions): boolean {
  // Else a limit would last until the next key, and an expiry not even that long.
  if (own.kind !== "secret" || own.messageLimit !== null || own.expiresAtMs !== null) return false;
  if (own.powers === null) return true;
  const { scopes: ownScopes, channels } = own.powers;
  if (wanted.kind === "secret" && wanted.powers === null) return false;
  const wantedScopes = wanted.kind === "secret" ? wanted.powers?.scopes ?? [] : ["tokens"] as const;
  if (!wantedScopes.every((scope) => ownScopes.includes(scope))) return false;
  if (channels === undefined || !wantedScopes.some((scope) => scope === "tokens")) return true;
  const wantedChannels = wanted.powers?.channels;
  return wanted.channelId === null && wantedChannels !== undefined &&
    wantedChannels.every((each) => isCovered(channels, each));
}

function isCovered(
  own: readonly ChannelPermission[],
  { pattern, allow }: ChannelPermission,
): boolean {
  const rights = new Set(
    own.flatMap((each) => coversPattern(each.pattern, pattern) ? each.allow : []),
  );
  return allow.every((right) => rights.has(right));
}
