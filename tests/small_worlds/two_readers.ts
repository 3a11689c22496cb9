/**
 * Two loops over messages and a request among them, with the real machine of the inbox. Two
 * messages fill it:
 * later ones are passed over, and read again when there is room. One loop acknowledges by hand,
 * loops end and begin, a time is over, the process is killed. Every message is done with once, and
 * not before every loop is.
 */
import {
  hasInboxRoom,
  type InboxEffect,
  type InboxEvent,
  type InboxState,
  isFullInbox,
  newInbox,
  stepInbox,
} from "../../sdk/channel/testing/messages.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface ReaderBudgets {
  /** A second loop, which acknowledges by hand. */
  second: number;
  ends: number;
  back: number;
  /** Callers that share a reader; one of them gives up. */
  shared: number;
  kill: number;
  /** The time of a message is over. */
  late: number;
}

interface Loop {
  readonly reader: number;
  readonly isManual: boolean;
  readonly isShared: boolean;
  /** For the next one. Its call has its number: there is one at a time. */
  isWaiting: boolean;
  /** It is working on these. */
  held: readonly string[];
  /** It is done with these. */
  passed: readonly string[];
}

export interface ReadersState {
  readonly left: ReaderBudgets;
  inbox: InboxState<string>;
  /** Of the next entry of the log. */
  place: number;
  /** The first entry that was passed over. */
  passedOver: number | undefined;
  loops: Loop[];
  readers: number;
  done: readonly string[];
  late: readonly string[];
  fault: string | undefined;
}

type Step = typeof stepInbox<string>;

const log = ["m1", "m2", "r1", "m3"];
const bytes = 4 * 1024 * 1024;
const none: readonly never[] = Object.freeze([]);

export function twoReaders(
  left: Partial<ReaderBudgets>,
  step: Step = stepInbox,
): World<ReadersState> {
  const start: ReadersState = {
    left: { second: 0, ends: 0, back: 0, shared: 0, kill: 0, late: 0, ...left },
    inbox: newInbox(),
    place: 0,
    passedOver: undefined,
    loops: [],
    readers: 0,
    done: none,
    late: none,
    fault: undefined,
  };
  return {
    start,
    view: ({ left: _, ...state }) => state,
    left: (state) => Object.values(state.left),
    moves: (state) => movesOf(state, step),
    broken: ({ fault }) => fault,
    isGood: ({ done, passedOver }) => done.length === log.length && passedOver === undefined,
  };
}

/** While no caller waits, the reader that they share wants nothing. */
function isParked({ isShared, isWaiting }: Loop): boolean {
  return isShared && !isWaiting;
}

class Acting {
  readonly #world: ReadersState;
  readonly #step: Step;

  constructor(world: ReadersState, step: Step) {
    this.#world = world;
    this.#step = step;
  }

