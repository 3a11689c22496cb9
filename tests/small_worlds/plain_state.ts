/**
 * States of a small world as plain data: copies of them, and a text that is the same for states which differ in nothing but the
 * numbers that calls, timers, readings, tags and permits were given.
 */

/** Numbers that are names: those of one group are renamed together, in the order in which they appear. */
const groups: Readonly<Record<string, string>> = {
  call: "n",
  timer: "n",
  calm: "n",
  reading: "n",
  tag: "n",
  number: "n",
  operation: "o",
};

/** Counters that decide nothing. `tries` makes a pause longer, and time is what a world may pass at any moment. */
const counters: ReadonlySet<string> = new Set(["numbers", "tries", "events"]);

/** Frozen values and bytes are shared: nothing changes them. */
export function copyOf<T>(value: T): T {
  // cast: each branch returns what it was given, copied
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    const list = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) list[i] = copy(value[i]);
    return list;
  }
  const made: Record<string, unknown> = {};
  for (const key in value) made[key] = copy(value[key as keyof typeof value]); // cast: one of its own keys
  return made;
}

/** Returns a text in which equal states are equal. */
export function textOf(state: unknown): string {
  return new Writer().write(state, "");
}

const decoder = new TextDecoder();
/** Of frozen values in which no number is a name: a short word for each text. */
const known = new WeakMap<object, string>();
const words = new Map<string, string>();
/** In their order, of each list of keys. */
const sorted = new Map<string, readonly string[]>();

class Writer {
  readonly #names = new Map<number, number>();
  readonly #operations = new Map<number, number>();
  #named = 0;

  write(value: unknown, key: string): string {
    if (typeof value === "number") return this.#number(value, key);
    if (typeof value === "string") return `"${value}"`;
    if (typeof value !== "object" || value === null) return String(value);
    const before = known.get(value);
    if (before !== undefined) return before;
    const named = this.#named;
    const text = this.#object(value, key);
    if (this.#named === named && (value instanceof Uint8Array || Object.isFrozen(value))) {
      const word = words.get(text) ?? `@${words.size}`;
      words.set(text, word);
      known.set(value, word);
      return word;
    }
    return text;
  }

  #object(value: object, key: string): string {
    if (value instanceof Uint8Array) return `<${decoder.decode(value)}>`;
    if (Array.isArray(value)) {
      let text = "[";
      for (const item of value) text += `${this.write(item, key)},`;
      return `${text}]`;
    }
    let text = "{";
    // cast: the fields of any object
    const fields = value as Readonly<Record<string, unknown>>;
    for (const name of keysOf(value)) {
      const field = fields[name];
      if (field !== undefined && !counters.has(name)) text += `${name}:${this.write(field, name)},`;
    }
    return `${text}}`;
  }

  #number(value: number, key: string): string {
    const group = groups[key];
    if (group === undefined) return String(value);
    this.#named++;
    const names = group === "n" ? this.#names : this.#operations;
    const name = names.get(value) ?? names.size + 1;
    names.set(value, name);
    return `#${name}`;
  }
}

function keysOf(value: object): readonly string[] {
  const keys = Object.keys(value);
  const joined = keys.join();
  const before = sorted.get(joined);
  if (before !== undefined) return before;
  sorted.set(joined, keys.sort());
  return keys;
}

/** Two numbers of 32 bits: among ten million states, two that are not equal have the same ones with a chance of 3 in a million. */
export function hashOf(text: string): readonly [number, number] {
  let [high, low] = [0x9e3779b9, 0x85ebca6b];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
    high ^= high >>> 15;
    low ^= low >>> 13;
  }
  high = Math.imul(high ^ (low >>> 16), 0x85ebca6b);
  low = Math.imul(low ^ (high >>> 13), 0xc2b2ae35);
  return [(high ^ (high >>> 16)) >>> 0, (low ^ (low >>> 15)) >>> 0];
}
