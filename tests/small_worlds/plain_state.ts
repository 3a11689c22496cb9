/**
 * States of a small world as plain data: copies of them, and a text that is the same for states
 * which differ in nothing but the numbers that calls, timers, readings, tags and permits were
 * given.
 */

/**
 * Numbers that are names: those of one group are renamed together, in the order in which they
 * appear.
 */
const groups: Readonly<Record<string, string>> = {
  call: "n",
  timer: "n",
  calm: "n",
  reading: "n",
  tag: "n",
  number: "n",
  job: "n",
  question: "n",
  fate: "n",
  again: "n",
  operation: "o",
  connection: "c",
  settling: "n",
  calls: "n",
  recovering: "o",
  operations: "o",
  arrivals: "o",
  waiting: "o",
  leaving: "o",
  byName: "o",
  change: "n",
};

const groupNumbers: ReadonlyMap<string, number> = new Map(
  Object.entries(groups).map(([key, group]) => [key, 1 + "noc".indexOf(group)]),
);

/**
 * Counters that decide nothing. `tries` makes a pause longer, and time is what a world may pass at
 * any moment.
 */
const counters: ReadonlySet<string> = new Set(["numbers", "tries", "events"]);

/** Frozen values and bytes are shared: nothing changes them. */
export function copyOf<T>(value: T): T {
  // cast: each branch returns what it was given, copied
  return (typeof value === "object" && value !== null ? copy(value, firstGuess) : value) as T;
}

/** A copy for one member, to which something happens: the others are shared. */
export function copyFor<S extends { readonly members: readonly unknown[] }>(
  { members, ...others }: S,
  at: number,
): S {
  const shared = members.map((member, each) => each === at ? copyOf(member) : member);
  // cast: a state is plain data
  return { ...copyOf(others), members: shared } as unknown as S;
}

/** Views of a part that states share are made once, and hashed once. */
export function once<T extends object, V>(make: (of: T) => V): (of: T) => V {
  const made = new WeakMap<T, V>();
  return (of) => {
    const known = made.get(of);
    if (known !== undefined) return known;
    const value = Object.freeze(make(of));
    made.set(of, value);
    return value;
  };
}

/** Written out for the keys of an object. */
type Copier = (value: object) => object;

/** The shape that a value at some place had the last time: it nearly always has it again. */
interface Guess {
  shape: Shape | undefined;
}

const firstGuess: Guess = { shape: undefined };

/** Times that a shape is met before code is made for it. */
const worthCode = 50;

/** The keys of an object in the order in which it has them. */
interface Shape {
  readonly keys: readonly string[];
  /** The shapes that have one key more. */
  readonly next: Map<string, Shape>;
  copies: number;
  copy: Copier | undefined;
}

const noKeys: Shape = { keys: [], next: new Map(), copies: 0, copy: undefined };

function shapeOf(value: object, guess: Guess): Shape {
  const { shape } = guess;
  return shape !== undefined && hasKeys(value, shape.keys) ? shape : guess.shape = findShape(value);
}

function hasKeys(value: object, keys: readonly string[]): boolean {
  let at = 0;
  for (const key in value) if (key !== keys[at++]) return false;
  return at === keys.length;
}

function findShape(value: object): Shape {
  let shape = noKeys;
  for (const key in value) {
    let next = shape.next.get(key);
    if (next === undefined) {
      next = { keys: [...shape.keys, key], next: new Map(), copies: 0, copy: undefined };
      shape.next.set(key, next);
    }
    shape = next;
  }
  return shape;
}

function copy(value: object, guess: Guess): object {
  if (Array.isArray(value)) return copyList(value, guess);
  if (Object.isFrozen(value) || value instanceof Uint8Array) return value;
  const shape = shapeOf(value, guess);
  if (shape.copy === undefined) {
    if (++shape.copies < worthCode) return copyFields(value);
    shape.copy = copierOf(shape.keys);
  }
  return shape.copy(value);
}

/** Of a shape that is seldom: each list of keys of a record has one. */
function copyFields(value: object): object {
  // cast: the fields of any object
  const made = { ...value } as Record<string, unknown>;
  for (const key in made) {
    const field = made[key];
    if (typeof field === "object" && field !== null) made[key] = copy(field, firstGuess);
  }
  return made;
}

function copyList(value: readonly unknown[], guess: Guess): readonly unknown[] {
  if (Object.isFrozen(value)) return value;
  const list = value.slice();
  for (let at = 0; at < list.length; at++) {
    const item = list[at];
    if (typeof item === "object" && item !== null) list[at] = copy(item, guess);
  }
  return list;
}

