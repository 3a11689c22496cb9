/**
 * Badges: an issuer signs that an agent is NAME at DOMAIN, from … until …. A badge says which key
 * signed it and never where to fetch that key: the reader has its own list of domains and their
 * keys. The agent id is a hash of key and identity, so a copied badge is worth nothing.
 */
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { isDomain } from "../base/domain.ts";
import { WireError } from "../base/errors.ts";
import { type AccountId, type AgentId, isAgentId, parseAccountId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { statement } from "../base/statement.ts";
import { type VerifySignature, verifyWithNoble } from "../mls/key_package.ts";
import { MlsReader } from "../mls/reader.ts";
import { uint64, vector } from "../mls/writer.ts";

/** The statement of an issuer. */
export interface UnsignedBadge {
  readonly domain: string;
  /** Ed25519. */
  readonly issuerKey: Uint8Array;
  readonly name: string;
  readonly agentId: AgentId;
  /** Unix seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /**
   * Ascending by type, each type once. Types that this version does not know are kept, and no type
   * is judged by what it means: members of other versions would judge otherwise.
   */
  readonly attributes: readonly BadgeAttribute[];
}

type WithAttributes = Pick<UnsignedBadge, "attributes">;

/** As it was read. Only `verifyBadge` says whether its signature is right. */
export interface Badge extends UnsignedBadge {
  readonly signature: Uint8Array;
}

export interface BadgeAttribute {
  readonly type: number;
  readonly value: Uint8Array;
}

/** Attributes that this version knows. */
export const badgeAttributeTypes = { account: 1, mailDomain: 2 } as const;

const format = 1;
const maxBadgeBytes = 512;
const [keyBytes, agentIdBytes, signatureBytes, accountIdBytes] = [32, 22, 64, 16] as const;
export const maxBadgeSeconds = 400 * 24 * 60 * 60;
/** Two while an issuer changes its keys, or one of a domain and one of the service. */
export const maxBadges = 2;
const namePattern = /^[a-z0-9._-]{1,64}$/;
const textPrefix = "badge_";

/** Whether an issuer can give this name to an agent. */
export function isBadgeName(text: string): boolean {
  return namePattern.test(text);
}

/** The attributes of the service as an issuer. */
export function badgeAttributes(
  { account, mailDomain }: {
    readonly account?: AccountId | undefined;
    /** Of the account's verified e-mail address. */
    readonly mailDomain?: string | undefined;
  },
): BadgeAttribute[] {
  const { account: accountType, mailDomain: mailType } = badgeAttributeTypes;
  return [
    ...(account === undefined
      ? []
      : [{ type: accountType, value: hexToBytes(account.replaceAll("-", "")) }]),
    ...(mailDomain === undefined ? [] : [{ type: mailType, value: utf8ToBytes(mailDomain) }]),
  ];
}

/** The account that the issuer says the agent belongs to. */
export function accountOf(badge: WithAttributes): AccountId | undefined {
  const value = attributeOf(badge, badgeAttributeTypes.account);
  if (value?.length !== accountIdBytes) return undefined;
  const hex = bytesToHex(value);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return parseAccountId([...parts, hex.slice(20)].join("-"));
}

/** The domain of that account's verified e-mail address. */
export function mailDomainOf(badge: WithAttributes): string | undefined {
  const value = attributeOf(badge, badgeAttributeTypes.mailDomain);
  const domain = value && textOf(value);
  return domain !== undefined && isDomain(domain) ? domain : undefined;
}

/** The bytes that the issuer signs. */
export function badgeStatement(badge: UnsignedBadge): Uint8Array {
  const { domain, issuerKey, name, agentId, notBefore, notAfter, attributes } = badge;
  return statement("badge", [
    utf8ToBytes(domain),
    issuerKey,
    utf8ToBytes(name),
    utf8ToBytes(agentId),
    uint64(notBefore),
    uint64(notAfter),
    encodeAttributes(attributes),
  ]);
}

/**
 * Whether the issuer's key signed it, by the strict rule for Ed25519: no key of small order, no
 * encoding that is not canonical. Members bring a verification that judges alike.
 */
export function verifyBadge(badge: Badge, verify: VerifySignature = verifyWithNoble): boolean {
  return verify(badge.issuerKey, badgeStatement(badge), badge.signature);
}

/** Throws `WireError` for a badge that `decodeBadge` would refuse. */
export function encodeBadge(badge: Badge): Uint8Array {
  if (badge.issuerKey.length !== keyBytes || badge.signature.length !== signatureBytes) {
    throw new WireError("invalid_request", "A badge's key has 32 bytes, its signature 64");
  }
  const bytes = concatBytes(
    Uint8Array.of(format),
    vector(utf8ToBytes(badge.domain)),
    badge.issuerKey,
    vector(utf8ToBytes(badge.name)),
    utf8ToBytes(badge.agentId),
    uint64(badge.notBefore),
    uint64(badge.notAfter),
    vector(encodeAttributes(badge.attributes)),
    badge.signature,
  );
  decodeBadge(bytes);
  return bytes;
}

/** Throws `WireError` for whatever `encodeBadge` would not have written. */
export function decodeBadge(bytes: Uint8Array): Badge {
  const reader = openReader(bytes, maxBadgeBytes);
  const badge = readBadge(reader);
  reader.end();
  return badge;
}

/** Several, as a leaf shows them. */
export function encodeBadges(badges: readonly Badge[]): Uint8Array {
  const bytes = vector(concatBytes(...badges.map(encodeBadge)));
  decodeBadges(bytes);
  return bytes;
}

/** Throws `WireError` for whatever `encodeBadges` would not have written. */
export function decodeBadges(bytes: Uint8Array): Badge[] {
  const outer = openReader(bytes, 2 + maxBadges * maxBadgeBytes);
  const reader = outer.nested();
  outer.end();
  const badges = [readBadge(reader)];
  while (!reader.done) {
    if (badges.length === maxBadges) reader.refuse(`a leaf shows at most ${maxBadges}`);
    badges.push(readBadge(reader));
  }
  return badges;
}

/** As text, for files and for what issuers answer. */
export function formatBadge(badge: Badge): string {
  return textPrefix + encodeBase64url(encodeBadge(badge));
}

/** One or two badges as text, with white space between them. Throws `WireError`. */
export function parseBadges(text: string): Badge[] {
  const mostLetters = maxBadges * (textPrefix.length + Math.ceil(maxBadgeBytes * 4 / 3) + 2);
  const reader = new MlsReader(new Uint8Array(0), "badges");
  if (text.length > mostLetters) reader.refuse("the text is longer than any badges are");
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0 || words.length > maxBadges) {
    reader.refuse(`there are ${words.length}, and one or two are expected`);
  }
  return words.map((word) => {
    const bytes = word.startsWith(textPrefix)
      ? decodeBase64url(word.slice(textPrefix.length))
      : undefined;
    return decodeBadge(bytes ?? reader.refuse(`a badge is ${textPrefix} and base64url`));
  });
}

