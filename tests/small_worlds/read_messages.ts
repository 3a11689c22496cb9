/**
 * A program that works off messages, with the real machine of its position. The disk is slow or
 * fails, processes are killed and start, the log is set back. The relay gives nothing again that
 * was acknowledged; nothing may be acknowledged that is not on disk.
 */
import {
  forgetPosition,
  type PositionEffect,
  type PositionEvent,
  type PositionState,
  positionTimersOf,
  restorePosition,
  stepPosition,
} from "../../sdk/channel/testing/messages.ts";
import type { Kind, Move, World } from "./explore.ts";
import { textOf } from "./plain_state.ts";

/** How often each may still happen. */
export interface ReadingBudgets {
  /** The program is done with a message; `pass`: with an entry that is not for it. */
  done: number;
  pass: number;
  /** Somebody waits for the disk; `urgent`: without a rest. */
  ask: number;
  urgent: number;
  kill: number;
  fail: number;
  setBack: number;
  close: number;
}

interface Written {
  readonly call: number;
  readonly position: number;
  readonly through: number;
  /** Of a log that was set back since. */
  readonly isOfBefore: boolean;
}

export interface ReadingState {
  readonly left: ReadingBudgets;
  machine: PositionState;
  /** Up to here the program has come, in this membership. */
  position: number;
  /** On disk: a position, and how many of the program's changes. */
  disk: { readonly position: number; readonly through: number };
  /** Changes that were noted so far. */
  noted: number;
  acknowledged: number;
  writing: Written | undefined;
  /** Turns of the event loop, and the work behind a write, that have not ended. */
  turns: readonly number[];
  telling: { readonly call: number; readonly position: number } | undefined;
  timers: readonly number[];
  /** Those that wait, and the changes that were noted before. */
  asked: Readonly<Record<string, number>>;
  operations: number;
  isOver: boolean;
  fault: string | undefined;
}

type Step = typeof stepPosition;

const nothing: ReadingBudgets = {
  done: 0,
  pass: 0,
  ask: 0,
  urgent: 0,
  kill: 0,
  fail: 0,
  setBack: 0,
  close: 0,
};
const none: readonly never[] = Object.freeze([]);

export function readMessages(
  left: Partial<ReadingBudgets>,
  step: Step = stepPosition,
): World<ReadingState> {
  const start: ReadingState = {
    left: { ...nothing, ...left },
    machine: restorePosition(0),
    position: 0,
    disk: Object.freeze({ position: 0, through: 0 }),
    noted: 0,
    acknowledged: 0,
    writing: undefined,
    turns: none,
    telling: undefined,
    timers: none,
    asked: {},
    operations: 0,
    isOver: false,
    fault: undefined,
  };
  return {
    start,
    view: ({ left: _, timers: __, ...state }) => state,
    left: (state) => Object.values(state.left),
    moves: (state) => movesOf(state, step),
    broken: (state) => state.fault ?? brokenPromise(state),
    isGood: isCalm,
  };
}

/** All that the program was done with is on disk, or the channel is over, and nobody waits. */
function isCalm({ machine, asked, position, disk, noted, isOver }: ReadingState): boolean {
  if (Object.keys(asked).length > 0 || machine.writing.at !== "resting") return false;
  return isOver || (disk.through === noted && (machine.isVoid || disk.position === position));
}

function brokenPromise(state: ReadingState): string | undefined {
  const { machine, disk, acknowledged, asked, turns, timers, writing, telling } = state;
  if (acknowledged > disk.position) return "S2: an entry is acknowledged that is not on disk";
  const isSame = textOf(restorePosition(machine.durable)) === textOf(forgetPosition(machine));
  if (!isSame) return "S7: a process that starts is not as one that has forgotten";
  const isUnderWay = turns.length > 0 || writing !== undefined || telling !== undefined ||
    timers.length > 0;
  const isAsked = Object.keys(asked).length > 0;
  return isAsked && !isUnderWay ? "L2: somebody waits for a write that nothing begins" : undefined;
}

class Acting {
  readonly #world: ReadingState;
  readonly #step: Step;

  constructor(world: ReadingState, step: Step) {
    this.#world = world;
    this.#step = step;
  }

  push(event: PositionEvent): void {
    const world = this.#world;
    const effects = this.#step(world.machine, event, { position: world.position });
    for (const effect of effects) this.#perform(effect);
    const held = positionTimersOf(world.machine);
    world.timers = world.timers.filter((timer) => held.includes(timer));
  }

