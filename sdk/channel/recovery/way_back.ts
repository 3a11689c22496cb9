/**
 * How an agent whose group is of no use comes back: it asks, with the key of its leaf, to be
 * removed and added again, until a member answers. Anybody can make a worthless Welcome, or name an
 * old leaf of ours: that ends an attempt and not the way back. A request without a leaf is about
 * none: one KeyPackage may be our leaf in two groups, and keeps its keys until our next commit.
 */
import { generationOf } from "../../../proto/mod.ts";
import { attemptOver, isHopeless, newAnswerers, nextAnswerer, refusedBy } from "./answerers.ts";
import { backOf, call, find, job, type RecoveryRun, report, wake } from "./recovery_run.ts";
import type {
  ReadableWelcome,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryRefusal,
  RecoveryWork,
  RecoveryWorkResult,
  RejoinAnswer,
  RejoinKeyPackage,
  ReturnGround,
  UnreadableWelcome,
  WayBack,
  WayBackStep,
} from "./recovery_state.ts";

/** A request that nobody answered this long is made anew. */
const answerMs = 10_000;
/** Leaves that one request is told before the next member is asked: a liar may send old ones. */
const maxLeaves = 4;
/**
 * A leaf that we know to be ours is not given up at once for one that somebody tells: the answer
 * may be on its way.
 */
const patienceMs = 3_000;
/** Entries that wait to be looked at. A relay may send without end. */
const maxTold = 64;
/**
 * A KeyPackage that nobody has used is made anew when this part of its life is left. A part, and no
 * time: one that ends with a badge of a few days would be made anew with each request.
 */
const leftPart = 1 / 4;
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Ways back by nothing but the relay's word, within an hour, until the relay is to blame. */
const maxByWord = 3;
/**
 * Ways back within a day, by word and commits. Each costs the channel a commit, and messages are
 * lost to this agent.
 */
const maxADay = 12;
const retryMs = 1000;

export interface WayBackStart {
  readonly by: ReturnGround;
  readonly reason: string;
  readonly generation?: number;
  readonly proof?: WayBack["proof"];
  /** Members are asked one by one: an answer to all let this agent in with wrong keys. */
  readonly isNamed?: boolean;
}

export function newBack(
  run: RecoveryRun,
  { by, reason, generation, proof, isNamed }: WayBackStart,
): WayBack {
  return {
    by,
    reason,
    generation: generation ?? generationOf(run.facts.epoch),
    leaf: undefined,
    answerers: newAnswerers(isNamed),
    told: [],
    look: undefined,
    proof,
    isCounted: by === "stop",
    attempt: undefined,
    step: { at: "ready" },
  };
}

/** The place holds it already. */
export function beginBack(run: RecoveryRun): void {
  const back = held(run);
  if (run.state.isHalted) return goTo(run, { at: "halted", rest: undefined });
  if (back.isCounted || back.proof === undefined || run.state.isProven) {
    return limit(run, back.by === "word" || back.by === "lapse");
  }
  if (back.proof === "none") return proofKnown(run, back, false);
  prove(run, back.proof);
}

function prove(run: RecoveryRun, sequence: number): void {
  goTo(run, { at: "proving", call: call(run, { to: "ReadOwn", sequence }), timer: undefined });
}

/** Called only while there is one. */
function held({ state: { place } }: RecoveryRun): WayBack {
  const back = backOf(place);
  if (back === undefined) throw new TypeError("There is no way back");
  return back;
}

function change(run: RecoveryRun, changed: Partial<WayBack>): void {
  const { state } = run;
  const back = { ...held(run), ...changed };
  if (state.place.at === "stopped") state.place = { ...state.place, back };
  else state.place = { at: "outside", back };
}

function goTo(run: RecoveryRun, step: WayBackStep): void {
  change(run, { step });
}

