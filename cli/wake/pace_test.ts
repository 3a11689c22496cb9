// The pace of wakes: its table, a flood, and every order of what may happen.
import { assert, assertEquals } from "@std/assert";
import {
  type PaceEvent,
  type PaceLimits,
  type PaceState,
  type PaceStep,
  restingPace,
  step,
  timerOf,
} from "./pace.ts";

const limits: PaceLimits = { minMs: 2000, maxPerHour: 60, repeats: true };
const [minuteMs, hourMs] = [60_000, 3_600_000];
const start = 10 * hourMs;

/** A host and a harness that answer at once; the session asks when it is told to. */
class Model {
  pace: PaceState = restingPace;
  nowMs = start;
  readonly wokenAtMs: number[] = [];
  looks = 0;
  /** When the host began. */
  sinceMs = 0;
  /** The harness cannot be told. */
  isGone = false;
  readonly #limits: PaceLimits;
  #askedAtMs: number | undefined;

  constructor(given: Partial<PaceLimits> = {}) {
    this.#limits = { ...limits, ...given };
  }

  hear(event: PaceEvent): void {
    const { pace, effects } = step(this.pace, event, { nowMs: this.nowMs, limits: this.#limits });
    this.pace = pace;
    for (const { type } of effects) {
      if (type === "tell") {
        this.wokenAtMs.push(this.nowMs);
        this.hear({ type: this.isGone ? "failed" : "told" });
      } else {
        this.looks++;
        const asked = this.#askedAtMs;
        const askedAtMs = new Map(asked === undefined ? [] : [["a", asked]]);
        this.hear({ type: "looked", askedAtMs, sinceMs: this.sinceMs });
      }
    }
  }

  /** Something has come, so long ago. */
  come(agoMs = 0): void {
    this.hear({ type: "came", channel: "a", atMs: this.nowMs - agoMs });
  }

  /** The session asks for messages. */
  ask(): void {
    this.#askedAtMs = this.nowMs;
  }

  /** The next host knows nothing of what was asked. */
  restartHost(): void {
    this.#askedAtMs = undefined;
    this.sinceMs = this.nowMs;
  }

  /** Time passes, and timers ring. */
  pass(ms: number): void {
    const end = this.nowMs + ms;
    for (let at = timerOf(this.pace); at !== undefined && at <= end; at = timerOf(this.pace)) {
      this.nowMs = Math.max(this.nowMs, at);
      this.hear({ type: "rang" });
    }
    this.nowMs = end;
  }

  /** When it woke, since the beginning, in seconds. */
  get seconds(): number[] {
    return this.wokenAtMs.map((at) => (at - start) / 1000);
  }
}

Deno.test("something comes, and the model is woken at once; without anything it never is", () => {
  const model = new Model();
  model.pass(24 * hourMs);
  assertEquals([model.seconds, model.looks], [[], 0]);
  const other = new Model();
  other.come();
  assertEquals(other.seconds, [0]);
});

Deno.test("a wake that no session comes after is repeated after 1, 2, 4 … minutes, then hourly", () => {
  const model = new Model();
  model.come();
  model.pass(5 * hourMs);
  const minutes = model.seconds.map((seconds) => seconds / 60);
  assertEquals(minutes, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
});

Deno.test("one that is not repeated waits until a session has come, and then wakes again", () => {
  const model = new Model({ repeats: false });
  model.come();
  model.pass(hourMs);
  model.come();
  model.pass(3 * hourMs);
  assertEquals(model.seconds, [0]);
  model.ask();
  model.pass(1000);
  model.come();
  assertEquals(model.seconds, [0, 4 * 3600 + 1]);
});

Deno.test("one that is not repeated is, until its harness was told", () => {
  const model = new Model({ repeats: false });
  model.isGone = true;
  model.come();
  model.pass(4 * minuteMs);
  assertEquals(model.seconds, [0, 60, 180]);
  model.isGone = false;
  model.pass(5 * hourMs);
  assertEquals(model.seconds, [0, 60, 180, 420]);
});

Deno.test("a session that asks ends the wait: the next message wakes at once", () => {
  const model = new Model();
  model.come();
  model.pass(10_000);
  model.ask();
  model.pass(10_000);
  model.come();
  model.pass(2000);
  model.ask();
  model.pass(hourMs);
  assertEquals(model.seconds, [0, 20]);
});

Deno.test("a host that ends knows nothing of sessions: the next message wakes at once, and once", () => {
  const model = new Model();
  model.come();
  model.ask();
  model.pass(5000);
  model.restartHost();
  model.come();
  model.pass(minuteMs - 1);
  assertEquals(model.seconds, [0, 5]);
});

Deno.test("nobody is woken for what a session is given just now", () => {
  const model = new Model();
  for (let count = 0; count < 100; count++) {
    model.ask();
    model.come();
    model.pass(1500);
  }
  assertEquals(model.seconds, []);
});

Deno.test("nobody is woken for what a session has asked after before it was told", () => {
  const model = new Model();
  model.come();
  model.pass(300);
  model.ask();
  model.pass(700);
  model.come(800);
  model.pass(hourMs);
  model.come(100);
  assertEquals(model.seconds, [0, 3601]);
});

Deno.test("10,000 messages: a wake, and its repetitions, and few looks", () => {
  const model = new Model();
  for (let count = 0; count < 10_000; count++) {
    model.come();
    model.pass(10);
  }
  assertEquals(model.seconds, [0, 60]);
  assert(model.looks <= 101, String(model.looks));
});

Deno.test("10,000 messages to a model that follows each wake: 60 in any hour", () => {
  const model = new Model();
  for (let count = 0; count < 10_000; count++) {
    model.come();
    model.pass(1000);
    model.ask();
    model.pass(1);
  }
  const { wokenAtMs } = model;
  for (const at of wokenAtMs) {
    const hour = wokenAtMs.filter((each) => each > at - hourMs && each <= at);
    assert(hour.length <= 60, String(hour.length));
  }
  assert(wokenAtMs.length >= 120, String(wokenAtMs.length));
  assert(wokenAtMs.every((at, index) => index === 0 || at - (wokenAtMs[index - 1] ?? 0) >= 2000));
});

Deno.test("a clock that is set back a year delays a wake by an hour at most", () => {
  const model = new Model();
  model.come();
  model.nowMs -= 365 * 24 * hourMs;
  const at = model.nowMs;
  model.come();
  model.pass(hourMs + minuteMs);
  assert(model.wokenAtMs.some((each) => each >= at && each <= at + hourMs + 2000));
});

/** Things under way, and those that were said so far. */
interface World {
  readonly pace: PaceState;
  readonly nowMs: number;
  /** By channel. */
  readonly cameAtMs: Readonly<Record<string, number>>;
  readonly askedAtMs: number | undefined;
  readonly isLooking: boolean;
  readonly isTelling: boolean;
  readonly wokenAtMs: number | undefined;
}

type Machine = (pace: PaceState, event: PaceEvent, nowMs: number) => PaceStep;

const newWorld: World = {
  pace: restingPace,
  nowMs: start,
  cameAtMs: {},
  askedAtMs: undefined,
  isLooking: false,
  isTelling: false,
  wokenAtMs: undefined,
};

/** Channels with something that no session has asked after. */
function unread({ cameAtMs, askedAtMs = -Infinity }: World): string[] {
  return Object.entries(cameAtMs).filter(([, at]) => at > askedAtMs).map(([channel]) => channel);
}

function heard(world: World, event: PaceEvent, machine: Machine): World {
  const { pace, effects } = machine(world.pace, event, world.nowMs);
  let next: World = { ...world, pace };
  for (const { type } of effects) {
    assert(!next.isLooking && !next.isTelling, "one thing is under way at a time");
    if (type === "look") next = { ...next, isLooking: true };
    else {
      assert(unread(next).length > 0, "nobody is woken for nothing");
      const { wokenAtMs = -Infinity } = next;
      assert(next.nowMs - wokenAtMs >= limits.minMs, "wakes are apart");
      next = { ...next, isTelling: true, wokenAtMs: next.nowMs };
    }
  }
  return next;
}

/** Everything that may happen next. */
function moves(world: World, machine: Machine): World[] {
  const { nowMs, askedAtMs, isLooking, isTelling, pace } = world;
  const asked = new Map(askedAtMs === undefined ? [] : [["a", askedAtMs], ["b", askedAtMs]]);
  const message = (channel: string): World =>
    heard(
      { ...world, cameAtMs: { ...world.cameAtMs, [channel]: nowMs } },
      { type: "came", channel, atMs: nowMs },
      machine,
    );
  const timer = timerOf(pace);
  return [
    message("a"),
    message("b"),
    { ...world, askedAtMs: nowMs },
    { ...world, nowMs: nowMs + 700 },
    heard(world, { type: "rang" }, machine),
    ...(timer === undefined || timer <= nowMs
      ? []
      : [heard({ ...world, nowMs: timer }, { type: "rang" }, machine)]),
    ...(isLooking
      ? [
        heard(
          { ...world, isLooking: false },
          { type: "looked", askedAtMs: asked, sinceMs: 0 },
          machine,
        ),
        heard({ ...world, isLooking: false }, { type: "missed" }, machine),
      ]
      : []),
    ...(isTelling
      ? (["told", "failed"] as const).map((type) =>
        heard({ ...world, isTelling: false }, { type }, machine)
      )
      : []),
  ];
}

/** The host and the harness answer, timers ring, and no session comes: is the model woken? */
function endsWell(world: World, machine: Machine): boolean {
  let now = world;
  for (let steps = 0; steps < 12; steps++) {
    const left = unread(now);
    const { wokenAtMs = -Infinity, askedAtMs = -Infinity } = now;
    if (left.length === 0) return true;
    if (wokenAtMs >= Math.max(...Object.values(now.cameAtMs)) && wokenAtMs >= askedAtMs) {
      return true;
    }
    const asked = new Map(
      now.askedAtMs === undefined ? [] : [
        ["a", now.askedAtMs],
        ["b", now.askedAtMs],
      ],
    );
    const timer = timerOf(now.pace);
    if (now.isLooking) {
      now = heard(
        { ...now, isLooking: false },
        { type: "looked", askedAtMs: asked, sinceMs: 0 },
        machine,
      );
    } else if (now.isTelling) now = heard({ ...now, isTelling: false }, { type: "told" }, machine);
    else if (timer === undefined) return false;
    else now = heard({ ...now, nowMs: Math.max(now.nowMs, timer) }, { type: "rang" }, machine);
  }
  return false;
}

/** How many worlds there are; throws for one in which the model is forgotten. */
function explore(machine: Machine, depth: number): number {
  const seen = new Set<string>();
  let worlds = [newWorld];
  for (let level = 0; level <= depth; level++) {
    const next: World[] = [];
    for (const world of worlds) {
      const { pace: { waiting, ...pace } } = world;
      const key = JSON.stringify([{ ...world, pace: { ...pace, waiting: [...waiting] } }]);
      if (seen.has(key)) continue;
      seen.add(key);
      assert(endsWell(world, machine), `forgotten: ${key}`);
      next.push(...moves(world, machine));
    }
    worlds = next;
  }
  return seen.size;
}

const machine: Machine = (pace, event, nowMs) => step(pace, event, { nowMs, limits });

Deno.test("in every order of messages, sessions, answers and timers the model is woken, and not for nothing", () => {
  assert(explore(machine, 7) > 10_000);
});

Deno.test("controls: what a machine forgets is found", () => {
  const faults: readonly Machine[] = [
    // A message during a look is dropped.
    (pace, event, nowMs) =>
      event.type === "came" && pace.phase.kind === "looking"
        ? { pace, effects: [] }
        : machine(pace, event, nowMs),
    // The same while the harness is told.
    (pace, event, nowMs) =>
      event.type === "told"
        ? { pace: { ...pace, phase: { kind: "resting" } }, effects: [] }
        : machine(pace, event, nowMs),
    // A host that did not answer is not asked again.
    (pace, event, nowMs) =>
      event.type === "missed"
        ? { pace: { ...pace, phase: { kind: "resting" } }, effects: [] }
        : machine(pace, event, nowMs),
  ];
  for (const [index, fault] of faults.entries()) {
    let found = false;
    try {
      explore(fault, 7);
    } catch {
      found = true;
    }
    assert(found, `fault ${index}`);
  }
});
