/**
 * This agent's statement about each epoch, and those of others: a machine without waits. An epoch
 * is confirmed once, when the channel is up to date, in cells that leave anyway. The confirmed
 * epoch and state are on disk before anybody learns of them, so that no restart or rejoin makes
 * this agent contradict itself. `fork_watch.ts` draws the conclusions from the statements of
 * others. An event that no case names changes nothing.
 */
import { equalBytes } from "../../../proto/mod.ts";
import {
  type ConfirmationEffect,
  type ConfirmationEvent,
  type ConfirmationFacts,
  type ConfirmationState,
  type ConfirmationStep,
  overEpochs,
} from "./confirmation_state.ts";
import {
  aheadOf,
  connection,
  entered,
  type EpochWord,
  type ForkWatch,
  heardOf,
  knows,
  restartForks,
  spokeIn,
  statement,
  unconfirmed,
} from "./fork_watch.ts";

/** Epochs that follow each other faster are not confirmed one by one. */
const intervalMs = 10_000;
/**
 * The same word is given again so often: a relay may have dropped it, and newcomers hear it from
 * nobody else.
 */
const againMs = 5 * 60_000;
/** The statements of others are written at most this often. */
const keepMs = 60_000;
/** A commit that a member confirms is on its way for no longer than this. */
const aheadMs = 60_000;

interface ConfirmationRun {
  readonly state: ConfirmationState;
  readonly facts: ConfirmationFacts;
  readonly effects: ConfirmationEffect[];
}

export function stepConfirmations(
  state: ConfirmationState,
  event: ConfirmationEvent,
  facts: ConfirmationFacts,
): ConfirmationStep {
  const run: ConfirmationRun = { state, facts, effects: [] };
  happen(run, event);
  return run;
}

function happen(run: ConfirmationRun, event: ConfirmationEvent): void {
  const { state, facts } = run;
  switch (event.type) {
    case "confirm":
      return confirm(run);
    case "signed":
      return signed(run, event.job, event.signature);
    case "entered":
      return moved(run, event);
    case "restarted":
      state.formerEpoch = event.formerEpoch;
      state.states.clear();
      restartForks(state.forks, event.epoch);
      return enter(run, event);
    case "heard":
      if (event.agentId !== facts.self) spokeIn(watchOf(run), event.agentId, event.epoch);
      return keepLater(run);
    case "told":
      return told(run, event);
    case "verified":
      for (const agentId of event.agentIds) statement(watchOf(run), agentId, event.said);
      return lookAhead(run);
    case "unconfirmed":
      if (event.epoch <= facts.epoch) unconfirmed(watchOf(run), event.agentIds);
      return;
    case "connection":
      return connection(state.forks, event.isOnline, facts.nowMs);
    case "keep":
      return keep(run, event.operation);
    case "time":
      return time(run, event.timer);
  }
}

function watchOf({ state: { forks, states }, facts, effects }: ConfirmationRun): ForkWatch {
  return { forks, states, facts, findings: effects };
}

/** Gives our word about the present epoch, unless it would contradict an earlier one. */
function confirm(run: ConfirmationRun): void {
  const { state, facts } = run;
  const { epoch } = facts;
  const { own, word } = state;
  if (word.at === "signing" || epoch <= state.formerEpoch || facts.members < 2) return;
  const said = { epoch, state: facts.state };
  if (
    own !== undefined &&
    (own.epoch > epoch || (own.epoch === epoch && !equalBytes(own.state, said.state)))
  ) return;
  if (own?.epoch === epoch) return sign(run, said, false);
  // A clock that was set back holds up nothing.
  const waitMs = Math.min(state.saidMs + intervalMs - facts.nowMs, intervalMs);
  if (waitMs > 0) {
    if (word.at !== "due") state.word = { at: "due", timer: wake(run, waitMs) };
    return;
  }
  sign(run, said, true);
}

