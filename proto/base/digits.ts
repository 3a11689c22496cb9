/** Hashes as digits that people compare: eight groups of five. */
import { bytesToHex } from "@noble/hashes/utils.js";

const digits = 40;
const digitsInGroup = 5;

/** Two hashes of 32 bytes with the same digits take about 2^66 attempts. */
export function digitsOf(hash: Uint8Array): string {
  const value = BigInt(`0x${bytesToHex(hash)}`) % 10n ** BigInt(digits);
  const text = value.toString().padStart(digits, "0");
  return Array.from(
    { length: digits / digitsInGroup },
    (_, group) => text.slice(group * digitsInGroup, (group + 1) * digitsInGroup),
  ).join(" ");
}
