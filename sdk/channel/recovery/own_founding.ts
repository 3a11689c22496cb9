/**
 * `recover()`: an owner that is stopped begins a new generation. The founding is on disk before it
 * is sent, always goes unchanged, and is kept as long as the relay may take it. The log delivers it
 * to everybody but its founder, who asks for it. A founding goes with the write in which our group
 * moves on from its base by a commit; it stays when a Welcome let us in, as long as our group is in
 * the generation before it. We may enter it when our group is its base, or when a member has signed
 * that it left for the generation: else removed members would be back by the relay's word. Not
 * covered: a log that is set back to before another founding, or to before its founder came back,
 * and takes ours then.
 */
import { type AgentId, generationOf, limits } from "../../../proto/mod.ts";
import {
  begun,
  choose,
  type ExclusionVerdict,
  hasSentAnother,
  isCalled,
  isSame,
  needsChoice,
  standing,
} from "./exclusion.ts";
import { enterOwn, mayEnter } from "./entering.ts";
import {
  badOf,
  call,
  find,
  isAgain,
  job,
  nextFounding,
  type RecoveryRun,
  wake,
} from "./recovery_run.ts";
import type {
  ExclusionChoice,
  FoundCommit,
  FoundingStage,
  MadeFounding,
  RecoveryAnswer,
  RecoveryPlace,
  RecoveryRefusal,
  RecoveryWorkResult,
  UnfollowableCommit,
} from "./recovery_state.ts";

/** An owner whose members do not all ask waits so long: others may be able to follow. */
const patienceMs = 60_000;
/** How long the founding of another owner may take to arrive. */
const followMs = 30_000;
/** Times that one call waits for messages that come once more. */
const maxArrivals = 5;
/** Made for one call, when the relay refuses them. */
const maxFoundings = 3;
/** The most foundings that we make in one generation: that many may be taken late. */
const maxMade = 4;

/** Whether an owner may begin anew now. */
export function isOffered(
  { state, facts }: RecoveryRun,
  bad: UnfollowableCommit,
  without: readonly AgentId[] = facts.leftOut.list,
): boolean {
  const askers = state.place.at === "stopped" ? state.place.askers : [];
  // A clock that was put back says nothing about the time that has passed.
  const elapsedMs = facts.nowMs - bad.sinceMs;
  return isAgain(state, bad, facts) || elapsedMs < 0 || elapsedMs >= patienceMs ||
    facts.others.every(({ agentId }) =>
      agentId === bad.blamed || without.includes(agentId) || askers.includes(agentId)
    );
}

export function recover(
  run: RecoveryRun,
  { operation, choice }: { readonly operation: number; readonly choice: ExclusionChoice },
): void {
  const { state } = run;
  const chosen = chosenNow(run, choice);
  if ("refusal" in chosen) {
    return void run.effects.push({ type: "settle", operation, refusal: chosen.refusal });
  }
  const isNamed = choice.without !== undefined || choice.keep !== undefined;
  const isFirst = !isCalled(run);
  const blamed = choice.without?.filter((agentId) => agentId === badOf(state.place)?.blamed) ?? [];
  state.recovering = [...state.recovering, { operation, isNamed, blamed }];
  if (!isFirst) return;
  state.without = chosen.without;
  state.waits = state.refusals = 0;
  if (state.founding.at === "none") fromTheTop(run);
}

/** Texts are words for the runner, which says them to the program. */
function chosenNow(run: RecoveryRun, choice: ExclusionChoice): ExclusionVerdict {
  const { state, facts } = run;
  const refusal = standing(run);
  const bad = badOf(state.place);
  if (refusal !== undefined || bad === undefined) {
    return { refusal: refusal ?? { code: "not_allowed", text: "not_stopped" } };
  }
  const chosen = choose(run, choice, bad);
  if ("refusal" in chosen) return chosen;
  if (!isOffered(run, bad, chosen.without)) {
    return { refusal: { code: "not_allowed", text: "not_offered" } };
  }
  if (needsChoice(run, choice, bad)) {
    return { refusal: { code: "choice_needed", text: "choice_needed", about: facts.leftOut.list } };
  }
  const isOther = isCalled(run) && !isSame(chosen.without, state.without);
  return isOther ? { refusal: { code: "not_allowed", text: "another_runs" } } : chosen;
}

