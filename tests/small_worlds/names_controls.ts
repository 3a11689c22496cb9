/**
 * The real step of the names with one rule taken out, as it was missing once or in a table: the
 * worlds must find each of them.
 */
import {
  type NamesEvent,
  type NamesFacts,
  type NamesState,
  type NamesStep,
  stepNames,
} from "../../sdk/channel/testing/names.ts";

type Names = NamesState["names"];
type NameState = NonNullable<Names[keyof Names]>;
type Turn = NonNullable<NameState["turn"]>;

/**
 * Turns, and jobs of leftovers, that a control has set aside: the machine does not know them
 * meanwhile.
 */
interface WithAside extends NamesState {
  aside?: readonly { readonly name: keyof Names; readonly turn: Turn }[];
  unwaited?: readonly { readonly channelId: string; readonly job: number }[];
}

function all({ names }: NamesState): { readonly name: keyof Names; readonly at: NameState }[] {
  // cast: its keys are names
  return (Object.keys(names) as (keyof Names)[]).flatMap((name) => {
    const at = names[name];
    return at === undefined ? [] : [{ name, at }];
  });
}

function numberOf(turn: Turn): number | undefined {
  return "call" in turn ? turn.call : "job" in turn ? turn.job : undefined;
}

function endOf(event: NamesEvent): number | undefined {
  return "call" in event ? event.call : "job" in event ? event.job : undefined;
}

function turnOf(
  state: NamesState,
  event: NamesEvent,
): { readonly at: NameState; readonly turn: Turn } | undefined {
  for (const { at } of all(state)) {
    if (at.turn !== undefined && numberOf(at.turn) === endOf(event)) return { at, turn: at.turn };
  }
  return undefined;
}

/** A call does not wait while the relay is asked about its name. */
export function asksWithoutTurn(state: WithAside, event: NamesEvent, facts: NamesFacts): NamesStep {
  const called = event.type === "called" ? state.names[event.name] : undefined;
  if (
    event.type === "called" && (called?.turn?.at === "asking" || called?.turn?.at === "creating")
  ) {
    state.aside = [...state.aside ?? [], { name: event.name, turn: called.turn }];
    called.turn = undefined;
    return stepNames(state, event, facts);
  }
  const found = state.aside?.find(({ turn }) => numberOf(turn) === endOf(event));
  const at = found && state.names[found.name];
  if (found === undefined || at === undefined) return stepNames(state, event, facts);
  const { turn } = at;
  state.aside = (state.aside ?? []).filter((each) => each !== found);
  at.turn = found.turn;
  const step = stepNames(state, event, facts);
  if (turn === undefined) return step;
  if (at.turn !== undefined) {
    state.aside = [...state.aside ?? [], { name: found.name, turn: at.turn }];
  }
  at.turn = turn;
  return step;
}

/** A new membership does not wait for an erasure. */
export function entersBesideErasure(
  state: NamesState,
  event: NamesEvent,
  facts: NamesFacts,
): NamesStep {
  const { at, turn } = turnOf(state, event) ?? {};
  if (at?.slot.at === "erasing" && turn?.at === "opening_welcome" && event.type === "done") {
    at.slot = { at: "free" };
    at.turn = { ...turn, former: undefined };
  }
  return stepNames(state, event, facts);
}

/**
 * The slot is not looked at again when the relay has answered about it, or a Welcome has opened.
 */
export function looksOnce(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const { at, turn } = turnOf(state, event) ?? {};
  if (at !== undefined && "leaf" in at.slot && at.slot.at !== "erasing") {
    const { leaf } = at.slot;
    if (turn?.at === "asking") at.turn = { ...turn, leaf };
    if (turn?.at === "opening_welcome") at.turn = { ...turn, former: leaf };
  }
  return stepNames(state, event, facts);
}

/** A machine that comes back while it ends is not looked at again. */
export function retiresBlindly(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const { at, turn } = turnOf(state, event) ?? {};
  if (at !== undefined && "leaf" in at.slot && turn?.at === "retiring") {
    at.turn = { ...turn, former: at.slot.leaf };
  }
  return stepNames(state, event, facts);
}

/** A machine that works is taken for one that cannot go on. */
export function runningIsFree(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  return stepNames(state, event, { ...facts, isStuck: () => true });
}

export function looksOnceAndRunningIsFree(
  state: NamesState,
  event: NamesEvent,
  facts: NamesFacts,
): NamesStep {
  return looksOnce(state, event, { ...facts, isStuck: () => true });
}

