/**
 * Leaving a channel, from the call to the relay's word: a machine without waits. The statement is
 * about our leaf: all that may change it is settled first, and nothing changes it until the relay
 * has answered. An event that no case names changes nothing. The relay tells the end before it
 * answers: its word that the channel was closed or left is the answer. After a kill the agent
 * stays, or has left.
 */
import type { ChangeRefusal } from "../commits/own_commit_state.ts";
import type {
  Departure,
  DepartureEffect,
  DepartureEnd,
  DepartureEvent,
  DepartureFacts,
  DepartureState,
  DepartureStep,
  DepartureWait,
  LeaveOutcome,
  LeaveRefusal,
  OwnPlan,
} from "./departure_state.ts";

/** How long the only owner's way back, or another leaf, is waited for. */
const backMs = 15_000;
const foundingMs = 30_000;
/** Where nobody is known to let us in. */
const retryMs = 1000;
/** Others may let it in again meanwhile. */
const maxTries = 3;

type OngoingDeparture = Extract<Departure, { at: "going" }>;
/** A call to leave, and what was waited for on its behalf. */
type DepartureRequest = Omit<OngoingDeparture, "at" | "going">;

interface DepartureRun {
  readonly state: DepartureState;
  readonly facts: DepartureFacts;
  readonly effects: DepartureEffect[];
}

export function stepDeparture(
  state: DepartureState,
  event: DepartureEvent,
  facts: DepartureFacts,
): DepartureStep {
  const run: DepartureRun = { state, facts, effects: [] };
  if (event.type === "leave") leave(run, event);
  else if (event.type === "over") over(run, event.how);
  else if (state.departure.at === "going") goOn(run, state.departure, event);
  return run;
}

function leave(
  run: DepartureRun,
  { operation, successor }: Extract<DepartureEvent, { type: "leave" }>,
): void {
  const { state, effects } = run;
  const { departure } = state;
  if (departure.at === "ended") {
    return void effects.push({ type: "ended", how: departure.how, operations: [operation] });
  }
  if (departure.at === "staying") {
    return begin(run, {
      successor,
      tries: 1,
      hasWaitedBack: false,
      hasAskedFounding: false,
      waiting: [operation],
    });
  }
  if (successor === undefined || successor === departure.successor) {
    return void departure.waiting.push(operation);
  }
  effects.push({ type: "settle", operation, result: { is: "failed", why: "leaving" } });
}

function goOn(
  run: DepartureRun,
  leaving: OngoingDeparture,
  event: Exclude<DepartureEvent, { type: "leave" | "over" }>,
): void {
  const { facts } = run;
  const { going } = leaving;
  switch (event.type) {
    case "changed":
      return "change" in going && going.change === event.change
        ? changed(run, leaving, event.why)
        : undefined;
    case "done":
      return "call" in going && going.call === event.call
        ? end(run, leaving.waiting, "gone")
        : undefined;
    case "refused":
      return "call" in going && going.call === event.call
        ? refused(run, leaving, event)
        : undefined;
    case "founding":
      if (going.at !== "founding") return;
      if (event.why === undefined || hasNoPlace(event.why)) return begin(run, leaving);
      return reject(run, leaving, { is: "refused", why: event.why });
    case "entered":
      return entered(run, leaving);
    case "look":
      if (going.at === "founding") return facts.isBlocked ? undefined : begin(run, leaving);
      return going.at === "waiting_back" && !facts.isOnWayBack ? begin(run, leaving) : undefined;
    case "time":
      if (!("timer" in going) || going.timer !== event.timer) return;
      // The log may hold it: then our leaf is another one as soon as it is entered.
      if (going.at === "founding") return reject(run, leaving, { is: "failed", why: "founding" });
      return going.at === "let_in_again" ? again(run, leaving) : begin(run, leaving);
  }
}

function entered(run: DepartureRun, leaving: OngoingDeparture): void {
  switch (leaving.going.at) {
    case "let_in_again":
      return again(run, leaving);
    // In `saying` the relay was not told yet: it was being written when that began.
    case "saying":
    case "waiting_back":
    case "founding":
      return begin(run, leaving);
    // They end by themselves, of the leaf that we have then.
    case "settling":
    case "handing_on":
    case "closing":
      return;
  }
}

/**
 * Also while the relay is asked: a late answer must not take a membership that was entered since.
 */
function over(run: DepartureRun, how: DepartureEnd): void {
  const { departure } = run.state;
  if (departure.at !== "ended") end(run, departure.at === "going" ? departure.waiting : [], how);
}

/** Once more, of the leaf that we have now. */
function again(run: DepartureRun, leaving: OngoingDeparture): void {
  leaving.tries++;
  leaving.hasAskedFounding = false;
  begin(run, leaving);
}

function begin(run: DepartureRun, asked: DepartureRequest): void {
  const first = firstOf(run, asked);
  if ("is" in first) reject(run, asked, first);
  else run.state.departure = { ...asked, at: "going", going: first };
}

