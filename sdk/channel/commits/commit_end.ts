/**
 * The end of a commit of ours: it is entered, it lost, or it is given up. The log decides, once it
 * can be asked; until then nothing is entered, and nothing is forgotten that the relay may take
 * yet.
 */
import { equalBytes } from "../../../proto/mod.ts";
import type { FindCommitReply } from "../connection/link_state.ts";
import { maxSkippedGenerations } from "../../mls/secret_tree.ts";
import { restMs } from "./commit_pace.ts";
import {
  type CommitRun,
  explain,
  isHeldBack,
  isLost,
  isOfPlan,
  numberOf,
  settleFirst,
  tellFate,
  wake,
} from "./own_commit_run.ts";
import {
  candidateOf,
  type ChangeFailure,
  type ChangeRefusal,
  type CommitCandidate,
  noneGiven,
  oursOf,
  type OwnCommitState,
} from "./own_commit_state.ts";

type UnsettledCommit = Extract<OwnCommitState, { at: "sent" | "asking" }>;

/** Further ones: of the oldest its hash alone is kept. */
const maxGiven = 8;
/** Before an open commit is sent again. */
export const openMs = 5000;
/**
 * In one call, of a log that is behind us: as after a restored backup, until the next connection
 * mends it.
 */
const maxBehind = 3;
/**
 * With ten members that commit at once the last one wins in its tenth try, usually much earlier.
 */
const maxAttempts = 40;
/** How long the winner's commit may take to arrive. */
const catchUpMs = 30_000;
const firstPauseMs = 20;
const maxPauseMs = 1000;

/** The relay has it, or the log holds it: the group moves there. */
export function enter<P>(run: CommitRun<P>, candidate: CommitCandidate, sequence: number): void {
  const { state } = run;
  const { commit } = state;
  const isThis = candidateOf(commit) === candidate;
  const isPlans = isThis && isOfPlan(commit);
  run.write = { type: "entered", candidate, sequence };
  if (commit.at === "asking" && isThis && isFirstRefused(commit)) {
    run.effects.push({ type: "report", what: "conflict_with_itself" });
  }
  state.commit = { at: "entering" };
  state.given = noneGiven;
  state.question = undefined;
  run.effects.push({
    type: "finding",
    finding: { is: "entered", candidate, sequence, isOfBefore: !isPlans },
  });
  if (isPlans) settleFirst(run, { is: "made", candidate, sequence });
  explain(run, "settled");
  tellFate(run);
}

/** The relay had taken it when it said that another commit was first. */
function isFirstRefused({ sends, isAgain, ...commit }: UnsettledCommit): boolean {
  return commit.at === "asking" && typeof commit.next === "object" && sends === 1 && !isAgain;
}

/** The log was asked for the commit that ended our epoch. */
export function found<P>(run: CommitRun<P>, { epoch, commit }: FindCommitReply): void {
  const { state, facts } = run;
  state.question = undefined;
  const ours = commit && heldOf(oursOf(state), commit);
  if (ours !== undefined && commit !== undefined) return enter(run, ours, commit.sequence);
  if (commit !== undefined || epoch > facts.epoch) {
    return lose(run, Math.max(epoch, facts.epoch + 1));
  }
  // The answer may be from before the entry: the log is asked once more.
  if (state.entry?.isNewer === true) return;
  explain(run, "not_ours");
  tellFate(run);
  if (state.commit.at === "asking") notHeld(run, state.commit);
  else if (state.commit.at === "checking") begin(run);
}

/** The one of these that the log holds. */
export function heldOf(
  ours: readonly CommitCandidate[],
  { commitHash }: NonNullable<FindCommitReply["commit"]>,
): CommitCandidate | undefined {
  return ours.find(({ hash }) => equalBytes(hash, commitHash));
}

function notHeld<P>(run: CommitRun<P>, asking: Extract<OwnCommitState, { at: "asking" }>): void {
  const { facts } = run;
  const { candidate, next, sends } = asking;
  if (next === "send") {
    if (!isHeldBack(run)) return send(run, { ...asking, sends: sends + 1 });
    return asking.isAgain ? leaveOpen(run, candidate, { code: "connection_error" }) : undefined;
  }
  if (next === "give_up") return giveUp(run, asking);
  const { conflict } = next;
  if (candidate.isLast && conflict <= facts.epoch) {
    return leaveOpen(run, candidate, undefined, conflict);
  }
  giveUp(run, asking);
  loseConflict(run, asking, conflict);
}

/** The relay says that another commit was first, or that its log is behind us. */
function loseConflict<P>(
  run: CommitRun<P>,
  asking: Extract<OwnCommitState, { at: "asking" }>,
  conflict: number,
): void {
  const { state, facts } = run;
  const isBehind = conflict <= facts.epoch;
  const [plan] = state.plans;
  if (asking.isAgain || plan === undefined) return;
  if (isBehind && ++plan.behind >= maxBehind) {
    return settleFirst(run, { is: "failed", why: { by: "behind", logEpoch: conflict } });
  }
  if (isBehind) pause(run);
  else loseRace(run, conflict);
}