/** How often it may come back. */
function limit(run: RecoveryRun, isHourDue: boolean): void {
  const { facts: { nowMs } } = run;
  if (held(run).isCounted) return ready(run);
  if (isHourDue && since(run, hourMs).length >= maxByWord) {
    report(run, { kind: "too_many_reasons" });
    return goTo(run, {
      at: "resting",
      timer: wake(run, hourMs),
      of: "hour",
      untilMs: nowMs + hourMs,
    });
  }
  const today = since(run, dayMs);
  const [first] = today;
  if (first !== undefined && today.length >= maxADay) {
    const untilMs = first + dayMs;
    report(run, { kind: "too_many_returns", untilMs });
    return goTo(run, { at: "resting", timer: wake(run, untilMs - nowMs), of: "day", untilMs });
  }
  count(run);
}

function count(run: RecoveryRun): void {
  const { state, facts: { nowMs } } = run;
  const timesMs = [...since(run, dayMs), nowMs].slice(-maxADay);
  state.cameBackMs = timesMs;
  run.write.push({ type: "came_back", timesMs });
  change(run, { isCounted: true });
  ready(run);
}

/** A clock that was set back forgets what was later. */
function since({ state, facts: { nowMs } }: RecoveryRun, ms: number): readonly number[] {
  return state.cameBackMs.filter((timeMs) => timeMs <= nowMs && timeMs > nowMs - ms);
}

/** Welcomes that came before we asked answer an earlier request. */
function ready(run: RecoveryRun): void {
  const { welcomes } = run.facts;
  const before = welcomes.map((told) => ({ of: "welcome", told }) as const);
  if (before.length > 0) run.effects.push({ type: "take_welcomes" });
  change(run, { step: { at: "ready" }, told: [...held(run).told, ...before].slice(0, maxTold) });
  lookNext(run);
}

/** One after the other; then what was waited for. */
function lookNext(run: RecoveryRun): void {
  for (;;) {
    const { look: before, told: [at, ...told], step, attempt } = held(run);
    if (before !== undefined) return;
    if (step.at !== "ready" && step.at !== "asked" && step.at !== "pausing") return;
    if (at === undefined) return looked(run, step);
    change(run, { told });
    if (at.of === "welcome") {
      const work = {
        of: "welcome",
        welcome: at.told.welcome,
        own: run.state.own?.reference,
      } as const;
      return look(run, at, work);
    }
    const isOfRequest = step.at === "asked" && step.leaf === undefined &&
      step.request === at.told.requestId;
    if (!isOfRequest || attempt?.signed.includes(at.told.leaf) === true) continue;
    const { generation } = held(run);
    const isNew = generation > generationOf(run.facts.epoch);
    const { number, leaf } = at.told;
    return look(run, at, { of: "leaf", number, leaf, generation, isNew });
  }
}

function look(run: RecoveryRun, at: RejoinAnswer, work: RecoveryWork): void {
  change(run, { look: { job: job(run, work), at, place: run.state.place.at } });
}

/** Nothing is left to look at. */
function looked(
  run: RecoveryRun,
  step: Extract<WayBackStep, { at: "ready" | "asked" | "pausing" }>,
): void {
  if (step.at === "asked") return step.timer === undefined ? waited(run, step) : undefined;
  if (step.at === "ready" || step.timer === undefined) {
    make(run, { signed: [], leaves: 0, isMoved: false });
  }
}

/** The time of a request is over. */
function waited(
  run: RecoveryRun,
  { leaf, isStrange }: Extract<WayBackStep, { at: "asked" }>,
): void {
  const { attempt } = held(run);
  const leaves = attempt?.leaves ?? 0;
  if (leaf !== undefined && leaves < maxLeaves) {
    change(run, { leaf });
    return make(run, {
      signed: attempt?.signed ?? [],
      leaves: leaves + 1,
      isMoved: attempt?.isMoved ?? false,
    });
  }
  if (isStrange && leaf === undefined) {
    report(run, { kind: "ask_for_invite", because: "strange_leaf" });
  }
  over(run, leaves > 0 || leaf !== undefined || isStrange);
}

