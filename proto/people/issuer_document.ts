/**
 * The document in which a domain names the keys that issue its badges, at
 * `https://DOMAIN/.well-known/static-agents`: a JWK set with three more members. It is a static
 * file. A reader decides which of its keys it believes (`trust.ts`); the document alone decides
 * nothing.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { digitsOf } from "../base/digits.ts";
import { isDomain } from "../base/domain.ts";
import { WireError } from "../base/errors.ts";
import { quoted } from "../base/shown_text.ts";
import { statement } from "../base/statement.ts";

/** A key that issues badges of a domain. */
export interface IssuerKey {
  /** The issuer's own name for it, such as 2026-11. */
  readonly kid: string;
  /** Ed25519, 32 bytes. */
  readonly key: Uint8Array;
}

/** A key of a document. */
export interface DocumentKey extends IssuerKey {
  /** A signature of an older key over this one's `badgeKeyStatement`. */
  readonly endorsement?: { readonly by: string; readonly signature: Uint8Array };
}

export interface IssuerDocument {
  readonly domain: string;
  readonly keys: readonly DocumentKey[];
  /** Names of keys that issue nothing any more. Such a key may have gone from `keys`. */
  readonly closed: readonly string[];
}

/** 40 digits of a key, for people to compare. */
export function issuerKeyNumber({ key }: Pick<IssuerKey, "key">): string {
  return digitsOf(sha256(key));
}

/** Signed by an older key of a domain: the new one is the domain's too. */
export function badgeKeyStatement(
  { domain, key }: { readonly domain: string; readonly key: Uint8Array },
): Uint8Array {
  return statement("badge-key", [utf8ToBytes(domain), key]);
}

export const issuerDocumentPath = "/.well-known/static-agents";
export const maxIssuerDocumentBytes = 16 * 1024;
export const maxIssuerKeys = 8;
const [keyBytes, signatureBytes] = [32, 64];
const format = 1;
/** As many names as keys in eight changes of all of them. */
const maxClosed = 64;

/** Names of keys stand in terminals and files, so they are of plain signs. */
export function isKeyName(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z0-9._-]{1,64}$/.test(text);
}

/**
 * `domain` is the one that was asked. Keys of other kinds are ignored. Throws `WireError` for
 * everything else that `formatIssuerDocument` would not have written.
 */
export function parseIssuerDocument(text: string, domain: string): IssuerDocument {
  if (text.length > maxIssuerDocumentBytes || utf8ToBytes(text).length > maxIssuerDocumentBytes) {
    throw unusable(domain, `it has more than ${maxIssuerDocumentBytes} bytes`);
  }
  const file = parseJson(text);
  if (!isObject(file)) throw unusable(domain, "it is not a JSON object");
  if (file["static_agents"] !== format) {
    throw unusable(domain, `static_agents is not ${format}, which is all that this version knows`);
  }
  const { domain: named, keys: listed, closed = [] } = file;
  if (named !== domain || !isDomain(domain)) {
    const other = typeof named === "string" ? quoted(named, { max: 253 }) : "that is no text";
    throw unusable(domain, `it is of the domain ${other}`);
  }
  if (!Array.isArray(listed)) throw unusable(domain, "keys is not a list");
  const keys = listed.map((each: unknown) => parseKey(each, domain)).filter((key) =>
    key !== undefined
  );
  if (keys.length === 0 || keys.length > maxIssuerKeys) {
    throw unusable(
      domain,
      `it has ${keys.length} Ed25519 keys, and may have 1 to ${maxIssuerKeys}`,
    );
  }
  if (!Array.isArray(closed) || closed.length > maxClosed || !closed.every(isKeyName)) {
    throw unusable(domain, "closed is not a list of names of keys");
  }
  checkNames(keys, closed, domain);
  return { domain, keys, closed };
}

/** Returns the file, to be put on the domain's web site. */
export function formatIssuerDocument({ domain, keys, closed }: IssuerDocument): string {
  const file = {
    static_agents: format,
    domain,
    keys: keys.map(({ kid, key, endorsement }) => ({
      kty: "OKP",
      crv: "Ed25519",
      kid,
      use: "sig",
      x: encodeBase64url(key),
      ...(endorsement !== undefined && {
        endorsed_by: endorsement.by,
        endorsement: encodeBase64url(endorsement.signature),
      }),
    })),
    closed,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Undefined for a key that this version does not issue by. */
function parseKey(json: unknown, domain: string): DocumentKey | undefined {
  if (!isObject(json)) throw unusable(domain, "a key is not a JSON object");
  if (json["d"] !== undefined) {
    throw unusable(domain, "it has a private key (d), which nobody but the issuer may have");
  }
  const { kty, crv, use = "sig", kid, x, endorsed_by: by, endorsement } = json;
  if (kty !== "OKP" || crv !== "Ed25519" || use !== "sig") return undefined;
  if (!isKeyName(kid)) throw unusable(domain, "a key has no name (kid) of 1 to 64 plain signs");
  const key = bytesOf(x, keyBytes);
  if (key === undefined) throw unusable(domain, `key ${kid} is not ${keyBytes} bytes in base64url`);
  if (by === undefined && endorsement === undefined) return { kid, key };
  const signature = bytesOf(endorsement, signatureBytes);
  if (!isKeyName(by) || signature === undefined) {
    throw unusable(domain, `the endorsement of key ${kid} is not a name and a signature`);
  }
  return { kid, key, endorsement: { by, signature } };
}

/** The older key of an endorsement may have gone from the document since, if it is closed. */
function checkNames(
  keys: readonly DocumentKey[],
  closed: readonly string[],
  domain: string,
): void {
  const names = keys.map(({ kid }) => kid);
  if (new Set(names).size < names.length) throw unusable(domain, "two keys have one name (kid)");
  for (const { kid, endorsement } of keys) {
    if (endorsement === undefined) continue;
    const { by } = endorsement;
    if (by === kid) throw unusable(domain, `key ${kid} endorses itself`);
    if (!names.includes(by) && !closed.includes(by)) {
      throw unusable(domain, `key ${kid} is endorsed by ${by}, which is none of its keys`);
    }
  }
}

function bytesOf(text: unknown, length: number): Uint8Array | undefined {
  const bytes = typeof text === "string" && text.length <= 2 * length
    ? decodeBase64url(text)
    : undefined;
  return bytes?.length === length ? bytes : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unusable(domain: string, why: string): WireError {
  return new WireError("invalid_request", `Cannot use the issuer's document of ${domain}: ${why}`);
}
