/**
 * Changes of the place to another group, and away from ours: each is one write. Entering takes the
 * permit of the connection.
 */
import type { AgentId } from "../../../proto/mod.ts";
import type { Permit } from "../connection/permit.ts";
import { tellNamed } from "./exclusion.ts";
import { backOf, badOf, find, type RecoveryRun, report } from "./recovery_run.ts";
import type { FoundCommit, MadeFounding, ReadableWelcome, WayBack } from "./recovery_state.ts";
import { beginBack, cameIn, newBack, type WayBackStart } from "./way_back.ts";

/**
 * Whether a founding of ours that the relay says is in the log may be entered. A group that went on
 * since then may have lost members and owners that the founding still has: then the relay's word is
 * not enough, and a member must have signed that it left for it.
 */
export function mayEnter({ state, facts }: RecoveryRun, { base }: MadeFounding): boolean {
  return !state.isHalted && (base === facts.base || state.isLeftFor);
}

export function enterOwn(
  run: RecoveryRun,
  own: MadeFounding,
  commit: FoundCommit,
  _permit: Permit,
): void {
  const isLate = own.base !== run.facts.base;
  tellNamed(run, (agentId) => !own.without.includes(agentId), own);
  enterGeneration(run, commit);
  find(run, { type: "generation", own: commit, isLate });
}

export function enterFollowed(run: RecoveryRun, out: readonly AgentId[], _permit: Permit): void {
  tellNamed(run, (agentId) => !out.includes(agentId));
  enterGeneration(run, undefined);
  find(run, { type: "generation", own: undefined, isLate: false });
}

function enterGeneration(run: RecoveryRun, own: FoundCommit | undefined): void {
  const { state, write } = run;
  write.push({ type: "generation", own });
  report(run, { kind: "recovered", bad: badOf(state.place) });
  state.returnedMs = undefined;
  state.made = [];
  state.place = { at: "in_step" };
  forgetGroup(run);
}

/** Questions and jobs about the group before are void. */
function forgetGroup({ state }: RecoveryRun): void {
  state.settling = state.opening = undefined;
  state.isLeftFor = state.isRemoved = false;
}

export function enterMembership(
  run: RecoveryRun,
  { own, generation, members, welcome }: ReadableWelcome & { readonly welcome: number },
): void {
  const { state, write, facts: { nowMs } } = run;
  tellNamed(run, (agentId) => members.includes(agentId));
  const isReturn = badOf(state.place) !== undefined;
  write.push({ type: "membership", welcome });
  if (isReturn) write.push({ type: "stopped", bad: undefined }, { type: "returned", atMs: nowMs });
  // The relay may take those of the next generation yet.
  for (const { hash } of state.made.filter((made) => made.generation <= generation)) {
    write.push({ type: "no_founding", hash });
  }
  state.made = state.made.filter((made) => made.generation > generation);
  if (isReturn) state.returnedMs = nowMs;
  state.isProven = false;
  cameIn(run, own);
  state.place = { at: "in_step" };
  forgetGroup(run);
  report(run, { kind: "rejoined" });
  find(run, { type: "membership" });
}

/** Our group is of no use. `isAnew`: whatever ran before, this is another way. */
export function goOutside(run: RecoveryRun, beginning: WayBackStart, isAnew = false): void {
  run.state.isRemoved = false;
  const { state } = run;
  const { place } = state;
  const before = isAnew ? undefined : backOf(place);
  if (badOf(place) !== undefined) run.write.push({ type: "stopped", bad: undefined });
  if (place.at === "apart") run.write.push({ type: "foreign", foreign: undefined });
  // One that runs goes on, and is not taken back any more.
  const back: WayBack = before === undefined
    ? newBack(run, beginning)
    : { ...before, by: "commits" };
  state.place = { at: "outside", back };
  find(run, { type: "outside", hears: back.by !== "commits" });
  if (before === undefined) beginBack(run);
}
