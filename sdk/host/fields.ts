/**
 * Fields of a header, checked as they are read. A field of a wrong type or value throws
 * `invalid_request` with the field's name.
 */
import type { FieldLimits, FieldsOf, HostField, HostShape } from "../../proto/host/fields.ts";
import { invalidArgument } from "../base/errors.ts";
import type { FrameHeader } from "./frames.ts";

export class HeaderFields {
  readonly #header: FrameHeader;

  constructor(header: FrameHeader) {
    this.#header = header;
  }

  /** All fields of the shape that are given. Fields that it does not have are ignored. */
  read<S extends HostShape>(shape: S): FieldsOf<S> {
    const given: Record<string, unknown> = {};
    for (const name in shape) {
      const field: HostField | undefined = shape[name];
      if (field === undefined) continue;
      const value = this.#one(name, field);
      if (value !== undefined) given[name] = value;
      else if (field.optional !== true) missing(name, wordsFor[field.kind]);
    }
    return given as FieldsOf<S>; // cast: made field by field from the shape
  }

  #one(name: string, field: HostField): unknown {
    switch (field.kind) {
      case "text":
        return this.optionalText(name);
      case "flag":
        return this.optionalFlag(name);
      case "number":
        return checked(name, this.optionalNumber(name), field.limits);
      case "choice":
        return this.one(name, field.words);
      case "texts":
        return this.optionalTexts(name);
      case "map":
        return this.optionalMap(name);
      case "object":
        return this.optionalObject(name)?.read(field.shape);
      case "list":
        return this.#list(name, field);
      case "json":
        return this.#value(name);
    }
  }

  /**
   * The length of a list is judged before its items. A list that must be given and is not is empty.
   */
  #list(name: string, { shape, limits, optional }: Extract<HostField, { kind: "list" }>): unknown {
    const value = this.#value(name) ?? (optional === true ? undefined : []);
    if (Array.isArray(value)) checked(name, value.length, limits);
    return value &&
      new HeaderFields({ [name]: value }).optionalObjects(name)?.map((each) => each.read(shape));
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? missing(name, "text");
  }

  optionalText(name: string): string | undefined {
    const value = this.#value(name);
    return value === undefined || typeof value === "string" ? value : missing(name, "text");
  }

  number(name: string): number {
    return this.optionalNumber(name) ?? missing(name, "a number");
  }

  optionalNumber(name: string): number | undefined {
    const value = this.#value(name);
    return value === undefined || typeof value === "number" ? value : missing(name, "a number");
  }

  /** False when it is left out. */
  flag(name: string): boolean {
    return this.optionalFlag(name) ?? false;
  }

  optionalFlag(name: string): boolean | undefined {
    const value = this.#value(name);
    return value === undefined || typeof value === "boolean"
      ? value
      : missing(name, "true or false");
  }

  texts(name: string): readonly string[] {
    return this.optionalTexts(name) ?? missing(name, "a list of texts");
  }

  optionalTexts(name: string): readonly string[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
    return missing(name, "a list of texts");
  }

  /** An object whose values are texts. */
  optionalMap(name: string): Readonly<Record<string, string>> | undefined {
    const fields = this.optionalObject(name);
    if (fields === undefined) return undefined;
    const names = Object.keys(fields.#header);
    return Object.fromEntries(names.map((each) => [each, fields.text(each)]));
  }

  optionalObject(name: string): HeaderFields | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) return missing(name, "an object");
    return new HeaderFields(value as FrameHeader); // cast: an object that came from JSON
  }

  optionalObjects(name: string): readonly HeaderFields[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return missing(name, "a list of objects");
    return value.map((each) =>
      new HeaderFields({ each }).optionalObject("each") ?? missing(name, "a list of objects")
    );
  }

  /** All of it, as it came from JSON. */
  get all(): FrameHeader {
    return this.#header;
  }

  /** Returns the value as it came from JSON. */
  raw(name: string): unknown {
    return this.#value(name);
  }

  one<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    return allowed.find((each) => each === value) ?? missing(name, `one of ${allowed.join(", ")}`);
  }

  /** Null is as good as nothing: other languages have no other word for it. */
  #value(name: string): NonNullable<unknown> | undefined {
    return Object.hasOwn(this.#header, name) ? this.#header[name] ?? undefined : undefined;
  }
}

const wordsFor = {
  text: "text",
  flag: "true or false",
  number: "a number",
  choice: "one of its words",
  texts: "a list of texts",
  map: "an object",
  object: "an object",
  list: "a list of objects",
  json: "given",
} as const;

function checked(
  name: string,
  value: number | undefined,
  limits: FieldLimits | undefined,
): number | undefined {
  if (value === undefined || limits === undefined) return value;
  if (Number.isSafeInteger(value) && value >= limits.min && value <= limits.max) return value;
  throw invalidArgument(limits.refusal(name, value));
}

/** A field that must be given, and is not. */
export function missing(name: string, kind: string): never {
  throw invalidArgument(`The field "${name}" must be ${kind}`);
}
