/** Keys that somebody can encrypt to: of X25519 (RFC 7748 section 6.1), and of X-Wing. */
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

/** Of ML-KEM-768, then of X25519. */
export const sealKeyBytes = 1184 + 32;
/** The bytes of an ML-KEM-768 key in which two numbers take three; a seed is behind them. */
const numbersBytes = 1152;
/** ML-KEM counts modulo this. */
const modulus = 3329;

/**
 * Whether this is a public key of X-Wing (FIPS 203 section 7.2): one verdict for all members,
 * which runtimes do not promise.
 */
export function isUsableSealKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== sealKeyBytes) return false;
  // Asked several times for each agent that comes in: without an array for each three bytes.
  for (let at = 0; at < numbersBytes; at += 3) {
    const middle = publicKey[at + 1] ?? 0;
    const first = (publicKey[at] ?? 0) | (middle & 15) << 8;
    const second = middle >> 4 | (publicKey[at + 2] ?? 0) << 4;
    if (first >= modulus || second >= modulus) return false;
  }
  return isUsablePublicKey(publicKey.subarray(sealKeyBytes - 32));
}
