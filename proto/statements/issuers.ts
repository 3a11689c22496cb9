/**
 * The issuers whose badges a channel requires, as its GroupContext has them. A change of the owners
 * and the statement about it have the hash of these bytes. `sdk/mls/badge_rules.ts` enforces what
 * they say. Keys are pinned here and never fetched, so that all members judge by the same bytes.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { isDomain } from "../base/domain.ts";
import { equalBytes } from "../base/equal_bytes.ts";
import { limits } from "../base/limits.ts";
import { MlsReader } from "../mls/reader.ts";
import { vector } from "../mls/writer.ts";

/** One key of an issuer, and what its badges must say. */
export interface Issuer {
  readonly domain: string;
  /** Ed25519. */
  readonly key: Uint8Array;
  /** By a closed one nobody comes in any more; members that are in stay. */
  readonly closed: boolean;
  /** Its badges must have it; any will do where none is required. */
  readonly attribute?: RequiredAttribute;
}

export interface RequiredAttribute {
  /** Not 0. */
  readonly type: number;
  readonly value: Uint8Array;
}

/** Of a channel that has said something about badges once. */
export interface ChannelIssuers {
  /** Every leaf needs a badge of one of the issuers. */
  readonly required: boolean;
  /** In the order of `compareIssuers`. */
  readonly issuers: readonly Issuer[];
}

const format = 1;
const keyBytes = 32;

/** By domain, key and attribute: two that differ in nothing else are one issuer. */
export function compareIssuers(a: Issuer, b: Issuer): number {
  return compareBytes(nameOf(a), nameOf(b));
}

export function encodeIssuers({ required, issuers }: ChannelIssuers): Uint8Array {
  const list = issuers.map(encodeIssuer);
  return concatBytes(Uint8Array.of(format, required ? 1 : 0), vector(concatBytes(...list)));
}

/** Throws `WireError` for whatever `encodeIssuers` would not have written in this order. */
export function decodeIssuers(bytes: Uint8Array): ChannelIssuers {
  const reader = new MlsReader(bytes, "issuers of a channel");
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const required = readBit(reader, "mode");
  const list = reader.vector();
  reader.end();
  if (list.length > limits.issuersBytes) {
    reader.refuse(`they have ${list.length} bytes; at most ${limits.issuersBytes} are allowed`);
  }
  const issuers = readList(new MlsReader(list, "issuers of a channel"));
  if (required && issuers.length === 0) reader.refuse("a badge of nobody is required");
  return { required, issuers };
}

/** By which a change of the owners names them. */
export function hashOfIssuers(issuers: ChannelIssuers): Uint8Array {
  return sha256(encodeIssuers(issuers));
}

/** A channel that has never said anything about badges requires none. */
export const noIssuers: ChannelIssuers = { required: false, issuers: [] };

/** Of two channels, or of none. */
export function sameIssuers(
  a: ChannelIssuers = noIssuers,
  b: ChannelIssuers = noIssuers,
): boolean {
  return equalBytes(encodeIssuers(a), encodeIssuers(b));
}

function encodeIssuer({ domain, key, closed, attribute }: Issuer): Uint8Array {
  return concatBytes(
    vector(utf8ToBytes(domain)),
    key,
    Uint8Array.of(closed ? 1 : 0, attribute?.type ?? 0),
    vector(attribute?.value ?? new Uint8Array(0)),
  );
}

function readList(reader: MlsReader): Issuer[] {
  const issuers: Issuer[] = [];
  while (!reader.done) {
    if (issuers.length === limits.issuersPerChannel) {
      reader.refuse(`there are more than ${limits.issuersPerChannel} issuers`);
    }
    const issuer = readIssuer(reader);
    const before = issuers.at(-1);
    if (before !== undefined && compareIssuers(before, issuer) >= 0) {
      reader.refuse("issuers are not in ascending order, each once");
    }
    issuers.push(issuer);
  }
  return issuers;
}

function readIssuer(reader: MlsReader): Issuer {
  // Each byte a character of its own: what is no ASCII is no domain.
  const domain = String.fromCharCode(...reader.vector());
  if (!isDomain(domain)) reader.refuse("an issuer has no domain");
  const key = reader.take(keyBytes);
  const closed = readBit(reader, "state");
  const type = reader.uint8();
  const value = reader.vector();
  if (value.length > limits.badgeAttributesBytes || (type === 0) !== (value.length === 0)) {
    reader.refuse(`an attribute of type ${type} has ${value.length} bytes`);
  }
  return { domain, key, closed, ...(type > 0 && { attribute: { type, value } }) };
}

function readBit(reader: MlsReader, what: string): boolean {
  const code = reader.uint8();
  return code <= 1 ? code === 1 : reader.refuse(`its ${what} is ${code}`);
}

function nameOf({ domain, key, attribute }: Issuer): Uint8Array {
  // No byte of a domain is 0, so none flows into the key.
  const { type, value } = attribute ?? { type: 0, value: new Uint8Array(0) };
  return concatBytes(utf8ToBytes(domain), Uint8Array.of(0), key, Uint8Array.of(type), value);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
}
