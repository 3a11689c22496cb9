/**
 * Tries every order of events of a small world, breadth first: a state is visited once, and a fault
 * comes with its shortest story. Of a visited state its hash is kept, the state that led to it and
 * the name of the event; the whole only until it is its turn.
 */
import { copyOf, hashOf, type Renaming } from "./plain_state.ts";

/**
 * `time`, `program` and `fault` have a pace or a budget of their own; answers and notices come as
 * fast as a relay sends them.
 */
export type Kind = "answer" | "notice" | "time" | "program" | "fault";

export interface Move<S> {
  readonly name: string;
  readonly kind: Kind;
  /** Changes a copy of the state. */
  readonly act: (state: S) => void;
  /** It needs a budget. */
  readonly isBudgeted?: boolean;
  /** Copies a state for it, and shares what it does not change; otherwise everything is copied. */
  readonly copy?: (state: S) => S;
}

export interface World<S> {
  readonly start: S;
  /** Everything that may happen next. */
  readonly moves: (state: S) => readonly Move<S>[];
  /**
   * The part of a state by which it differs from others. A state that was viewed is changed no
   * more: views of its parts may be kept.
   */
  readonly view?: (state: S) => unknown;
  /**
   * How often each thing may still happen that needs a budget, at most 7 each and 21 of them; not
   * in `view`. Whatever follows on a state follows on one that differs in having more left, so a
   * state is not visited beside one that has no less. Then nobody is stuck if a good state is
   * reached without what needs a budget.
   */
  readonly left?: (state: S) => readonly number[];
  /**
   * Moves of one who meets nobody before it has made one of them: whatever the others do meanwhile
   * leads to the same states in any order, and leaves it the same moves. They are tried alone, if
   * one of them that needs no budget leads to a new state: so nothing is put off for ever.
   */
  readonly alone?: (state: S, moves: readonly Move<S>[]) => readonly Move<S>[] | undefined;
  /**
   * Other names for everybody, under which a state is the same to all promises: one of those states
   * is visited.
   */
  readonly renamings?: readonly Renaming[];
  /** The promise that a state breaks, if it does: nothing follows on such a state. */
  readonly broken: (state: S) => string | undefined;
  /** From every state there is a way to one of these. */
  readonly isGood: (state: S) => boolean;
}

export interface Story {
  readonly why: string;
  readonly events: readonly string[];
}

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  /** Every state was visited. */
  readonly isComplete: boolean;
  /** The shortest story of each promise that is broken. */
  readonly faults: readonly Story[];
  /** States from which no good one can be reached, and the shortest story to one of them. */
  readonly stuck: number;
  readonly stuckStory: Story | undefined;
  /**
   * A circle of answers and notices alone: the channel and the relay talk without a pause for ever.
   */
  readonly hotLoop: Story | undefined;
}

export function explore<S>(world: World<S>, maxStates = 5_000_000): Explored {
  const search = new Search(world);
  search.run(maxStates);
  return search.result();
}

export const [isStuck, goesRound] = [
  "no way to a good state",
  "answers and notices follow each other without end",
];

/**
 * Throws unless a story is found whose reason begins so: the first one is enough. Those that are
 * stuck, or go round, are seen at the end.
 */
export function checkFound<S>(world: World<S>, why: string, maxStates = 100_000): void {
  const search = new Search(world);
  search.run(maxStates, why);
  const found = storiesOf(search.result());
  if (!found.some((story) => story.why.startsWith(why))) {
    throw new Error(`found, but not "${why}": ${found.map(told).join("\n") || "nothing"}`);
  }
}

function storiesOf({ faults, stuckStory, hotLoop }: Explored): readonly Story[] {
  return [...faults, ...[stuckStory, hotLoop].filter((story) => story !== undefined)];
}

/** Throws with the shortest story when a promise is broken; returns the counts. */
export function checkAll<S>(name: string, world: World<S>, maxStates?: number): Explored {
  const explored = explore(world, maxStates);
  const { isComplete, states } = explored;
  const stories = storiesOf(explored);
  if (stories.length > 0) throw new Error(`${name}: ${stories.map(told).join("\n")}`);
  if (!isComplete) throw new Error(`${name}: more than ${states} states`);
  return explored;
}

