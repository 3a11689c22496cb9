/** One step of the names under way, and the few things that all of its parts do. */
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";
import type {
  NameCallOutcome,
  NameJob,
  NameRefusal,
  NameRequest,
  NamesEffect,
  NamesFacts,
  NamesState,
  NameState,
  NamesWrite,
} from "./names_state.ts";

/** One step under way: the state, what is known beside it, and what has come of it so far. */
export interface NamesRun {
  readonly state: NamesState;
  readonly facts: NamesFacts;
  readonly write: NamesWrite[];
  readonly effects: NamesEffect[];
}

/** A name in a step. */
export interface NameInStep {
  readonly name: ChannelName;
  readonly at: NameState;
}

export function named({ state }: NamesRun, name: ChannelName): NameInStep {
  const at = state.names[name] ??= {
    slot: { at: "free" },
    nonce: undefined,
    turn: undefined,
    waiting: [],
  };
  return { name, at };
}

export function everyName({ state }: NamesRun): NameInStep[] {
  // cast: its keys are names
  return (Object.keys(state.names) as ChannelName[]).flatMap((name) => {
    const at = state.names[name];
    return at === undefined ? [] : [{ name, at }];
  });
}

/** The name that has this membership. */
export function findMembership(run: NamesRun, membership: number): NameInStep | undefined {
  return everyName(run).find(({ at: { slot } }) =>
    "membership" in slot && slot.membership === membership
  );
}

/** Whether another name is about to enter with this KeyPackage. */
export function isKeyHeld(run: NamesRun, name: ChannelName, key: string): boolean {
  return everyName(run).some(({ name: other, at: { turn } }) =>
    other !== name && turn !== undefined && "key" in turn && turn.key === key
  );
}

/**
 * Whether another name has this channel, or is about to: its keys must not come under a second
 * name.
 */
export function isElsewhere(run: NamesRun, name: ChannelName, channelId: ChannelId): boolean {
  return everyName(run).some(({ name: other, at: { slot, turn } }) =>
    other !== name &&
    [slot, turn].some((each) =>
      each !== undefined && "channelId" in each && each.channelId === channelId
    )
  );
}

export function numberOf({ state }: NamesRun): number {
  return ++state.numbers;
}

export function call(run: NamesRun, request: NameRequest): number {
  const number = numberOf(run);
  run.effects.push({ type: "call", call: number, request });
  return number;
}

export function work(run: NamesRun, job: NameJob): number {
  const number = numberOf(run);
  run.effects.push({ type: "job", job: number, work: job });
  return number;
}

export function settle(run: NamesRun, operation: number, result: NameCallOutcome): void {
  run.effects.push({ type: "settle", operation, result });
}

/**
 * Whether the disk has refused its write. Then it fails with that, and the name stays as it was.
 */
export function isUnwritten(run: NamesRun, { at }: NameInStep, operation: number): boolean {
  if (!run.facts.isUnwritten(operation)) return false;
  if (at.turn?.by.operation === operation) at.turn = undefined;
  settle(run, operation, { type: "unwritten" });
  return true;
}

export function refuse(run: NamesRun, operation: number, why: NameRefusal): void {
  settle(run, operation, { type: "refused", why });
}