/** A channel that the pass hides is taken for one that is over. */
export function hiddenIsOver(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  return stepNames(state, event, { ...facts, isHidden: () => false });
}

/** closeChannel erases the channel that has the name when its answer comes. */
export function closesByName(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  if (event.type === "answered" && event.answer.of === "CloseChannel") {
    state.closing = state.closing.map((each) => {
      const slot = state.names[each.name]?.slot;
      return each.call === event.call && slot !== undefined && "channelId" in slot
        ? { ...each, channelId: slot.channelId }
        : each;
    });
  }
  return stepNames(state, event, facts);
}

/** An erasure that has failed may be opened. */
export function failedRests(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const step = stepNames(state, event, facts);
  for (const { at } of all(state)) {
    const { slot } = at;
    if (slot.at !== "erasing" || slot.job !== undefined) continue;
    const { channelId, membership, leaf } = slot;
    at.slot = { at: "resting", channelId, membership, leaf };
  }
  return step;
}

/** Calls behind an erasure are not told that it has failed. */
export function failureTellsFew(
  state: NamesState,
  event: NamesEvent,
  facts: NamesFacts,
): NamesStep {
  const behind = all(state).flatMap(({ at }) =>
    at.slot.at === "erasing" ? at.waiting.map(({ operation }) => operation) : []
  );
  const step = stepNames(state, event, facts);
  if (event.type !== "failed") return step;
  return {
    ...step,
    effects: step.effects.filter((each) =>
      each.type !== "settle" || !behind.includes(each.operation)
    ),
  };
}

/** A program opens a membership that another one is leaving. */
export function opensBesideLeave(
  state: NamesState,
  event: NamesEvent,
  facts: NamesFacts,
): NamesStep {
  const called = event.type === "called" && event.by.type === "open"
    ? state.names[event.name]
    : undefined;
  if (called?.turn?.at === "leaving" || called?.turn?.at === "recalling") called.turn = undefined;
  return stepNames(state, event, facts);
}

/** A machine that is over takes its leaves with it. */
export function leavesEndWithMachine(
  state: NamesState,
  event: NamesEvent,
  facts: NamesFacts,
): NamesStep {
  return stepNames(state, event.type === "over" ? { ...event, leaving: [] } : event, facts);
}

/** The answer of the relay to a nonce is believed. */
export function believesNonces(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const isCreated = event.type === "answered" && event.answer.of === "CreateChannel";
  return stepNames(
    state,
    isCreated ? { ...event, answer: { ...event.answer, isRepeated: false } } : event,
    facts,
  );
}

/**
 * The nonce goes in a write of its own, behind the membership's; the process may end between them.
 */
export function keepsNonce(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const nonces = new Map(all(state).map(({ name, at }) => [name, at.nonce]));
  const step = believesNonces(state, event, facts);
  const write = step.write.map((each) => {
    if (each.type !== "membership" || !each.isCreated) return each;
    const at = state.names[each.name];
    if (at !== undefined) at.nonce = nonces.get(each.name);
    return { ...each, isCreated: false };
  });
  return { ...step, write };
}

/** A channel of another name is not looked for. */
export function entersTwice(state: NamesState, event: NamesEvent, facts: NamesFacts): NamesStep {
  const own = all(state).find(({ at }) =>
    at.turn !== undefined && numberOf(at.turn) === endOf(event)
  );
  if (own === undefined) return stepNames(state, event, facts);
  const others = all(state).filter(({ name }) => name !== own.name);
  for (const { name } of others) delete state.names[name];
  const step = stepNames(state, event, facts);
  for (const { name, at } of others) state.names[name] = at;
  return step;
}

/** Calls do not wait for erasures that an earlier process began. */
export function beginsBesideLeftovers(
  state: WithAside,
  event: NamesEvent,
  facts: NamesFacts,
): NamesStep {
  const { unwaited = [] } = state;
  const own = unwaited.find(({ job }) => job === endOf(event));
  if (own !== undefined) {
    state.leftovers = state.leftovers.map((each) =>
      each.channelId === own.channelId ? { ...each, job: own.job } : each
    );
  }
  const step = stepNames(state, event, facts);
  const begun = state.leftovers.flatMap(({ channelId, job }) =>
    job === undefined ? [] : [{ channelId, job }]
  );
  state.unwaited = [...unwaited.filter((each) => each !== own), ...begun];
  state.leftovers = state.leftovers.map((each) => ({ ...each, job: undefined }));
  return step;
}
