/**
 * Upkeep that members do for each other without their programs: a machine without waits. The online
 * member with the lowest leaf acts at once; the others wait their turn and act if it did not.
 * Members that joined after the asker lost step come last, because the asker does not know them. An
 * event that no case names changes nothing. When a commit for all fails, each request is tried
 * alone: one that cannot be granted keeps nobody else out.
 */
import type { AgentId, JoinRequestId } from "../../../proto/mod.ts";
import {
  type DutyEffect,
  type DutyEvent,
  type DutyFacts,
  type DutyReport,
  type DutyState,
  type DutyStep,
  type FailedDuty,
  openRequests,
  type RejoinAsker,
} from "./duties_state.ts";

/** A member waits this much longer for each online member before it. */
const turnMs = 1500;
const retryMs = 5000;
const maxRequests = 100;
const dayMs = 24 * 60 * 60 * 1000;
/**
 * Returns of one member within a day that are answered: each is a commit that all members make or
 * follow, and costs it nothing.
 */
export const maxReturns = 24;

interface DutyRun {
  readonly state: DutyState;
  readonly facts: DutyFacts;
  readonly effects: DutyEffect[];
}

export function stepDuties(state: DutyState, event: DutyEvent, facts: DutyFacts): DutyStep {
  const run: DutyRun = { state, facts, effects: [] };
  happen(run, event);
  return run;
}

function happen(run: DutyRun, event: DutyEvent): void {
  const { state } = run;
  switch (event.type) {
    case "asked":
      return asked(run, event.request);
    case "left":
      drop(run, event.agentId);
      return look(run);
    case "moved":
      return moved(run, event);
    case "rest":
      state.work = { at: "resting" };
      return;
    case "start":
      if (state.work.at === "resting") state.work = { at: "idle" };
      return look(run);
    case "listed":
      return listed(run, event);
    case "told":
      return told(run, event);
    case "changed":
      return changed(run, event.change, event.why);
    case "time":
      return time(run, event.timer);
  }
}

/**
 * Only so many members are looked at, and the others ask again. A member that comes back too often
 * has no answer.
 */
function asked(run: DutyRun, request: RejoinAsker): void {
  const { state, facts } = run;
  const { agentId } = request;
  const at = state.requests.findIndex((each) => each.agentId === agentId);
  if (at < 0 && state.requests.length >= maxRequests) return;
  // Nobody signs the id: under that of another member's request it would take the place of what
  // that one signed.
  const isAnothers = state.requests.some((each) =>
    each.requestId === request.requestId && each.agentId !== agentId
  );
  if (isAnothers || !facts.isGenuine(request.requestId)) {
    return report(run, { is: "not_genuine", agentId });
  }
  // Such a request would keep out all others that one commit lets in with it.
  const lacked = facts.lacks(request.requestId);
  if (lacked !== undefined) return report(run, { is: "lacking", what: lacked, agentId });
  if (returnsOf(run, agentId).length >= maxReturns) {
    return report(run, { is: "too_often", agentId });
  }
  // The relay delivers it anew: its agent may not have heard.
  state.told = state.told.filter((requestId) => requestId !== request.requestId);
  state.requests = at < 0 ? [...state.requests, request] : state.requests.with(at, request);
  look(run);
}

/** Within a day. */
function returnsOf({ state, facts: { nowMs } }: DutyRun, agentId: AgentId): readonly number[] {
  return (state.returns[agentId] ?? []).filter((timeMs) => Math.abs(nowMs - timeMs) < dayMs);
}

function moved(run: DutyRun, { added, removed }: Extract<DutyEvent, { type: "moved" }>): void {
  const { state: { returns }, facts } = run;
  for (const agentId of removed) {
    drop(run, agentId);
    if (added.includes(agentId)) returns[agentId] = [...returnsOf(run, agentId), facts.nowMs];
    else delete returns[agentId];
  }
}

function look(run: DutyRun): void {
  if (run.state.work.at === "idle" && hasWork(run)) takeTurn(run);
}

/** Returns the open requests. Drops requests of members that are gone, and expired ones. */
function open({ state, facts }: DutyRun): ReturnType<typeof openRequests> {
  if (state.requests.length === 0 && state.told.length === 0) return [];
  const here = openRequests(state, facts).filter(({ leaf }) => leaf !== "gone");
  const ids = new Set(here.map(({ requestId }) => requestId));
  state.requests = state.requests.filter(({ requestId }) => ids.has(requestId));
  state.told = state.told.filter((requestId) => ids.has(requestId));
  return here;
}

/** Members have left that a commit of ours removes. */
function isLeft({ leavers, isWithoutLeavers }: DutyFacts): boolean {
  return !isWithoutLeavers && leavers.length > 0;
}

function hasWork(run: DutyRun): boolean {
  const { state, facts } = run;
  return isLeft(facts) || facts.wantsOwnLeaf || facts.hasAbsentLeavers ||
    open(run).some(({ leaf, requestId }) => leaf === "present" || !state.told.includes(requestId));
}