/**
 * A KeyPackage that is in the group already cannot come into it again, and one that is nearly over,
 * was made by a clock that was ahead, or shows other badges than we have now, helps nobody.
 */
function make(run: RecoveryRun, attempt: NonNullable<WayBack["attempt"]>): void {
  const { state, facts } = run;
  const { generation } = held(run);
  const leaf = presentLeaf(run);
  const { own } = state;
  if (own !== undefined && (!isUsable(own, facts) || own.leaf === leaf)) spend(run);
  const signed = leafToSign(run);
  // Our leaf here may be our leaf there, too: one KeyPackage may be in both. It counts only where
  // it was signed about.
  change(run, { attempt: { ...attempt, signed: [...attempt.signed, signed] } });
  const work = { of: "request", own: state.own?.reference, leaf: signed, generation } as const;
  goTo(run, { at: "making", job: job(run, work) });
}

/**
 * False also before its time: then a clock was ahead when it was made. And when this agent has got
 * other badges: those that it shows may be why nobody lets it in.
 */
function isUsable(
  { badges, notBeforeMs, notAfterMs }: RejoinKeyPackage,
  { badges: badgesNow, relayNowMs }: RecoveryFacts,
): boolean {
  return badges === badgesNow && notBeforeMs <= relayNowMs &&
    notAfterMs - relayNowMs >= (notAfterMs - notBeforeMs) * leftPart;
}

function presentLeaf(run: RecoveryRun): string {
  return held(run).leaf ?? run.facts.leaf;
}

/** Empty in a generation that we have not entered, until a member tells us our leaf there. */
function leafToSign(run: RecoveryRun): string {
  const { leaf, generation } = held(run);
  return leaf === undefined && generation > generationOf(run.facts.epoch) ? "" : presentLeaf(run);
}

function spend({ state }: RecoveryRun): void {
  if (state.own !== undefined) state.spent = [...state.spent, state.own.reference];
  state.own = undefined;
}

function made(run: RecoveryRun, own: RejoinKeyPackage): void {
  const { state, facts: { others } } = run;
  const { generation, answerers } = held(run);
  const [after, answerer] = nextAnswerer(answerers, others);
  state.own = own;
  change(run, { answerers: after });
  const request = { own: own.reference, leaf: leafToSign(run), generation, answerer };
  goTo(run, { at: "asking", call: call(run, { to: "RequestRejoin", ...request }) });
}

function over(run: RecoveryRun, isAnswered: boolean): void {
  const { facts: { others, jitter } } = run;
  const [answerers, ms] = attemptOver(held(run).answerers, others, isAnswered);
  if (isHopeless(answerers)) report(run, { kind: "ask_for_invite", because: "too_many_refusals" });
  change(run, {
    answerers,
    attempt: undefined,
    step: { at: "pausing", timer: wake(run, jitter(ms)) },
  });
  lookNext(run);
}

/** Returns whether it was what the way back waits for. */
export function backRefused(
  run: RecoveryRun,
  number: number,
  refusal: RecoveryRefusal,
  epoch: number | undefined,
): boolean {
  const back = backOf(run.state.place);
  if (back?.step.at === "proving" && back.step.call === number) {
    proofKnown(run, back, false);
    return true;
  }
  if (back?.step.at !== "asking" || back.step.call !== number) return false;
  if (refusal.code === "not_found") {
    find(run, { type: "over" });
    return true;
  }
  const isLater = refusal.code === "epoch_conflict" && epoch !== undefined &&
    moveTo(run, back, generationOf(epoch));
  const attempt = held(run).attempt;
  // The channel was begun anew meanwhile: there is another group to come back into.
  if (isLater && attempt?.isMoved === false) make(run, { signed: [], leaves: 0, isMoved: true });
  else over(run, false);
  return true;
}

/**
 * To the generation that the relay names. It may have lied before, so that may be an earlier one
 * too, but not one before our own. Returns whether it is a later one.
 */
