/**
 * Fields of a header, checked as they are read. A field of a wrong type or value throws `invalid_request` with the
 * field's name.
 */
import { invalidArgument } from "../base/errors.ts";
import type { Header } from "./frames.ts";

export class Fields {
  readonly #header: Header;

  constructor(header: Header) {
    this.#header = header;
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
    return value === undefined || typeof value === "boolean" ? value : missing(name, "true or false");
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

  optionalObject(name: string): Fields | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) return missing(name, "an object");
    return new Fields(value as Header); // cast: an object that came from JSON
  }

  optionalObjects(name: string): readonly Fields[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return missing(name, "a list of objects");
    return value.map((each) => new Fields({ each }).optionalObject("each") ?? missing(name, "a list of objects"));
  }

  /** All of it, as it came from JSON. */
  get all(): Header {
    return this.#header;
  }

  /** As it came from JSON. */
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

function missing(name: string, kind: string): never {
  throw invalidArgument(`The field "${name}" must be ${kind}`);
}
