/**
 * A small schema language for envelope bodies. One declaration gives the TypeScript type, the
 * parser from CBOR and the encoder to it. Keys are the field numbers of the message of the same
 * name in `relay.proto`, so one number means one field in both forms.
 */
import type { CborMap, CborValue } from "./cbor.ts";
import { WireError } from "./errors.ts";
import { type BinaryId, binaryIdBytes, binaryIdFromBytes, binaryIdToBytes } from "./ids.ts";

/** Type of a field, for code that compares schemas, generates samples or writes documentation. */
export type FieldType =
  | { readonly kind: "uint"; readonly min: number; readonly max: number; readonly fixed?: true }
  | { readonly kind: "bool" }
  | { readonly kind: "bytes"; readonly min: number; readonly max: number }
  | { readonly kind: "text"; readonly min: number; readonly max: number; readonly format?: string }
  | { readonly kind: "choice"; readonly words: readonly string[] }
  | { readonly kind: "list"; readonly item: FieldType; readonly min: number; readonly max: number }
  | { readonly kind: "struct"; readonly shape: Shape };

export interface SchemaField<T> {
  readonly type: FieldType;
  /** `where` names the field for the error text: `SendMessage.ciphertext`. */
  readonly parse: (value: CborValue | undefined, where: string) => T;
  readonly encode: (value: T) => CborValue;
  readonly optional?: boolean;
}

/** Any field or struct, whatever its type: what may be done with it is only known to its owner. */
interface AnyField {
  readonly type: FieldType;
  readonly parse: (value: CborValue | undefined, where: string) => unknown;
  readonly encode: (value: never) => CborValue;
  readonly optional?: boolean;
}
export interface AnyStruct extends AnyField {
  readonly shape: Shape;
  readonly gone: readonly number[];
  readonly encode: (value: never) => CborMap;
}

export type Shape = Readonly<Record<string, readonly [key: number, field: AnyField]>>;

type SchemaValueOf<F extends AnyField> = ReturnType<F["parse"]>;
type OptionalNames<S extends Shape> = {
  [Name in keyof S]: S[Name][1] extends { readonly optional: true } ? Name : never;
}[keyof S];
type Flatten<T> = { [Key in keyof T]: T[Key] };

type StructValue<S extends Shape> = Flatten<
  & { readonly [Name in Exclude<keyof S, OptionalNames<S>>]: SchemaValueOf<S[Name][1]> }
  & { readonly [Name in OptionalNames<S>]?: SchemaValueOf<S[Name][1]> | undefined }
>;

export interface Struct<S extends Shape> {
  readonly type: FieldType;
  readonly shape: S;
  /** Keys of fields that it had once; no new field may take one. */
  readonly gone: readonly number[];
  readonly parse: (value: CborValue | undefined, where: string) => StructValue<S>;
  readonly encode: (value: StructValue<S>) => CborMap;
}

/** The TypeScript type that a schema describes. */
export type Infer<Schema extends AnyStruct> = ReturnType<Schema["parse"]>;

export function struct<const S extends Shape>(shape: S, gone: readonly number[] = []): Struct<S> {
  const fields = Object.entries(shape).map(([name, [key, field]]) => ({ name, key, field }))
    .sort((a, b) => a.key - b.key);

  const parse = (value: CborValue | undefined, where: string): StructValue<S> => {
    if (!(value instanceof Map)) return refuse(where, "is not a map");
    const result: Record<string, unknown> = {};
    let seen = 0;
    for (const { name, key, field } of fields) {
      const item = value.get(key);
      if (item !== undefined) seen++;
      else if (field.optional === true) continue;
      result[name] = field.parse(item, `${where}.${name}`);
    }
    if (seen !== value.size) refuse(where, "has a field that this version does not know");
    return result as StructValue<S>; // cast: built field by field from the shape
  };

  const encode = (value: StructValue<S>): CborMap => {
    const source: Readonly<Record<string, unknown>> = value;
    const map: CborMap = new Map();
    for (const { name, key, field } of fields) {
      const item = source[name];
      if (item === undefined && field.optional === true) continue;
      // cast: the shape ties the name to this field's type
      map.set(key, field.encode(item as never));
    }
    return map;
  };
  return { type: { kind: "struct", shape }, shape, gone, parse, encode };
}

export function optional<T>(field: SchemaField<T>): SchemaField<T> & { readonly optional: true } {
  return { ...field, optional: true };
}