function moveTo(run: RecoveryRun, { generation: before }: WayBack, generation: number): boolean {
  if (generation === before || generation < generationOf(run.facts.epoch)) return false;
  change(run, { generation, leaf: undefined });
  return generation > before;
}

export function backLost(run: RecoveryRun, number: number, { code }: RecoveryRefusal): boolean {
  const back = backOf(run.state.place);
  if (back?.step.at === "proving" && back.step.call === number) {
    // A relay that fails for ever does not keep it from asking.
    if (code === "internal") proofKnown(run, back, false);
    else goTo(run, { at: "proving", call: undefined, timer: wake(run, run.facts.jitter(retryMs)) });
    return true;
  }
  if (back?.step.at !== "asking" || back.step.call !== number) return false;
  over(run, false);
  return true;
}

export function backAnswered(
  run: RecoveryRun,
  { call: number, answer }: Extract<RecoveryEvent, { type: "answered" }>,
): boolean {
  const back = backOf(run.state.place);
  if (back?.step.at === "proving" && back.step.call === number) {
    goTo(run, { at: "judging_proof", job: job(run, { of: "proof", call: number }) });
    return true;
  }
  if (back?.step.at !== "asking" || back.step.call !== number || answer.to !== "RequestRejoin") {
    return false;
  }
  goTo(run, {
    at: "asked",
    request: answer.requestId,
    timer: wake(run, answerMs),
    leaf: undefined,
    isStrange: false,
  });
  lookNext(run);
  return true;
}

function proofKnown(run: RecoveryRun, { reason }: WayBack, isProof: boolean): void {
  run.state.isProven = isProof;
  report(run, isProof ? { kind: "store_rolled_back" } : { kind: "store_unproven", reason });
  limit(run, true);
}

/** A Welcome that lets us in is for the place. Returns it. */
export function backDone(
  run: RecoveryRun,
  number: number,
  result: RecoveryWorkResult,
): (ReadableWelcome & { readonly welcome: number }) | undefined {
  const back = backOf(run.state.place);
  if (back === undefined) return undefined;
  const { step, look: looked } = back;
  if (step.at === "judging_proof" && step.job === number && result.of === "proof") {
    proofKnown(run, back, result.isProof);
  } else if (step.at === "making" && step.job === number && result.of === "request") {
    made(run, result.own);
  }
  if (looked?.job !== number) return undefined;
  if (result.of === "leaf" && looked.at.of === "leaf") lookedAtLeaf(run, looked.at, result.isOurs);
  if (result.of !== "welcome" || looked.at.of !== "welcome") return undefined;
  const { opened } = result;
  if ("why" in opened) return void refusedWelcome(run, looked.at, opened);
  const { told: { welcome } } = looked.at;
  if (looked.place === run.state.place.at) return { ...opened, welcome };
  look(run, looked.at, { of: "welcome", welcome, own: run.state.own?.reference });
  return undefined;
}

function lookedAtLeaf(
  run: RecoveryRun,
  { told: { leaf, sender } }: Extract<RejoinAnswer, { of: "leaf" }>,
  isOurs: boolean,
): void {
  const { step } = held(run);
  change(run, { look: undefined });
  if (step.at === "asked" && !isOurs) goTo(run, { ...step, isStrange: true });
  if (step.at === "asked" && isOurs) {
    // An owner has no reason to lie. Nor is there one to wait for an answer about a leaf that was
    // given up before.
    const isSure = held(run).leaf !== undefined || isOwner(run, sender);
    goTo(run, { ...step, leaf, timer: isSure ? undefined : wake(run, patienceMs) });
  }
  lookNext(run);
}

function isOwner({ facts: { others } }: RecoveryRun, agent: string): boolean {
  return others.some(({ agentId, owner }) => agentId === agent && owner);
}

