/**
 * Which process runs which call: a pure machine. Callers ask for tools of a program; each caller
 * has a process of it for itself, so that nothing of one reaches another. A call is answered once,
 * and one that may have run before is not run again, unless its tool bears it.
 */

export interface DeskLimits {
  /** Calls of one caller at once. */
  readonly maxOfOne: number;
  readonly maxCalls: number;
  readonly maxPrograms: number;
}

/** A tool, as far as the desk asks. */
export interface ToolFacts {
  /** The version of its description and arguments: a tool with another version is another tool. */
  readonly version: string;
  /** The tool says that running twice is as running once. */
  readonly isRepeatable: boolean;
}

/** One request of a caller. */
export interface AskedCall {
  /** The caller, and the id of its request. */
  readonly id: string;
  readonly caller: string;
  /** The id by which the caller can cancel it. */
  readonly conversation: string | undefined;
  /** Above 1, the request has come before. */
  readonly attempt: number;
  /** Undefined asks for the list of tools. */
  readonly tool: string | undefined;
  /** The version that the caller knows. */
  readonly version: string | undefined;
}

export type CallRefusal =
  | "overloaded"
  | "no_such_tool"
  | "tool_changed"
  | "may_have_run"
  | "program_ended"
  | "cancelled";

export type DeskAnswer =
  /** The program's response; `bytes` is its size. */
  | { readonly kind: "said"; readonly said: string; readonly bytes: number }
  /** The list of tools, of this process. */
  | { readonly kind: "tools"; readonly program: number }
  | { readonly kind: "refused"; readonly refusal: CallRefusal };

export type DeskEvent =
  | { readonly type: "asked"; readonly call: AskedCall }
  /** The process has started, or its tools have changed. */
  | {
    readonly type: "ready";
    readonly program: number;
    readonly tools: ReadonlyMap<string, ToolFacts>;
  }
  /** The process has ended, or could not be started. */
  | { readonly type: "ended"; readonly program: number }
  | { readonly type: "said"; readonly id: string; readonly said: string; readonly bytes: number }
  /** Nobody waits for the answer: the time is over, or the host has gone and asks again. */
  | { readonly type: "left"; readonly id: string }
  /** By its caller. */
  | { readonly type: "cancelled"; readonly caller: string; readonly conversation: string }
  | { readonly type: "rang" };

export type DeskEffect =
  | { readonly type: "start"; readonly program: number; readonly caller: string }
  | { readonly type: "call"; readonly program: number; readonly id: string }
  /** The process is told that nobody wants the answer. */
  | { readonly type: "cancel"; readonly program: number; readonly id: string }
  | { readonly type: "answer"; readonly id: string; readonly answer: DeskAnswer }
  | { readonly type: "end"; readonly program: number };

/** A process of the program, for one caller. */
interface CallerProcess {
  readonly caller: string;
  /** Undefined while it starts. */
  readonly tools: ReadonlyMap<string, ToolFacts> | undefined;
  /** Since it was started, or its last call ended. */
  readonly restsSinceMs: number;
}

interface Call extends AskedCall {
  readonly program: number;
  readonly isRunning: boolean;
  /** Nobody waits since then. */
  readonly leftAtMs: number | undefined;
}

export interface DeskState {
  readonly programs: ReadonlyMap<number, CallerProcess>;
  readonly calls: ReadonlyMap<string, Call>;
  /** The last answers: a host that goes down after one asks again. */
  readonly kept: ReadonlyMap<string, DeskAnswer>;
  readonly nextProgram: number;
}

export interface DeskStep {
  readonly desk: DeskState;
  readonly effects: readonly DeskEffect[];
}

/** To start, and to say which tools it has. */
const startMs = 30_000;
/** Until a call that nobody waits for is cancelled: a host that is started again asks again. */
const patienceMs = 30_000;
/** A process without calls. */
const restMs = 10 * 60_000;
const [maxKept, maxKeptBytes] = [16, 256 * 1024];

export const emptyDesk: DeskState = {
  programs: new Map(),
  calls: new Map(),
  kept: new Map(),
  nextProgram: 1,
};

