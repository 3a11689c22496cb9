/**
 * A program that acknowledges messages whose sender asked for receipts, with the real machines of
 * both sides: the debts of the addressee, and the asker's judgement of receipts. Processes are
 * killed and start, the relay refuses, and its answers are lost. A message that is acknowledged on
 * disk does not come again; every other one does.
 */
import { type AgentId, mayFollow, type MessageId } from "../../proto/mod.ts";
import {
  ask,
  hear,
  keyOf,
  type OwedEffect,
  type OwedEvent,
  type OwedState,
  owedTimersOf,
  type ReceiptDebt,
  type ReceiptRequest,
  restoreAsked,
  restoreOwed,
  stepOwed,
} from "../../sdk/channel/testing/messages.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface ReceiptBudgets {
  /** The program acknowledges a message, or says something of one. */
  acknowledge: number;
  say: number;
  kill: number;
  refuse: number;
  /** The relay has taken a receipt, and its answer is lost. */
  lose: number;
  /** The channel rests, and works again. */
  rest: number;
  /** This agent is let in anew: what was to be written is not. */
  enter: number;
}

type Receipts = Extract<OwedEffect, { type: "send" }>["receipts"];
/** Of each message how many of two readers are done with it. */
type Acknowledged = readonly number[];

interface Disk {
  readonly acknowledged: Acknowledged;
  readonly debts: readonly ReceiptDebt[];
}

export interface ToldState {
  readonly left: ReceiptBudgets;
  debts: readonly ReceiptDebt[];
  telling: OwedState["telling"];
  numbers: number;
  acknowledged: Acknowledged;
  disk: Disk;
  /** To be written, as it is then. */
  noted: { readonly acknowledged: Acknowledged; readonly keys: readonly string[] };
  writing: Disk | undefined;
  mayTell: boolean;
  sending: { readonly call: number; readonly receipts: Receipts } | undefined;
  timers: readonly number[];
  /** Accepted by the relay, and not read by the asker. */
  log: readonly Receipts[];
  /** The asker's, which reads everything in order. */
  asked: readonly ReceiptRequest[];
  fault: string | undefined;
}

type Step = typeof stepOwed;

export interface ReceiptControls {
  readonly step?: Step;
  /** A debt goes to disk in a write of its own, behind that of the acknowledgement. */
  readonly isDebtLater?: boolean;
}

const nothing: ReceiptBudgets = {
  acknowledge: 0,
  say: 0,
  kill: 0,
  refuse: 0,
  lose: 0,
  rest: 0,
  enter: 0,
};
const none: readonly never[] = Object.freeze([]);
// cast: names that the machines only compare
const asker = "alice" as AgentId;
const self = "bob" as AgentId;
const ids = ["first", "second"] as readonly string[] as readonly MessageId[];
const readers = 2;
const untouched: Acknowledged = Object.freeze(ids.map(() => 0));

export function toldReceipts(
  left: Partial<ReceiptBudgets>,
  controls: ReceiptControls = {},
): World<ToldState> {
  const asked = restoreAsked([]);
  for (const id of ids) ask(asked, { id, to: [self] }, 0);
  const start: ToldState = {
    left: { ...nothing, ...left },
    debts: none,
    telling: { at: "resting" },
    numbers: 0,
    acknowledged: untouched,
    disk: { acknowledged: untouched, debts: none },
    noted: { acknowledged: untouched, keys: none },
    writing: undefined,
    mayTell: true,
    sending: undefined,
    timers: none,
    log: none,
    asked: toAsked(asked),
    fault: undefined,
  };
  return {
    start,
    view: ({ left: _, ...state }) => state,
    left: (state) => Object.values(state.left),
    moves: (state) => movesOf(state, controls),
    broken: ({ fault }) => fault,
    isGood: isSettled,
  };
}

/** The asker has heard the last that is on disk of each message. */
function isSettled({ disk, asked, noted, writing, sending, log, mayTell }: ToldState): boolean {
  if (noted.keys.length > 0 || writing !== undefined || sending !== undefined) return false;
  if (log.length > 0 || !mayTell) return false;
  const isHeard = disk.acknowledged.every((by, i) =>
    by === 0 || asked[i]?.by.get(self) !== undefined
  );
  return isHeard && disk.debts.every(({ at }) => at === "told");
}

