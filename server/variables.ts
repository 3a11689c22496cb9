/**
 * Typed reading of environment variables, one by one, so that the process needs no permission for others. A fault is noted
 * and a usable value answered, so that reading goes on and finds the other faults too. Faults never repeat a value: it may be
 * a secret in the wrong place.
 */
import { Secret } from "./secret.ts";

export type ReadVariable = (name: string) => string | undefined;

export class VariableReader {
  readonly #read: ReadVariable;
  readonly faults: string[] = [];

  constructor(read: ReadVariable) {
    this.#read = read;
  }

  /** An empty variable counts as absent. */
  given(name: string): string | undefined {
    const text = this.#read(name);
    return text === "" ? undefined : text;
  }

  fault(name: string, expected: string): void {
    this.faults.push(`${name} must be ${expected}`);
  }

  text(name: string, fallback: string): string {
    return this.given(name) ?? fallback;
  }

  /** The first choice is the default. */
  choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const text = this.given(name) ?? choices[0];
    const choice = choices.find((choice) => choice === text);
    if (choice === undefined) this.fault(name, choices.join(" or "));
    return choice ?? choices[0];
  }

  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const text = this.given(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
    this.fault(name, `a whole number from ${min} to ${max}`);
    return fallback;
  }

  port(name: string, fallback: number): number {
    return this.integer(name, fallback, { min: 0, max: 65535 });
  }

  secret(name: string, minLength: number): Secret | undefined {
    const text = this.given(name);
    if (text === undefined) return undefined;
    if (text.length < minLength || /\s/.test(text)) {
      this.fault(name, `at least ${minLength} characters without white space`);
    }
    return new Secret(text);
  }

  /** Items that `accept` normalises; it answers undefined for one that is none. */
  list(name: string, accept: (text: string) => string | undefined, expected: string): readonly string[] | undefined {
    const items = this.given(name)?.split(",").map((text) => accept(text.trim()));
    if (items?.includes(undefined)) this.fault(name, `a list of which each item is ${expected}`);
    return items?.filter((item) => item !== undefined);
  }
}
