/**
 * The text form of an API key: `sk_live_` or `sk_test_`, then 46 base62 characters: 8 for lookup,
 * 32 secret (190 bits), 6 of CRC-32 over everything before them. The checksum lets a typing mistake
 * or a made-up key be refused, and a leaked key be recognised by a scanner, without asking anyone.
 */

export type ApiKeyEnvironment = "live" | "test";

export interface ParsedApiKey {
  readonly environment: ApiKeyEnvironment;
  /** Environment prefix and lookup characters: public, unique, stored in clear. */
  readonly keyPrefix: string;
}

export const apiKeyLookupLength = 8;
export const apiKeySecretLength = 32;
const checksumLength = 6;

/** For secret scanners; `parseApiKey` also checks the checksum. */
export const apiKeyPattern = "sk_(live|test)_[0-9A-Za-z]{46}";

const wholeKey = new RegExp(`^${apiKeyPattern}$`);
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const environmentPrefixLength = "sk_live_".length;
const keyLength = environmentPrefixLength + apiKeyLookupLength + apiKeySecretLength +
  checksumLength;

/**
 * The key's public parts, or undefined when it is not one of ours: wrong form or wrong checksum.
 */
export function parseApiKey(text: string): ParsedApiKey | undefined {
  if (text.length !== keyLength || !wholeKey.test(text)) return undefined;
  const body = text.slice(0, keyLength - checksumLength);
  if (checksumOf(body) !== text.slice(keyLength - checksumLength)) return undefined;
  return {
    environment: text.startsWith("sk_live_") ? "live" : "test",
    keyPrefix: text.slice(0, environmentPrefixLength + apiKeyLookupLength),
  };
}

/** `lookup` and `secret` are random base62 text of the lengths above, see `encodeBase62`. */
export function encodeApiKey(
  parts: { environment: ApiKeyEnvironment; lookup: string; secret: string },
): string {
  const body = `sk_${parts.environment}_${parts.lookup}${parts.secret}`;
  const key = body + checksumOf(body);
  if (parseApiKey(key) === undefined) {
    throw new RangeError("Cannot make an API key: lookup or secret has a wrong form");
  }
  return key;
}

/**
 * Random bytes as base62 text. Bytes of 248 and above are skipped, because 256 is no multiple of 62
 * and taking them modulo 62 would favour some characters; undefined when too few bytes are left, so
 * the caller draws again.
 */
export function encodeBase62(bytes: Uint8Array, length: number): string | undefined {
  let text = "";
  for (const byte of bytes) {
    if (byte < 248) text += alphabet.charAt(byte % 62);
    if (text.length === length) return text;
  }
  return undefined;
}

/** Six base62 characters hold 2^35.7 values, so every CRC-32 fits; most significant first. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let encoded = "";
  for (let i = 0; i < checksumLength; i++) {
    encoded = alphabet.charAt(rest % 62) + encoded;
    rest = Math.floor(rest / 62);
  }
  return encoded;
}

/** CRC-32 (ISO-HDLC, the one of zip and PNG) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc = (crc >>> 8) ^ (crcTable[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) {
    value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return value;
});
