/**
 * Records of the core in the engine, as CBOR lists: a version, then fields. A list of an older version becomes one of
 * the newest when it is read, step by step; it is written anew when it next changes.
 */
import { type CborValue, decodeCbor, encodeCbor } from "../../proto/mod.ts";
import { EngineError } from "../engine/errors.ts";

type Fields = readonly CborValue[];

export interface ListFormat {
  readonly what: string;
  /** The oldest version that is still to be found. */
  readonly first: number;
  /** The item at `i` turns fields of version `first + i` into those of the next. A change of a list is one more. */
  readonly steps: readonly ((fields: Fields) => Fields)[];
}

export function encodeList({ first, steps }: ListFormat, fields: Fields): Uint8Array {
  return encodeCbor([first + steps.length, ...fields]);
}

/** The fields as the newest version has them. Throws for a damaged list, and `unsupported_version` for one that is newer. */
export function decodeList({ what, first, steps }: ListFormat, bytes: Uint8Array): Fields {
  const value = decodeCbor(bytes);
  if (!Array.isArray(value)) throw new TypeError(`A ${what} is damaged: expected a list`);
  // Version 1 had no number.
  const [version, ...fields] = typeof value[0] === "number" ? value : [1, ...value];
  const known = first + steps.length;
  if (typeof version !== "number" || version < first || version > known) {
    const text = `Cannot read a ${what}: it has version ${String(version)}, this relay knows ${first} to ${known}. ` +
      "Start the relay that wrote it, or a newer one";
    throw new EngineError("unsupported_version", text);
  }
  return steps.slice(version - first).reduce<Fields>((older, step) => step(older), fields);
}
