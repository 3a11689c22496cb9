/**
 * The filter between a model and the others: in text from others, characters that a person would
 * not see are escaped, and nothing that looks like a secret of ours passes in either direction. A
 * model repeats what it reads, so a secret that it never sees cannot be talked out of it.
 */
import { shownLines } from "../../proto/mod.ts";

/**
 * API keys, live and for tests, and invites as tokens and as links, however their addresses are
 * written. Their alphabet is that of base64url.
 */
const apiKey = /\bsk_(?:live|test)_[A-Za-z0-9_-]{8,}/g;
const invite = /(?:\binv_|\bstatic:\/\/join\/?#|\bhttps?:\/\/[^\s"<>#]+#)[A-Za-z0-9_-]{80,}/gi;

/** Returns whether the text is an invite and nothing else. */
export function isInvite(text: string): boolean {
  return text.replace(invite, "") === "" && text !== "";
}

export interface ScreenedText {
  readonly text: string;
  /** How many characters are escaped. */
  readonly escaped: number;
}

const escapes = /\\u\{[0-9a-f]+\}/g;
const countIn = (text: string): number => text.match(escapes)?.length ?? 0;

/**
 * Text of others, with escapes for what a person would not see. Escapes that the text had already
 * are not counted.
 */
export function seenText(text: string): ScreenedText {
  const seen = shownLines(text);
  return { text: seen, escaped: countIn(seen) - countIn(text) };
}

/** Deeper values are shown as text: they could not be looked into, nor written, without end. */
const maxDepth = 64;

/**
 * The same for every text in a value of JSON, names included. Undefined for a value that is too
 * deep, or has two fields of one name then.
 */
export function seenValue(
  value: unknown,
): { readonly value: unknown; readonly escaped: number } | undefined {
  let escaped = 0;
  let isWhole = true;
  const look = (each: unknown, depth = 0): unknown => {
    if (depth > maxDepth) isWhole = false;
    if (!isWhole) return undefined;
    if (typeof each === "string") {
      const seen = seenText(each);
      escaped += seen.escaped;
      return seen.text;
    }
    if (Array.isArray(each)) return each.map((inner) => look(inner, depth + 1));
    if (typeof each !== "object" || each === null) return each;
    const fields = Object.entries(each).map(([name, inner]) =>
      [String(look(name)), look(inner, depth + 1)] as const
    );
    if (new Set(fields.map(([name]) => name)).size < fields.length) isWhole = false;
    return Object.fromEntries(fields);
  };
  const seen = look(value);
  return isWhole ? { value: seen, escaped } : undefined;
}

/** Returns the kind of secret in a text that is about to be sent, if there is one. */
export function secretIn(text: string, own: readonly string[]): string | undefined {
  // Characters that are not seen could be put between those of a secret.
  const seen = shownLines(text).replace(escapes, "");
  if (asWritten(own).some((secret) => seen.includes(secret))) return "a secret of this agent";
  if (seen.match(apiKey) !== null) return "an API key";
  if (seen.match(invite) !== null) return "an invite";
  return undefined;
}

/** A secret with quotes or backslashes looks different inside of JSON. */
function asWritten(secrets: readonly string[]): string[] {
  const all = secrets.filter((secret) => secret !== "");
  return [...new Set([...all, ...all.map((secret) => JSON.stringify(secret).slice(1, -1))])];
}

/**
 * The last look at whatever goes to the model. `onInvite` says what stands there instead of an
 * invite.
 */
export function withoutSecrets(
  text: string,
  own: readonly string[],
  onInvite: (token: string) => string,
): string {
  const known = asWritten(own.filter((secret) => secret.length >= minSecretLength));
  const shown = known.reduce((rest, secret) => rest.replaceAll(secret, "[secret removed]"), text);
  return shown.replace(apiKey, "[API key removed]").replace(invite, onInvite);
}

/** Shorter ones would be found in ordinary words. */
const minSecretLength = 6;