/** As plain data: maps are made anew for each step. */
function toAsked(asked: ReturnType<typeof restoreAsked>): readonly ReceiptRequest[] {
  return Object.freeze([...asked.values()]);
}

class Acting {
  readonly #world: ToldState;
  readonly #controls: ReceiptControls;

  constructor(world: ToldState, controls: ReceiptControls) {
    this.#world = world;
    this.#controls = controls;
  }

  push(event: OwedEvent): void {
    const world = this.#world;
    const { telling, numbers } = world;
    const debts = new Map(world.debts.map((debt) => [keyOf(debt), debt]));
    const state: OwedState = { debts, telling, numbers };
    const { step = stepOwed } = this.#controls;
    const effects = step(state, event, {
      nowMs: 0,
      mayTell: world.mayTell,
      isMember: () => true,
      collectMs: 1,
      budgetMs: 0,
    });
    world.debts = [...debts.values()];
    world.telling = state.telling;
    world.numbers = state.numbers;
    for (const effect of effects) this.#perform(effect);
    const held = owedTimersOf(state);
    world.timers = world.timers.filter((timer) => held.includes(timer));
  }

  #perform(effect: OwedEffect): void {
    const world = this.#world;
    switch (effect.type) {
      case "wake":
        world.timers = [...world.timers, effect.timer];
        return;
      case "note":
        world.noted = { ...world.noted, keys: [...new Set([...world.noted.keys, ...effect.keys])] };
        return;
      case "send":
        if (world.sending !== undefined) world.fault ??= "L3: two receipts are under way";
        for (const receipt of effect.receipts) this.#check(receipt);
        world.sending = { call: effect.call, receipts: effect.receipts };
        return;
    }
  }

  #check({ id, state }: Receipts[number]): void {
    const { disk } = this.#world;
    const known = disk.debts.find((debt) => debt.id === id)?.state;
    const isTrue = known === state || (known !== undefined && mayFollow(state, known));
    if (!isTrue) this.#world.fault ??= "S2: something is told that is not on disk";
    if (state === "delivered" && known === state && disk.acknowledged[ids.indexOf(id)] === 0) {
      this.#world.fault ??= "S2: a message is delivered that would come again";
    }
  }

  acknowledges(at: number): void {
    const world = this.#world;
    const by = (world.acknowledged[at] ?? 0) + 1;
    world.acknowledged = world.acknowledged.with(at, by);
    world.noted = { ...world.noted, acknowledged: world.acknowledged };
    this.push({ type: "acknowledged", id: idAt(at), asker, isLast: by === readers });
  }

  /** A write begins: of all that was noted, as it is now. */
  begins(): void {
    const world = this.#world;
    const { noted, disk } = world;
    const { isDebtLater = false } = this.#controls;
    const isFirst = isDebtLater && isNews(world);
    const keys = isFirst ? none : noted.keys;
    const kept = disk.debts.filter((debt) => !keys.includes(keyOf(debt)));
    const changed = world.debts.filter((debt) => keys.includes(keyOf(debt)));
    world.writing = { acknowledged: noted.acknowledged, debts: [...kept, ...changed] };
    world.noted = isFirst ? noted : { ...noted, keys: none };
  }

  written(): void {
    const world = this.#world;
    const { writing } = world;
    if (writing === undefined) return;
    world.writing = undefined;
    world.disk = writing;
    this.push({ type: "written", debts: writing.debts });
  }

  starts(): void {
    const world = this.#world;
    const { acknowledged, debts } = world.disk;
    const read = debts.map((debt): ReceiptDebt => ({
      ...debt,
      at: debt.at === "told" ? "told" : "due",
    }));
    Object.assign(world, {
      debts: [...restoreOwed(read).debts.values()],
      telling: { at: "resting" },
      acknowledged,
      noted: { acknowledged, keys: none },
      writing: undefined,
      sending: undefined,
      timers: none,
      mayTell: true,
    });
    this.push({ type: "look" });
  }

  accepts(isAnswered: boolean): void {
    const world = this.#world;
    const { sending } = world;
    if (sending === undefined) return;
    world.log = [...world.log, sending.receipts];
    world.sending = undefined;
    const { call } = sending;
    this.push(isAnswered ? { type: "accepted", call } : { type: "refused", call, waitMs: 0 });
  }

  refuses(): void {
    const world = this.#world;
    const { sending } = world;
    if (sending === undefined) return;
    world.sending = undefined;
    this.push({ type: "refused", call: sending.call, waitMs: 0 });
  }

  rests(): void {
    this.#world.mayTell = !this.#world.mayTell;
    this.push({ type: "look" });
  }

  /** Those that are acknowledged and on no disk stand before the new membership. */
  enters(): void {
    const world = this.#world;
    // Changes are noted anew: debts that were to be deleted are on disk.
    world.noted = { ...world.noted, acknowledged: world.disk.acknowledged };
    world.acknowledged = world.disk.acknowledged;
    this.push({ type: "entered" });
  }

  hears(): void {
    const world = this.#world;
    const [receipts, ...log] = world.log;
    if (receipts === undefined) return;
    world.log = log;
    const asked = restoreAsked(world.asked);
    const { blame } = hear(asked, { from: self, receipts }, 0);
    world.asked = toAsked(asked);
    if (blame !== undefined) world.fault ??= "S3: an honest member is blamed";
  }
}

