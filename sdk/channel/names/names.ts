/**
 * The names of an agent: which channel each one holds, and what may take its place. It is a machine
 * without waits: calls of one name have their turns one after the other, so that two of them never
 * both find it free. An event that no case names changes nothing. A turn holds id and KeyPackage
 * from the step that learns them: else two names enter one channel. Only its own link ends what is
 * open and in step: else two words of the relay erase a membership that works. A nonce goes with
 * the write of the membership: else a creation leads into a channel that was left. A step works on
 * a copy, which counts when its write is durable.
 */
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";
import {
  erase,
  erased,
  eraseLeftovers,
  erasureFailed,
  findErasing,
  leftoverErased,
  leftoverFailed,
} from "./erasure.ts";
import {
  call,
  everyName,
  findMembership,
  named,
  type NameInStep,
  type NamesRun,
  numberOf,
  refuse,
  settle,
} from "./names_run.ts";
import type {
  ClosingCall,
  NameAnswer,
  NameCall,
  NamesEvent,
  NamesFacts,
  NamesState,
  NamesStep,
  NameTurn,
} from "./names_state.ts";
import {
  cameBack,
  replaced,
  turnAnswered,
  turnDone,
  turnFailed,
  turnRefused,
} from "./turn_ends.ts";
import { beginAtOnce, serve } from "./call_turns.ts";

export function stepNames(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const run: NamesRun = { state, facts, write: [], effects: [] };
  happen(run, event);
  for (const each of everyName(run)) {
    serve(run, each);
    forgetFree(state, each);
  }
  if (state.stage === "finishing" && isQuiet(run)) {
    state.stage = "finished";
    run.effects.push({ type: "finished" });
  }
  return run;
}

function happen(run: NamesRun, event: NamesEvent): void {
  switch (event.type) {
    case "start":
      return eraseLeftovers(run);
    case "called":
      return called(run, named(run, event.name), event.by);
    case "close":
      return close(run, named(run, event.name), event.operation);
    case "answered":
      return answered(run, event.call, event.answer);
    case "refused":
      return refused(run, event.call, event.code);
    case "done":
      return done(run, event);
    case "failed":
      return failed(run, event.job);
    case "gone":
      return gone(run, event.membership, event.leaving);
    case "over":
      return over(run, event.membership, event.leaving);
    case "rejoined":
      return rejoined(run, event.membership);
    case "finish":
      return finish(run);
  }
}

/** Every machine has said how it ended, too. */
function isQuiet(run: NamesRun): boolean {
  const { closing, leftovers } = run.state;
  if (closing.length > 0 || leftovers.some(({ job }) => job !== undefined)) return false;
  return everyName(run).every(({ at: { slot, turn } }) =>
    turn === undefined && slot.at !== "open" && (slot.at !== "erasing" || slot.job === undefined)
  );
}

/** A name that holds nothing, and for which nothing is done, is not kept. */
function forgetFree(
  { names }: NamesState,
  { name, at: { slot, nonce, turn, waiting } }: NameInStep,
): void {
  if (slot.at === "free" && nonce === undefined && turn === undefined && waiting.length === 0) {
    delete names[name];
  }
}

function called(run: NamesRun, each: NameInStep, by: NameCall): void {
  const { stage } = run.state;
  if (stage === "finished" || (stage !== "working" && isEnded(by))) {
    return refuse(run, by.operation, "closing");
  }
  if (!beginAtOnce(run, each, by)) each.at.waiting.push(by);
}

/** With the client. Calls of which the relay has heard go on. */
function isEnded({ type }: NameCall): boolean {
  return type !== "leave" && type !== "close";
}

/**
 * The relay is asked first, whatever the name holds: an erasure of a channel that was left closes
 * it for nobody.
 */
function close(run: NamesRun, { name, at: { slot } }: NameInStep, operation: number): void {
  if (run.state.stage !== "working") return refuse(run, operation, "closing");
  if (slot.at !== "free") return callClose(run, { operation, name }, slot.channelId);
  const number = call(run, { of: "ListChannels", name });
  run.state.closing = [...run.state.closing, {
    operation,
    name,
    call: number,
    channelId: undefined,
  }];
}

function callClose(
  run: NamesRun,
  { operation, name }: Pick<ClosingCall, "operation" | "name">,
  channelId: ChannelId,
): void {
  const number = call(run, { of: "CloseChannel", channelId });
  run.state.closing = [...run.state.closing, { operation, name, call: number, channelId }];
}

/** Takes it off the list. */
function closingOf({ state }: NamesRun, number: number): ClosingCall | undefined {
  const found = state.closing.find((each) => each.call === number);
  if (found !== undefined) state.closing = state.closing.filter((each) => each !== found);
  return found;
}

function turnOf(
  run: NamesRun,
  isOf: (turn: NameTurn) => boolean,
): { readonly each: NameInStep; readonly turn: NameTurn } | undefined {
  for (const each of everyName(run)) {
    const { turn } = each.at;
    if (turn !== undefined && isOf(turn)) return { each, turn };
  }
  return undefined;
}