function copierOf(keys: readonly string[]): Copier {
  const fields = keys.map((key, at) => {
    const name = JSON.stringify(key);
    return `${name}: typeof (field = value[${name}]) === "object" && field !== null ? copy(field, guesses[${at}]) : field`;
  });
  const guesses = keys.map((): Guess => ({ shape: undefined }));
  const text = `return (value) => { let field; return { ${fields.join(", ")} }; }`;
  return new Function("copy", "guesses", text)(copy, guesses);
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
  readonly #names: Record<string, Map<number, number>> = {};
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
    // 0 is none.
    if (group === undefined || value === 0) return String(value);
    this.#named++;
    const names = this.#names[group] ??= new Map();
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

/**
 * Returns two numbers of 32 bits that are equal for states with an equal text, without writing it:
 * among ten million states, two that are not equal have the same ones with a chance of 3 in a
 * million.
 */
export function hashOf(
  state: unknown,
  renamings: readonly Renaming[] = [],
): readonly [number, number] {
  let least = hashBy(state, renamings.length === 0 ? plain : sortedWords);
  for (const renaming of renamings) {
    const [high, low] = hashBy(state, renaming);
    if (high < least[0] || (high === least[0] && low < least[1])) least = [high, low];
  }
  return least;
}

/** Two states that are equal to all promises. */
export function isSame(one: unknown, other: unknown): boolean {
  const [[high, low], [otherHigh, otherLow]] = [hashBy(one, plain), hashBy(other, plain)];
  return high === otherHigh && low === otherLow;
}

export function hashBy(state: unknown, renaming: Renaming): readonly [number, number] {
  const hasher = new Hasher(renaming);
  hasher.add(state, 0, { shape: undefined });
  return hasher.result();
}

export interface Reading {
  /** Lists of texts have no order. */
  readonly isSorted?: boolean;
  /** The group of the numbers under a key, 1 to 3. */
  readonly groups?: ReadonlyMap<string, number>;
  /** Keys that decide nothing. */
  readonly counters?: ReadonlySet<string>;
}

/** How texts, keys and numbers are read, and what is known of frozen values that were read so. */
export class Renaming {
  readonly #rename: ((text: string) => string) | undefined;
  readonly #words = new Map<string, string>();
  readonly isSorted: boolean;
  readonly groups: ReadonlyMap<string, number>;
  readonly counters: ReadonlySet<string>;
  /** Of frozen values. */
  readonly hashes = new WeakMap<object, Hashed>();
  readonly #shapes = new Map<Shape, HashedShape>();

  constructor(rename: ((text: string) => string) | undefined, reading: Reading = {}) {
    this.#rename = rename;
    this.isSorted = reading.isSorted ?? true;
    this.groups = reading.groups ?? groupNumbers;
    this.counters = reading.counters ?? counters;
  }

  of(text: string): string {
    if (this.#rename === undefined) return text;
    const known = this.#words.get(text) ?? this.#rename(text);
    this.#words.set(text, known);
    return known;
  }

  shaped(shape: Shape): HashedShape {
    const known = this.#shapes.get(shape);
    if (known !== undefined) return known;
    const named = shape.keys.filter((name) => !this.counters.has(name)).map((name) => ({
      name,
      as: this.of(name),
      group: this.groups.get(name) ?? 0,
    }));
    named.sort((a, b) => a.as < b.as ? -1 : 1);
    const fields = named.map(({ name, as, group }) => ({ name, id: idOf(as), group }));
    const made = { fields, times: 0, add: undefined };
    this.#shapes.set(shape, made);
    return made;
  }
}

function adderOf(fields: readonly Field[]): Adder {
  const steps = fields.map(({ name, id, group }, at) =>
    `if ((field = value[${
      JSON.stringify(name)
    }]) !== undefined) { hasher.mix(${id}); hasher.add(field, ${group}, guesses[${at}]); }`
  );
  const guesses = fields.map((): Guess => ({ shape: undefined }));
  return new Function("guesses", `return (hasher, value) => { let field; ${steps.join("\n")} };`)(
    guesses,
  );
}

interface Hashed {
  readonly high: number;
  readonly low: number;
  /** Its numbers that are names, by their group, in the order in which they appear. */
  readonly named: readonly (readonly number[])[];
}

/** Written out for the keys of an object. */
type Adder = (hasher: Hasher, value: object) => void;

interface HashedShape {
  readonly fields: readonly Field[];
  times: number;
  add: Adder | undefined;
}

const plain = new Renaming(undefined, { isSorted: false });
const sortedWords = new Renaming(undefined);

/** Begin a value of each kind, so that no two values are written alike. */
const marks = {
  undefined: 1,
  null: 2,
  true: 3,
  false: 4,
  number: 5,
  name: 6,
  text: 7,
  bytes: 8,
  list: 9,
  object: 10,
  end: 11,
};

interface Field {
  readonly name: string;
  readonly id: number;
  readonly group: number;
}

const texts = new Map<string, number>();

class Hasher {
  #high = 0x9e3779b9 | 0;
  #low = 0x85ebca6b | 0;
  /** Numbers that are names, by their group. */
  readonly #named: readonly number[][] = [[], [], [], []];
  readonly #renaming: Renaming;

  constructor(renaming: Renaming) {
    this.#renaming = renaming;
  }

  add(value: unknown, group: number, guess: Guess): void {
    switch (typeof value) {
      case "number":
        return this.#number(value, group);
      case "string":
        this.mix(marks.text);
        return this.mix(idOf(this.#renaming.of(value)));
      case "boolean":
        return this.mix(value ? marks.true : marks.false);
      case "object":
        return value === null ? this.mix(marks.null) : this.#object(value, group, guess);
      default:
        return this.mix(marks.undefined);
    }
  }

  #number(value: number, group: number): void {
    // 0 is none.
    if (group > 0 && value !== 0) return this.#name(value, group);
    this.mix(marks.number);
    this.mix(value | 0);
    // Epochs hold their generation above 32 bits.
    this.mix(Number.isFinite(value) ? Math.floor(value / 2 ** 32) : idOf(String(value)));
  }

  #name(value: number, group: number): void {
    const named = this.#named[group] ?? [];
    let name = named.indexOf(value);
    if (name < 0) name = named.push(value) - 1;
    this.mix(marks.name);
    this.mix(name);
  }

  #object(value: object, group: number, guess: Guess): void {
    if (Object.isFrozen(value) || value instanceof Uint8Array) {
      return this.#shared(value, group, guess);
    }
    const high = this.#high;
    const low = this.#low;
    this.#high = 0x9e3779b9 | 0;
    this.#low = 0x85ebca6b | 0;
    this.#fields(value, group, guess);
    const ownHigh = this.#lastHigh();
    const ownLow = this.#lastLow(ownHigh);
    this.#high = high;
    this.#low = low;
    this.mix(ownHigh);
    this.mix(ownLow);
  }

  /** By itself, and then what its names are called in the whole. */
  #shared(value: object, group: number, guess: Guess): void {
    let hashed = this.#renaming.hashes.get(value);
    if (hashed === undefined) {
      const hasher = new Hasher(this.#renaming);
      hasher.#fields(value, group, guess);
      const [high, low] = hasher.result();
      hashed = { high, low, named: hasher.#named };
      this.#renaming.hashes.set(value, hashed);
    }
    this.mix(hashed.high);
    this.mix(hashed.low);
    for (let at = 1; at < hashed.named.length; at++) {
      for (const name of hashed.named[at] ?? []) this.#name(name, at);
    }
  }

  #fields(value: object, group: number, guess: Guess): void {
    if (Array.isArray(value)) {
      this.mix(marks.list);
      this.mix(value.length);
      const items = this.#renaming.isSorted && value.length > 1 && typeof value[0] === "string"
        ? this.#sorted(value)
        : value;
      for (let at = 0; at < items.length; at++) this.add(items[at], group, guess);
      return;
    }
    if (value instanceof Uint8Array) {
      this.mix(marks.bytes);
      return this.mix(idOf(this.#renaming.of(decoder.decode(value))));
    }
    this.mix(marks.object);
    const shaped = this.#renaming.shaped(shapeOf(value, guess));
    if (shaped.add === undefined && ++shaped.times > worthCode) shaped.add = adderOf(shaped.fields);
    if (shaped.add === undefined) this.#each(value, shaped.fields);
    else shaped.add(this, value);
    this.mix(marks.end);
  }

  #each(value: object, all: readonly Field[]): void {
    // cast: the fields of any object
    const fields = value as Readonly<Record<string, unknown>>;
    for (const { name, id, group } of all) {
      const field = fields[name];
      if (field === undefined) continue;
      this.mix(id);
      this.add(field, group, { shape: undefined });
    }
  }

  /** The texts as they are before they are renamed, in the order of what they are renamed to. */
  #sorted(value: readonly unknown[]): readonly unknown[] {
    const named = value.map((item) => [this.#renaming.of(String(item)), item] as const);
    return named.sort(([a], [b]) => a < b ? -1 : 1).map(([, item]) => item);
  }

  mix(value: number): void {
    const high = Math.imul(this.#high ^ value, 0x9e3779b1);
    const low = Math.imul(this.#low ^ value, 0x5f356495);
    this.#high = high ^ (high >>> 15);
    this.#low = low ^ (low >>> 13);
  }

  result(): readonly [number, number] {
    const high = this.#lastHigh();
    return [high, this.#lastLow(high)];
  }

  #lastHigh(): number {
    const high = Math.imul(this.#high ^ (this.#low >>> 16), 0x85ebca6b);
    return (high ^ (high >>> 16)) >>> 0;
  }

  #lastLow(high: number): number {
    const low = Math.imul(this.#low ^ (high >>> 13), 0xc2b2ae35);
    return (low ^ (low >>> 15)) >>> 0;
  }
}

function idOf(text: string): number {
  const known = texts.get(text);
  if (known !== undefined) return known;
  // No mark is the same.
  const id = texts.size + 16;
  texts.set(text, id);
  return id;
}