function idAt(at: number): MessageId {
  const id = ids[at];
  if (id === undefined) throw new RangeError(`there is no message ${at}`);
  return id;
}

function movesOf(
  state: ToldState,
  controls: ReceiptControls,
): readonly Move<ToldState>[] {
  const moves: Move<ToldState>[] = [];
  const add = (
    name: string,
    kind: Kind,
    act: (acting: Acting, state: ToldState) => void,
    budget?: keyof ReceiptBudgets,
  ): void => {
    if (budget !== undefined && state.left[budget] === 0) return;
    moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (world) => {
        if (budget !== undefined) world.left[budget]--;
        act(new Acting(world, controls), world);
      },
    });
  };
  state.acknowledged.forEach((by, at) => {
    if (by === readers) return;
    add(
      `message ${at} is acknowledged`,
      "program",
      (acting) => acting.acknowledges(at),
      "acknowledge",
    );
  });
  for (const said of ["held", "delivered", "refused", "done"] as const) {
    // A person releases a message that is held, and is on no way back.
    if (said === "delivered" && state.disk.acknowledged[0] === 0) continue;
    const isHere = state.acknowledged[0] !== readers;
    const event: OwedEvent = { type: "said", id: idAt(0), asker, state: said, isHere };
    add(`the program says ${said} of message 0`, "program", (acting) => acting.push(event), "say");
  }
  if (state.writing === undefined && (state.noted.keys.length > 0 || isNews(state))) {
    add("a write begins", "answer", (acting) => acting.begins());
  }
  if (state.writing !== undefined) {
    add("the disk has written", "answer", (acting) => acting.written());
  }
  if (state.sending !== undefined) {
    add("the relay has it", "answer", (acting) => acting.accepts(true));
    add(
      "the relay has it, and its answer is lost",
      "fault",
      (acting) => acting.accepts(false),
      "lose",
    );
    add("the relay refuses it", "fault", (acting) => acting.refuses(), "refuse");
  }
  if (state.log.length > 0) add("the asker reads on", "notice", (acting) => acting.hears());
  add("the process is killed, and starts", "fault", (acting) => acting.starts(), "kill");
  if (state.mayTell) add("the channel rests", "fault", (acting) => acting.rests(), "rest");
  else add("the channel works again", "answer", (acting) => acting.rests());
  if (state.writing === undefined) {
    add("this agent is let in anew", "fault", (acting) => acting.enters(), "enter");
  }
  for (const timer of state.timers) {
    add("a timer ends", "time", (acting, world) => {
      world.timers = world.timers.filter((each) => each !== timer);
      acting.push({ type: "time", timer });
    });
  }
  return moves;
}

/** More is acknowledged than on disk. */
function isNews({ noted, disk }: ToldState): boolean {
  return noted.acknowledged.some((by, i) => by !== disk.acknowledged[i]);
}
