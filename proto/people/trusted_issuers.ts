/**
 * Issuers that a reader believes: domains with the keys that were in their documents when a person
 * looked. A key that comes later is believed only if a key of this list endorses it, because a
 * thief who holds a web server for an hour must not become that domain for ever.
 */
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { equalBytes } from "../base/equal_bytes.ts";
import { type VerifySignature, verifyWithNoble } from "../mls/key_package.ts";
import {
  badgeKeyStatement,
  isKeyName,
  type IssuerDocument,
  type IssuerKey,
  maxIssuerKeys,
} from "./issuer_document.ts";

/** A key that a reader believes. */
export interface TrustedKey extends IssuerKey {
  /** Its issuer has closed it: what it signed counts, and it endorses no other key. */
  readonly closed: boolean;
}

/** A domain that a reader believes. */
export interface TrustedIssuer {
  /** At most eight. */
  readonly keys: readonly TrustedKey[];
  /** How the keys came here. A domain whose document came as a file is never asked for another. */
  readonly source: "web" | "file";
  /** When its document was last read, in milliseconds since 1970. */
  readonly readMs: number;
  /** Its document has other keys since, and a person must look at them. */
  readonly changed: boolean;
}

/** Returns an issuer as a person believes it who has looked at this document. */
export function believeIssuer(
  { keys, closed }: IssuerDocument,
  { source, readMs }: Pick<TrustedIssuer, "source" | "readMs">,
): TrustedIssuer {
  return {
    keys: keys.map(({ kid, key }) => ({ kid, key, closed: closed.includes(kid) })),
    source,
    readMs,
    changed: false,
  };
}

/**
 * Returns the issuer after its document was read again: with the keys that a believed key endorses.
 * Other new keys, and keys that went without being closed, wait for a person.
 */
export function followIssuer(
  issuer: TrustedIssuer,
  document: IssuerDocument,
  nowMs: number,
  verify: VerifySignature = verifyWithNoble,
): TrustedIssuer {
  const { domain, closed } = document;
  const isClosed = (kid: string): boolean => closed.includes(kid);
  const endorsers: IssuerKey[] = issuer.keys.filter((key) => !key.closed);
  let waiting = document.keys.filter((key) => !issuer.keys.some((each) => isSame(each, key)));
  const followed: TrustedKey[] = [];
  for (let found = true; found;) {
    const next = waiting.find(({ key, endorsement }) =>
      endorsement !== undefined && endorsers.some((each) =>
        each.kid === endorsement.by &&
        verify(each.key, badgeKeyStatement({ domain, key }), endorsement.signature)
      )
    );
    found = next !== undefined;
    if (next === undefined) continue;
    const { kid, key } = next;
    endorsers.push({ kid, key });
    followed.push({ kid, key, closed: isClosed(kid) });
    waiting = waiting.filter((each) => each !== next);
  }
  const isListed = (key: IssuerKey): boolean => document.keys.some((each) => isSame(each, key));
  const wentAway = issuer.keys.some((key) => !isListed(key) && !key.closed && !isClosed(key.kid));
  const kept = issuer.keys.map((key) => ({ ...key, closed: key.closed || isClosed(key.kid) }));
  return {
    ...issuer,
    keys: withinLimit([...kept, ...followed], isListed),
    readMs: nowMs,
    changed: waiting.length > 0 || wentAway,
  };
}

/** As `trust.json` has it. */
export function issuerToJson({ keys, source, readMs, changed }: TrustedIssuer): object {
  return {
    source,
    read: new Date(readMs).toISOString(),
    ...(changed && { changed }),
    keys: keys.map(({ kid, key, closed }) => ({
      kid,
      x: encodeBase64url(key),
      ...(closed && { closed }),
    })),
  };
}

/** Undefined for everything that `issuerToJson` would not have written. */
export function issuerFromJson(json: unknown): TrustedIssuer | undefined {
  if (!isObject(json)) return undefined;
  const { keys: listed, source, read, changed = false } = json;
  const readMs = typeof read === "string" ? Date.parse(read) : NaN;
  if (source !== "web" && source !== "file" || Number.isNaN(readMs)) return undefined;
  if (typeof changed !== "boolean" || !Array.isArray(listed)) return undefined;
  const keys = listed.map(keyFromJson).filter((key) => key !== undefined);
  const isWhole = keys.length === listed.length && keys.length > 0 && keys.length <= maxIssuerKeys;
  return isWhole ? { keys, source, readMs, changed } : undefined;
}

function keyFromJson(json: unknown): TrustedKey | undefined {
  if (!isObject(json)) return undefined;
  const { kid, x, closed = false } = json;
  const key = typeof x === "string" ? decodeBase64url(x) : undefined;
  const isWhole = isKeyName(kid) && key?.length === 32 && typeof closed === "boolean";
  return isWhole ? { kid, key, closed } : undefined;
}

/** Above the limit the oldest go that are in the document no more; that has no more than these. */
function withinLimit(
  keys: readonly TrustedKey[],
  isListed: (key: IssuerKey) => boolean,
): readonly TrustedKey[] {
  let left = keys.length - maxIssuerKeys;
  return keys.filter((key) => left <= 0 || isListed(key) || left-- <= 0);
}

function isSame(one: IssuerKey, other: IssuerKey): boolean {
  return one.kid === other.kid && equalBytes(one.key, other.key);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
