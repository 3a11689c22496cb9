/**
 * Where this agent is in the group, and its way out of a stop: a machine without waits. A commit
 * that cannot be followed stops it, an owner begins a new generation, a Welcome lets it in again.
 * An event that no case names changes nothing. A bad commit goes only with another group or the
 * log's own answer: else by the relay's word. A Welcome enters behind what came before it, and a
 * useless one ends an attempt alone: else a liar keeps a member out. `apart` asks nobody, because
 * nobody can let it in where it wants to be.
 */
import { generationOf } from "../../../proto/mod.ts";
import { tellSetBack } from "./exclusion.ts";
import { enterFollowed, enterMembership, enterOwn, goOutside, mayEnter } from "./entering.ts";
import {
  arrived,
  foundingAnswered,
  foundingFailed,
  foundingLost,
  foundingMade,
  foundingMoved,
  foundingRefused,
  foundingTime,
  leaves,
  ownIn,
  recover,
  settleAll,
  tellSettled,
} from "./own_founding.ts";
import {
  backOf,
  badOf,
  call,
  find,
  isAgain,
  job,
  nextFounding,
  type RecoveryRun,
  report,
} from "./recovery_run.ts";
import type {
  RecoveryAnswer,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryPlace,
  RecoveryRefusal,
  RecoveryState,
  RecoveryStep,
  RecoveryWorkResult,
  UnfollowableCommit,
} from "./recovery_state.ts";
import {
  backAnswered,
  backDone,
  backFailed,
  backLost,
  backRefused,
  backTime,
  beginBack,
  haltBack,
  hear,
  hurry,
  newBack,
  resumeBack,
  type WayBackStart,
} from "./way_back.ts";

export function stepRecovery(
  state: RecoveryState,
  event: RecoveryEvent,
  facts: RecoveryFacts,
): RecoveryStep {
  const run: RecoveryRun = { state, facts, write: [], effects: [] };
  if (state.isOver) return run;
  const before = state.place;
  happen(run, event);
  foundingMoved(run, before);
  if (state.founding.at === "none") state.without = [];
  return run;
}

type RecoveryEventOf<T extends RecoveryEvent["type"]> = Extract<RecoveryEvent, { type: T }>;

function happen(run: RecoveryRun, event: RecoveryEvent): void {
  const { state } = run;
  switch (event.type) {
    case "connected":
      return state.place.at === "outside" ? hurry(run) : undefined;
    case "permit":
      return permitted(run);
    case "doubt":
      return doubted(run, event);
    case "stop_found":
      return stopFound(run, event);
    case "log_at":
      return logAt(run, event.generation);
    case "ended":
      return backOf(state.place) === undefined || event.isRecovered
        ? find(run, { type: "over" })
        : undefined;
    case "cannot_follow":
      return cannotFollow(run, event);
    case "out_of_step":
      return outOfStep(run, event);
    case "stop_read":
      return stopRead(run, event.isStop);
    case "removed":
      return removed(run, event);
    case "moved":
      return moved(run, event.from);
    case "founding":
      return founded(run, event);
    case "all_shown":
      return askWhenRead(run);
    case "asker":
      return asker(run, event);
    case "own_commit":
      return forgetSpent(run);
    case "welcome":
      return hear(run, { of: "welcome", told: event.told });
    case "leaf":
      return hear(run, { of: "leaf", told: event.told });
    case "recover":
      return recover(run, event);
    case "arrived":
      return arrived(run, event.operation, event.isLate);
    case "leaves":
      return leaving(run);
    case "halt":
      state.isHalted = true;
      return haltBack(run);
    case "resume":
      return resume(run);
    case "answered":
      return answered(run, event);
    case "refused":
      return refused(run, event);
    case "lost":
      return lost(run, event);
    case "done":
      return done(run, event.job, event.result);
    case "failed":
      return failed(run, event);
    case "time":
      return void (backTime(run, event.timer) || foundingTime(run, event.timer));
    case "over":
      return over(run);
  }
}

/** The connection has shown that our store is as new as what we did, and that the log is ours. */
function permitted(run: RecoveryRun): void {
  const { state, facts } = run;
  const { place } = state;
  if (place.at === "outside" && place.back.by === "word") takenBack(run, { at: "in_step" });
  if (place.at === "stopped" && place.back?.by === "word") {
    takenBack(run, { ...place, back: undefined });
  }
  if (badOf(state.place) !== undefined) {
    if (facts.isAllRead) stopRead(run, true);
    hurry(run);
  } else if (facts.logGeneration > generationOf(facts.epoch)) settleOwn(run);
}

