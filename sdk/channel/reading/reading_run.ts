/** One step of reading under way, and the few ways in which every entry ends. */
import type { AgentId } from "../../../proto/mod.ts";
import { type MembershipEnding, settleEndings } from "./endings.ts";
import { reserveFetch, takeFetch } from "./fetch_budget.ts";
import { isAhead, passEntry, settlePlace } from "./log_place.ts";
import {
  type LogQuestion,
  notReading,
  type ReadingEffect,
  type ReadingFacts,
  type ReadingFinding,
  type ReadingState,
  type ReportKind,
} from "./reading_state.ts";

export interface ReadingRun {
  readonly state: ReadingState;
  readonly facts: ReadingFacts;
  readonly effects: ReadingEffect[];
  isLandmark: boolean;
}

interface PlacedEntry {
  readonly sequence: number;
}

const passed: ReadingEffect = Object.freeze({ type: "passed", isLandmark: false });
const passedLandmark: ReadingEffect = Object.freeze({ type: "passed", isLandmark: true });

export function numberOf({ state }: ReadingRun): number {
  return ++state.numbers;
}

/**
 * The entry is read. `epoch` is that of the log behind it; without it, the same as in front of it.
 */
export function done(run: ReadingRun, entry: PlacedEntry, epoch?: number): void {
  run.state.reading = notReading;
  pass(run, entry.sequence, epoch);
}

export function pass(run: ReadingRun, sequence: number, epoch?: number): void {
  const { state, facts, effects } = run;
  passEntry(state.place, sequence, epoch);
  settlePlace(state.place, facts.epoch);
  const settled = state.endings.length === 0
    ? state.endings
    : settleEndings(state.endings, sequence, (ending) => lastOf(run, ending));
  const isNews = settled !== state.endings;
  state.endings = settled;
  effects.push(isNews ? passedLandmark : passed);
}

/** The highest counter that was delivered of a membership that ends here. */
export function lastOf(
  { state, facts }: ReadingRun,
  { agentId, epoch }: Pick<MembershipEnding, "agentId" | "epoch">,
): number {
  const last = Math.max(facts.highest(agentId, epoch - 1), state.passedCounters[agentId] ?? 0);
  delete state.passedCounters[agentId];
  return last;
}

/**
 * Whether an entry comes after all that were processed. The relay is to blame for one that does
 * not.
 */
export function rises(run: ReadingRun, sequence: number): boolean {
  if (isAhead(run.state.place, sequence)) return true;
  const text = `The relay delivered entry ${sequence} of the log after a later one`;
  report(run, "relay_lied", text, "the order of the log");
  return false;
}

/**
 * The log goes on where we have been: the relay made up the place that we are at, or repeats
 * itself. It is asked.
 */
export function backwards(run: ReadingRun): void {
  const { state, facts } = run;
  state.reading = notReading;
  if (takeFetch(state.budget, facts.nowMs)) find(run, { is: "fetch", afterMs: 0 });
}

/** Without a fetch when the budget is used up: for messages, which are worth no more. */
export function mayFetchFor(run: ReadingRun, { sequence }: PlacedEntry): boolean {
  const { state, facts } = run;
  if (wasFetchedFor(run, { sequence }) || !takeFetch(state.budget, facts.nowMs)) return false;
  state.fetchedFor = sequence;
  state.reading = notReading;
  find(run, { is: "fetch", afterMs: 0 });
  return true;
}

/** A commit waits for its fetch. */
export function fetchFor(run: ReadingRun, { sequence }: PlacedEntry): void {
  run.state.fetchedFor = sequence;
  fetchAgain(run);
}

/**
 * Nobody could tell whether a commit of ours, or of the log, is why: the entry comes again, and
 * this was no first time.
 */
export function fetchAgain(run: ReadingRun): void {
  const { state, facts } = run;
  state.reading = notReading;
  find(run, { is: "fetch", afterMs: reserveFetch(state.budget, facts.nowMs) });
}

export function wasFetchedFor(
  { state: { fetchedFor } }: ReadingRun,
  { sequence }: PlacedEntry,
): boolean {
  return fetchedFor !== undefined && sequence <= fetchedFor;
}

/**
 * In a log that was set back, what we have read and what was put back comes again; anywhere else it
 * is a lie.
 */
export function over(run: ReadingRun, entry: PlacedEntry, what: string): void {
  if (entry.sequence <= run.state.againUntil) return done(run, entry);
  lied(run, entry, `${what} of an epoch that was over there`);
}

/** The entry is not looked at any further. */
export function lied(run: ReadingRun, entry: PlacedEntry, what: string, epoch?: number): void {
  reportLie(run, entry, what);
  done(run, entry, epoch);
}

export function reportLie(run: ReadingRun, { sequence }: PlacedEntry, what: string): void {
  report(run, "relay_lied", `The relay delivered ${what}, at entry ${sequence} of the log`, what);
}

/**
 * Our group cannot follow the log. If the log holds another commit than the one that it gave us,
 * that is a fork and no accident.
 */
export function outOfStep(run: ReadingRun, reason: string, isNamed?: boolean): void {
  const { state, effects } = run;
  const finding: ReadingFinding = {
    is: "out_of_step",
    reason,
    ...(isNamed !== undefined && { isNamed }),
  };
  const { last } = state;
  state.reading = notReading;
  if (last === undefined) return find(run, finding);
  const job = numberOf(run);
  state.reading = { at: "explaining_fork", job, last, finding };
  effects.push({ type: "find", job, epoch: last.epoch });
}

export function ask(run: ReadingRun, question: LogQuestion, epoch: number): void {
  const job = numberOf(run);
  run.state.reading = { at: "asking", job, question };
  run.effects.push({ type: "find", job, epoch });
}

export function report(
  { effects }: ReadingRun,
  kind: ReportKind,
  text: string,
  about?: string | AgentId,
): void {
  effects.push({ type: "report", kind, text, ...(about !== undefined && { about }) });
}

export function find({ effects }: ReadingRun, finding: ReadingFinding): void {
  effects.push({ type: "finding", finding });
}
