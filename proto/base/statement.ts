/**
 * The form of what is signed or authenticated outside MLS: a label and fields, each behind a
 * two-byte length, so that no two statements can be confused and no field can flow into the next.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/**
 * The form of each statement, which is a part of its label. A form is frozen: a statement that has
 * to say something else gets the next number. `docs/protocol.md` has the steps.
 */
const forms = {
  authenticate: 1,
  leave: 2,
  rejoin: 2,
  commit: 2,
  epoch: 2,
  owners: 2,
  policy: 2,
  issuers: 2,
  found: 3,
  admit: 2,
  join: 1,
  badge: 1,
  "badge-key": 1,
} as const;

export function statement(name: keyof typeof forms, fields: readonly Uint8Array[]): Uint8Array {
  const parts = [utf8ToBytes(`static relay v${forms[name]} ${name}`), ...fields];
  return concatBytes(...parts.flatMap((part) => [uint16(part.length), part]));
}

/** Big-endian. */
export function uint16(value: number): Uint8Array {
  if (value > 0xffff) throw new RangeError("A field of a statement is longer than 65535 bytes");
  return Uint8Array.of(value >> 8, value);
}
