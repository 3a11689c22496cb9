/** X25519 keys that somebody can encrypt to (RFC 7748 section 6.1). */
import { bytesToHex } from "@noble/hashes/utils.js";

/**
 * X coordinates of points of small order, the top bit cleared: an encryption to one of them has a
 * secret that all know.
 */
const smallOrderPoints: ReadonlySet<string> = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
]);

/** Cheap, so that it can be asked for every leaf of a large group. */
export function isUsablePublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32) return false;
  const canonical = publicKey.slice();
  canonical[31] = (canonical[31] ?? 0) & 0x7f;
  return !smallOrderPoints.has(bytesToHex(canonical));
}
