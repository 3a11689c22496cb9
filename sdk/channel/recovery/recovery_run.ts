/** One step of the room under way, and what all of its parts say and ask. */
import { foundingEpoch, generationOf } from "../../../proto/mod.ts";
import type {
  RecoveryChange,
  RecoveryEffect,
  RecoveryFacts,
  RecoveryFinding,
  RecoveryPlace,
  RecoveryReport,
  RecoveryRequest,
  RecoveryState,
  RecoveryWork,
  UnfollowableCommit,
  WayBack,
} from "./recovery_state.ts";

export interface RecoveryRun {
  readonly state: RecoveryState;
  readonly facts: RecoveryFacts;
  readonly write: RecoveryChange[];
  readonly effects: RecoveryEffect[];
}

/**
 * An owner that is stopped again so soon after it was let in was let in by somebody that it does
 * not trust again.
 */
const calmMs = 10 * 60_000;

export function call(run: RecoveryRun, request: RecoveryRequest): number {
  const number = ++run.state.numbers;
  run.effects.push({ type: "call", call: number, request });
  return number;
}

export function job(run: RecoveryRun, work: RecoveryWork): number {
  const number = ++run.state.numbers;
  run.effects.push({ type: "job", job: number, work });
  return number;
}

export function wake(run: RecoveryRun, afterMs: number): number {
  const timer = ++run.state.numbers;
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

export function find(run: RecoveryRun, finding: RecoveryFinding): void {
  run.effects.push({ type: "finding", finding });
}

export function report(run: RecoveryRun, what: RecoveryReport): void {
  run.effects.push({ type: "report", report: what });
}

/** The way back that runs, if one does. */
export function backOf(place: RecoveryPlace): WayBack | undefined {
  return "back" in place ? place.back : undefined;
}

/** Returns the timers that the state waits for. */
export function timersOf({ place, founding }: RecoveryState): readonly (number | undefined)[] {
  const step = backOf(place)?.step;
  return [
    step !== undefined && "timer" in step ? step.timer : undefined,
    step?.at === "halted" ? step.rest?.timer : undefined,
    "timer" in founding ? founding.timer : undefined,
  ];
}

export function badOf(place: RecoveryPlace): UnfollowableCommit | undefined {
  return "bad" in place ? place.bad : undefined;
}

/** The epoch of the log in which the generation after ours begins. */
export function nextFounding({ facts: { epoch } }: RecoveryRun): number {
  return foundingEpoch(generationOf(epoch) + 1);
}

/**
 * Whether this agent owns the channel and is stopped again soon after it was let in. Two members
 * could do that without end, one by commits, the other by Welcomes. So it takes no Welcome any more
 * but an owner's, and may begin anew at once.
 */
export function isAgain(
  { returnedMs }: Pick<RecoveryState, "returnedMs">,
  bad: UnfollowableCommit,
  facts: RecoveryFacts,
): boolean {
  return returnedMs !== undefined && Math.abs(bad.sinceMs - returnedMs) < calmMs &&
    facts.self.owner;
}
