/** Base64url without padding (RFC 4648 section 5), strict: one text per byte string. */

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const values = new Int8Array(128).fill(-1);
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i;

export function encodeBase64url(bytes: Uint8Array): string {
  let text = "";
  let i = 0;
  for (; i + 2 < bytes.length; i += 3) {
    const group = (at(bytes, i) << 16) | (at(bytes, i + 1) << 8) | at(bytes, i + 2);
    text += letter(group >> 18) + letter(group >> 12) + letter(group >> 6) + letter(group);
  }
  if (bytes.length - i === 1) text += letter(at(bytes, i) >> 2) + letter(at(bytes, i) << 4);
  if (bytes.length - i === 2) {
    const group = (at(bytes, i) << 8) | at(bytes, i + 1);
    text += letter(group >> 10) + letter(group >> 4) + letter(group << 2);
  }
  return text;
}

/** Undefined for anything that `encodeBase64url` would not have written. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor(text.length * 3 / 4));
  let bits = 0;
  let bitCount = 0;
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const value = values[text.charCodeAt(i)] ?? -1;
    if (value < 0) return undefined;
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      bytes[length++] = bits >> bitCount;
    }
  }
  // Left-over bits must be zero, or two texts would mean the same bytes.
  return (bits & ((1 << bitCount) - 1)) === 0 ? bytes : undefined;
}

function letter(value: number): string {
  return alphabet.charAt(value & 63);
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