  #perform(effect: PositionEffect): void {
    const world = this.#world;
    switch (effect.type) {
      case "gather":
        world.turns = [...world.turns, effect.turn];
        return;
      case "wake":
        world.timers = [...world.timers, effect.timer];
        return;
      case "write": {
        if (world.writing !== undefined) world.fault ??= "S7: two writes are under way";
        const { noted, disk } = world;
        const position = effect.hasPosition ? world.position : disk.position;
        world.writing = { call: effect.call, position, through: noted, isOfBefore: false };
        return;
      }
      case "tell":
        world.telling = { call: effect.call, position: effect.position };
        world.acknowledged = effect.position;
        return;
      case "settle": {
        const through = world.asked[effect.operation];
        if (through === undefined) world.fault ??= "L2: somebody is told twice";
        else if (!effect.isLost && through > world.disk.through) {
          world.fault ??= "S2: a change is promised that is not on disk";
        }
        const { [effect.operation]: _, ...asked } = world.asked;
        world.asked = asked;
        return;
      }
    }
  }

  done(messages: number): void {
    const world = this.#world;
    world.position++;
    if (messages > 0) world.noted++;
    this.push({ type: "noted", changes: messages, messages });
  }

  ask(isUrgent: boolean): void {
    const world = this.#world;
    const operation = ++world.operations;
    world.asked = { ...world.asked, [operation]: world.noted };
    this.push({ type: "asked", operation, isUrgent });
  }

  /** The disk has it. */
  written(): void {
    const world = this.#world;
    const { writing } = world;
    if (writing === undefined) return;
    world.writing = undefined;
    const { call, position, through, isOfBefore } = writing;
    world.disk = Object.freeze({ position: isOfBefore ? world.disk.position : position, through });
    this.push({ type: "written", call });
  }

  fails(): void {
    const world = this.#world;
    const { writing } = world;
    if (writing === undefined) return;
    world.writing = undefined;
    world.isOver = true;
    this.push({ type: "failed", call: writing.call });
    this.push({ type: "stop" });
  }

  starts(): void {
    const world = this.#world;
    const { position, through } = world.disk;
    Object.assign(world, {
      machine: restorePosition(position),
      position,
      noted: through,
      writing: undefined,
      turns: none,
      telling: undefined,
      timers: none,
      asked: {},
      isOver: false,
    });
  }

  setsBack(): void {
    const world = this.#world;
    Object.assign(world, {
      position: 0,
      acknowledged: 0,
      disk: Object.freeze({ ...world.disk, position: 0 }),
    });
    if (world.writing !== undefined) world.writing = { ...world.writing, isOfBefore: true };
    this.push({ type: "forgotten" });
  }
}

function movesOf(state: ReadingState, step: Step): readonly Move<ReadingState>[] {
  const moves: Move<ReadingState>[] = [];
  const add = (
    name: string,
    kind: Kind,
    act: (acting: Acting, state: ReadingState) => void,
    budget?: keyof ReadingBudgets,
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
  if (!state.isOver) {
    add("the program is done with a message", "program", (acting) => acting.done(1), "done");
    add("the program is done with 40 messages", "program", (acting, world) => {
      world.position++;
      world.noted++;
      acting.push({ type: "noted", changes: 1, messages: 40 });
    }, "done");
    add("an entry is not for the program", "program", (acting) => acting.done(0), "pass");
    add("the log is set back", "fault", (acting) => acting.setsBack(), "setBack");
  }
  add("somebody waits for the disk", "program", (acting) => acting.ask(false), "ask");
  add("somebody waits, urgently", "program", (acting) => acting.ask(true), "urgent");
  add("the process is killed, and starts", "fault", (acting) => acting.starts(), "kill");
  add("the channel is closed", "program", (acting, world) => {
    world.isOver = true;
    acting.push({ type: "stop" });
  }, "close");
  if (state.writing !== undefined) {
    add("the disk has written", "answer", (acting) => acting.written());
    add("the disk fails", "fault", (acting) => acting.fails(), "fail");
  }
  const [turn] = state.turns;
  if (turn !== undefined) {
    add("the turn ends", "answer", (acting, world) => {
      world.turns = world.turns.slice(1);
      acting.push({ type: "gathered", turn });
    });
  }
  const { telling } = state;
  if (telling !== undefined) {
    add("the relay is told", "answer", (acting, world) => {
      world.telling = undefined;
      acting.push({ type: "told", call: telling.call });
    });
  }
  for (const timer of state.timers) {
    add("a timer ends", "time", (acting, world) => {
      world.timers = world.timers.filter((each) => each !== timer);
      acting.push({ type: "time", timer });
    });
  }
  return moves;
}
