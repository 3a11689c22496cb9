/**
 * Our own commits, from a plan to an epoch: a machine without waits. One is under way at a time:
 * prepared and on disk, sent, and then entered, lost or given up, as the log says. Plans wait in
 * their order. An event that no case names changes nothing. Candidate and chains are on disk before
 * the call: else a key seals two commits. Those given up stay on disk while the relay may take
 * them: else two additions that are taken late put both members out for good. An entry or a
 * statement that a commit of ours may explain waits for it: else a member that only has to learn of
 * its own commit goes out of step. `overtaken` asks the log: else a commit that the relay took
 * beside another is noticed late. At the last copy `internal` gives up: else all wait behind it for
 * ever.
 */
import type { FindCommitReply } from "../connection/link_state.ts";
import { restMs } from "./commit_pace.ts";
import {
  begin,
  enter,
  found,
  giveUp,
  heldOf,
  leaveOpen,
  notHeard,
  openMs,
  pause,
  send,
} from "./commit_end.ts";
import {
  type CommitRun,
  explain,
  isHeldBack,
  isLost,
  isOfPlan,
  numberOf,
  settle,
  settleFirst,
  tellFate,
  wake,
} from "./own_commit_run.ts";
import {
  type ChangeRefusal,
  type CommitCandidate,
  type CommitEvent,
  type CommitFacts,
  type CommitsState,
  type CommitStep,
  noneGiven,
  oursOf,
  type OwnCommitState,
  type QueuedPlan,
} from "./own_commit_state.ts";

/** How long a plan waits for a permit. */
const permitMs = 30_000;
/**
 * How often one commit is sent when its answer is lost again and again, while a plan waits for it.
 */
const maxSends = 5;

export function stepCommits<P>(
  state: CommitsState<P>,
  event: CommitEvent<P>,
  known: CommitFacts<P>,
): CommitStep<P> {
  // A goodbye is about our leaf, which a commit would change. Another generation or membership has
  // no stop.
  const isBegun = event.type === "moved" &&
    (event.by === "generation" || event.by === "membership");
  const heard = known.departure === "goodbye" ? { ...known, work: undefined } : known;
  const facts = isBegun ? { ...heard, isStopped: false } : heard;
  const run: CommitRun<P> = { state, facts, effects: [], write: undefined };
  happen(run, event);
  holdPlans(run);
  goOn(run);
  askLog(run);
  return run;
}

function happen<P>(run: CommitRun<P>, event: CommitEvent<P>): void {
  const { state } = run;
  switch (event.type) {
    case "change":
      return change(run, event);
    case "prepared":
      return prepared(run, event.job, event.made);
    case "taken":
      return taken(run, event.call, event.sequence);
    case "found":
      return answered(run, event.call, event.found);
    case "refused":
      return refused(run, event.call, event.why);
    case "time":
      return time(run, event.timer);
    case "entry":
      state.entry = { reading: event.reading, isNewer: state.question !== undefined };
      return;
    case "fate":
      // An earlier call that still waits belongs to a connection that is over.
      tellFate(run, { code: "connection_error" });
      state.fate = event.call;
      return;
    case "moved":
      return moved(run, event.by);
    case "left":
      state.withoutLeaversIn = undefined;
      return;
    case "look":
      return;
  }
}

function change<P>(run: CommitRun<P>, event: Extract<CommitEvent<P>, { type: "change" }>): void {
  const { state, facts } = run;
  const { operation, plan, isOfDeparture = false } = event;
  const queued = { operation, plan, attempts: 0, behind: 0, timer: undefined };
  const isLeaving = facts.departure !== "staying" && !isOfDeparture;
  if (isLeaving) return settle(run, queued, { is: "failed", why: { by: "leaving" } });
  if (facts.isStopped) return settle(run, queued, { is: "failed", why: { by: "stopped" } });
  state.plans.push(queued);
}

/**
 * Without permission to work no plan goes on, and each one has its time. One whose commit is on its
 * way ends with that.
 */
function holdPlans<P>(run: CommitRun<P>): void {
  const { state, facts: { work, isStopped, departure } } = run;
  const { commit } = state;
  const { at } = commit;
  const isHeld = work === undefined;
  // A stop may be what it lost against, and be over with the next generation.
  const isResting = at === "resting" && !(isStopped && commit.until === "epoch");
  if (isHeld && (at === "preparing" || at === "checking" || isResting)) {
    state.commit = { at: "none" };
  }
  const [first] = state.plans;
  const underWay = isOfPlan(state.commit) && !isHeldBack(run) ? first : undefined;
  if (isStopped) rejectAll(run, "stopped", underWay);
  if (departure === "goodbye") rejectAll(run, "leaving", underWay);
  if (state.plans[0] !== first) letGo(run);
  for (const plan of state.plans) {
    if (!isHeld || plan === underWay) plan.timer = undefined;
    else plan.timer ??= wake(run, permitMs);
  }
}