/** For the words of a failed test. */
export function told({ why, events }: Story): string {
  return `${why}, after ${events.length} events:\n${
    events.map((event) => `  ${event}`).join("\n")
  }`;
}

class Search<S> {
  readonly #world: World<S>;
  readonly #ids = new StateIds();
  readonly #names: string[] = [];
  readonly #nameIds = new Map<string, number>();
  readonly #parents = new Numbers();
  readonly #events = new Numbers();
  readonly #from = new Numbers();
  readonly #to = new Numbers();
  readonly #named = new Numbers();
  /** Of each transition, whether it is an answer or a notice. */
  readonly #isFast = new Numbers();
  /** And whether it needs a budget. */
  readonly #isBudgeted = new Numbers();
  readonly #good: number[] = [];
  readonly #brokenIds = new Set<number>();
  readonly #faults = new Map<string, Story>();
  #level: { readonly id: number; readonly state: S }[] = [];
  #next: { readonly id: number; readonly state: S }[] = [];
  #depth = 0;
  #isComplete = true;

  constructor(world: World<S>) {
    this.#world = world;
  }

  /** Until a promise is broken that begins so. */
  run(maxStates: number, why?: string): void {
    this.#add(copyOf(this.#world.start), 0, "");
    while (this.#next.length > 0) {
      [this.#level, this.#next] = [this.#next, []];
      if (this.#ids.size > maxStates) return void (this.#isComplete = false);
      for (const { id, state } of this.#level) {
        this.#visit(id, state);
        if (why !== undefined && this.#hasFound(why)) return void (this.#isComplete = false);
      }
      this.#depth++;
    }
  }

  #hasFound(why: string): boolean {
    for (const fault of this.#faults.keys()) if (fault.startsWith(why)) return true;
    return false;
  }

  #visit(id: number, state: S): void {
    if (this.#brokenIds.has(id)) return;
    const moves = this.#world.moves(state);
    const alone = this.#world.alone?.(state, moves) ?? [];
    let isEnough = false;
    for (const move of alone) {
      const { size } = this.#ids;
      this.#try(move, state, id);
      isEnough ||= this.#ids.size > size && move.isBudgeted !== true;
    }
    if (isEnough) return;
    const others = alone.length === 0 ? moves : moves.filter((move) => !alone.includes(move));
    for (const move of others) this.#try(move, state, id);
  }

  #try(
    { name, kind, act, isBudgeted = false, copy = copyOf }: Move<S>,
    before: S,
    from: number,
  ): void {
    const state = copy(before);
    act(state);
    const to = this.#add(state, from, name);
    this.#from.push(from);
    this.#to.push(to);
    this.#named.push(this.#nameId(name));
    this.#isFast.push(kind === "answer" || kind === "notice" ? 1 : 0);
    this.#isBudgeted.push(isBudgeted ? 1 : 0);
  }

  #add(state: S, parent: number, event: string): number {
    const { view, left, renamings, broken, isGood } = this.#world;
    const viewed = view === undefined ? state : view(state);
    const { id, isNew } = this.#ids.of(hashOf(viewed, renamings), left?.(state) ?? []);
    if (!isNew) return id;
    this.#parents.push(parent);
    this.#events.push(this.#nameId(event));
    const why = broken(state);
    if (why !== undefined) {
      this.#brokenIds.add(id);
      if (!this.#faults.has(why)) this.#faults.set(why, this.#story(why, id));
    } else {
      if (isGood(state)) this.#good.push(id);
      this.#next.push({ id, state });
    }
    return id;
  }

  #nameId(name: string): number {
    const id = this.#nameIds.get(name) ?? this.#names.push(name) - 1;
    this.#nameIds.set(name, id);
    return id;
  }

  #story(why: string, id: number): Story {
    const events: string[] = [];
    for (let at = id; at > 0; at = this.#parents.at(at)) {
      events.unshift(this.#names[this.#events.at(at)] ?? "");
    }
    return { why, events };
  }

  result(): Explored {
    const { stuck, stuckStory } = this.#stuck();
    return {
      states: this.#ids.size,
      transitions: this.#from.length,
      depth: this.#depth,
      isComplete: this.#isComplete,
      faults: [...this.#faults.values()],
      stuck,
      stuckStory,
      hotLoop: this.#hotLoop(),
    };
  }

  /** Backwards from the good ones. */
  #stuck(): Pick<Explored, "stuck" | "stuckStory"> {
    if (!this.#isComplete) return { stuck: 0, stuckStory: undefined };
    const { size } = this.#ids;
    const into = this.#intoOf(size);
    const reached = new Uint8Array(size);
    const todo = [...this.#good];
    for (const id of todo) reached[id] = 1;
    for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
      for (const from of into(id)) {
        if (reached[from] === 1) continue;
        reached[from] = 1;
        todo.push(from);
      }
    }
    let [stuck, first] = [0, -1];
    for (let id = 0; id < size; id++) {
      if (reached[id] === 1 || this.#brokenIds.has(id)) continue;
      stuck++;
      if (first < 0) first = id;
    }
    return { stuck, stuckStory: first < 0 ? undefined : this.#story(isStuck, first) };
  }

  /** Returns the states from which each is reached; with budgets, by what needs none. */
  #intoOf(size: number): (id: number) => Int32Array {
    if (this.#world.left === undefined) return listsOf(this.#to, this.#from, size);
    const [from, to] = [new Numbers(), new Numbers()];
    for (let at = 0; at < this.#from.length; at++) {
      if (this.#isBudgeted.at(at) === 1) continue;
      from.push(this.#from.at(at));
      to.push(this.#to.at(at));
    }
    return listsOf(to, from, size);
  }

  /**
   * States are taken away that no fast event leads to: those that are left are on a circle, or
   * behind one.
   */
  #hotLoop(): Story | undefined {
    const { size } = this.#ids;
    const [from, to, names] = [new Numbers(), new Numbers(), new Numbers()];
    const entering = new Int32Array(size);
    for (let at = 0; at < this.#from.length; at++) {
      if (this.#isFast.at(at) === 0) continue;
      from.push(this.#from.at(at));
      to.push(this.#to.at(at));
      names.push(this.#named.at(at));
      raise(entering, this.#to.at(at));
    }
    const out = listsOf(from, to, size);
    const todo: number[] = [];
    for (let id = 0; id < size; id++) if (entering[id] === 0) todo.push(id);
    for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
      for (const next of out(id)) if (raise(entering, next, -1) === 0) todo.push(next);
    }
    const first = entering.findIndex((left) => left > 0);
    return first < 0 ? undefined : this.#circle(first, { from, to, names }, entering);
  }

  /** Backwards from one of them, until a state comes a second time. */
  #circle(
    first: number,
    { from, to, names }: { readonly from: Numbers; readonly to: Numbers; readonly names: Numbers },
    left: Int32Array,
  ): Story {
    const before = new Map<number, { readonly id: number; readonly name: number }>();
    for (let at = 0; at < from.length; at++) {
      if ((left[from.at(at)] ?? 0) > 0 && (left[to.at(at)] ?? 0) > 0) {
        before.set(to.at(at), { id: from.at(at), name: names.at(at) });
      }
    }
    const seen = new Set<number>();
    let at = first;
    for (; !seen.has(at); at = before.get(at)?.id ?? at) seen.add(at);
    const circle: string[] = [];
    let back = at;
    do {
      const { id, name } = before.get(back) ?? { id: at, name: 0 };
      circle.unshift(this.#names[name] ?? "");
      back = id;
    } while (back !== at);
    const { events } = this.#story("", at);
    return {
      why: goesRound,
      events: [...events, "then, without end:", ...circle],
    };
  }
}

/** Returns, for each state, the other ends of its transitions. */
function listsOf(keys: Numbers, values: Numbers, size: number): (id: number) => Int32Array {
  const starts = new Int32Array(size + 1);
  for (let at = 0; at < keys.length; at++) raise(starts, keys.at(at) + 1);
  for (let id = 0; id < size; id++) raise(starts, id + 1, starts[id]);
  const places = starts.slice();
  const lists = new Int32Array(keys.length);
  for (let at = 0; at < keys.length; at++) lists[raise(places, keys.at(at)) - 1] = values.at(at);
  return (id) => lists.subarray(starts[id], starts[id + 1]);
}

/** Returns the number after that. */
function raise(numbers: Int32Array, at: number, by = 1): number {
  return numbers[at] = (numbers[at] ?? 0) + by;
}

/** A list of numbers that grows, four bytes each. */
class Numbers {
  #numbers = new Int32Array(1024);
  length = 0;

  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  push(value: number): void {
    if (this.length === this.#numbers.length) {
      const larger = new Int32Array(this.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.length++] = value;
  }
}

/**
 * Numbers of states by their hashes, in a table with free places; states that differ in what is
 * left of budgets are in a chain.
 */
class StateIds {
  #mask = 2 ** 16 - 1;
  #high = new Uint32Array(this.#mask + 1);
  #low = new Uint32Array(this.#mask + 1);
  /** One more than the number of the latest; 0 for a free place. */
  #ids = new Int32Array(this.#mask + 1);
  #places = 0;
  /**
   * Of each state: what is left, four bits each, and one more than the number of the one before it
   * in its chain.
   */
  readonly #first = new Numbers();
  readonly #second = new Numbers();
  readonly #third = new Numbers();
  readonly #before = new Numbers();
  size = 0;

  of(
    [high, low]: readonly [number, number],
    left: readonly number[],
  ): { readonly id: number; readonly isNew: boolean } {
    const [first, second, third] = [packed(left, 0), packed(left, 7), packed(left, 14)];
    const place = this.#place(high, low);
    const latest = this.#ids[place] ?? 0;
    for (let known = latest; known > 0; known = this.#before.at(known - 1)) {
      const hasMore = isNoLess(this.#first.at(known - 1), first) &&
        isNoLess(this.#second.at(known - 1), second) &&
        isNoLess(this.#third.at(known - 1), third);
      if (hasMore) return { id: known - 1, isNew: false };
    }
    this.#first.push(first);
    this.#second.push(second);
    this.#third.push(third);
    this.#before.push(latest);
    this.#put(place, high, low, ++this.size);
    if (latest === 0 && ++this.#places * 2 > this.#mask) this.#grow();
    return { id: this.size - 1, isNew: true };
  }

  #place(high: number, low: number): number {
    let place = (high ^ low) & this.#mask;
    while (this.#ids[place] !== 0 && (this.#high[place] !== high || this.#low[place] !== low)) {
      place = (place + 1) & this.#mask;
    }
    return place;
  }

  #put(place: number, high: number, low: number, id: number): void {
    this.#high[place] = high;
    this.#low[place] = low;
    this.#ids[place] = id;
  }

  #grow(): void {
    const [high, low, ids] = [this.#high, this.#low, this.#ids];
    this.#mask = this.#mask * 2 + 1;
    this.#high = new Uint32Array(this.#mask + 1);
    this.#low = new Uint32Array(this.#mask + 1);
    this.#ids = new Int32Array(this.#mask + 1);
    ids.forEach((id, at) => {
      const [first = 0, second = 0] = [high[at], low[at]];
      if (id > 0) this.#put(this.#place(first, second), first, second, id);
    });
  }
}

/** Seven numbers up to 7 in a word; the highest bit of each four is free. */
function packed(left: readonly number[], from: number): number {
  let word = 0;
  for (let at = from; at < from + 7; at++) {
    const number = left[at] ?? 0;
    if (number > 7) throw new Error(`a budget of ${number}: 7 at most`);
    word = word << 4 | number;
  }
  return word;
}

/** Each number in one word is at least that in the other: no difference borrows the free bit. */
function isNoLess(word: number, other: number): boolean {
  return (((word | 0x8888888) - other) & 0x8888888) === 0x8888888;
}
