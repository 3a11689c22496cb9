/**
 * Links: an invite with everything else that a guest needs, as `static://join/#…` or as an address
 * of the API's own host. All of it is behind the `#`, which browsers send to nobody. Around a CBOR
 * map stand a version, a length and a checksum, the same in every version: a link that was cut
 * short is told from one that was changed, and that from one that is too new. Errors never quote a
 * link.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { parseApiKey } from "../api/api_key.ts";
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from "../base/cbor.ts";
import { equalBytes } from "../base/equal_bytes.ts";
import { WireError } from "../base/errors.ts";
import { parseApiUrl } from "../api/http_call.ts";
import { binaryIdFromBytes, binaryIdToBytes, parseAgentId, parseChannelName } from "../base/ids.ts";
import type { Invite } from "./invite_token.ts";

/** Everything that a link says. */
export interface JoinLink {
  readonly invite: Invite;
  /** As `parseApiUrl` returns it. */
  readonly apiUrl: string;
  /**
   * The relay's addresses; those of them that the API names too are used. None: any that the API
   * names.
   */
  readonly relayUrls: readonly string[];
  /**
   * Authority of a private installation's certificates; without it the public authorities count.
   */
  readonly authority?: LinkAuthority | undefined;
  /** An API key of kind `guest`, for an agent that has no account. */
  readonly pass?: string | undefined;
  /** When the invite ends, for a clear text: the inviter decides. */
  readonly expiresAtMs?: number;
}

export type LinkAuthority =
  /** SHA-256 of the certificate that the API tells of; it vouches for the relay alone. */
  | { readonly kind: "hash"; readonly sha256: Uint8Array }
  /**
   * A certificate as DER that vouches for API and relay: the API itself cannot be reached without
   * it.
   */
  | { readonly kind: "certificate"; readonly der: Uint8Array };

/** The page that the https form leads to, under the API's address. */
export const joinPagePath = "/console/join";