function goTo({ state }: RecoveryRun, founding: FoundingStage): void {
  state.founding = founding;
}

function fromTheTop(run: RecoveryRun): void {
  // From a refusal too: leaving waits for what was on its way.
  if (run.facts.isLeaving) return reject(run, { code: "not_allowed", text: "leaving" });
  if (run.facts.isAllHere) return proceed(run);
  // Whether there is a connection.
  goTo(run, { at: "probing", call: call(run, { to: "FindCommit", epoch: run.facts.epoch }) });
}

export function arrived(run: RecoveryRun, operation: number, isLate: boolean): void {
  const { state, facts } = run;
  if (state.founding.at !== "arriving" || state.founding.operation !== operation) return;
  if (!facts.isAllHere && !facts.isOnline) {
    return reject(run, { code: "connection_error", text: "not_all_here" });
  }
  if (!facts.isAllHere && !isLate && ++state.waits < maxArrivals) return fromTheTop(run);
  proceed(run);
}

/** Everything in front of the stop is here, or does not come. */
function proceed(run: RecoveryRun, isLooked = false): void {
  const { state, facts } = run;
  const { made } = state;
  const bad = badOf(state.place);
  if (bad === undefined) return;
  if (facts.isLeaving) return reject(run, { code: "not_allowed", text: "leaving" });
  const mayBeThere = facts.permit === undefined ? made.length > 0 : hasSentAnother(run, bad);
  if (mayBeThere && !isLooked) {
    return goTo(run, {
      at: "looking",
      call: call(run, { to: "FindCommit", epoch: nextFounding(run) }),
    });
  }
  if (facts.permit === undefined) {
    return reject(run, { code: "connection_error", text: "no_permit" });
  }
  const before = begun(run, bad, state.without);
  if (before !== undefined) return send(run, before);
  if (made.length >= maxMade) {
    return reject(run, { code: "overloaded", text: "too_many_foundings" });
  }
  const isOut = (agentId: AgentId): boolean =>
    agentId === bad.blamed || state.without.includes(agentId);
  claim(run, facts.claimable.filter((agentId) => !isOut(agentId)), [], bad);
}

function claim(
  run: RecoveryRun,
  wanted: readonly AgentId[],
  calls: readonly number[],
  bad: UnfollowableCommit,
): void {
  const { without } = run.state;
  if (wanted.length === 0) {
    return goTo(run, { at: "making", job: job(run, { of: "founding", bad, calls, without }) });
  }
  const agentIds = wanted.slice(0, limits.claimsForFounding);
  const number = call(run, { to: "ClaimForFounding", agentIds });
  goTo(run, {
    at: "claiming",
    call: number,
    left: wanted.slice(agentIds.length),
    calls: [...calls, number],
  });
}

/** The founding is on disk, and goes. */
export function foundingMade(run: RecoveryRun, number: number, result: RecoveryWorkResult): void {
  const { state, facts } = run;
  const { founding } = state;
  const bad = badOf(state.place);
  if (
    founding.at !== "making" || founding.job !== number || result.of !== "founding" ||
    bad === undefined
  ) return;
  if (facts.isLeaving) return reject(run, { code: "not_allowed", text: "leaving" });
  if (facts.permit === undefined) {
    return reject(run, { code: "connection_error", text: "no_permit" });
  }
  const generation = generationOf(facts.epoch) + 1;
  const made: MadeFounding = {
    ...result.made,
    generation,
    badCommit: bad.hash,
    base: facts.base,
    without: state.without,
    isSent: false,
    isRefused: false,
  };
  run.write.push({ type: "founding", made });
  state.made = [...state.made, made];
  send(run, made);
}