/** When the timer rings, if it is to ring. */
export function timerOf({ programs, calls }: DeskState): number | undefined {
  const busy = new Set(Array.from(calls.values(), ({ program }) => program));
  const times = [
    ...Array.from(programs).flatMap(([number, { tools, restsSinceMs }]) => {
      if (tools === undefined) return [restsSinceMs + startMs];
      return busy.has(number) ? [] : [restsSinceMs + restMs];
    }),
    ...Array.from(calls.values()).flatMap(({ leftAtMs }) =>
      leftAtMs === undefined ? [] : [leftAtMs + patienceMs]
    ),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

export function step(
  desk: DeskState,
  event: DeskEvent,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: DeskLimits },
): DeskStep {
  switch (event.type) {
    case "asked":
      return ask(desk, event.call, { nowMs, limits });
    case "ready":
      return ready(desk, event, nowMs);
    case "ended":
      return ended(desk, event.program);
    case "said": {
      const { id, said, bytes } = event;
      const call = desk.calls.get(id);
      if (call?.isRunning !== true) return { desk, effects: [] };
      return answer(desk, call, { kind: "said", said, bytes }, nowMs);
    }
    case "left": {
      const call = desk.calls.get(event.id);
      if (call === undefined) return { desk, effects: [] };
      return { desk: withCall(desk, { ...call, leftAtMs: nowMs }), effects: [] };
    }
    case "cancelled": {
      const { caller, conversation } = event;
      const mine = Array.from(desk.calls.values()).filter((call) =>
        call.caller === caller && call.conversation === conversation
      );
      return inTurn(desk, mine, (before, call) => giveUp(before, call, nowMs));
    }
    case "rang":
      return rang(desk, nowMs);
  }
}

function ask(
  desk: DeskState,
  call: AskedCall,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: DeskLimits },
): DeskStep {
  const { id, caller } = call;
  const kept = desk.kept.get(id);
  if (kept !== undefined) return { desk, effects: [{ type: "answer", id, answer: kept }] };
  const known = desk.calls.get(id);
  // The host asks again for what is under way.
  if (known !== undefined) {
    return { desk: withCall(desk, { ...known, leftAtMs: undefined }), effects: [] };
  }
  const ofOne = Array.from(desk.calls.values()).filter((each) => each.caller === caller).length;
  if (ofOne >= limits.maxOfOne || desk.calls.size >= limits.maxCalls) {
    return { desk, effects: [refusing(id, "overloaded")] };
  }
  const [own] = Array.from(desk.programs).find(([, each]) => each.caller === caller) ?? [];
  const queued = { ...call, isRunning: false, leftAtMs: undefined };
  if (own !== undefined) return decide(desk, { ...queued, program: own }, nowMs);
  const room = makeRoom(desk, limits.maxPrograms);
  if (room === undefined) return { desk, effects: [refusing(id, "overloaded")] };
  const program = desk.nextProgram;
  const started: DeskState = {
    ...room.desk,
    programs: new Map([
      ...room.desk.programs,
      [program, { caller, tools: undefined, restsSinceMs: nowMs }],
    ]),
    nextProgram: program + 1,
  };
  return {
    desk: withCall(started, { ...queued, program }),
    effects: [...room.effects, { type: "start", program, caller }],
  };
}

/** Ends the process that has rested longest, if that is needed; undefined when all are busy. */
function makeRoom(desk: DeskState, maxPrograms: number): DeskStep | undefined {
  if (desk.programs.size < maxPrograms) return { desk, effects: [] };
  const busy = new Set(Array.from(desk.calls.values(), ({ program }) => program));
  const [longest] = Array.from(desk.programs)
    .filter(([number]) => !busy.has(number))
    .toSorted(([, one], [, other]) => one.restsSinceMs - other.restsSinceMs);
  return longest && endProgram(desk, longest[0]);
}

/** Runs the call, or says why not. It waits while its process starts. */
function decide(desk: DeskState, call: Call, nowMs: number): DeskStep {
  const { id, program, tool, attempt, version } = call;
  const tools = desk.programs.get(program)?.tools;
  if (tools === undefined) return { desk: withCall(desk, call), effects: [] };
  if (tool === undefined) return answer(desk, call, { kind: "tools", program }, nowMs);
  const facts = tools.get(tool);
  const refusal = facts === undefined
    ? "no_such_tool"
    : version !== undefined && version !== facts.version
    ? "tool_changed"
    : attempt > 1 && !facts.isRepeatable
    ? "may_have_run"
    : undefined;
  if (refusal !== undefined) return answer(desk, call, { kind: "refused", refusal }, nowMs);
  return {
    desk: withCall(desk, { ...call, isRunning: true }),
    effects: [{ type: "call", program, id }],
  };
}

