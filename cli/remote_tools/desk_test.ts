// The desk: its limits, its time, and every order of what may happen to two callers.
import { assert, assertEquals } from "@std/assert";
import {
  type AskedCall,
  type CallRefusal,
  type DeskEffect,
  type DeskEvent,
  type DeskLimits,
  type DeskState,
  emptyDesk,
  step,
  timerOf,
} from "./desk.ts";

const limits: DeskLimits = { maxOfOne: 2, maxCalls: 3, maxPrograms: 2 };
const tools = new Map([
  ["deploy", { version: "1", isRepeatable: false }],
  ["look", { version: "1", isRepeatable: true }],
]);

function call(id: string, given: Partial<AskedCall> = {}): AskedCall {
  const about = { caller: id.slice(0, 1), conversation: id, attempt: 1, version: undefined };
  return { id, tool: "deploy", ...about, ...given };
}

/** A desk, and what it has said so far. */
class Desk {
  state = emptyDesk;
  nowMs = 1_000_000;
  readonly #limits: DeskLimits;

  constructor(given: Partial<DeskLimits> = {}) {
    this.#limits = { ...limits, ...given };
  }

  hear(event: DeskEvent): readonly DeskEffect[] {
    const { desk, effects } = step(this.state, event, { nowMs: this.nowMs, limits: this.#limits });
    this.state = desk;
    return effects;
  }

  ask(id: string, given: Partial<AskedCall> = {}): readonly DeskEffect[] {
    return this.hear({ type: "asked", call: call(id, given) });
  }

  ring(): readonly DeskEffect[] {
    this.nowMs = timerOf(this.state) ?? this.nowMs;
    return this.hear({ type: "rang" });
  }
}

function answerOf(id: string, refusal: CallRefusal): DeskEffect {
  return { type: "answer", id, answer: { kind: "refused", refusal } };
}

Deno.test("a call starts a process for its caller, and runs when that is ready", () => {
  const desk = new Desk();
  assertEquals(desk.ask("a1"), [{ type: "start", program: 1, caller: "a" }]);
  assertEquals(desk.ask("a2"), []);
  assertEquals(desk.ask("b1"), [{ type: "start", program: 2, caller: "b" }]);
  assertEquals(desk.hear({ type: "ready", program: 1, tools }), [
    { type: "call", program: 1, id: "a1" },
    { type: "call", program: 1, id: "a2" },
  ]);
  assertEquals(desk.hear({ type: "said", id: "a1", said: "x", bytes: 1 }), [
    { type: "answer", id: "a1", answer: { kind: "said", said: "x", bytes: 1 } },
  ]);
  // A second answer, and one to a call that nobody made.
  assertEquals(desk.hear({ type: "said", id: "a1", said: "y", bytes: 1 }), []);
  assertEquals(desk.hear({ type: "said", id: "zz", said: "y", bytes: 1 }), []);
  assertEquals(desk.ask("a3", { tool: undefined }), [
    { type: "answer", id: "a3", answer: { kind: "tools", program: 1 } },
  ]);
});

Deno.test("what cannot run is refused: by name, version, and when it may have run", () => {
  const desk = new Desk();
  desk.ask("a0", { tool: undefined });
  desk.hear({ type: "ready", program: 1, tools });
  assertEquals(desk.ask("a1", { tool: "rm" }), [answerOf("a1", "no_such_tool")]);
  assertEquals(desk.ask("a2", { version: "0" }), [answerOf("a2", "tool_changed")]);
  assertEquals(desk.ask("a3", { attempt: 2 }), [answerOf("a3", "may_have_run")]);
  assertEquals(desk.ask("a4", { attempt: 2, tool: "look", version: "1" }), [
    { type: "call", program: 1, id: "a4" },
  ]);
});

Deno.test("one caller has its places, all have theirs, and a process that rests makes room", () => {
  const desk = new Desk();
  desk.ask("a1");
  desk.ask("a2");
  assertEquals(desk.ask("a3"), [answerOf("a3", "overloaded")]);
  desk.ask("b1");
  assertEquals(desk.ask("c1"), [answerOf("c1", "overloaded")]);
  desk.hear({ type: "ready", program: 1, tools });
  desk.hear({ type: "said", id: "a1", said: "", bytes: 0 });
  assertEquals(desk.ask("c1"), [answerOf("c1", "overloaded")]);
  desk.hear({ type: "said", id: "a2", said: "", bytes: 0 });
  assertEquals(desk.ask("c1"), [
    { type: "end", program: 1 },
    { type: "start", program: 3, caller: "c" },
  ]);
});

Deno.test("a host that goes down asks again, and gets the same answer; nobody runs twice", () => {
  const desk = new Desk();
  desk.ask("a1");
  desk.hear({ type: "ready", program: 1, tools });
  desk.hear({ type: "left", id: "a1" });
  assertEquals(desk.ask("a1", { attempt: 2 }), []);
  const said: DeskEffect = {
    type: "answer",
    id: "a1",
    answer: { kind: "said", said: "7", bytes: 1 },
  };
  assertEquals(desk.hear({ type: "said", id: "a1", said: "7", bytes: 1 }), [said]);
  assertEquals(desk.ask("a1", { attempt: 3 }), [said]);
  // An answer that is too large to keep is not made again either.
  desk.ask("a2");
  desk.hear({ type: "said", id: "a2", said: "", bytes: 1e6 });
  assertEquals(desk.ask("a2", { attempt: 2 }), [answerOf("a2", "may_have_run")]);
});

Deno.test("a call is cancelled by its caller alone, and after a while when nobody waits", () => {
  const desk = new Desk();
  desk.ask("a1");
  desk.hear({ type: "ready", program: 1, tools });
  assertEquals(desk.hear({ type: "cancelled", caller: "b", conversation: "a1" }), []);
  assertEquals(desk.hear({ type: "cancelled", caller: "a", conversation: "a1" }), [
    { type: "cancel", program: 1, id: "a1" },
    answerOf("a1", "cancelled"),
  ]);
  desk.ask("a2");
  desk.hear({ type: "left", id: "a2" });
  const fromMs = desk.nowMs;
  assertEquals(desk.ring(), [{ type: "cancel", program: 1, id: "a2" }]);
  assertEquals(desk.nowMs - fromMs, 30_000);
});

Deno.test("a process that does not start, ends or rests goes", () => {
  const desk = new Desk();
  desk.ask("a1");
  assertEquals(desk.ring(), [{ type: "end", program: 1 }, answerOf("a1", "program_ended")]);
  assertEquals(desk.nowMs, 1_030_000);
  desk.ask("a2");
  desk.hear({ type: "ready", program: 2, tools });
  assertEquals(desk.hear({ type: "ended", program: 2 }), [answerOf("a2", "program_ended")]);
  assertEquals(desk.hear({ type: "ended", program: 2 }), []);
  assertEquals(desk.hear({ type: "ready", program: 2, tools }), []);
  desk.ask("a3", { tool: undefined });
  desk.hear({ type: "ready", program: 3, tools });
  const fromMs = desk.nowMs;
  assertEquals(desk.ring(), [{ type: "end", program: 3 }]);
  assertEquals([desk.nowMs - fromMs, timerOf(desk.state)], [600_000, undefined]);
});

/** Two callers, a host and a program that may do everything at any time, and this agent's ends. */
interface World {
  readonly desk: DeskState;
  readonly nowMs: number;
  /** Of each call: attempts so far, whether somebody waits, how often it ran. */
  readonly calls: Readonly<Record<string, CallFate>>;
  readonly alive: readonly number[];
  readonly lives: number;
}

interface CallFate {
  readonly attempts: number;
  readonly isWaiting: boolean;
  readonly runs: number;
}

type Rule = (event: DeskEvent) => DeskEvent;

const ids = ["a1", "a2", "b1"];
const tight: DeskLimits = { maxOfOne: 1, maxCalls: 2, maxPrograms: 1 };

/** Throws the promise that is broken. */
function next(world: World, event: DeskEvent, rule: Rule): World {
  const { desk, effects } = step(world.desk, rule(event), { nowMs: world.nowMs, limits: tight });
  const calls = { ...world.calls };
  let alive = [...world.alive];
  if (event.type === "ended") alive = alive.filter((each) => each !== event.program);
  for (const effect of effects) {
    if (effect.type === "start") alive.push(effect.program);
    if (effect.type === "end") alive = alive.filter((each) => each !== effect.program);
    if (effect.type === "call" || effect.type === "cancel") {
      assert(alive.includes(effect.program), "a process that has gone is told nothing");
    }
    if (effect.type === "call") {
      const fate = calls[effect.id];
      assert(fate !== undefined && fate.runs === 0, "nothing runs twice");
      calls[effect.id] = { ...fate, runs: 1 };
    }
    if (effect.type === "answer") {
      const fate = calls[effect.id];
      assert(fate?.isWaiting === true, "only who waits is answered, and once");
      calls[effect.id] = { ...fate, isWaiting: false };
    }
  }
  assert(alive.length <= tight.maxPrograms, "there are no more processes than may be");
  assertEquals([...desk.programs.keys()].sort(), alive.toSorted(), "no process is forgotten");
  for (const [id, { isWaiting }] of Object.entries(calls)) {
    assert(!isWaiting || desk.calls.has(id), "nobody waits for a call that nobody knows");
  }
  assert(
    desk.calls.size === 0 || timerOf(desk) !== undefined || isRunning(desk),
    "nobody is stuck",
  );
  return { ...world, desk, calls, alive };
}

function isRunning({ calls }: DeskState): boolean {
  return [...calls.values()].every(({ isRunning }) => isRunning);
}

function after(world: World, rule: Rule): World[] {
  const { desk, calls, lives } = world;
  const worlds: World[] = [];
  const go = (event: DeskEvent, before = world): void =>
    void worlds.push(next(before, event, rule));
  for (const id of ids) {
    const { attempts = 0, isWaiting = false, runs = 0 } = calls[id] ?? {};
    const isOver = attempts > 0 && !isWaiting && !desk.calls.has(id);
    if (!isWaiting && attempts < 3 && !(isOver && attempts > 1)) {
      const fate = { attempts: attempts + 1, isWaiting: true, runs };
      const asked = call(id, { attempt: attempts + 1 });
      go({ type: "asked", call: asked }, { ...world, calls: { ...calls, [id]: fate } });
    }
    if (isWaiting) {
      const left = { ...world, calls: { ...calls, [id]: { attempts, isWaiting: false, runs } } };
      go({ type: "left", id }, left);
    }
    if (desk.calls.get(id)?.isRunning === true) go({ type: "said", id, said: "", bytes: 1 });
    if (desk.calls.has(id)) go({ type: "cancelled", caller: id.slice(0, 1), conversation: id });
  }
  for (const [program, { tools: known }] of desk.programs) {
    if (known === undefined) go({ type: "ready", program, tools });
    go({ type: "ended", program });
  }
  const atMs = timerOf(desk);
  if (atMs !== undefined) go({ type: "rang" }, { ...world, nowMs: Math.max(world.nowMs, atMs) });
  // This agent is ended and started again: its host asks again for what has no answer.
  if (lives < 2) {
    const waiting = Object.entries(calls).map(([id, fate]) =>
      [id, { ...fate, isWaiting: false }] as const
    );
    worlds.push({
      ...world,
      desk: emptyDesk,
      alive: [],
      lives: lives + 1,
      calls: Object.fromEntries(waiting),
    });
  }
  return worlds;
}

/** Returns how many worlds there are. */
function tryAll(depth: number, rule: Rule): number {
  const seen = new Set<string>();
  let worlds: World[] = [{ desk: emptyDesk, nowMs: 0, calls: {}, alive: [], lives: 1 }];
  for (let round = 0; round < depth; round++) {
    const found: World[] = [];
    for (const world of worlds.flatMap((each) => after(each, rule))) {
      const key = viewOf(world);
      if (seen.has(key)) continue;
      seen.add(key);
      found.push(world);
    }
    worlds = found;
  }
  return seen.size;
}

function viewOf({ desk, nowMs, calls, lives }: World): string {
  const since = (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : nowMs - atMs;
  return JSON.stringify([
    [...desk.programs].map((
      [number, { caller, tools: known, restsSinceMs }],
    ) => [number - desk.nextProgram, caller, known !== undefined, since(restsSinceMs)]),
    [...desk.calls.values()].map((
      { id, isRunning: runs, leftAtMs, program },
    ) => [id, runs, since(leftAtMs), program - desk.nextProgram]),
    [...desk.kept.keys()],
    Object.entries(calls).sort(),
    lives,
  ]);
}

Deno.test("in every order: one answer each, nothing runs twice, no process is left over", () => {
  const count = tryAll(9, (event) => event);
  assert(count > 5000, `${count} worlds`);
});

Deno.test("a desk that believes that each attempt is the first is found out", () => {
  const forgetful: Rule = (event) =>
    event.type === "asked" ? { ...event, call: { ...event.call, attempt: 1 } } : event;
  let why = "";
  try {
    tryAll(9, forgetful);
  } catch (error) {
    why = String(error);
  }
  assert(why.includes("nothing runs twice"), why);
});