/**
 * The reason to ask is taken back. A commit that has removed us meanwhile was no answer to that.
 */
function takenBack(run: RecoveryRun, place: RecoveryPlace): void {
  goTo(run, place);
  if (run.state.isRemoved) find(run, { type: "gone" });
}

function goTo(run: RecoveryRun, place: RecoveryPlace): void {
  run.state.place = place;
  if (place.at === "in_step") find(run, { type: "in_step" });
}

function doubted(run: RecoveryRun, { by, reason, sent }: RecoveryEventOf<"doubt">): void {
  const { state } = run;
  const { place } = state;
  if (place.at === "apart") return;
  const ground = by === "lapse" ? "lapse" : "word";
  const beginning: WayBackStart = {
    by: ground,
    reason,
    ...(by === "store" && { proof: sent ?? "none" }),
  };
  const before = backOf(place);
  if (place.at === "in_step") return goOutside(run, beginning);
  if (before === undefined && place.at === "stopped") {
    state.place = { ...place, back: newBack(run, beginning) };
    return beginBack(run);
  }
  hurry(run);
}

/**
 * Takes the relay's answer whether the log holds the commit at which we are stopped. This is the
 * relay's word, too.
 */
function stopFound(run: RecoveryRun, { epoch, commit }: RecoveryEventOf<"stop_found">): void {
  const { state } = run;
  const { place } = state;
  const bad = badOf(place);
  if (bad === undefined) return;
  if (commit?.hash === bad.hash) {
    if (commit.sequence === bad.sequence) return;
    const moved = { ...bad, sequence: commit.sequence };
    run.write.push({ type: "stopped", bad: moved });
    if (place.at === "stopped" || place.at === "apart") state.place = { ...place, bad: moved };
    return;
  }
  // Traces of commits are forgotten one day: only while the epoch lasts does their absence tell
  // something.
  const isSame = generationOf(epoch) === generationOf(bad.epoch);
  if (!isSame || (commit === undefined && epoch > bad.epoch)) return;
  run.write.push({ type: "stopped", bad: undefined });
  report(run, { kind: "log_set_back", bad });
  find(run, { type: "all_arrived" });
  if (place.at === "apart") return takenBack(run, { ...place, bad: undefined });
  tellSetBack(run);
  takenBack(run, { at: "in_step" });
}

/**
 * That a founding is in the log is the relay's word. It has taken it back if its log is in an
 * earlier generation.
 */
function logAt(run: RecoveryRun, generation: number): void {
  const { place } = run.state;
  if (place.at !== "apart" || generation >= place.foreign.generation) return;
  run.write.push({ type: "foreign", foreign: undefined });
  goTo(run, place.bad === undefined ? { at: "in_step" } : stoppedAt(place.bad));
}

function stoppedAt(bad: UnfollowableCommit): RecoveryPlace {
  return { at: "stopped", bad, askers: [], back: undefined };
}

function cannotFollow(run: RecoveryRun, { bad, reason }: RecoveryEventOf<"cannot_follow">): void {
  const { state } = run;
  const { place } = state;
  if (bad === undefined) return outOfStep(run, { type: "out_of_step", reason });
  if (badOf(place) !== undefined || (place.at === "outside" && place.back.by === "commits")) return;
  run.write.push({ type: "stopped", bad });
  state.place = place.at === "apart"
    ? { ...place, bad }
    : { at: "stopped", bad, askers: [], back: place.at === "outside" ? place.back : undefined };
  report(run, { kind: "refused_commit", bad });
  find(run, { type: "all_arrived" });
  find(run, { type: "stopped" });
  askWhenShown(run);
}

/** A stop stays: it may be all that is true of it, and an owner needs it to begin anew. */
function outOfStep(run: RecoveryRun, { reason, isNamed }: RecoveryEventOf<"out_of_step">): void {
  const { state } = run;
  const { place } = state;
  const beginning = { by: "commits", reason, ...(isNamed !== undefined && { isNamed }) } as const;
  if (place.at === "in_step" || place.at === "outside") return goOutside(run, beginning);
  find(run, { type: "outside", hears: false });
  if (place.at === "apart") return;
  state.place = {
    ...place,
    back: place.back === undefined ? newBack(run, beginning) : { ...place.back, by: "commits" },
  };
  if (place.back === undefined) beginBack(run);
}

