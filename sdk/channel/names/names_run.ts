/** One step of the names under way, and the few things that all of its parts do. */
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";
import type {
  Job,
  NamesEffect,
  NamesFacts,
  NamesState,
  NameState,
  NamesWrite,
  Refusal,
  Request,
  Settled,
} from "./names_state.ts";

/** One step under way: the state, what is known beside it, and what has come of it so far. */
export interface Run {
  readonly state: NamesState;
  readonly facts: NamesFacts;
  readonly write: NamesWrite[];
  readonly effects: NamesEffect[];
}

/** A name in a step. */
export interface Named {
  readonly name: ChannelName;
  readonly at: NameState;
}

export function named({ state }: Run, name: ChannelName): Named {
  const at = state.names[name] ??= {
    slot: { at: "free" },
    nonce: undefined,
    turn: undefined,
    waiting: [],
  };
  return { name, at };
}

export function everyName({ state }: Run): Named[] {
  // cast: its keys are names
  return (Object.keys(state.names) as ChannelName[]).flatMap((name) => {
    const at = state.names[name];
    return at === undefined ? [] : [{ name, at }];
  });
}

/** The name that has this membership. */
export function findMembership(run: Run, membership: number): Named | undefined {
  return everyName(run).find(({ at: { slot } }) =>
    "membership" in slot && slot.membership === membership
  );
}

/** Whether another name is about to enter with this KeyPackage. */
export function isKeyHeld(run: Run, name: ChannelName, key: string): boolean {
  return everyName(run).some(({ name: other, at: { turn } }) =>
    other !== name && turn !== undefined && "key" in turn && turn.key === key
  );
}

/**
 * Whether another name has this channel, or is about to: its keys must not come under a second
 * name.
 */
export function isElsewhere(run: Run, name: ChannelName, channelId: ChannelId): boolean {
  return everyName(run).some(({ name: other, at: { slot, turn } }) =>
    other !== name &&
    [slot, turn].some((each) =>
      each !== undefined && "channelId" in each && each.channelId === channelId
    )
  );
}

export function numberOf({ state }: Run): number {
  return ++state.numbers;
}

export function call(run: Run, request: Request): number {
  const number = numberOf(run);
  run.effects.push({ type: "call", call: number, request });
  return number;
}

export function work(run: Run, job: Job): number {
  const number = numberOf(run);
  run.effects.push({ type: "job", job: number, work: job });
  return number;
}

export function settle(run: Run, operation: number, result: Settled): void {
  run.effects.push({ type: "settle", operation, result });
}

/**
 * Whether the disk has refused its write. Then it fails with that, and the name stays as it was.
 */
export function isUnwritten(run: Run, { at }: Named, operation: number): boolean {
  if (!run.facts.isUnwritten(operation)) return false;
  if (at.turn?.by.operation === operation) at.turn = undefined;
  settle(run, operation, { type: "unwritten" });
  return true;
}

export function refuse(run: Run, operation: number, why: Refusal): void {
  settle(run, operation, { type: "refused", why });
}