/** The plan is over whose commit was held back. */
function letGo<P>(run: CommitRun<P>): void {
  const { state, facts } = run;
  if (!isHeldBack(run) || state.commit.at !== "asking") return;
  state.commit = { at: "open", candidate: state.commit.candidate };
  state.again ??= wake(run, facts.jitter(openMs));
}

function rejectAll<P>(run: CommitRun<P>, by: "stopped" | "leaving", but?: QueuedPlan<P>): void {
  const { plans } = run.state;
  for (const plan of plans.splice(0)) {
    if (plan === but) plans.push(plan);
    else settle(run, plan, { is: "failed", why: { by } });
  }
}

function goOn<P>(run: CommitRun<P>): void {
  const { state, facts } = run;
  if (state.commit.at === "open") {
    return facts.work === undefined ? undefined : sendAgain(run, state.commit.candidate);
  }
  for (
    let [plan] = state.plans;
    plan !== undefined && state.commit.at === "none";
    [plan] = state.plans
  ) {
    if (state.given.length === 0) begin(run);
    else if (facts.work !== undefined) state.commit = { at: "checking" };
    // The plan waits for a permit.
    if (state.plans[0] === plan) return;
  }
}

/** An open one, when its time has come, or a plan waits behind it. */
function sendAgain<P>(run: CommitRun<P>, candidate: CommitCandidate): void {
  const { state } = run;
  if (state.again !== undefined && state.plans.length === 0) return;
  const sent = { candidate, sends: 1, isAgain: true };
  if (candidate.adds) state.commit = { at: "asking", next: "give_up", ...sent };
  else send(run, sent);
}

/** Asks the log for the epoch's commit, if anything waits to hear of it. */
function askLog<P>(run: CommitRun<P>): void {
  const { state, facts, effects } = run;
  const { commit: { at } } = state;
  // The answer to the commit is on its way.
  if (at === "sent") tellFate(run);
  if (at === "sent" || at === "entering") return;
  if (oursOf(state).length === 0) {
    explain(run, "not_ours");
    tellFate(run);
  }
  const isAsking = (at === "asking" && !isHeldBack(run)) || at === "checking";
  const isWanted = isAsking || state.entry !== undefined || state.fate !== undefined;
  if (!isWanted || state.question !== undefined) return;
  const call = numberOf(run);
  state.question = call;
  if (state.entry !== undefined) state.entry.isNewer = false;
  effects.push({ type: "find", call, epoch: facts.epoch });
}

function prepared<P>(run: CommitRun<P>, job: number, made: CommitCandidate | ChangeRefusal): void {
  const { state, facts } = run;
  if (state.commit.at !== "preparing" || state.commit.job !== job || facts.work === undefined) {
    return;
  }
  state.commit = { at: "none" };
  if ("code" in made) return settleFirst(run, { is: "refused", why: made });
  run.write = { type: "prepared", candidate: made };
  const ms = facts.isAlone ? 0 : restMs(facts.made);
  if (ms > 0) state.rest = { epoch: facts.epoch, timer: wake(run, ms) };
  send(run, { candidate: made, sends: 1, isAgain: false });
}

function taken<P>(run: CommitRun<P>, call: number, sequence: number): void {
  const { commit } = run.state;
  if (commit.at === "sent" && commit.call === call) return enter(run, commit.candidate, sequence);
  if (commit.at === "overtaken" && commit.call === call) tookTwo(run, commit.isAgain);
}

/** The log has a commit of ours in an epoch in which another one was followed. */
function tookTwo<P>(run: CommitRun<P>, isAgain: boolean): void {
  run.state.commit = { at: "none" };
  run.effects.push({ type: "report", what: "took_two" });
  if (!isAgain) settleFirst(run, { is: "failed", why: { by: "forked" } });
  run.effects.push({ type: "finding", finding: { is: "outside", why: "took_two" } });
}

function answered<P>(run: CommitRun<P>, call: number, reply: FindCommitReply): void {
  const { commit, question } = run.state;
  if (question === call) return found(run, reply);
  if (commit.at !== "overtaken" || commit.call !== call) return;
  const held = reply.commit && heldOf(commit.ours, reply.commit);
  if (held === undefined) next(run, commit.isAgain);
  else tookTwo(run, commit.isAgain);
}