function readBadge(reader: MlsReader): Badge {
  const start = reader.position;
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const domain = textOf(reader.vector());
  if (!isDomain(domain)) reader.refuse("its domain is none, or is not in lower case");
  const issuerKey = reader.take(keyBytes);
  const name = textOf(reader.vector());
  if (!isBadgeName(name)) reader.refuse("a name has 1 to 64 of a-z 0-9 . _ -");
  const agentId = textOf(reader.take(agentIdBytes));
  if (!isAgentId(agentId)) return reader.refuse("its agent id is none");
  const [notBefore, notAfter] = [reader.uint64(), reader.uint64()];
  if (notAfter <= notBefore) reader.refuse("it ends before it begins");
  if (notAfter - notBefore > maxBadgeSeconds) reader.refuse("it lasts longer than 400 days");
  const attributes = readAttributes(reader);
  const signature = reader.take(signatureBytes);
  const { length } = reader.since(start);
  if (length > maxBadgeBytes) {
    reader.refuse(`it has ${length} bytes; at most ${maxBadgeBytes} are allowed`);
  }
  return { domain, issuerKey, name, agentId, notBefore, notAfter, attributes, signature };
}

function readAttributes(outer: MlsReader): BadgeAttribute[] {
  const bytes = outer.vector();
  if (bytes.length > limits.badgeAttributesBytes) {
    outer.refuse(`its attributes have more than ${limits.badgeAttributesBytes} bytes`);
  }
  const reader = new MlsReader(bytes, "badge");
  const attributes: BadgeAttribute[] = [];
  while (!reader.done) {
    const attribute = { type: reader.uint8(), value: reader.vector() };
    // Type 0 would stand for none.
    if (attribute.type <= (attributes.at(-1)?.type ?? 0)) {
      reader.refuse("its attributes are not in order, or one stands twice");
    }
    if (attribute.value.length === 0) reader.refuse("an attribute is empty");
    attributes.push(attribute);
  }
  return attributes;
}

function encodeAttributes(attributes: readonly BadgeAttribute[]): Uint8Array {
  return concatBytes(
    ...attributes.map(({ type, value }) => concatBytes(Uint8Array.of(type), vector(value))),
  );
}

function attributeOf({ attributes }: WithAttributes, wanted: number): Uint8Array | undefined {
  return attributes.find(({ type }) => type === wanted)?.value;
}

/** One character for each byte: what is not ASCII is refused by the forms of domain and name. */
function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function openReader(bytes: Uint8Array, most: number): MlsReader {
  const reader = new MlsReader(bytes, "badge");
  if (bytes.length > most) {
    reader.refuse(`it has ${bytes.length} bytes; at most ${most} are allowed`);
  }
  return reader;
}
