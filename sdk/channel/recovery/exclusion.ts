/**
 * Whom a call of `recover()` leaves out beside the blamed agent: those that it names, or those that
 * the blamed agent let in within a day. When these are too many, or come by a door that was struck
 * before, an owner must say who goes: nothing is sent before that.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { badOf, type RecoveryRun } from "./recovery_run.ts";
import type {
  ExclusionChoice,
  MadeFounding,
  RecoveryRefusal,
  UnfollowableCommit,
} from "./recovery_state.ts";

/** Ascending, and without the blamed agent. */
export type ExclusionVerdict = { readonly without: readonly AgentId[] } | {
  readonly refusal: RecoveryRefusal;
};

/** The list that a call names, or that it gets when it names none. */
export function choose(
  run: RecoveryRun,
  choice: ExclusionChoice,
  bad: UnfollowableCommit,
): ExclusionVerdict {
  const { without, keep } = choice;
  if (without !== undefined) return named(run, without, bad);
  if (keep !== undefined) return kept(run, keep, bad);
  const { state, facts } = run;
  // Without lists a call goes with what was begun, so that the same bytes go again.
  if (isCalled(run)) return { without: state.without };
  return { without: begun(run, bad)?.without ?? facts.leftOut.list.toSorted() };
}

/**
 * A founding on its way that nobody waits for any more may be about an earlier stop: its list says
 * nothing about this one.
 */
export function isCalled({ state: { recovering } }: RecoveryRun): boolean {
  return recovering.length > 0;
}

/** Whether a call without lists is refused, because an owner must say who goes. */
export function needsChoice(
  run: RecoveryRun,
  { without, keep }: ExclusionChoice,
  bad: UnfollowableCommit,
): boolean {
  const isOpen = without === undefined && keep === undefined && !isCalled(run);
  return isOpen && begun(run, bad) === undefined && run.facts.leftOut.needsChoice;
}

/**
 * The latest founding of ours because of this commit that may be sent again: with this list, if one
 * is given.
 */
export function begun(
  { state, facts }: RecoveryRun,
  bad: UnfollowableCommit,
  without?: readonly AgentId[],
): MadeFounding | undefined {
  return state.made.findLast((made) =>
    isBecauseOf(made, bad, facts.base) && !made.isRefused &&
    (without === undefined || isSame(made.without, without))
  );
}

/** A founding with another list may be in the log. */
export function hasSentAnother({ state, facts }: RecoveryRun, bad: UnfollowableCommit): boolean {
  return state.made.some((made) =>
    isBecauseOf(made, bad, facts.base) && made.isSent && !isSame(made.without, state.without)
  );
}

function isBecauseOf(
  { badCommit, base }: MadeFounding,
  bad: UnfollowableCommit,
  present: string,
): boolean {
  return badCommit === bad.hash && base === present;
}

export function isSame(one: readonly AgentId[], other: readonly AgentId[]): boolean {
  return one.join() === other.join();
}

function named(
  { facts }: RecoveryRun,
  without: readonly AgentId[],
  { blamed }: UnfollowableCommit,
): ExclusionVerdict {
  const { self, members } = facts;
  if (without.includes(self.agentId)) return invalid("names_self", self.agentId);
  const stranger = without.find((agentId) => !members.includes(agentId));
  if (stranger !== undefined) return invalid("names_stranger", stranger);
  return { without: without.filter((agentId) => agentId !== blamed).toSorted() };
}

function kept(
  { facts: { leftOut: { list } } }: RecoveryRun,
  keep: readonly AgentId[],
  { blamed }: UnfollowableCommit,
): ExclusionVerdict {
  if (keep.includes(blamed)) return invalid("keeps_blamed", blamed);
  const other = keep.find((agentId) => !list.includes(agentId));
  if (other !== undefined) return invalid("keeps_other", other);
  return { without: list.filter((agentId) => !keep.includes(agentId)).toSorted() };
}

function invalid(text: string, agentId: AgentId): ExclusionVerdict {
  return { refusal: { code: "invalid_request", text, about: [agentId] } };
}

/**
 * Calls that named whom to leave out are told if this agent comes into a group by another list, of
 * ours or of others.
 */
export function tellNamed(
  run: RecoveryRun,
  isIn: (agentId: AgentId) => boolean,
  own?: MadeFounding,
): void {
  if (own === undefined) tellCalls(run, "begun_by_others", isIn);
  else if (!isSame(own.without, run.state.without)) tellCalls(run, "begun_before", isIn);
}

/** The stop is gone, and nobody was left out. */
export function tellSetBack(run: RecoveryRun): void {
  tellCalls(run, "set_back", (agentId) => run.facts.members.includes(agentId));
}

function tellCalls(
  { state, effects }: RecoveryRun,
  text: "begun_by_others" | "begun_before" | "set_back",
  isIn: (agentId: AgentId) => boolean,
): void {
  const { without } = state;
  state.recovering = state.recovering.filter(({ operation, isNamed, blamed }) => {
    const about = [...without, ...blamed].filter(isIn);
    const isToBeTold = isNamed && (about.length > 0 || text === "begun_before");
    if (isToBeTold) {
      effects.push({ type: "settle", operation, refusal: { code: "epoch_conflict", text, about } });
    }
    return !isToBeTold;
  });
}

/** Whether an owner that is stopped may call `recover()` at all; `undefined` when it may. */
export function standing(
  { state: { place }, facts: { self } }: RecoveryRun,
): RecoveryRefusal | undefined {
  const bad = badOf(place);
  if (place.at === "apart" && bad === undefined) return { code: "epoch_conflict", text: "apart" };
  if (bad === undefined) return { code: "not_allowed", text: "not_stopped" };
  // That a generation is there which we refuse may be a lie of the relay: then it takes ours.
  return self.owner ? undefined : { code: "not_allowed", text: "not_offered" };
}
