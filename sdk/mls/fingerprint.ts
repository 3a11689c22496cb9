/**
 * Digits that people compare: 40 of a hash of the epoch authenticator (RFC 9420 section 8.7), which
 * is the same for all members of an epoch. Somebody inside can choose what goes into an epoch, so
 * it may look for two groups with one fingerprint: among 10^40 that takes about 2^66 groups. Six
 * groups of five digits took 2^50.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { digitsOf } from "../../proto/mod.ts";
import { sha256 } from "../../wasm/mod.ts";
import type { MemberCredential } from "./leaf.ts";

/**
 * The number of an agent, the same in all its channels: of the hash of which its agent id is a
 * part.
 */
export function numberOf({ signatureKey, identity }: MemberCredential): string {
  return fingerprintOf(concatBytes(signatureKey, identity));
}

export function fingerprintOf(hashed: Uint8Array): string {
  return digitsOf(sha256(hashed));
}