function ready(
  desk: DeskState,
  { program: number, tools }: Extract<DeskEvent, { type: "ready" }>,
  nowMs: number,
): DeskStep {
  const program = desk.programs.get(number);
  if (program === undefined) return { desk, effects: [] };
  const programs = new Map([...desk.programs, [number, { ...program, tools }]]);
  const queued = callsOf(desk, number).filter(({ isRunning }) => !isRunning);
  return inTurn({ ...desk, programs }, queued, (before, call) => decide(before, call, nowMs));
}

function ended(desk: DeskState, number: number): DeskStep {
  const calls = callsOf(desk, number);
  const programs = without(desk.programs, number);
  return inTurn({ ...desk, programs }, calls, (before, call) => {
    // A call that ran may have done something: the answer stays the same when it is asked again.
    const refused = { kind: "refused", refusal: "program_ended" } as const;
    return answer(before, call, refused, 0);
  });
}

function rang(desk: DeskState, nowMs: number): DeskStep {
  const isLate = ({ tools, restsSinceMs }: CallerProcess): boolean =>
    tools === undefined && restsSinceMs + startMs <= nowMs;
  const late = Array.from(desk.programs).filter(([, each]) => isLate(each));
  const afterLate = inTurn(desk, late, (before, [number]) => {
    const { desk: after, effects } = ended(before, number);
    return { desk: after, effects: [{ type: "end", program: number }, ...effects] };
  });
  const left = Array.from(afterLate.desk.calls.values()).filter(({ leftAtMs }) =>
    leftAtMs !== undefined && leftAtMs + patienceMs <= nowMs
  );
  const afterLeft = inTurn(afterLate.desk, left, (before, call) => giveUp(before, call, nowMs));
  const rested = Array.from(afterLeft.desk.programs).filter(([number, { tools, restsSinceMs }]) =>
    tools !== undefined && restsSinceMs + restMs <= nowMs &&
    callsOf(afterLeft.desk, number).length === 0
  );
  const last = inTurn(afterLeft.desk, rested, (before, [number]) => endProgram(before, number));
  return {
    desk: last.desk,
    effects: [...afterLate.effects, ...afterLeft.effects, ...last.effects],
  };
}

function giveUp(desk: DeskState, call: Call, nowMs: number): DeskStep {
  const { id, program, isRunning } = call;
  const told = answer(desk, call, { kind: "refused", refusal: "cancelled" }, nowMs);
  const cancel: readonly DeskEffect[] = isRunning ? [{ type: "cancel", program, id }] : [];
  return { desk: told.desk, effects: [...cancel, ...told.effects] };
}

function endProgram(desk: DeskState, number: number): DeskStep {
  return {
    desk: { ...desk, programs: without(desk.programs, number) },
    effects: [{ type: "end", program: number }],
  };
}

/** The end of a call. Nobody is told who has left, and the answer is kept if it may be asked for. */
function answer(desk: DeskState, call: Call, said: DeskAnswer, nowMs: number): DeskStep {
  const { id, program: number, leftAtMs } = call;
  const program = desk.programs.get(number);
  const programs = program === undefined
    ? desk.programs
    : new Map([...desk.programs, [number, { ...program, restsSinceMs: nowMs }]]);
  const isKept = said.kind !== "tools" && (said.kind !== "said" || said.bytes <= maxKeptBytes);
  const kept = isKept ? new Map([...desk.kept, [id, said] as const].slice(-maxKept)) : desk.kept;
  return {
    desk: { ...desk, programs, kept, calls: without(desk.calls, id) },
    effects: leftAtMs === undefined ? [{ type: "answer", id, answer: said }] : [],
  };
}

function refusing(id: string, refusal: CallRefusal): DeskEffect {
  return { type: "answer", id, answer: { kind: "refused", refusal } };
}

function callsOf({ calls }: DeskState, number: number): Call[] {
  return Array.from(calls.values()).filter(({ program }) => program === number);
}

function withCall(desk: DeskState, call: Call): DeskState {
  return { ...desk, calls: new Map([...desk.calls, [call.id, call]]) };
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  return new Map([...map].filter(([each]) => each !== key));
}

function inTurn<T>(
  desk: DeskState,
  all: readonly T[],
  act: (desk: DeskState, each: T) => DeskStep,
): DeskStep {
  return all.reduce<DeskStep>((before, each) => {
    const { desk: after, effects } = act(before.desk, each);
    return { desk: after, effects: [...before.effects, ...effects] };
  }, { desk, effects: [] });
}