function refused<P>(run: CommitRun<P>, call: number, why: ChangeRefusal): void {
  const { commit, question } = run.state;
  if (question === call) return notHeard(run, why);
  if (commit.at === "overtaken" && commit.call === call) return next(run, commit.isAgain);
  if (commit.at === "sent" && commit.call === call) refusedSent(run, commit, why);
}

/** The group has moved without our commit. */
function next<P>(run: CommitRun<P>, isAgain: boolean): void {
  if (isAgain) run.state.commit = { at: "none" };
  else pause(run);
}

function refusedSent<P>(
  run: CommitRun<P>,
  sent: Extract<OwnCommitState, { at: "sent" }>,
  why: ChangeRefusal,
): void {
  const { state, facts } = run;
  const { candidate, sends, isAgain } = sent;
  const asked = { at: "asking", candidate, sends, isAgain } as const;
  if (why.code === "epoch_conflict") {
    state.commit = { ...asked, next: { conflict: why.epoch ?? candidate.epoch + 1 } };
    return;
  }
  if (isLost(why)) {
    const most = state.plans.length > 0 ? maxSends : 1;
    const isLastSend = sends >= most || (isAgain && facts.work === undefined);
    // As after an answer that was lost: the relay knows the same bytes again if it has taken them.
    if (!isLastSend) {
      state.commit = { ...asked, next: "send" };
      return;
    }
    // A relay that fails at these bytes would fail at them for ever.
    if (why.code !== "internal") return leaveOpen(run, candidate, why);
  }
  if (why.isBusy === true && candidate.isLast) return leaveOpen(run, candidate, why);
  giveUp(run, { ...asked, next: "give_up" }, why.isBusy);
  const mayLeaveOut = candidate.removesLeavers && !facts.isOwner &&
    state.withoutLeaversIn !== facts.epoch;
  if (why.code === "not_allowed" && mayLeaveOut && !isAgain) {
    state.withoutLeaversIn = facts.epoch;
    return;
  }
  if (!isAgain) settleFirst(run, { is: "refused", why });
  if (why.code === "state_conflict") {
    run.effects.push({ type: "finding", finding: { is: "outside", why: "other_keys" } });
  }
}

function moved<P>(run: CommitRun<P>, by: Extract<CommitEvent<P>, { type: "moved" }>["by"]): void {
  const { state } = run;
  const { commit } = state;
  const ours = oursOf(state);
  state.given = noneGiven;
  state.question = undefined;
  explain(run, "settled");
  tellFate(run);
  if (by !== "commit") state.commit = { at: "none" };
  else if (ours.length > 0) overtake(run, ours);
  else if (commit.at === "resting" && commit.until === "pause") return;
  else if (commit.at !== "overtaken") next(run, !isOfPlan(commit));
}

/** A relay that is honest has taken none of these: its answer, or the log's, tells. */
function overtake<P>(run: CommitRun<P>, ours: readonly CommitCandidate[]): void {
  const { state, facts, effects } = run;
  const { commit } = state;
  const isAgain = !isOfPlan(commit);
  if (commit.at === "sent") {
    state.commit = { at: "overtaken", call: commit.call, ours, isAgain };
    return;
  }
  const call = numberOf(run);
  state.commit = { at: "overtaken", call, ours, isAgain };
  effects.push({ type: "find", call, epoch: ours[0]?.epoch ?? facts.epoch });
}

function time<P>(run: CommitRun<P>, timer: number): void {
  const { state, facts } = run;
  if (state.again === timer) {
    const isGoodbye = state.commit.at === "open" && facts.departure === "goodbye";
    state.again = isGoodbye ? wake(run, facts.jitter(openMs)) : undefined;
  }
  if (state.rest?.timer === timer) state.rest = undefined;
  const late = state.plans.findIndex((plan) => plan.timer === timer);
  if (late >= 0) {
    const [plan] = state.plans.splice(late, 1);
    if (plan !== undefined) {
      settle(run, plan, { is: "failed", why: { by: facts.isOnline ? "out_of_step" : "offline" } });
      if (late === 0) letGo(run);
    }
  }
  const { commit } = state;
  if (commit.at !== "resting" || commit.timer !== timer) return;
  state.commit = { at: "none" };
  if (commit.until === "pause" || facts.isStopped) return;
  settleFirst(run, { is: "failed", why: { by: "not_arrived", logEpoch: commit.logEpoch } });
}
