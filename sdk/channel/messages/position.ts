/**
 * Progress of the application, to disk: a machine without waits. Writes collect for a moment, so
 * that a fast reader neither waits for the disk with every message nor wears it out. A position
 * that only moved past entries which are not for the application causes no write of its own for a
 * while: after a crash they are passed over once more.
 */
import {
  free,
  nobody,
  type PositionEffect,
  type PositionEvent,
  type PositionFacts,
  type PositionState,
  resting,
  type WritePace,
  type WritingStage,
} from "./position_state.ts";

/**
 * A reader that is so far ahead of the disk waits for it: so many messages may come again after a
 * crash.
 */
const maxAhead = 64;
/** Before a write, and between two, unless many messages or somebody waits for it. */
const collectMs = 50;
/**
 * The same, when somebody waits: the first is written at once, and those that come meanwhile go
 * together.
 */
const paceMs = 4;
/** How long a write waits that has nothing but a position. */
const laterMs = 1_000;

interface PositionRun {
  readonly state: PositionState;
  readonly facts: PositionFacts;
  readonly effects: PositionEffect[];
}

export function stepPosition(
  state: PositionState,
  event: PositionEvent,
  facts: PositionFacts,
): readonly PositionEffect[] {
  const run: PositionRun = { state, facts, effects: [] };
  const before = state.ahead;
  happen(run, event);
  // Each time: readers may have gone on since they were counted here.
  if (state.ahead < before && !isFarAhead(state.ahead)) run.effects.push({ type: "near" });
  return run.effects;
}

/** Readers wait until the disk has come nearer. */
export function isFarAhead(ahead: number): boolean {
  return ahead >= maxAhead;
}

function hasNews({ changes, durable }: PositionState, { position }: PositionFacts): boolean {
  return changes > 0 || position > durable;
}

/** More than a position that moved a little. */
function isWorthAWrite(
  { changes, durable, waiting }: PositionState,
  { position }: PositionFacts,
): boolean {
  return position - durable >= maxAhead || changes > 0 || waiting.length > 0;
}

function happen(run: PositionRun, event: PositionEvent): void {
  const { state, facts } = run;
  switch (event.type) {
    case "noted":
      state.changes += event.changes;
      state.ahead += event.messages;
      if (!isWorthAWrite(state, facts)) return writeLater(run);
      return state.ahead >= maxAhead / 2 ? hurry(run) : begin(run, false);
    case "asked":
      state.waiting = [...state.waiting, event.operation];
      return event.isUrgent || !pace(run) ? hurry(run) : undefined;
    case "gathered":
      return gathered(run, event.turn);
    case "time":
      return time(run, event.timer);
    case "written":
      return written(run, event.call);
    case "failed":
      return failed(run, event.call);
    case "told":
      return told(run, event.call);
    case "lost":
      return setAnew(state, { ...state, durable: Math.min(state.durable, event.position - 1) });
    case "forgotten":
      return setAnew(state, { durable: 0, isVoid: true, changes: state.changes });
    case "entered":
      return setAnew(state, { durable: event.position, isVoid: false, changes: 0 });
    case "stop":
      if (state.end === "none") state.end = "stopped";
      state.later = undefined;
      if (isPending(state.writing)) rest(run);
  }
}

/** A write that is under way says nothing of the place any more, and is made again. */
function setAnew(
  state: PositionState,
  { durable, isVoid, changes }: Pick<PositionState, "durable" | "isVoid" | "changes">,
): void {
  Object.assign(state, { durable, isVoid, changes });
  state.life++;
  state.ahead = 0;
}

/** Returns whether the write has not begun. */
function isPending({ at }: WritingStage): boolean {
  return at === "gathering" || at === "collecting";
}

function numberOf({ state }: PositionRun): number {
  return ++state.numbers;
}