function send(run: RecoveryRun, { hash, isSent }: MadeFounding): void {
  const { state } = run;
  state.made = state.made.map((made) => made.hash === hash ? { ...made, isSent: true } : made);
  const number = call(run, { to: "FoundGeneration", hash });
  goTo(run, { at: "sent", call: number, hash, isOnly: !isSent });
}

/** Returns whether it was what the founding waits for. */
export function foundingAnswered(
  run: RecoveryRun,
  number: number,
  answer: RecoveryAnswer,
): boolean {
  const { founding, place } = run.state;
  if (!("call" in founding) || founding.call !== number) return false;
  const bad = badOf(place);
  switch (founding.at) {
    case "probing": {
      const operation = ++run.state.numbers;
      run.effects.push({ type: "await_arrival", operation });
      goTo(run, { at: "arriving", operation });
      return true;
    }
    case "looking":
      looked(run, answer.to === "FindCommit" ? answer.commit : undefined);
      return true;
    case "claiming":
      if (bad !== undefined) claim(run, founding.left, founding.calls, bad);
      return true;
    case "sent":
      if (answer.to === "FoundGeneration") {
        taken(run, { hash: founding.hash, sequence: answer.sequence });
      }
      return true;
    case "checking":
      checked(run, founding, answer.to === "FindCommit" ? answer.commit : undefined);
      return true;
  }
}

export function ownIn(
  { state }: RecoveryRun,
  commit: FoundCommit | undefined,
): MadeFounding | undefined {
  return commit && state.made.find(({ hash }) => hash === commit.hash);
}

function looked(run: RecoveryRun, commit: FoundCommit | undefined): void {
  const own = ownIn(run, commit);
  if (own === undefined || commit === undefined) return proceed(run, true);
  if (run.facts.permit !== undefined && mayEnter(run, own)) {
    return enterOwn(run, own, commit, run.facts.permit);
  }
  // The founding's members let us in: our store may be older than what it sent there.
  own.members > 1 ? follow(run) : proceed(run, true);
}

function taken(run: RecoveryRun, commit: FoundCommit): void {
  const own = ownIn(run, commit);
  const { permit } = run.facts;
  // Without a permit, the next connection enters it.
  if (own === undefined || permit === undefined || !mayEnter(run, own)) return follow(run);
  rest(run);
  enterOwn(run, own, commit, permit);
}

type FoundingCheck = Extract<FoundingStage, { at: "checking" }>;

/** A refusal says nothing about an earlier copy whose reply was lost. */
function checked(
  run: RecoveryRun,
  { hash, isOnly, refusal }: FoundingCheck,
  commit: FoundCommit | undefined,
): void {
  const { state } = run;
  // The commit may be one that we made before.
  if (commit !== undefined && ownIn(run, commit) !== undefined) return taken(run, commit);
  if (refusal.code === "epoch_conflict") return follow(run);
  if (refusal.code !== "invalid_request" && refusal.code !== "payload_too_large") {
    return reject(run, refusal);
  }
  // The relay takes these bytes no more as its log is now. An earlier copy it may have taken
  // before.
  if (isOnly) run.write.push({ type: "no_founding", hash });
  state.made = state.made.flatMap((made) => {
    if (made.hash !== hash) return [made];
    return isOnly ? [] : [{ ...made, isRefused: true }];
  });
  if (isOnly) state.refusals++;
  const isTried = state.refusals >= maxFoundings || refusal.code === "payload_too_large" ||
    state.recovering.length === 0;
  if (isTried) return reject(run, refusal);
  fromTheTop(run);
}

/** Others begin the generation in which we are soon, or have begun it. */
function follow(run: RecoveryRun): void {
  if (run.state.place.at === "apart") return reject(run, { code: "epoch_conflict", text: "apart" });
  if (run.state.recovering.length === 0) return rest(run);
  goOn(run, { at: "following", timer: wake(run, followMs) });
}

