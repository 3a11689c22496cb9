/** An agent's identity as text. */
import { bytesToHex } from "@noble/hashes/utils.js";

/** Bytes that are no text are shown in hexadecimal. */
export function identityText(identity: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(identity);
  } catch {
    return `0x${bytesToHex(identity)}`;
  }
}
