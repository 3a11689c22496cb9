/** An agent's identity as text. */
import { bytesToHex } from "@noble/hashes/utils.js";

/**
 * All messages of a member come with one array, and decoding it costs more than the rest of an
 * envelope.
 */
const texts = new WeakMap<Uint8Array, string>();

/** Bytes that are no text are shown in hexadecimal. */
export function identityText(identity: Uint8Array): string {
  const known = texts.get(identity);
  if (known !== undefined) return known;
  const text = decode(identity);
  texts.set(identity, text);
  return text;
}

function decode(identity: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(identity);
  } catch {
    return `0x${bytesToHex(identity)}`;
  }
}
