/**
 * Digits that people compare: 40 of a hash of the epoch authenticator (RFC 9420 section 8.7), which is the same for all members
 * of an epoch. Somebody inside can choose what goes into an epoch, so it may look for two groups with one fingerprint: among
 * 10^40 that takes about 2^66 groups. Six groups of five digits took 2^50.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 } from "../../wasm/mod.ts";

const digits = 40;
const digitsInGroup = 5;

export function fingerprintOf(authenticator: Uint8Array): string {
  const value = BigInt(`0x${bytesToHex(sha256(authenticator))}`) % 10n ** BigInt(digits);
  const text = value.toString().padStart(digits, "0");
  return Array.from(
    { length: digits / digitsInGroup },
    (_, group) => text.slice(group * digitsInGroup, (group + 1) * digitsInGroup),
  ).join(" ");
}