function takeTurn(run: DutyRun): void {
  const { state, facts } = run;
  const { requests } = state;
  const isAlone = requests.length === 0 && !isLeft(facts);
  if (isAlone || requests.some(({ isNamed }) => isNamed)) return wait(run, 0);
  const call = numberOf(run);
  state.work = { at: "asking_turn", call };
  run.effects.push({ type: "list", call });
}

function wait(run: DutyRun, afterMs: number): void {
  run.state.work = { at: "turn", timer: wake(run, afterMs) };
}

function listed(run: DutyRun, { call, online }: Extract<DutyEvent, { type: "listed" }>): void {
  const { state: { work, requests }, facts } = run;
  if (work.at !== "asking_turn" || work.call !== call) return;
  if (online === undefined) return wait(run, facts.jitter(turnMs));
  const hint = Math.min(...requests.map(({ epoch }) => epoch));
  const isLate = (agentId: AgentId): number => Number(facts.joinedAfter(agentId, hint));
  const members = facts.members();
  const own = members.find(({ agentId }) => agentId === facts.self)?.leafIndex ?? 0;
  const before = members.filter(({ leafIndex, agentId }) => {
    const order = isLate(agentId) - isLate(facts.self) || leafIndex - own;
    return order < 0 && online.has(agentId) && !requests.some((each) => each.agentId === agentId);
  });
  wait(run, before.length * turnMs);
}

function time(run: DutyRun, timer: number): void {
  const { work } = run.state;
  if ("timer" in work && work.timer === timer) goOn(run);
}

/** Others may have done it. */
function goOn(run: DutyRun): void {
  const { state } = run;
  const outdated = open(run).find(({ leaf, requestId }) =>
    leaf === "other" && !state.told.includes(requestId)
  );
  if (outdated !== undefined) return tell(run, outdated);
  state.work = hasWork(run) ? { at: "working", change: change(run, "all") } : { at: "idle" };
}

function tell(run: DutyRun, { requestId, agentId }: RejoinAsker): void {
  const call = numberOf(run);
  run.state.told = [...run.state.told, requestId];
  run.state.work = { at: "telling", call };
  run.effects.push({ type: "tell", call, requestId, agentId });
}

function told(run: DutyRun, { call, failed }: Extract<DutyEvent, { type: "told" }>): void {
  const { work } = run.state;
  if (work.at !== "telling" || work.call !== call) return;
  if (failed !== undefined) report(run, { is: "failed", text: failed });
  goOn(run);
}

function changed(run: DutyRun, number: number, why: FailedDuty | undefined): void {
  const { work } = run.state;
  if (!("change" in work) || work.change !== number) return;
  if (work.at === "one_by_one") return triedAlone(run, work, why?.isAboutContent === true);
  if (why !== undefined) report(run, { is: "failed", text: why.text });
  // A commit for the members that leave comes first: they ask for nothing.
  if (why?.isAboutContent === true) tryAlone(run, "none", []);
  else end(run);
}

function triedAlone(
  run: DutyRun,
  { of, left }: Extract<DutyState["work"], { at: "one_by_one" }>,
  isRefused: boolean,
): void {
  if (of !== "none" && isRefused) refuse(run, of);
  if (of === "none" && isRefused) return end(run);
  const present = presentOf(run).map(({ requestId }) => requestId);
  const [next, ...rest] = of === "none"
    ? present
    : left.filter((requestId) => present.includes(requestId));
  if (next === undefined) end(run);
  else tryAlone(run, next, rest);
}

/** Refuses a request. Its agent may have another leaf by now. */
function refuse(run: DutyRun, of: JoinRequestId): void {
  const request = presentOf(run).find(({ requestId }) => requestId === of);
  if (request === undefined) return;
  drop(run, request.agentId);
  report(run, { is: "cannot_be_granted", agentId: request.agentId });
}

function drop({ state }: DutyRun, agentId: AgentId): void {
  state.requests = state.requests.filter((each) => each.agentId !== agentId);
}

function presentOf(run: DutyRun): RejoinAsker[] {
  return open(run).filter(({ leaf }) => leaf === "present");
}

function tryAlone(run: DutyRun, of: "none" | JoinRequestId, left: readonly JoinRequestId[]): void {
  run.state.work = { at: "one_by_one", change: change(run, of), of, left };
}

function end(run: DutyRun): void {
  const { state, facts } = run;
  state.work = hasWork(run)
    ? { at: "pausing", timer: wake(run, facts.jitter(retryMs)) }
    : { at: "idle" };
}

function change(run: DutyRun, of: "all" | "none" | JoinRequestId): number {
  const number = numberOf(run);
  run.effects.push({ type: "change", change: number, of });
  return number;
}

function report({ effects }: DutyRun, what: DutyReport): void {
  effects.push({ type: "report", report: what });
}

function wake(run: DutyRun, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

function numberOf({ state }: DutyRun): number {
  return ++state.numbers;
}