function wake(run: PositionRun, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

/** A write begins, unless one is on its way. Behind the end those that wait are told so. */
function begin(run: PositionRun, isHurried: boolean): void {
  if (run.state.writing.at !== "resting") return;
  if (run.state.end !== "none") return rest(run);
  gather(run, isHurried, free);
}

function gather(run: PositionRun, isHurried: boolean, pace: WritePace): void {
  const turn = numberOf(run);
  run.state.writing = { at: "gathering", turn, isHurried, pace };
  run.effects.push({ type: "gather", turn });
}

/** The next write does not wait for others. */
function hurry(run: PositionRun): void {
  const { state } = run;
  const { writing } = state;
  if (writing.at === "resting") return begin(run, true);
  if (writing.at === "collecting") return gather(run, true, writing.pace);
  if (!writing.isHurried) state.writing = { ...writing, isHurried: true };
}

/** Returns whether the one that asks waits for a moment. */
function pace(run: PositionRun): boolean {
  const { state } = run;
  const { writing } = state;
  if (writing.at === "resting" || writing.pace.is === "free") return false;
  if (writing.pace.timer === undefined) {
    state.writing = { ...writing, pace: { is: "paced", timer: wake(run, paceMs) } };
  }
  return true;
}

function gathered(run: PositionRun, turn: number): void {
  const { writing } = run.state;
  if (writing.at !== "gathering" || writing.turn !== turn) return;
  if (writing.isHurried) return write(run);
  run.state.writing = { at: "collecting", timer: wake(run, collectMs), pace: writing.pace };
}

function time(run: PositionRun, timer: number): void {
  const { state, facts } = run;
  const { writing } = state;
  if (state.later?.timer === timer) {
    state.later = undefined;
    if (state.end === "none" && hasNews(state, facts)) begin(run, false);
    return;
  }
  const isPace = writing.at !== "resting" && writing.pace.is === "paced" &&
    writing.pace.timer === timer;
  if (isPace || (writing.at === "collecting" && writing.timer === timer)) hurry(run);
}

/** With the next write, or after a short time. */
function writeLater(run: PositionRun): void {
  const { state } = run;
  if (state.writing.at !== "resting" || state.later !== undefined || state.end !== "none") return;
  state.later = { timer: wake(run, laterMs) };
}

function write(run: PositionRun): void {
  const { state, facts: { position }, effects } = run;
  if (state.end !== "none" || !hasNews(state, run.facts)) return rest(run);
  const { waiting, life, ahead: messages, durable } = state;
  const call = numberOf(run);
  const paced: WritePace = { is: "paced", timer: undefined };
  const reached = Math.max(position, durable);
  state.writing = {
    at: "writing",
    call,
    position: reached,
    messages,
    life,
    waiting,
    isHurried: false,
    pace: paced,
  };
  state.waiting = nobody;
  state.changes = 0;
  effects.push({ type: "write", call, hasPosition: position >= durable });
}

function written(run: PositionRun, call: number): void {
  const { state, effects } = run;
  const { writing } = state;
  if (writing.at !== "writing" || writing.call !== call) return;
  const { position, messages, life, waiting, isHurried, pace } = writing;
  for (const operation of waiting) effects.push({ type: "settle", operation, isLost: false });
  if (life !== state.life) return write(run);
  state.durable = position;
  if (position > 0) state.isVoid = false;
  state.ahead -= messages;
  const telling = numberOf(run);
  state.writing = { at: "telling", call: telling, isHurried, pace };
  effects.push({ type: "tell", call: telling, position });
}

function failed(run: PositionRun, call: number): void {
  const { state } = run;
  const { writing } = state;
  if (!("call" in writing) || writing.call !== call) return;
  if (writing.at === "writing") state.waiting = [...writing.waiting, ...state.waiting];
  state.end = "failed";
  rest(run);
}

function told(run: PositionRun, call: number): void {
  const { state, facts } = run;
  const { writing } = state;
  if (writing.at !== "telling" || writing.call !== call) return;
  if (state.end === "none" && isWorthAWrite(state, facts)) {
    return gather(run, writing.isHurried, writing.pace);
  }
  rest(run);
}

/** Settles the calls that still wait: all is on disk for them, or nothing more will be. */
function rest(run: PositionRun): void {
  const { state, facts, effects } = run;
  const { end, ahead, changes } = state;
  state.writing = resting;
  const isLost = end === "failed" || (end === "stopped" && (ahead > 0 || changes > 0));
  for (const operation of state.waiting) effects.push({ type: "settle", operation, isLost });
  state.waiting = nobody;
  if (hasNews(state, facts)) writeLater(run);
}