function removed(run: RecoveryRun, { isAgain, reason }: RecoveryEventOf<"removed">): void {
  // One that answers our request removes us first.
  if (backOf(run.state.place) !== undefined) return void (run.state.isRemoved ||= !isAgain);
  if (!isAgain) return find(run, { type: "gone" });
  outOfStep(run, { type: "out_of_step", reason });
}

/**
 * A founding on the group before was given up by going on: an honest relay holds no bad commit
 * there any more, and takes it not.
 */
function moved(run: RecoveryRun, from: string): void {
  const { state } = run;
  for (const { hash, base } of state.made) {
    if (base === from) run.write.push({ type: "no_founding", hash });
  }
  state.made = state.made.filter(({ base }) => base !== from);
}

function leaving(run: RecoveryRun): void {
  leaves(run);
  const { place, made } = run.state;
  // Without a permit too: a founding that the log holds gives us another leaf as soon as there is
  // one.
  if (badOf(place) !== undefined && made.length > 0) askForOwn(run);
  tellSettled(run);
}

function resume(run: RecoveryRun): void {
  const { state, facts } = run;
  state.isHalted = false;
  resumeBack(run);
  if (state.opening !== undefined) {
    // An opening behind the halt has entered nothing: the founding comes again.
    state.opening = undefined;
    return find(run, { type: "retry" });
  }
  const isDue = badOf(state.place) === undefined
    ? facts.logGeneration > generationOf(facts.epoch)
    : facts.isAllRead;
  if (isDue) settleOwn(run);
}

function failed(run: RecoveryRun, { job: number, refusal }: RecoveryEventOf<"failed">): void {
  const { state } = run;
  // The founding comes again.
  if (state.opening?.job === number) state.opening = undefined;
  else if (!foundingFailed(run, number, refusal)) backFailed(run, number);
}

/** An entry at the stop, or behind it: what stands in front of it is here. */
function stopRead(run: RecoveryRun, isStop: boolean): void {
  const isOurs = isStop && run.facts.permit !== undefined && run.state.made.length > 0;
  if (!isOurs) return arrivedAll(run);
  find(run, { type: "all_arrived" });
  settleOwn(run);
}

/** The log delivers a founding of ours to everybody else. */
function settleOwn(run: RecoveryRun): void {
  if (run.state.made.length > 0 && run.facts.permit !== undefined && !run.state.isHalted) {
    askForOwn(run);
  }
}

function askForOwn(run: RecoveryRun): void {
  const { state } = run;
  state.settling ??= call(run, { to: "FindCommit", epoch: nextFounding(run) });
}

/**
 * We may be the only member that cannot follow. A rejoin would lose unread messages, so they are
 * read first.
 */
function askWhenRead(run: RecoveryRun): void {
  if (run.facts.isAllHere) askWhenShown(run);
}

/** All in front of the stop is here: the facts of this step may not say so yet. */
function arrivedAll(run: RecoveryRun): void {
  find(run, { type: "all_arrived" });
  askWhenShown(run);
}

function askWhenShown(run: RecoveryRun): void {
  const { state, facts } = run;
  const { place } = state;
  if (place.at !== "stopped" || place.back !== undefined || !facts.isAllShown) return;
  const others = facts.others.filter(({ agentId }) => agentId !== place.bad.blamed);
  if (isAgain(state, place.bad, facts) && !others.some(({ owner }) => owner)) return;
  state.place = { ...place, back: newBack(run, { by: "stop", reason: place.bad.reason }) };
  beginBack(run);
}

function founded(
  run: RecoveryRun,
  { generation, founder, out, verdict, reason }: RecoveryEventOf<"founding">,
): void {
  const { state, facts } = run;
  const { place } = state;
  if (generation <= generationOf(facts.epoch)) return;
  if (facts.permit === undefined) return find(run, { type: "hold" });
  switch (verdict) {
    case "follow":
      state.opening = { job: job(run, { of: "generation", generation }), generation, out };
      return;
    case "behind":
      return leftBehind(run, reason, generation);
    case "ahead":
      return foundedAhead(run, generation);
    case "refused": {
      find(run, { type: "all_arrived" });
      // The refused founding comes again with each connection.
      if (place.at === "apart" && place.foreign.generation <= generation) return;
      const foreign = { generation, founder, reason };
      run.write.push({ type: "foreign", foreign });
      report(run, { kind: "refused_recovery", foreign });
      return takenBack(run, { at: "apart", foreign, bad: badOf(place) });
    }
  }
}

