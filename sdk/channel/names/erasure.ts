/**
 * Erasing a membership: its machine ends, then a note, the keys, the rest with the note. It is of
 * one membership, and everybody who waits for it is told how it ends. One that fails stays, because
 * its note may be on disk: the next call for its name tries again.
 */
import type { ErasingSlot, ErasureStep, LeftoverErasure, NameSlot } from "./names_state.ts";
import { everyName, type NameInStep, type NamesRun, settle, work } from "./names_run.ts";

/** `waiting`: the operations that end with it. */
export function erase(
  run: NamesRun,
  { at }: NameInStep,
  former: Extract<NameSlot, { at: "open" | "resting" }>,
  { why, waiting = [] }: Pick<ErasingSlot, "why"> & Partial<Pick<ErasingSlot, "waiting">>,
): void {
  const { channelId, membership, leaf } = former;
  const step = former.at === "open" ? "end" : "note";
  const job = work(run, { of: "erase", membership, channelId, step });
  at.slot = { at: "erasing", channelId, membership, leaf, why, step, job, waiting };
}

/** The call ends with the erasure that is under way, or is tried again. */
export function waitForErasure({ at }: NameInStep, erasing: ErasingSlot, operation: number): void {
  at.slot = { ...erasing, waiting: [...erasing.waiting, operation] };
}

export function eraseAgain(run: NamesRun, { at }: NameInStep, erasing: ErasingSlot): void {
  const { membership, channelId, step } = erasing;
  at.slot = { ...erasing, job: work(run, { of: "erase", membership, channelId, step }) };
}

const next: Readonly<Record<ErasureStep, ErasureStep | undefined>> = {
  end: "note",
  note: "keys",
  keys: "rest",
  rest: undefined,
};

/** Returns whether nothing is left of it. */
export function erased(run: NamesRun, named: NameInStep, erasing: ErasingSlot): boolean {
  const step = next[erasing.step];
  if (step !== undefined) {
    eraseAgain(run, named, { ...erasing, step });
    return false;
  }
  named.at.slot = { at: "free" };
  for (const operation of erasing.waiting) settle(run, operation, { type: "done" });
  return true;
}

/** Everybody is told: those that wait for it, the one that wants its place, and those behind. */
export function erasureFailed(
  run: NamesRun,
  { at }: NameInStep,
  erasing: ErasingSlot,
  job: number,
): void {
  at.slot = { ...erasing, job: undefined, waiting: [] };
  const { turn, waiting } = at;
  const inItsPlace = turn?.at === "replacing" ? [turn.by.operation] : [];
  if (turn?.at === "replacing") at.turn = undefined;
  at.waiting = [];
  for (
    const operation of [
      ...erasing.waiting,
      ...inItsPlace,
      ...waiting.map(({ operation }) => operation),
    ]
  ) {
    settle(run, operation, { type: "failed", number: job });
  }
}

/** Continues the erasures that an earlier process began. */
export function eraseLeftovers(run: NamesRun): void {
  run.state.leftovers = run.state.leftovers.map((leftover) => eraseLeftover(run, leftover));
}

function eraseLeftover(run: NamesRun, { channelId, step }: LeftoverErasure): LeftoverErasure {
  return {
    channelId,
    step,
    job: work(run, { of: "erase", membership: undefined, channelId, step }),
  };
}

/** Whether one is under way: nothing is entered or opened meanwhile. */
export function isErasingLeftovers({ state }: NamesRun): boolean {
  return state.leftovers.some(({ job }) => job !== undefined);
}

export function leftoverErased(run: NamesRun, job: number): void {
  run.state.leftovers = run.state.leftovers.flatMap((leftover) => {
    if (leftover.job !== job) return [leftover];
    return leftover.step === "keys" ? [eraseLeftover(run, { ...leftover, step: "rest" })] : [];
  });
}

/** A leftover whose erasure failed stays on disk, and holds up no other work. */
export function leftoverFailed({ state }: NamesRun, job: number): void {
  state.leftovers = state.leftovers.map((leftover) =>
    leftover.job === job ? { ...leftover, job: undefined } : leftover
  );
}

export function findErasing(
  run: NamesRun,
  job: number,
): { readonly named: NameInStep; readonly erasing: ErasingSlot } | undefined {
  for (const named of everyName(run)) {
    const { slot } = named.at;
    if (slot.at === "erasing" && slot.job === job) return { named, erasing: slot };
  }
  return undefined;
}