  push(event: InboxEvent<string>): readonly InboxEffect<string>[] {
    const world = this.#world;
    const effects = this.#step(world.inbox, event, {
      isDiscarding: false,
      isFarAhead: false,
      isExpired: (item) => world.late.includes(item),
    });
    // Of a step that does both, what was asked past is done with before the next one is given.
    for (const effect of effects) {
      if (effect.type === "done") this.#done(effect.items);
      if (effect.type === "given") this.#given(effect.reader, effect.entry.item);
    }
    return effects;
  }

  #done(items: readonly string[]): void {
    const world = this.#world;
    for (const item of items) {
      if (world.done.includes(item)) world.fault ??= "S6: a message is done with twice";
      const isHeldUp = world.loops.some((loop) => !isParked(loop) && !loop.passed.includes(item));
      if (item.startsWith("m") && isHeldUp && !world.late.includes(item)) {
        world.fault ??= "S6: a message is done with that a loop has not passed";
      }
    }
    world.done = Object.freeze([...world.done, ...items].sort());
    if (world.passedOver === undefined || !hasInboxRoom(world.inbox)) return;
    world.place = world.passedOver;
    world.passedOver = undefined;
  }

  arrives(): void {
    const world = this.#world;
    const item = log[world.place] ?? "";
    if (world.passedOver === undefined && isFullInbox(world.inbox)) world.passedOver = world.place;
    world.place++;
    if (world.passedOver !== undefined || world.done.includes(item)) return;
    this.push({ type: "arrived", item, lane: item.startsWith("r") ? "request" : "message", bytes });
  }

  begins({ isManual = false, isShared = false }: Partial<Loop>): void {
    const world = this.#world;
    const reader = ++world.readers;
    world.loops.push({ reader, isManual, isShared, isWaiting: false, held: none, passed: none });
    this.push({ type: "begins", reader, all: false, isManual, isShared });
  }

  next(loop: Loop): void {
    const { reader, isManual } = loop;
    if (!isManual) this.#pass(loop, ...loop.held);
    loop.isWaiting = true;
    this.push({ type: "waits", reader, operation: reader });
  }

  #given(reader: number, item: string): void {
    const loop = this.#world.loops.find((each) => each.reader === reader);
    if (loop?.isWaiting !== true) {
      this.#world.fault ??= "S6: a message is given to nobody";
      return;
    }
    loop.isWaiting = false;
    if (loop.held.includes(item) || loop.passed.includes(item)) {
      this.#world.fault ??= "S6: a loop gets a message twice";
    }
    loop.held = Object.freeze([...loop.held, item]);
  }

  #pass(loop: Loop, ...items: readonly string[]): void {
    loop.passed = Object.freeze([...loop.passed, ...items]);
    loop.held = Object.freeze(loop.held.filter((each) => !items.includes(each)));
  }

  passes(loop: Loop, item: string): void {
    this.#pass(loop, item);
    this.push({ type: "passes", reader: loop.reader, number: this.#numberOf(item) });
  }

  givesBack(loop: Loop, item: string): void {
    loop.held = Object.freeze(loop.held.filter((each) => each !== item));
    this.push({ type: "gives_back", reader: loop.reader, number: this.#numberOf(item) });
  }

  withdraws(loop: Loop): void {
    const { reader } = loop;
    loop.isWaiting = false;
    this.push({ type: "withdraws", reader, operation: reader });
  }

  ends(loop: Loop): void {
    const world = this.#world;
    world.loops = world.loops.filter((each) => each !== loop);
    this.push({ type: "ends", reader: loop.reader });
  }

  handled(item: string): void {
    this.push({ type: "handled", number: this.#numberOf(item) });
  }

  #numberOf(item: string): number {
    return this.#world.inbox.entries.find((each) => each.item === item)?.number ?? -1;
  }
}

function movesOf(state: ReadersState, step: Step): readonly Move<ReadersState>[] {
  const moves: Move<ReadersState>[] = [];
  const add = (
    name: string,
    kind: Kind,
    act: (acting: Acting, state: ReadersState) => void,
    budget?: keyof ReaderBudgets,
  ): void => {
    if (budget !== undefined && state.left[budget] === 0) return;
    moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (world) => {
        if (budget !== undefined) world.left[budget]--;
        act(new Acting(world, step), world);
      },
    });
  };
  if (state.place < log.length) {
    add(`${log[state.place]} arrives`, "notice", (acting) => acting.arrives());
  }
  if (state.loops.every(({ isManual }) => isManual)) {
    add("a loop begins", "program", (acting) => acting.begins({}));
    add(
      "callers ask for one message each",
      "program",
      (acting) => acting.begins({ isShared: true }),
      "shared",
    );
  }
  if (state.loops.every(({ isManual }) => !isManual)) {
    add(
      "a loop by hand begins",
      "program",
      (acting) => acting.begins({ isManual: true }),
      "second",
    );
  }
  for (const { item, lane, isHandled } of state.inbox.entries) {
    if (lane === "request" && !isHandled) {
      add(`${item} is handled`, "program", (acting) => acting.handled(item));
    }
    if (lane === "message" && !state.late.includes(item)) {
      add(`the time of ${item} is over`, "fault", (_, world) => {
        world.late = Object.freeze([...world.late, item]);
      }, "late");
    }
  }
  state.loops.forEach((loop, at) => addLoop(add, loop, at));
  add("the process is killed, and starts", "fault", (_, world) => {
    Object.assign(world, { inbox: newInbox(), place: 0, passedOver: undefined, loops: [] });
  }, "kill");
  return moves;
}

function addLoop(
  add: (
    name: string,
    kind: Kind,
    act: (acting: Acting, state: ReadersState) => void,
    budget?: keyof ReaderBudgets,
  ) => void,
  { reader, isManual, isShared, isWaiting, held }: Loop,
  at: number,
): void {
  const acts = (
    name: string,
    act: (acting: Acting, loop: Loop) => void,
    budget?: keyof ReaderBudgets,
  ): void =>
    add(`loop ${reader} ${name}`, "program", (acting, world) => {
      const loop = world.loops[at];
      if (loop !== undefined) act(acting, loop);
    }, budget);
  if (!isWaiting) acts("asks for the next one", (acting, loop) => acting.next(loop));
  else if (isShared) acts("gives up", (acting, loop) => acting.withdraws(loop), "shared");
  acts("ends", (acting, loop) => acting.ends(loop), "ends");
  for (const item of held) {
    if (isManual) acts(`passes ${item}`, (acting, loop) => acting.passes(loop, item));
    acts(`gives ${item} back`, (acting, loop) => acting.givesBack(loop, item), "back");
  }
}