function leftBehind(run: RecoveryRun, reason: string, generation: number): void {
  find(run, { type: "all_arrived" });
  report(run, { kind: "begun_anew", reason });
  goOutside(run, { by: "commits", reason, generation }, true);
}

/**
 * A generation that may be genuine, which cannot be told from where we are stopped. The relay alone
 * says that it is there, so we stay stopped, and ask anew: if its log is in that generation, its
 * answer names it, and a member shows how it came to be.
 */
function foundedAhead(run: RecoveryRun, generation: number): void {
  const { state } = run;
  if (state.place.at === "stopped" && generation > state.asked) {
    state.asked = generation;
    report(run, { kind: "begun_ahead" });
    state.place = { ...state.place, back: undefined };
  }
  arrivedAll(run);
}

function asker(run: RecoveryRun, { agentId, generation }: RecoveryEventOf<"asker">): void {
  const { state } = run;
  const { place } = state;
  // Nobody else can tell us that ours was taken: it is not delivered to us.
  if (generation === generationOf(run.facts.epoch) + 1 && state.made.length > 0) {
    state.isLeftFor = true;
    return settleOwn(run);
  }
  const isHere = generation === generationOf(run.facts.epoch);
  if (place.at !== "stopped" || !isHere || place.askers.includes(agentId)) return;
  state.place = { ...place, askers: [...place.askers, agentId] };
}

function forgetSpent({ state, effects }: RecoveryRun): void {
  if (state.spent.length > 0) effects.push({ type: "forget_keys", own: state.spent });
  state.spent = [];
}

function answered(run: RecoveryRun, event: RecoveryEventOf<"answered">): void {
  if (run.state.settling === event.call) return settled(run, event.answer);
  if (!foundingAnswered(run, event.call, event.answer)) backAnswered(run, event);
}

function settled(run: RecoveryRun, answer: RecoveryAnswer): void {
  const { state, facts, facts: { permit } } = run;
  state.settling = undefined;
  const commit = answer.to === "FindCommit" ? answer.commit : undefined;
  const own = ownIn(run, commit);
  const isOurs = own !== undefined && commit !== undefined && mayEnter(run, own);
  // Our founding is entered with the next permit, and when everything in front of the stop is read.
  if (isOurs && (permit === undefined || !facts.isAllRead)) return;
  if (isOurs && permit !== undefined) enterOwn(run, own, commit, permit);
  else askWhenRead(run);
  tellSettled(run);
}

function refused(
  run: RecoveryRun,
  { call: number, refusal, epoch }: RecoveryEventOf<"refused">,
): void {
  if (run.state.settling === number) return retry(run, refusal);
  if (foundingRefused(run, number, refusal) || !backRefused(run, number, refusal, epoch)) return;
  // Nobody else may be in ours, to tell us that it was taken.
  const isLater = epoch !== undefined && generationOf(epoch) > generationOf(run.facts.epoch);
  if (refusal.code === "epoch_conflict" && isLater) settleOwn(run);
}

function lost(run: RecoveryRun, { call: number, refusal }: RecoveryEventOf<"lost">): void {
  if (run.state.settling === number) return retry(run, refusal);
  if (!foundingLost(run, number, refusal)) backLost(run, number, refusal);
}

function retry(run: RecoveryRun, refusal: RecoveryRefusal): void {
  run.state.settling = undefined;
  find(run, { type: "retry", refusal });
}

function done(run: RecoveryRun, number: number, result: RecoveryWorkResult): void {
  const { state, facts: { permit } } = run;
  if (result.of === "generation") {
    const { opening } = state;
    if (opening?.job !== number || state.isHalted) return;
    state.opening = undefined;
    // Without a permit it comes again, with one.
    if (permit === undefined) return;
    const { out } = opening;
    return result.why === undefined
      ? enterFollowed(run, out, permit)
      : leftBehind(run, result.why, opening.generation);
  }
  foundingMade(run, number, result);
  const opened = backDone(run, number, result);
  if (opened !== undefined) enterMembership(run, opened);
}

function over(run: RecoveryRun): void {
  const { state } = run;
  settleAll(run, { code: "over", text: "over" });
  state.founding = { at: "none" };
  state.isOver = true;
}
