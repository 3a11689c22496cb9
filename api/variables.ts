/**
 * Typed reading of environment variables. A fault is noted and a usable value answered, so that reading goes on and finds the
 * other faults too.
 */
import type { RateLimit } from "./domain/rate_limit.ts";
import { Secret } from "../server/mod.ts";
import type { Argon2Profile } from "./hashing/argon2.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export class VariableReader {
  readonly #environment: Environment;
  readonly #faults: string[];

  constructor(environment: Environment, faults: string[]) {
    this.#environment = environment;
    this.#faults = faults;
  }

  /** An empty variable counts as absent. */
  given(name: string): string | undefined {
    const text = this.#environment[name];
    return text === "" ? undefined : text;
  }

  fault(name: string, expected: string): void {
    this.#faults.push(`${name} must be ${expected}`);
  }

  text(name: string, fallback: string): string {
    return this.given(name) ?? fallback;
  }

  flag(name: string): boolean {
    return this.choice(name, ["false", "true"]) === "true";
  }

  /** The first choice is the default. */
  choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const text = this.given(name) ?? choices[0];
    const choice = choices.find((choice) => choice === text);
    if (choice === undefined) this.fault(name, choices.join(" or "));
    return choice ?? choices[0];
  }

  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const text = this.given(name) ?? String(fallback);
    const value = Number(text);
    if (!/^\d{1,16}$/.test(text) || value < min || value > max) {
      this.fault(name, `a whole number from ${min} to ${max}`);
    }
    return value;
  }

  secret(name: string, minLength: number): Secret | undefined {
    const text = this.given(name);
    if (text === undefined) return undefined;
    if (text.length < minLength || /\s/.test(text)) {
      this.fault(name, `at least ${minLength} characters without white space`);
    }
    return new Secret(text);
  }

  list<Item>(name: string, parse: (text: string) => Item | undefined, expected: string): Item[] | undefined {
    return this.given(name)?.split(",").flatMap((text) => {
      const item = parse(text.trim());
      if (item === undefined) this.fault(name, `a list of which each item is ${expected}`);
      return item === undefined ? [] : [item];
    });
  }

  /** `m=19456,t=2,p=1`; Argon2 needs eight KiB per lane. */
  profile(name: string, fallback: Argon2Profile): Argon2Profile {
    const text = this.given(name);
    if (text === undefined) return fallback;
    const [, memory, iterations, parallelism] = /^m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})$/.exec(text) ?? [];
    const profile = {
      memoryKiB: Number(memory),
      iterations: Number(iterations),
      parallelism: Number(parallelism),
    };
    if (!(profile.parallelism >= 1 && profile.iterations >= 1 && profile.memoryKiB >= 8 * profile.parallelism)) {
      this.fault(name, "m=<KiB>,t=<iterations>,p=<lanes>, for example m=19456,t=2,p=1");
    }
    return profile;
  }

  /** `20/3600`: twenty in an hour. */
  rate(name: string, fallback: RateLimit): RateLimit {
    const text = this.given(name);
    if (text === undefined) return fallback;
    const [, limit, seconds] = /^(\d{1,9})\/(\d{1,6})$/.exec(text) ?? [];
    if (!(Number(limit) > 0 && Number(seconds) > 0)) this.fault(name, "<requests>/<seconds>, for example 20/3600");
    return { limit: Number(limit), windowMs: Number(seconds) * 1000 };
  }

  /** The contents of the file that a variable names. */
  file(name: string): string | undefined {
    const path = this.given(name);
    if (path === undefined) return undefined;
    try {
      return Deno.readTextFileSync(path);
    } catch (error) {
      this.fault(name, `the path of a readable file (${error instanceof Error ? error.name : "unreadable"})`);
      return undefined;
    }
  }
}
