/**
 * Typed reading of environment variables, one by one, so that the process needs no permission for
 * others. A fault is noted and a usable value returned, so that reading goes on and finds the other
 * faults; the start then fails with all of them. Faults never repeat a value: it may be a secret in
 * the wrong place.
 */
import { faultsOfNames } from "../proto/base/variables.ts";
import { Secret } from "./secret.ts";
import { StartFailed } from "./start_failed.ts";

export type ReadVariable = (name: string) => string | undefined;

export class ConfigError extends StartFailed {
  override readonly name = "ConfigError";

  /** `what` cannot start. */
  constructor(what: string, readonly faults: readonly string[]) {
    const list = faults.map((fault) => `  - ${fault}`).join("\n");
    super(`Cannot start ${what}: ${faults.length} fault(s) in the configuration\n${list}`);
  }
}

export interface Variables {
  /** The part that reads them. */
  readonly what: string;
  readonly variable: ReadVariable;
  /** The names of all variables that are set; those that no part knows are faults. */
  readonly names?: readonly string[];
}

/** The configuration of a part. Throws `ConfigError` with every fault that `read` met. */
export function readVariables<Config>(
  { what, variable, names = [] }: Variables,
  read: (reader: VariableReader) => Config,
): Config {
  const reader = new VariableReader(variable);
  const config = read(reader);
  const faults = [...faultsOfNames(names), ...reader.faults];
  if (faults.length > 0) throw new ConfigError(what, faults);
  return config;
}

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

  /**
   * Returns the result of `parse`. For a bad value `parse` returns undefined, and the fallback is
   * used.
   */
  parsed<Value>(
    name: string,
    fallback: Value,
    { parse, expected }: { parse: (text: string) => Value | undefined; expected: string },
  ): Value {
    const text = this.given(name);
    if (text === undefined) return fallback;
    const value = parse(text);
    if (value === undefined) this.fault(name, expected);
    return value ?? fallback;
  }

  text(name: string, fallback: string): string {
    return this.given(name) ?? fallback;
  }

  flag(name: string): boolean {
    return this.choice(name, ["false", "true"]) === "true";
  }

  /** The first choice is the default. */
  choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const parse = (text: string): Choice | undefined => choices.find((choice) => choice === text);
    return this.parsed<Choice>(name, choices[0], { parse, expected: choices.join(" or ") });
  }

  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const parse = (text: string): number | undefined => {
      const value = Number(text);
      return /^\d{1,16}$/.test(text) && value >= min && value <= max ? value : undefined;
    };
    return this.parsed(name, fallback, { parse, expected: `a whole number from ${min} to ${max}` });
  }

  port(name: string, fallback: number): number {
    if (/^(tcp|udp|sctp):\/\//.test(this.given(name) ?? "")) {
      this.fault(
        name,
        "a port, and is an address, as Kubernetes sets it for a Service of that name. Give the pod enableServiceLinks: false",
      );
      return fallback;
    }
    return this.integer(name, fallback, { min: 0, max: 65535 });
  }

  /** Returns the variable's value, or the content of the file that it names as `file:/path`. */
  secretText(name: string): string | undefined {
    const text = this.given(name);
    if (text?.startsWith("file:") !== true) return text;
    try {
      return Deno.readTextFileSync(text.slice("file:".length)).trim();
    } catch (error) {
      this.fault(name, `file: and the path of a readable file (${whyUnreadable(error)})`);
      return undefined;
    }
  }

  secret(name: string, minLength: number): Secret | undefined {
    const text = this.secretText(name);
    if (text === undefined) return undefined;
    if (text.length >= minLength && !/\s/.test(text)) return new Secret(text);
    this.fault(name, `at least ${minLength} characters without white space`);
    return undefined;
  }

  /** Items with commas between them. `parse` returns undefined for a bad one. */
  list<Item>(
    name: string,
    parse: (text: string) => Item | undefined,
    expected: string,
  ): readonly Item[] | undefined {
    return this.parsed<readonly Item[] | undefined>(name, undefined, {
      parse: (text) => {
        const items = text.split(",").map((item) => parse(item.trim())).filter((item) =>
          item !== undefined
        );
        return items.length === text.split(",").length ? items : undefined;
      },
      expected: `a list of which each item is ${expected}`,
    });
  }

  /** Both or neither. */
  together(first: string, second: string): readonly [string, string] | undefined {
    const [one, other] = [this.given(first), this.given(second)];
    if ((one === undefined) !== (other === undefined)) {
      this.fault(`${first} and ${second}`, "set together or not at all");
    }
    return one === undefined || other === undefined ? undefined : [one, other];
  }

  /** The contents of the file that a variable names. */
  file(name: string): string | undefined {
    const path = this.given(name);
    if (path === undefined) return undefined;
    try {
      return Deno.readTextFileSync(path);
    } catch (error) {
      this.fault(name, `the path of a readable file (${whyUnreadable(error)})`);
      return undefined;
    }
  }
}

/** Permissions to read are given for key files that exist (`deploy/local/permitted_paths.ts`). */
function whyUnreadable(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) {
    return "there is none, or --allow-read does not name it";
  }
  return error instanceof Error ? error.name : "unreadable";
}
