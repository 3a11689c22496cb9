/**
 * Leaving a channel, from the call to the relay's word: a machine without waits. The statement is about our leaf: all that may
 * change it is settled first, and nothing changes it until the relay has answered. The table is in docs/channel_machine.md: what is not
 * in it changes nothing.
 */
import type { Refused } from "../commits/own_commit_state.ts";
import type {
  Departure,
  DepartureEffect,
  DepartureEvent,
  DepartureFacts,
  DepartureFinding,
  DepartureState,
  DepartureStep,
  Going,
  Left,
  OwnPlan,
} from "./departure_state.ts";

/** For the only owner's way back, or another leaf. */
const backMs = 15_000;
const foundingMs = 30_000;
/** Where nobody is known to let us in. */
const retryMs = 1000;
/** Others may let it in again meanwhile. */
const maxTries = 3;

type Leaving = Extract<Departure, { at: "going" }>;

interface Run {
  readonly state: DepartureState;
  readonly facts: DepartureFacts;
  readonly effects: DepartureEffect[];
}

export function stepDeparture(state: DepartureState, event: DepartureEvent, facts: DepartureFacts): DepartureStep {
  const run: Run = { state, facts, effects: [] };
  if (event.type === "leave") leave(run, event);
  else if (state.departure.at === "going") goOn(run, state.departure, event);
  return run;
}

function leave(run: Run, { operation, successor }: Extract<DepartureEvent, { type: "leave" }>): void {
  const { state, effects } = run;
  const { departure } = state;
  if (departure.at === "gone") return find(run, { is: "gone", operations: [operation] });
  if (departure.at === "staying") {
    const none = { hasWaitedBack: false, hasAskedFounding: false };
    const going: Going = { at: "settling", change: 0 };
    const leaving: Leaving = { at: "going", going, successor, tries: 1, ...none, waiting: [operation] };
    state.departure = leaving;
    find(run, { is: "rests" });
    return begin(run, leaving);
  }
  if (successor === undefined || successor === departure.successor) return void departure.waiting.push(operation);
  effects.push({ type: "settle", operation, result: { is: "failed", why: "leaving" } });
}

function goOn(run: Run, leaving: Leaving, event: Exclude<DepartureEvent, { type: "leave" }>): void {
  const { going } = leaving;
  switch (event.type) {
    case "changed":
      return "change" in going && going.change === event.change ? changed(run, leaving, event.why) : undefined;
    case "done":
      return "call" in going && going.call === event.call ? end(run, leaving, "gone") : undefined;
    case "refused":
      return "call" in going && going.call === event.call ? refused(run, leaving, event) : undefined;
    case "founding":
      if (going.at !== "founding") return;
      return event.why === undefined ? begin(run, leaving) : reject(run, leaving, { is: "refused", why: event.why });
    case "entered":
      if (going.at === "let_in_again") return again(run, leaving);
      return going.at === "waiting_back" || going.at === "founding" ? begin(run, leaving) : undefined;
    case "look":
      return going.at === "waiting_back" && !run.facts.isOnWayBack ? begin(run, leaving) : undefined;
    case "time":
      if (!("timer" in going) || going.timer !== event.timer) return;
      return going.at === "let_in_again" ? again(run, leaving) : begin(run, leaving);
    case "over":
      // Also while the relay is asked: a late answer must not take a membership that was entered since.
      return end(run, leaving, event.isErased ? "gone" : "over");
  }
}

/** Once more, of the leaf that we have now. */
function again(run: Run, leaving: Leaving): void {
  leaving.tries++;
  leaving.hasAskedFounding = false;
  begin(run, leaving);
}

function begin(run: Run, leaving: Leaving): void {
  const { isOnWayBack, isBlocked, isLastOwner, doOthersStay, hasFounding } = run.facts;
  if (isOnWayBack && isLastOwner && !leaving.hasWaitedBack) {
    leaving.hasWaitedBack = true;
    leaving.going = { at: "waiting_back", timer: wake(run, backMs) };
    return;
  }
  // A relay that says that we are out of step, and keeps us out, would else take the channel its owner.
  const isMissed = leaving.successor !== undefined || (isLastOwner && doOthersStay);
  if (isOnWayBack && isMissed) return reject(run, leaving, { is: "failed", why: "kept_out" });
  if (hasFounding && !leaving.hasAskedFounding) {
    leaving.hasAskedFounding = true;
    leaving.going = { at: "founding", timer: wake(run, foundingMs) };
    return find(run, { is: "settles_founding" });
  }
  if (isBlocked) say(run, leaving);
  else leaving.going = { at: "settling", change: change(run, { kind: "settle" }) };
}

function changed(run: Run, leaving: Leaving, why: Refused | undefined): void {
  if (why !== undefined) return reject(run, leaving, { is: "refused", why });
  if (leaving.going.at === "settling") settled(run, leaving);
  else say(run, leaving);
}

/** The last member closes the channel: nobody would be left to remove it. */
function settled(run: Run, leaving: Leaving): void {
  const { work, isAlone, isAnyAbsent, isOwner, isAllRead } = run.facts;
  if (isAlone && isAnyAbsent && isOwner) return reject(run, leaving, { is: "failed", why: "absent" });
  if (!isAlone || isAnyAbsent || work === undefined || !isAllRead) return handOn(run, leaving);
  const call = numberOf(run);
  leaving.going = { at: "closing", call };
  run.effects.push({ type: "close", call });
}

function handOn(run: Run, leaving: Leaving): void {
  const { successor } = leaving;
  leaving.going = { at: "handing_on", change: change(run, { kind: "succession", successor }) };
}

function say(run: Run, leaving: Leaving): void {
  const call = numberOf(run);
  const isNamed = leaving.tries < maxTries && run.facts.mayName;
  leaving.going = { at: "saying", call, isNamed };
  find(run, { is: "halts" });
  run.effects.push({ type: "say", call, isNamed });
}

function refused(
  run: Run,
  leaving: Leaving,
  { why, isHidden = false }: Extract<DepartureEvent, { type: "refused" }>,
): void {
  const { going } = leaving;
  if (why.code === "not_found" && !isHidden) return end(run, leaving, "gone");
  if (going.at === "closing" && why.code === "not_allowed") return handOn(run, leaving);
  if (going.at !== "saying" || why.code !== "state_conflict" || !going.isNamed) {
    return reject(run, leaving, { is: "refused", why });
  }
  find(run, { is: "resumes" });
  leaving.going = { at: "let_in_again", timer: wake(run, run.facts.isOnWayBack ? backMs : retryMs) };
}

/** Everything is as before. */
function reject(run: Run, { waiting }: Leaving, result: Left): void {
  for (const operation of waiting) run.effects.push({ type: "settle", operation, result });
  run.state.departure = { at: "staying" };
  find(run, { is: "stays" });
}

function end(run: Run, { waiting }: Leaving, is: "gone" | "over"): void {
  run.state.departure = { at: "gone" };
  find(run, { is, operations: [...waiting] });
}

function change(run: Run, plan: OwnPlan): number {
  const number = numberOf(run);
  run.effects.push({ type: "change", change: number, plan });
  return number;
}

function find(run: Run, finding: DepartureFinding): void {
  run.effects.push({ type: "finding", finding });
}

function wake(run: Run, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

function numberOf({ state }: Run): number {
  return ++state.numbers;
}