function sign(run: ConfirmationRun, said: EpochWord, isNew: boolean): void {
  const job = numberOf(run);
  run.state.word = { at: "signing", job, said, isNew };
  run.effects.push({ type: "sign", job, said, isNew });
}

/** The word that is on disk, also when the epoch has moved meanwhile. */
function signed(run: ConfirmationRun, job: number, signature: Uint8Array): void {
  const { state, facts, effects } = run;
  const { word } = state;
  if (word.at !== "signing" || word.job !== job) return;
  if (word.isNew) {
    state.own = word.said;
    state.saidMs = facts.nowMs;
  }
  state.signed = { ...word.said, signature };
  state.toldMs = facts.nowMs;
  effects.push({ type: "tell", signed: state.signed });
  state.word = { at: "said", timer: wake(run, againMs) };
  if (facts.epoch !== word.said.epoch && facts.isCurrent) confirm(run);
}

/**
 * Its committer was with us in the epoch that it ended; whether it is in the new one it must say
 * itself, because a relay that takes a commit may tell its sender that it did not.
 */
function moved(run: ConfirmationRun, event: Extract<ConfirmationEvent, { type: "entered" }>): void {
  const { state, facts } = run;
  const { epoch, by } = event;
  if (by === undefined) return enter(run, event);
  // Their records went in one write with the commit. At a start none has gone yet.
  for (const over of overEpochs(state, epoch)) state.states.delete(over);
  enter(run, event);
  for (const { agentId, madeMs } of by.added) {
    heardOf(watchOf(run), agentId, Math.min(facts.nowMs, madeMs));
  }
  keepLater(run);
  if (state.states.has(epoch - 1)) spokeIn(watchOf(run), by.committer, epoch - 1);
}

function enter(run: ConfirmationRun, { epoch, state: own }: EpochWord): void {
  const { states } = run.state;
  states.delete(epoch);
  states.set(epoch, own);
  entered(watchOf(run), epoch);
}

/** Only what is news is verified. */
function told(
  run: ConfirmationRun,
  { said, by }: Extract<ConfirmationEvent, { type: "told" }>,
): void {
  const { state: { forks }, facts: { self, isMember }, effects } = run;
  const news = by.filter(({ agentId }) =>
    agentId !== self && isMember(agentId) && !knows(forks, agentId, said)
  );
  if (news.length === 0) return;
  keepLater(run);
  effects.push({ type: "verify", said, by: news });
}

/**
 * A member that confirms an epoch of which the relay shows us no commit: it lies, or the relay
 * keeps commits from us.
 */
function lookAhead(run: ConfirmationRun): void {
  const { state } = run;
  if (state.ahead === undefined && aheadOf(state.forks).length > 0) {
    state.ahead = wake(run, aheadMs);
  }
}

function keepLater(run: ConfirmationRun): void {
  run.state.keep ??= wake(run, keepMs);
}

function keep({ state, effects }: ConfirmationRun, operation?: number): void {
  if (state.keep !== undefined) effects.push({ type: "note", operation });
  else if (operation !== undefined) effects.push({ type: "settle", operation });
  state.keep = undefined;
}

function time(run: ConfirmationRun, timer: number): void {
  const { state, facts } = run;
  if (state.keep === timer) keep(run);
  if (state.ahead === timer) isStillAhead(run);
  const { word } = state;
  if (!("timer" in word) || word.timer !== timer) return;
  state.word = { at: "none" };
  if (facts.isCurrent) confirm(run);
}

function isStillAhead({ state, facts, effects }: ConfirmationRun): void {
  state.ahead = undefined;
  const [agentId] = aheadOf(state.forks);
  if (agentId === undefined || !facts.isCurrent) return;
  const text =
    `${agentId} confirms a later epoch than the relay shows this agent: the relay keeps commits back, or ` +
    "this member lies";
  effects.push({ type: "report", kind: "withheld_commit", text });
}

function wake(run: ConfirmationRun, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

function numberOf({ state }: ConfirmationRun): number {
  return ++state.numbers;
}