const scheme = "static://join/";
const version = 1;
const [headBytes, checksumBytes] = [3, 4];
const [secretBytes, hashBytes] = [32, 32];
/** Addresses of relays that a link has room for. */
export const maxLinkRelays = 8;
const [maxAddressLength, maxAuthorityBytes, maxContentBytes] = [256, 2048, 4096];
/** The largest payload as text, and an address before it. */
const maxLinkLength = 6144;
const relayForm = /^(quic|grpc|https):\/\/([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?$/;
/** No character that a shell reads as more than itself: advice names the address in commands. */
const apiForm = /^[\w.:/[\]~-]+$/;
const alphabet = /^[\w-]*$/;
/** 9999: beyond it a date has another form. */
const maxSeconds = 253_402_300_799;

const key = {
  channelId: 1,
  name: 2,
  inviter: 3,
  secret: 4,
  apiUrl: 5,
  relayUrls: 6,
  authorityHash: 7,
  authority: 8,
  pass: 9,
  expiresAt: 10,
} as const;
const keys: ReadonlySet<CborValue> = new Set(Object.values(key));

/** Whether this is meant to be a link; a token begins with `inv_`. */
export function looksLikeJoinLink(text: string): boolean {
  return /^(static|https?):/i.test(text);
}

/** `web`: as an https address, for people without a program. */
export function formatJoinLink(
  link: JoinLink,
  { web = false }: { readonly web?: boolean } = {},
): string {
  const { invite, apiUrl, relayUrls, authority, pass, expiresAtMs } = link;
  const fields: CborMap = new Map<CborValue, CborValue>([
    [key.channelId, binaryIdToBytes(invite.channelId)],
    [key.name, invite.name],
    [key.inviter, invite.inviter],
    [key.secret, invite.secret],
    [key.apiUrl, apiUrl],
    [key.relayUrls, [...relayUrls]],
  ]);
  if (authority?.kind === "hash") fields.set(key.authorityHash, authority.sha256);
  if (authority?.kind === "certificate") fields.set(key.authority, authority.der);
  if (pass !== undefined) fields.set(key.pass, pass);
  if (expiresAtMs !== undefined) fields.set(key.expiresAt, Math.floor(expiresAtMs / 1000));
  readFields(fields);
  const content = encodeCbor(fields);
  if (content.length > maxContentBytes) {
    throw invalid("its addresses and certificate take too much room");
  }
  const head = Uint8Array.of(version, content.length >> 8, content.length & 0xff);
  const payload = encodeBase64url(concatBytes(head, content, checksum(head, content)));
  return `${web ? apiUrl + joinPagePath : scheme}#${payload}`;
}

/** Throws `WireError` with code `link_invalid`, or `unsupported_version`. */
export function parseJoinLink(text: string): JoinLink {
  if (text.length > maxLinkLength) {
    throw invalid(`it has ${text.length} characters, at most ${maxLinkLength} are possible`);
  }
  const at = text.indexOf("#");
  const address = at < 0 ? text : text.slice(0, at);
  if (address !== scheme && !address.endsWith(joinPagePath)) {
    throw invalid(
      `a link begins with ${scheme}# or is an https address that ends in ${joinPagePath}#…`,
    );
  }
  if (at < 0) throw cut("everything from # on is missing");
  const content = openPayload(text.slice(at + 1));
  const link = readFields(contentMap(content));
  if (address !== scheme && address !== link.apiUrl + joinPagePath) {
    throw invalid("its address is of another service than its content; do not trust it");
  }
  return link;
}

/** The CBOR in it, once length, checksum and version are right. */
function openPayload(text: string): Uint8Array {
  if (!alphabet.test(text)) throw invalid("it has a character that no link has; copy it again");
  const head = text.length < 4 ? undefined : decodeBase64url(text.slice(0, 4));
  if (head === undefined) throw cut("hardly anything is behind the #");
  const length = ((head[1] ?? 0) << 8) | (head[2] ?? 0);
  if (length > maxContentBytes) {
    throw invalid("it says that it is longer than any link; copy it again");
  }
  const total = headBytes + length + checksumBytes;
  const letters = Math.ceil(total * 4 / 3);
  if (text.length < letters) {
    throw cut(`${letters - text.length} of its ${letters} characters behind the # are missing`);
  }
  if (text.length > letters) throw invalid("something stands behind its end; copy the link alone");
  const bytes = decodeBase64url(text);
  if (bytes === undefined) throw invalid("its last character is mistyped; copy it again");
  const content = bytes.subarray(headBytes, headBytes + length);
  if (!equalBytes(bytes.subarray(headBytes + length), checksum(head, content))) {
    throw invalid("its checksum is wrong: a character was changed; copy it again");
  }
  if (head[0] === version) return content;
  const update = "update this program, or the inviter's, and ask for a new link";
  throw new WireError(
    "unsupported_version",
    `Cannot use the link: it has version ${head[0]}, this program knows ${version}; ${update}`,
  );
}

function contentMap(content: Uint8Array): CborMap {
  try {
    const value = decodeCbor(content, maxContentBytes);
    if (value instanceof Map) return value;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  throw invalid("it does not hold what a link holds");
}

function readFields(fields: CborMap): JoinLink {
  for (const each of fields.keys()) {
    if (!keys.has(each)) throw invalid("it has a part that version 1 has not");
  }
  const secret = bytesOf(fields, key.secret, [secretBytes, secretBytes]);
  const inviteFields = {
    channelId: attempt(() =>
      binaryIdFromBytes<Invite["channelId"]>(bytesOf(fields, key.channelId, [16, 16]))
    ),
    name: attempt(() => parseChannelName(textOf(fields, key.name))),
    inviter: attempt(() => parseAgentId(textOf(fields, key.inviter))),
  };
  const pass = fields.has(key.pass) ? passOf(textOf(fields, key.pass)) : undefined;
  const seconds = fields.get(key.expiresAt);
  if (
    seconds !== undefined && !(typeof seconds === "number" && seconds >= 0 && seconds <= maxSeconds)
  ) {
    throw wrongPart();
  }
  const authority = authorityOf(fields);
  return {
    invite: { ...inviteFields, secret },
    apiUrl: apiUrlOf(textOf(fields, key.apiUrl)),
    relayUrls: relayUrlsOf(fields.get(key.relayUrls)),
    ...(authority !== undefined && { authority }),
    ...(pass !== undefined && { pass }),
    ...(typeof seconds === "number" && { expiresAtMs: seconds * 1000 }),
  };
}

function authorityOf(fields: CborMap): LinkAuthority | undefined {
  if (fields.has(key.authorityHash) && fields.has(key.authority)) throw wrongPart();
  if (fields.has(key.authorityHash)) {
    return { kind: "hash", sha256: bytesOf(fields, key.authorityHash, [hashBytes, hashBytes]) };
  }
  if (!fields.has(key.authority)) return undefined;
  const der = bytesOf(fields, key.authority, [hashBytes + 1, maxAuthorityBytes]);
  if (!isSequence(der)) throw wrongPart();
  return { kind: "certificate", der };
}

/** Whether it has the outer form of a certificate: one DER sequence, and nothing behind it. */
function isSequence(der: Uint8Array): boolean {
  const [tag, form, high = 0, low = 0] = der;
  if (tag !== 0x30) return false;
  return form === 0x81
    ? high === der.length - 3
    : form === 0x82 && (high << 8 | low) === der.length - 4;
}

/** In the one way in which it is written. */
function apiUrlOf(text: string): string {
  if (text.length > maxAddressLength || !apiForm.test(text) || parseApiUrl(text) !== text) {
    throw wrongPart();
  }
  return text;
}

function relayUrlsOf(value: CborValue | undefined): string[] {
  if (!Array.isArray(value) || value.length > maxLinkRelays) throw wrongPart();
  return value.map((each) => {
    if (typeof each === "string" && each.length <= maxAddressLength && relayForm.test(each)) {
      return each;
    }
    throw wrongPart();
  });
}

function passOf(text: string): string {
  if (parseApiKey(text) === undefined) throw wrongPart();
  return text;
}

function textOf(fields: CborMap, name: number): string {
  const value = fields.get(name);
  if (typeof value !== "string") throw wrongPart();
  return value;
}

function bytesOf(fields: CborMap, name: number, [min, max]: readonly [number, number]): Uint8Array {
  const value = fields.get(name);
  if (!(value instanceof Uint8Array) || value.length < min || value.length > max) throw wrongPart();
  return value;
}

/** Other parsers say what they refuse. */
function attempt<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof WireError) throw wrongPart();
    throw error;
  }
}

function checksum(head: Uint8Array, content: Uint8Array): Uint8Array {
  return sha256(concatBytes(head, content)).subarray(0, checksumBytes);
}

function cut(what: string): WireError {
  return invalid(`it was cut short: ${what}; copy it again in full`);
}

function wrongPart(): WireError {
  return invalid("a part of it is missing or is not what a link holds; ask for a new one");
}

function invalid(why: string): WireError {
  return new WireError("link_invalid", `Cannot use the link: ${why}`);
}
