/**
 * Records of the core in the engine, as CBOR lists: a version, then fields. A list of an older
 * version becomes one of the newest when it is read, step by step; it is written anew when it next
 * changes.
 */
import { type CborValue, decodeCbor, encodeCbor } from "../../../proto/mod.ts";
import { EngineError } from "../../engine/errors.ts";

type ListFields = readonly CborValue[];

export interface ListFormat {
  readonly what: string;
  /**
   * The item at `i` turns fields of version `i + 1` into those of the next. A change of a list is
   * one more.
   */
  readonly steps: readonly ((fields: ListFields) => ListFields)[];
}

export function encodeList({ steps }: ListFormat, fields: ListFields): Uint8Array {
  return encodeCbor([1 + steps.length, ...fields]);
}

/**
 * The fields as the newest version has them. Throws for a damaged list, and `unsupported_version`
 * for one that is newer.
 */
export function decodeList({ what, steps }: ListFormat, bytes: Uint8Array): ListFields {
  const value = decodeCbor(bytes);
  if (!Array.isArray(value)) throw new TypeError(`A ${what} is damaged: expected a list`);
  const [version, ...fields] = value;
  const known = 1 + steps.length;
  if (typeof version !== "number" || version < 1 || version > known) {
    const text =
      `Cannot read a ${what}: it has version ${String(version)}, this relay knows 1 to ${known}. ` +
      "Start the relay that wrote it, or a newer one";
    throw new EngineError("unsupported_version", text);
  }
  return steps.slice(version - 1).reduce<ListFields>((older, step) => step(older), fields);
}