/** Returns whether it was what the founding waits for. */
export function foundingRefused(
  run: RecoveryRun,
  number: number,
  refusal: RecoveryRefusal,
): boolean {
  const { founding } = run.state;
  if (!("call" in founding) || founding.call !== number) return false;
  if (founding.at === "checking") reject(run, founding.refusal);
  else if (founding.at === "sent") {
    const { hash, isOnly } = founding;
    const epoch = nextFounding(run);
    goTo(run, {
      at: "checking",
      call: call(run, { to: "FindCommit", epoch }),
      hash,
      isOnly,
      refusal,
    });
  } else reject(run, refusal);
  return true;
}

/** The same call sends the same founding later. */
export function foundingLost(run: RecoveryRun, number: number, refusal: RecoveryRefusal): boolean {
  const { founding } = run.state;
  if (!("call" in founding) || founding.call !== number) return false;
  reject(run, founding.at === "checking" ? founding.refusal : refusal);
  return true;
}

export function foundingTime(run: RecoveryRun, timer: number): boolean {
  const { founding } = run.state;
  if (founding.at !== "following" || founding.timer !== timer) return false;
  reject(run, { code: "mls_error", text: "not_followed" });
  return true;
}

function reject(run: RecoveryRun, refusal: RecoveryRefusal): void {
  settleAll(run, refusal);
  rest(run);
}

function rest(run: RecoveryRun): void {
  goOn(run, { at: "none" });
}

function goOn(run: RecoveryRun, founding: FoundingStage): void {
  const wasOnItsWay = isOnItsWay(run.state.founding);
  goTo(run, founding);
  if (wasOnItsWay) tellSettled(run);
}

/** Nothing of ours is on its way or asked for any more. */
export function tellSettled(run: RecoveryRun): void {
  if (run.state.settling === undefined && !isOnItsWay(run.state.founding)) {
    find(run, { type: "founding_settled" });
  }
}

function isOnItsWay({ at }: FoundingStage): boolean {
  return at === "sent" || at === "checking";
}

/** The program wants to leave: our leaf is soon told for good. */
export function leaves(run: RecoveryRun): void {
  const { founding } = run.state;
  if (founding.at !== "none" && !isOnItsWay(founding)) {
    reject(run, { code: "not_allowed", text: "leaving" });
  }
}

export function foundingFailed(
  run: RecoveryRun,
  number: number,
  refusal: RecoveryRefusal,
): boolean {
  const { founding } = run.state;
  if (founding.at !== "making" || founding.job !== number) return false;
  reject(run, refusal);
  return true;
}

export function settleAll(
  { state, effects }: RecoveryRun,
  refusal: RecoveryRefusal | undefined,
): void {
  for (const { operation } of state.recovering) {
    effects.push({ type: "settle", operation, refusal });
  }
  state.recovering = [];
}

/**
 * The calls of the program are about the place. A founding that is on its way goes on without them.
 */
export function foundingMoved(run: RecoveryRun, before: RecoveryPlace): void {
  const { state } = run;
  const { place: { at }, founding } = state;
  if (founding.at === "none" && state.recovering.length === 0) return;
  const isSent = isOnItsWay(founding);
  if (at === "apart" && badOf(before) !== undefined && badOf(state.place) === undefined) {
    settleAll(run, { code: "epoch_conflict", text: "apart" });
    return isSent ? undefined : goTo(run, { at: "none" });
  }
  if (at === before.at || at === "stopped") return;
  if (at === "outside") return isSent || founding.at === "following" ? undefined : follow(run);
  // With its bad commit, an owner that is apart may found all the same.
  if (at === "apart") return founding.at === "following" ? follow(run) : undefined;
  settleAll(run, undefined);
  if (!isSent) goTo(run, { at: "none" });
}
