/**
 * A small language for the fields of the host protocol's headers, which are JSON. One declaration
 * gives the TypeScript type, what a reader checks, and a line of the reference page. It is data:
 * `sdk/host/fields.ts` reads by it, the generators write by it.
 */

/** How a field looks on the wire. */
export type FieldType =
  | { readonly kind: "text" }
  | { readonly kind: "flag" }
  | { readonly kind: "number"; readonly limits?: Limits }
  | { readonly kind: "choice"; readonly words: readonly string[] }
  /** A list of texts. */
  | { readonly kind: "texts" }
  /** An object whose values are texts. */
  | { readonly kind: "map" }
  | { readonly kind: "object"; readonly shape: Shape }
  /** A list of objects. */
  | { readonly kind: "list"; readonly shape: Shape; readonly limits?: Limits }
  /** Anything; the part that takes it checks it. */
  | { readonly kind: "json" };

/** Whole numbers from `min` to `max`; for a list, how many it has. */
export interface Limits {
  readonly min: number;
  readonly max: number;
  /** The error, when it is not so. */
  readonly refusal: (field: string, value: number) => string;
}

export type Field<Value = unknown> = FieldType & {
  readonly optional?: boolean;
  /** Its meaning, where the name does not tell. */
  readonly says?: string;
  /** Never there: it carries the type. */
  readonly of?: Value;
};

export type Shape = Readonly<Record<string, Field>>;

type ValueOf<F> = F extends { readonly of?: infer Value } ? Value : never;
type OptionalNames<S extends Shape> = {
  [Name in keyof S]: S[Name] extends { readonly optional: true } ? Name : never;
}[keyof S];
type Flatten<T> = { [Key in keyof T]: T[Key] };

/** The fields of a shape that were given, as they were checked. */
export type FieldsOf<S extends Shape> = Flatten<
  & { readonly [Name in Exclude<keyof S, OptionalNames<S>>]: ValueOf<S[Name]> }
  & { readonly [Name in OptionalNames<S>]?: ValueOf<S[Name]> }
>;

/** The same before they are told, when those that are undefined are left out. */
export type GivenFields<S extends Shape> = Flatten<
  & { readonly [Name in Exclude<keyof S, OptionalNames<S>>]: ValueOf<S[Name]> }
  & { readonly [Name in OptionalNames<S>]?: ValueOf<S[Name]> | undefined }
>;

export function optional<F extends Field>(field: F): F & { readonly optional: true } {
  return { ...field, optional: true };
}

export function text<Value extends string = string>(says?: string): Field<Value> {
  return described({ kind: "text" }, says);
}

export function flag(says?: string): Field<boolean> {
  return described({ kind: "flag" }, says);
}

export function number(says?: string): Field<number> {
  return described({ kind: "number" }, says);
}

/** A whole number within limits. */
export function whole(limits: Limits, says?: string): Field<number> {
  return described({ kind: "number", limits }, says);
}

export function choice<const Word extends string>(
  words: readonly Word[],
  says?: string,
): Field<Word> {
  return described({ kind: "choice", words }, says);
}

export function texts(says?: string): Field<readonly string[]> {
  return described({ kind: "texts" }, says);
}

export function map(says?: string): Field<Readonly<Record<string, string>>> {
  return described({ kind: "map" }, says);
}

export function object<const S extends Shape>(shape: S, says?: string): Field<FieldsOf<S>> {
  return described({ kind: "object", shape }, says);
}

export function list<const S extends Shape>(
  shape: S,
  { limits, says }: { readonly limits?: Limits; readonly says?: string } = {},
): Field<readonly FieldsOf<S>[]> {
  return described({ kind: "list", shape, ...(limits !== undefined && { limits }) }, says);
}

export function json(says?: string): Field<unknown> {
  return described({ kind: "json" }, says);
}

function described(type: FieldType, says: string | undefined): Field<never> {
  return { ...type, ...(says !== undefined && { says }) };
}
