/**
 * This agent's statement about each epoch, and those of others: a machine without waits. An epoch
 * is confirmed once, when the channel is up to date, in cells that leave anyway. The confirmed
 * epoch and state are on disk before anybody learns of them, so that no restart or rejoin makes
 * this agent contradict itself. `fork_watch.ts` draws the conclusions from the statements of
 * others; those that agree wait until somebody asks (`waiting_claims.ts`). An event that no case
 * names changes nothing.
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
  agreed,
  aheadOf,
  connection,
  contradicts,
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
import {
  agrees,
  claimsBehind,
  type EpochClaim,
  isDue,
  isSame,
  takeClaims,
  takeUnfit,
  type UnverifiedWord,
  wait,
} from "./waiting_claims.ts";

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
/**
 * Nothing waits for longer, because a crash loses it. Each member changes its keys every week, so
 * epochs of a large channel follow each other faster, and few are verified for each.
 */
const lookMs = 60 * 60_000;

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
      return verified(run, event);
    case "asked":
      return verify(run, takeClaims(state, event.agentIds));
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
 * The committer was with us in the epoch that its commit ended. Whether it is in the new one it
 * must say itself, because a relay that takes a commit may tell its sender that it did not.
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
  for (const agentId of run.state.doubted) {
    if (!run.facts.isMember(agentId)) run.state.doubted.delete(agentId);
  }
  verify(run, takeUnfit(run.state, { epoch, state: own }, run.facts));
}

/** Only what is news is looked at, and verified if it may not wait. */
function told(
  run: ConfirmationRun,
  { said, by, isOwn }: Extract<ConfirmationEvent, { type: "told" }>,
): void {
  const { state, facts } = run;
  const begunMs = state.forks.begun.get(said.epoch);
  const known = {
    ...said,
    atMs: facts.nowMs,
    // A time in the future is of a clock that was wrong.
    begunMs: begunMs && Math.min(begunMs, facts.nowMs),
    waited: false,
  };
  const isNews = ({ agentId }: UnverifiedWord, at: number): boolean =>
    agentId !== facts.self && facts.isMember(agentId) && !knows(state.forks, agentId, said) &&
    // An honest relay has one of each.
    by.findIndex((other) => other.agentId === agentId) === at;
  const claims = by.filter(isNews).flatMap((each): EpochClaim[] => {
    const { agentId } = each;
    const claim = { ...known, ...each };
    const isKnown = claimsBehind(state.claims.get(agentId)).some((other) => isSame(other, claim));
    if (isKnown) return isOwn ? takeClaims(state, [agentId]) : [];
    // As if all had been verified when they came.
    if (!agrees(state, claim)) return [...takeClaims(state, [agentId]), claim];
    wait(state, claim);
    return isOwn || isDue(state, claim, facts) ? takeClaims(state, [agentId]) : [];
  });
  if (state.claims.size > 0) state.look ??= wake(run, lookMs);
  verify(run, claims);
}

function verify(run: ConfirmationRun, claims: readonly EpochClaim[]): void {
  if (claims.length === 0) return;
  keepLater(run);
  run.effects.push({ type: "verify", claims });
}

function verified(
  run: ConfirmationRun,
  { claims, doubted }: Extract<ConfirmationEvent, { type: "verified" }>,
): void {
  const { state } = run;
  for (const { agentId } of claims) state.doubted.delete(agentId);
  for (const agentId of doubted) state.doubted.add(agentId);
  for (const [at, claim] of claims.entries()) {
    const { agentId, epoch, state: said } = claim;
    if (claim.waited) agreed(watchOf(run), agentId, claim);
    else if (state.claims.size > 0 && lies(run, claim)) {
      // A liar makes others be compared with each other, by what they said last.
      return verify(run, [...takeClaims(state), ...claims.slice(at)]);
    } else statement(watchOf(run), agentId, { epoch, state: said });
  }
  lookAhead(run);
}

/** Returns whether the claim shows a lie of a member that is not known to lie yet. */
function lies({ state: { forks } }: ConfirmationRun, claim: EpochClaim): boolean {
  return !forks.liars.has(claim.agentId) && contradicts(forks, claim.agentId, claim);
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
  if (state.look === timer) look(run);
  const { word } = state;
  if (!("timer" in word) || word.timer !== timer) return;
  state.word = { at: "none" };
  if (facts.isCurrent) confirm(run);
}

function look({ state, effects }: ConfirmationRun): void {
  state.look = undefined;
  if (state.claims.size > 0) effects.push({ type: "look" });
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