/** Only a Welcome that names our KeyPackage says that the group may have it now. */
function refusedWelcome(
  run: RecoveryRun,
  { told: { sender } }: Extract<RejoinAnswer, { of: "welcome" }>,
  { why, isForOwn }: UnreadableWelcome,
): void {
  report(run, { kind: "refused_welcome", sender, why });
  const { step, answerers } = held(run);
  change(run, { look: undefined });
  if (isForOwn && run.state.own !== undefined) {
    spend(run);
    change(run, { answerers: refusedBy(answerers, sender) });
    if (step.at === "asked") return over(run, true);
  }
  lookNext(run);
}

/**
 * Keys could not be made or used: the attempt is over, or what was looked at is of no use. Returns
 * whether it was its job.
 */
export function backFailed(run: RecoveryRun, number: number): boolean {
  const back = backOf(run.state.place);
  if (back === undefined) return false;
  if (back.step.at === "judging_proof" && back.step.job === number) proofKnown(run, back, false);
  else if (back.step.at === "making" && back.step.job === number) over(run, false);
  else if (back.look?.job === number) {
    change(run, { look: undefined });
    lookNext(run);
  } else return false;
  return true;
}

/** Returns whether it was a timer of the way back. */
export function backTime(run: RecoveryRun, timer: number): boolean {
  const back = backOf(run.state.place);
  if (back === undefined) return false;
  const { step } = back;
  if (step.at === "halted" && step.rest?.timer === timer) {
    goTo(run, { ...step, rest: { ...step.rest, timer: undefined } });
    return true;
  }
  if (!("timer" in step) || step.timer !== timer) return false;
  switch (step.at) {
    case "proving":
      if (typeof back.proof === "number") prove(run, back.proof);
      return true;
    case "resting":
      rested(run, step.of);
      return true;
    case "asked":
    case "pausing":
      goTo(run, { ...step, timer: undefined });
      lookNext(run);
      return true;
  }
}

/** Time has passed, whatever the clock says. */
function rested(run: RecoveryRun, of: "hour" | "day"): void {
  if (of === "hour") limit(run, false);
  else count(run);
}

/** A waiting attempt asks at once. */
export function hurry(run: RecoveryRun): void {
  const step = backOf(run.state.place)?.step;
  if (step?.at !== "pausing") return;
  goTo(run, { ...step, timer: undefined });
  lookNext(run);
}

export function hear(run: RecoveryRun, told: RejoinAnswer): void {
  const back = backOf(run.state.place);
  // Before it asks, the agent keeps Welcomes for it.
  if (back === undefined || !mayHear(back)) return;
  change(run, { told: [...back.told, told] });
  lookNext(run);
}

/** Whether a Welcome is for it. Those that come when as many wait as may stay where they are. */
export function mayHear({ step: { at }, told }: WayBack): boolean {
  return told.length < maxTold && at !== "proving" && at !== "judging_proof" && at !== "resting" &&
    at !== "halted";
}

/**
 * Our leaf stays as it is: leaving has said goodbye. A Welcome that is not looked at yet may be
 * what let us in: it is kept.
 */
export function haltBack(run: RecoveryRun): void {
  const back = backOf(run.state.place);
  if (back === undefined || back.step.at === "halted") return;
  const { step, look: looked } = back;
  const rest = step.at === "resting"
    ? { of: step.of, untilMs: step.untilMs, timer: step.timer }
    : undefined;
  const told = looked === undefined ? back.told : [looked.at, ...back.told];
  change(run, { step: { at: "halted", rest }, look: undefined, attempt: undefined, told });
}

export function resumeBack(run: RecoveryRun): void {
  const step = backOf(run.state.place)?.step;
  if (step?.at !== "halted") return;
  const { rest } = step;
  if (rest === undefined) return beginBack(run);
  if (rest.timer === undefined) return rested(run, rest.of);
  goTo(run, { at: "resting", ...rest, timer: rest.timer });
}

/**
 * We are in: the KeyPackage of the Welcome is used, and others of requests that were valid stay.
 */
export function cameIn(run: RecoveryRun, used: string): void {
  const { state } = run;
  if (state.own?.reference === used) state.own = undefined;
  else spend(run);
  state.spent = state.spent.filter((reference) => reference !== used);
}