export function uint(max: number = Number.MAX_SAFE_INTEGER, min = 0): SchemaField<number> {
  return {
    type: { kind: "uint", min, max },
    parse: (value, where) => {
      if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min) {
        return refuse(where, `is not an integer of at least ${min}`);
      }
      return value <= max ? value : refuse(where, `is ${value}, at most ${max} is allowed`);
    },
    encode: (value) => value,
  };
}

export function bool(): SchemaField<boolean> {
  return {
    type: { kind: "bool" },
    parse: (value, where) =>
      typeof value === "boolean" ? value : refuse(where, "is not true or false"),
    encode: (value) => value,
  };
}

export function bytes(max: number, min = 0): SchemaField<Uint8Array> {
  return {
    type: { kind: "bytes", min, max },
    parse: (value, where) => {
      if (!(value instanceof Uint8Array)) return refuse(where, "is not a byte string");
      if (min === max && value.length !== max) {
        return refuse(where, `has ${value.length} bytes instead of ${max}`);
      }
      if (value.length > max) return tooLarge(where, `${value.length} bytes`, max);
      return value.length >= min
        ? value
        : refuse(where, `has ${value.length} bytes, at least ${min} are needed`);
    },
    encode: (value) => value,
  };
}

/** Exactly `length` bytes: nonces, keys, signatures, digests. */
export function fixedBytes(length: number): SchemaField<Uint8Array> {
  return bytes(length, length);
}

export function text(max: number, min = 0): SchemaField<string> {
  return {
    type: { kind: "text", min, max },
    parse: (value, where) => {
      if (typeof value !== "string") return refuse(where, "is not text");
      // UTF-16 units never exceed UTF-8 bytes, so this bounds both.
      if (value.length > max) return tooLarge(where, `${value.length} characters`, max);
      return value.length >= min ? value : refuse(where, "is empty");
    },
    encode: (value) => value,
  };
}

/** Text that has a parser of its own: names and ids. `format` says which. */
export function parsedText<T extends string>(
  format: string,
  max: number,
  parseText: (text: string) => T,
): SchemaField<T> {
  const inner = text(max, 1);
  return {
    type: { kind: "text", min: 1, max, format },
    parse: (value, where) => {
      const parsed = inner.parse(value, where);
      try {
        return parseText(parsed);
      } catch (cause) {
        if (cause instanceof WireError) {
          throw new WireError(cause.code, `${where}: ${cause.message}`, { cause });
        }
        throw cause;
      }
    },
    encode: (value) => value,
  };
}

export function binaryId<Id extends BinaryId>(): SchemaField<Id> {
  const inner = fixedBytes(binaryIdBytes);
  return {
    type: inner.type,
    parse: (value, where) => binaryIdFromBytes<Id>(inner.parse(value, where)),
    encode: binaryIdToBytes,
  };
}

/** A closed set of words, numbered from 1 on the wire: protobuf keeps 0 for "not set". */
export function choice<const Word extends string>(words: readonly Word[]): SchemaField<Word> {
  return {
    type: { kind: "choice", words },
    parse: (value, where) => {
      const word = typeof value === "number" ? words[value - 1] : undefined;
      return word ?? refuse(where, `is not one of ${words.join(", ")}`);
    },
    encode: (value) => words.indexOf(value) + 1,
  };
}

export function list<T>(item: SchemaField<T>, max: number, min = 0): SchemaField<readonly T[]> {
  return {
    type: { kind: "list", item: item.type, min, max },
    parse: (value, where) => {
      if (!Array.isArray(value)) return refuse(where, "is not a list");
      if (value.length > max) return tooLarge(where, `${value.length} items`, max);
      if (value.length < min) {
        return refuse(where, `has ${value.length} items, at least ${min} are needed`);
      }
      return value.map((element, index) => item.parse(element, `${where}[${index}]`));
    },
    encode: (value) => value.map(item.encode),
  };
}

/** A struct as a field of another. */
export function nested<S extends Shape>(inner: Struct<S>): SchemaField<StructValue<S>> {
  return inner;
}

function refuse(where: string, why: string): never {
  throw new WireError("invalid_request", `${where} ${why}`);
}

function tooLarge(where: string, size: string, max: number): never {
  throw new WireError("payload_too_large", `${where} has ${size}, at most ${max} are allowed`);
}