function isOfCall(number: number): (turn: NameTurn) => boolean {
  return (turn) => "call" in turn && turn.call === number;
}

function isOfJob(number: number): (turn: NameTurn) => boolean {
  return (turn) => "job" in turn && turn.job === number;
}

function answered(run: NamesRun, number: number, answer: NameAnswer): void {
  const found = turnOf(run, isOfCall(number));
  if (found !== undefined) return turnAnswered(run, found.each, found.turn, answer);
  const closing = closingOf(run, number);
  if (closing === undefined) return;
  if (closing.channelId !== undefined) return closed(run, closing, closing.channelId);
  const channelId = answer.of === "ListChannels" ? answer.channelId : undefined;
  if (channelId === undefined) return refuse(run, closing.operation, "not_at_relay");
  callClose(run, closing, channelId);
}

function closed(run: NamesRun, { name, operation }: ClosingCall, channelId: ChannelId): void {
  called(run, named(run, name), { type: "close", operation, channelId });
}

function refused(run: NamesRun, number: number, code: string): void {
  const found = turnOf(run, isOfCall(number));
  if (found !== undefined) return turnRefused(run, found.each, found.turn, code);
  const closing = closingOf(run, number);
  if (closing === undefined) return;
  const { operation, name, channelId } = closing;
  if (code === "not_found" && channelId !== undefined && isOver(run, name, channelId)) {
    if (run.facts.isHidden({ name, channelId })) return refuse(run, operation, "hidden");
    return closed(run, closing, channelId);
  }
  settle(run, operation, { type: "failed", number });
}

/** It is over already, and its rest goes too. A channel that was only left is not closed. */
function isOver({ state }: NamesRun, name: ChannelName, channelId: ChannelId): boolean {
  const slot = state.names[name]?.slot;
  if (slot === undefined || slot.at === "free" || slot.channelId !== channelId) return false;
  return slot.at !== "erasing" || slot.why === "closed";
}

function done(run: NamesRun, { job, result }: Extract<NamesEvent, { type: "done" }>): void {
  const found = turnOf(run, isOfJob(job));
  if (found !== undefined) return turnDone(run, found.each, found.turn, result);
  const erasure = findErasing(run, job);
  if (erasure === undefined) return leftoverErased(run, job);
  if (cameBack(erasure.named)) return;
  if (erased(run, erasure.named, erasure.erasing)) replaced(run, erasure.named);
}

function failed(run: NamesRun, job: number): void {
  const found = turnOf(run, isOfJob(job));
  if (found !== undefined) return turnFailed(run, found.each, found.turn, job);
  const erasure = findErasing(run, job);
  if (erasure === undefined) return leftoverFailed(run, job);
  erasureFailed(run, erasure.named, erasure.erasing, job);
}

/**
 * `leaving` wait for the end of an erasure, whatever its reason: nothing is left of their
 * membership then.
 */
function gone(run: NamesRun, membership: number, leaving: readonly number[]): void {
  const found = findMembership(run, membership);
  if (found === undefined) return;
  const { slot } = found.at;
  if (slot.at === "erasing") {
    return void (found.at.slot = { ...slot, waiting: [...slot.waiting, ...leaving] });
  }
  // A machine that works no more says nothing of this membership: another one may have begun.
  if (slot.at !== "open") return over(run, membership, leaving);
  erase(run, found, slot, { why: "gone", waiting: leaving });
}

/**
 * The machine of a membership is over, by the relay's word, or by a fault, or because it was ended:
 * its keys stay. Calls that leave it say so again, as the next turns.
 */
function over(run: NamesRun, membership: number, leaving: readonly number[]): void {
  const found = findMembership(run, membership);
  if (found === undefined) return;
  const { slot, turn } = found.at;
  if (slot.at === "erasing") return gone(run, membership, leaving);
  if (slot.at === "open") found.at.slot = { ...slot, at: "resting" };
  if (turn?.at === "retiring") {
    return leaving.forEach((operation) => refuse(run, operation, "replaced"));
  }
  found.at.waiting.unshift(
    ...leaving.map((operation): NameCall => ({ type: "leave", operation, membership })),
  );
}

/** Also one that is ending: what it was about to write is on disk before it rests. */
function rejoined(run: NamesRun, membership: number): void {
  const found = findMembership(run, membership);
  if (found === undefined) return;
  const { slot } = found.at;
  if ("leaf" in slot) found.at.slot = { ...slot, leaf: numberOf(run) };
}

function finish(run: NamesRun): void {
  if (run.state.stage === "working") run.state.stage = "finishing";
  for (const { at } of everyName(run)) {
    for (const { operation } of at.waiting.filter(isEnded)) refuse(run, operation, "closing");
    at.waiting = at.waiting.filter((by) => !isEnded(by));
  }
}