/** The first wait, or why it cannot leave. */
function firstOf(run: DepartureRun, asked: DepartureRequest): DepartureWait | LeaveOutcome {
  const { isOnWayBack, isBlocked, isLastOwner, hasFounding } = run.facts;
  if (isOnWayBack && isLastOwner && !asked.hasWaitedBack) {
    asked.hasWaitedBack = true;
    return { at: "waiting_back", timer: wake(run, backMs) };
  }
  // A relay that says that we are out of step, and keeps us out, would else take the channel its
  // owner.
  if (isOnWayBack && isMissed(run, asked)) return { is: "failed", why: "kept_out" };
  if (hasFounding && !asked.hasAskedFounding) {
    asked.hasAskedFounding = true;
    const timer = wake(run, foundingMs);
    run.effects.push({ type: "settle_founding" });
    return { at: "founding", timer };
  }
  // Nobody could begin a stopped channel anew any more.
  if (isBlocked && isMissed(run, asked)) return { is: "failed", why: "kept_out" };
  return isBlocked ? saying(run, asked) : { at: "settling", change: change(run, { is: "settle" }) };
}

/** Somebody is to be made an owner first, or to be let in, which takes a commit of ours. */
function isMissed({ facts }: DepartureRun, { successor }: DepartureRequest): boolean {
  const { isLastOwner, doOthersStay, isAlone, isAnyAbsent, isOwner } = facts;
  return successor !== undefined || (isLastOwner && doOthersStay) ||
    (isAlone && isAnyAbsent && isOwner);
}

function changed(
  run: DepartureRun,
  leaving: OngoingDeparture,
  why: LeaveRefusal | undefined,
): void {
  if (why !== undefined && isForgotten(why)) return end(run, leaving.waiting, "gone");
  if (why !== undefined) return reject(run, leaving, { is: "refused", why });
  if (leaving.going.at === "settling") settled(run, leaving);
  else leaving.going = saying(run, leaving);
}

/** The last member closes the channel: nobody would be left to remove it. */
function settled(run: DepartureRun, leaving: OngoingDeparture): void {
  const { work, isAlone, isAnyAbsent, isOwner, isAllRead } = run.facts;
  if (isAlone && isAnyAbsent && isOwner) {
    return reject(run, leaving, { is: "failed", why: "absent" });
  }
  if (!isAlone || isAnyAbsent || work === undefined || !isAllRead) return handOn(run, leaving);
  const call = numberOf(run);
  leaving.going = { at: "closing", call };
  run.effects.push({ type: "close", call });
}

function handOn(run: DepartureRun, leaving: OngoingDeparture): void {
  const { successor } = leaving;
  leaving.going = { at: "handing_on", change: change(run, { is: "succession", successor }) };
}

function saying(run: DepartureRun, { tries }: DepartureRequest): DepartureWait {
  const call = numberOf(run);
  const isNamed = tries < maxTries && run.facts.mayName;
  run.effects.push({ type: "say", call, isNamed });
  return { at: "saying", call, isNamed };
}

function refused(
  run: DepartureRun,
  leaving: OngoingDeparture,
  { why }: Extract<DepartureEvent, { type: "refused" }>,
): void {
  const { going } = leaving;
  if (isForgotten(why)) return end(run, leaving.waiting, "gone");
  if (going.at === "closing" && why.code === "not_allowed") return handOn(run, leaving);
  if (going.at !== "saying" || why.code !== "state_conflict" || !going.isNamed) {
    return reject(run, leaving, { is: "refused", why });
  }
  leaving.going = {
    at: "let_in_again",
    timer: wake(run, run.facts.isOnWayBack ? backMs : retryMs),
  };
}

/** Everything is as before. */
function reject(run: DepartureRun, { waiting }: DepartureRequest, result: LeaveOutcome): void {
  for (const operation of waiting) run.effects.push({ type: "settle", operation, result });
  run.state.departure = { at: "staying" };
}

function end(run: DepartureRun, waiting: readonly number[], how: DepartureEnd): void {
  run.state.departure = { at: "ended", how };
  run.effects.push({ type: "ended", how, operations: [...waiting] });
}

/** The relay had let us go already. */
function isForgotten({ code, isHidden = false }: LeaveRefusal): boolean {
  return code === "not_found" && !isHidden;
}

/**
 * Returns whether the relay counts this agent as gone: then it says nothing of the log to us. The
 * statement may be void, and an owner removes us.
 */
function hasNoPlace({ code }: ChangeRefusal): boolean {
  return code === "not_found" || code === "membership_lapsed";
}

function change(run: DepartureRun, plan: OwnPlan): number {
  const number = numberOf(run);
  run.effects.push({ type: "change", change: number, plan });
  return number;
}

function wake(run: DepartureRun, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

function numberOf({ state }: DepartureRun): number {
  return ++state.numbers;
}