/** The log holds another commit of our epoch: nothing of ours can be taken any more. */
function lose<P>(run: CommitRun<P>, logEpoch: number): void {
  const { state } = run;
  const { commit } = state;
  const ours = oursOf(state);
  if (ours.length > 0) run.write = { type: "lost", ours };
  state.given = noneGiven;
  explain(run, "settled");
  tellFate(run);
  if (commit.at === "preparing" || commit.at === "resting") return;
  else if (isOfPlan(commit)) loseRace(run, logEpoch);
  else state.commit = { at: "none" };
}

/** The relay may take it yet, unless it has refused the only copy. */
export function giveUp<P>(
  run: CommitRun<P>,
  { candidate, sends, isAgain }: UnsettledCommit,
  isUnknown = false,
): void {
  const { state } = run;
  state.commit = { at: "none" };
  if (sends === 1 && !isAgain && !isUnknown) {
    run.write = { type: "refused", candidate };
    return;
  }
  const dropped = state.given.length < maxGiven ? undefined : state.given[0];
  run.write = { type: "given", candidate, dropped };
  state.given = Object.freeze([...state.given.filter((each) => each !== dropped), candidate]);
}

/**
 * Nobody knows whether the relay has taken it. The first plan, its own or one that waits behind it,
 * is told why.
 */
export function leaveOpen<P>(
  run: CommitRun<P>,
  candidate: CommitCandidate,
  why: ChangeRefusal | undefined,
  logEpoch = 0,
): void {
  const { state, facts } = run;
  state.commit = { at: "open", candidate };
  state.again ??= wake(run, facts.jitter(openMs));
  settleFirst(
    run,
    why === undefined ? { is: "failed", why: { by: "behind", logEpoch } } : { is: "refused", why },
  );
}

/** The first plan waits until our group is where the log is. */
function loseRace<P>(run: CommitRun<P>, logEpoch: number): void {
  run.state.commit = { at: "resting", timer: wake(run, catchUpMs), until: "epoch", logEpoch };
}

/** Before the first plan's next attempt, if there is to be one. */
export function pause<P>(run: CommitRun<P>): void {
  const { state, facts } = run;
  const [plan] = state.plans;
  state.commit = { at: "none" };
  if (plan === undefined) return;
  if (++plan.attempts >= maxAttempts) {
    return settleFirst(run, { is: "failed", why: { by: "faster" } });
  }
  const ms = facts.jitter(
    Math.min(firstPauseMs * 2 ** Math.floor((plan.attempts - 1) / 2), maxPauseMs),
  );
  state.commit = { at: "resting", timer: wake(run, ms), until: "pause" };
}

/**
 * The first plan's turn. It is asked before there is a permit: nothing to do, or a refusal, waits
 * for none.
 */
export function begin<P>(run: CommitRun<P>): void {
  const { state, facts, effects } = run;
  state.commit = { at: "none" };
  const [plan] = state.plans;
  if (plan === undefined) return;
  const isWithoutLeavers = state.withoutLeaversIn === facts.epoch;
  const planned = facts.planOf(plan.plan, isWithoutLeavers);
  if (planned === "nothing") return settleFirst(run, { is: "nothing" });
  if (planned !== "change") return settleFirst(run, { is: "refused", why: planned });
  if (facts.work === undefined) return;
  const why = paceOf(run);
  if (why !== undefined) return settleFirst(run, { is: "failed", why });
  const job = numberOf(run);
  state.commit = { at: "preparing", job };
  effects.push({ type: "prepare", job, plan: plan.plan, isWithoutLeavers });
}

function paceOf<P>(
  { state: { rest }, facts: { made, epoch, isAlone } }: CommitRun<P>,
): ChangeFailure | undefined {
  if (isAlone) return undefined;
  if (made > maxSkippedGenerations) return { by: "pace", made, afterMs: undefined };
  return rest?.epoch === epoch ? { by: "pace", made, afterMs: restMs(made) } : undefined;
}

export function send<P>(
  run: CommitRun<P>,
  { candidate, sends, isAgain }: Omit<UnsettledCommit, "at">,
): void {
  const { state, effects } = run;
  const call = numberOf(run);
  // An answer that is on its way may be older than what becomes of this copy.
  state.question = undefined;
  state.commit = { at: "sent", candidate, call, sends, isAgain };
  effects.push({ type: "send", call, candidate, plan: isAgain ? undefined : state.plans[0]?.plan });
}

/** The relay did not say what the log holds. */
export function notHeard<P>(run: CommitRun<P>, why: ChangeRefusal): void {
  const { state } = run;
  state.question = undefined;
  explain(run, "unknown");
  tellFate(run, why);
  const { commit } = state;
  if (isHeldBack(run) && isOfPlan(commit) && isLost(why)) return;
  if (commit.at === "asking" && typeof commit.next === "object" && !commit.candidate.isLast) {
    // The relay has refused it, and perhaps taken it: the winner will show.
    giveUp(run, commit, true);
    loseConflict(run, commit, commit.next.conflict);
  } else if (commit.at === "asking") leaveOpen(run, commit.candidate, why);
  else if (commit.at === "checking") {
    state.commit = { at: "none" };
    settleFirst(run, { is: "refused", why });
  }
}
