/**
 * A small language for the fields of the host protocol's headers, which are JSON. One declaration
 * gives the TypeScript type, what a reader checks, and a line of the reference page. It is data:
 * `sdk/host/fields.ts` reads by it, the generators write by it.
 */

/** How a field looks on the wire. */
export type HostFieldType =
  | { readonly kind: "text" }
  | { readonly kind: "flag" }
  | { readonly kind: "number"; readonly limits?: FieldLimits }
  | { readonly kind: "choice"; readonly words: readonly string[] }
  /** A list of texts. */
  | { readonly kind: "texts" }
  /** An object whose values are texts. */
  | { readonly kind: "map" }
  | { readonly kind: "object"; readonly shape: HostShape }
  /** A list of objects. */
  | { readonly kind: "list"; readonly shape: HostShape; readonly limits?: FieldLimits }
  /** Anything; the part that takes it checks it. */
  | { readonly kind: "json" };

/** Whole numbers from `min` to `max`; for a list, how many it has. */
export interface FieldLimits {
  readonly min: number;
  readonly max: number;
  /** The error, when it is not so. */
  readonly refusal: (field: string, value: number) => string;
}

export type HostField<Value = unknown> = HostFieldType & {
  readonly optional?: boolean;
  /** Its meaning, where the name does not tell. */
  readonly says?: string;
  /** Never there: it carries the type. */
  readonly of?: Value;
};

export type HostShape = Readonly<Record<string, HostField>>;

type ValueOf<F> = F extends { readonly of?: infer Value } ? Value : never;
type OptionalHostFields<S extends HostShape> = {
  [Name in keyof S]: S[Name] extends { readonly optional: true } ? Name : never;
}[keyof S];
type FlattenedFields<T> = { [Key in keyof T]: T[Key] };

/** The fields of a shape that were given, as they were checked. */
export type FieldsOf<S extends HostShape> = FlattenedFields<
  & { readonly [Name in Exclude<keyof S, OptionalHostFields<S>>]: ValueOf<S[Name]> }
  & { readonly [Name in OptionalHostFields<S>]?: ValueOf<S[Name]> }
>;

/** The same before they are told, when those that are undefined are left out. */
export type InputFields<S extends HostShape> = FlattenedFields<
  & { readonly [Name in Exclude<keyof S, OptionalHostFields<S>>]: ValueOf<S[Name]> }
  & { readonly [Name in OptionalHostFields<S>]?: ValueOf<S[Name]> | undefined }
>;

export function optional<F extends HostField>(field: F): F & { readonly optional: true } {
  return { ...field, optional: true };
}

export function text<Value extends string = string>(says?: string): HostField<Value> {
  return described({ kind: "text" }, says);
}

export function flag(says?: string): HostField<boolean> {
  return described({ kind: "flag" }, says);
}

export function number(says?: string): HostField<number> {
  return described({ kind: "number" }, says);
}

/** A whole number within limits. */
export function whole(limits: FieldLimits, says?: string): HostField<number> {
  return described({ kind: "number", limits }, says);
}

export function choice<const Word extends string>(
  words: readonly Word[],
  says?: string,
): HostField<Word> {
  return described({ kind: "choice", words }, says);
}

export function texts(says?: string): HostField<readonly string[]> {
  return described({ kind: "texts" }, says);
}

export function map(says?: string): HostField<Readonly<Record<string, string>>> {
  return described({ kind: "map" }, says);
}

export function object<const S extends HostShape>(shape: S, says?: string): HostField<FieldsOf<S>> {
  return described({ kind: "object", shape }, says);
}

export function list<const S extends HostShape>(
  shape: S,
  { limits, says }: { readonly limits?: FieldLimits; readonly says?: string } = {},
): HostField<readonly FieldsOf<S>[]> {
  return described({ kind: "list", shape, ...(limits !== undefined && { limits }) }, says);
}

export function json(says?: string): HostField<unknown> {
  return described({ kind: "json" }, says);
}

function described(type: HostFieldType, says: string | undefined): HostField<never> {
  return { ...type, ...(says !== undefined && { says }) };
}
