/**
 * Every transition of KeyPackages, one by one. Orders of events are tried in tests/small_worlds.
 */
import { assertEquals } from "@std/assert";
import { stepKeyPackages } from "./key_packages.ts";
import {
  type KeyPackageEffect,
  type KeyPackageEvent,
  type KnownKeyPackage,
  newKeyPackages,
  type RefillCause,
} from "./key_package_state.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** An event of the present job. */
type Ended = KeyPackageEvent extends infer E
  ? E extends { readonly job: number } ? Omit<E, "job"> : never
  : never;

class Agent {
  readonly state = newKeyPackages();
  effects: readonly KeyPackageEffect[] = [];
  nowMs = 100 * dayMs;
  isOnline = true;

  step(event: KeyPackageEvent): this {
    this.effects = stepKeyPackages(this.state, event, this).effects;
    return this;
  }

  ask(cause: RefillCause): this {
    return this.step({ type: "asked", cause });
  }

  end(event: Ended): this {
    const job = "job" in this.state.refill ? this.state.refill.job : 0;
    // cast: with its job it is one
    return this.step({ ...event, job } as KeyPackageEvent);
  }

  looked(...known: readonly Partial<KnownKeyPackage>[]): this {
    return this.end({ type: "looked", known: known.map((each, at) => this.#known(each, at)) });
  }

  #known(each: Partial<KnownKeyPackage>, at: number): KnownKeyPackage {
    const usual = {
      purpose: "pool",
      madeAtMs: this.nowMs,
      isUsed: false,
      isOlder: false,
      isThere: true,
    } as const;
    return { id: String(at), ...usual, ...each };
  }

  get at(): string {
    return this.state.refill.at;
  }
}

const connection = (held: number, hasLastResort = true, room = 100): RefillCause => ({
  of: "connection",
  held,
  hasLastResort,
  room,
});
const reminder = (held: number, room = 100 - held): RefillCause => ({
  of: "reminder",
  held,
  hasLastResort: true,
  room,
});
const lastResort = { id: "last", purpose: "last_resort" } as const;
const pool = (count: number): Partial<KnownKeyPackage>[] =>
  Array.from({ length: count }, () => ({}));

Deno.test("a relay that has none: keys go to disk, then KeyPackages to the relay, then the disk learns what it has", () => {
  const agent = new Agent().ask(connection(0, false, 3));
  assertEquals([agent.at, agent.effects], ["looking", [{ type: "look", job: 1 }]]);
  agent.looked();
  assertEquals(agent.effects, [{ type: "write", job: 1, pool: 3, lastResort: true, forget: [] }]);
  agent.end({ type: "written", made: ["a", "b", "c", "l"] });
  const upload = { pool: 3, lastResort: { is: "new" }, replace: false } as const;
  assertEquals(agent.effects, [{ type: "upload", job: 1, upload }]);
  agent.end({ type: "uploaded" });
  assertEquals(agent.effects, [{ type: "note", job: 1, there: ["a", "b", "c", "l"] }]);
  assertEquals(agent.end({ type: "noted" }).at, "resting");
});

Deno.test("a relay that has enough gets nothing, and the last resort that is here is uploaded again", () => {
  const agent = new Agent().ask(connection(5)).looked(...pool(5), lastResort);
  assertEquals([agent.at, agent.effects], ["resting", []]);
  agent.ask(connection(5, false)).looked(...pool(5), lastResort);
  const known = { is: "known", id: "last" } as const;
  assertEquals(agent.effects.map((each) => "upload" in each && each.upload.lastResort), [false]);
  assertEquals("upload" in agent.state.refill && agent.state.refill.upload?.lastResort, known);
});

Deno.test("all are replaced when the relay has more than it was given, or a last resort that is not good any more", () => {
  const replaces = (cause: RefillCause, ...known: readonly Partial<KnownKeyPackage>[]): unknown => {
    const { refill } = new Agent().ask(cause).looked(...known).state;
    return "upload" in refill && refill.upload?.replace;
  };
  assertEquals(replaces(connection(6), ...pool(5), lastResort), true);
  assertEquals(replaces(connection(1), { isOlder: true }, lastResort), true);
  assertEquals(replaces(connection(1), { isThere: false }, lastResort), true);
  assertEquals(replaces(connection(6), ...pool(6)), true);
  for (
    const odd of [{ isUsed: true }, { isOlder: true }, { isThere: false }, { madeAtMs: 92 * dayMs }]
  ) {
    assertEquals(
      replaces(connection(6), ...pool(6), { ...lastResort, ...odd }),
      true,
      JSON.stringify(odd),
    );
  }
});

Deno.test("a reminder asks for what a pool lacks, and for no more than there is room for", () => {
  const makes = (cause: RefillCause): unknown => {
    const [effect] = new Agent().ask(cause).looked(...pool(10), lastResort).effects;
    return effect?.type === "write" ? effect.pool : 0;
  };
  assertEquals([
    makes(reminder(2)),
    makes(reminder(2, 1)),
    makes(reminder(10)),
    makes(reminder(30)),
  ], [8, 1, 0, 0]);
});

Deno.test("a last resort is renewed behind its use, and nothing else is", () => {
  const renews = (...known: readonly Partial<KnownKeyPackage>[]): unknown =>
    new Agent().ask({ of: "use" }).looked(...known).effects.map((each) =>
      "lastResort" in each && each.lastResort
    );
  assertEquals([renews(), renews(lastResort), renews({ ...lastResort, isUsed: true })], [[], [], [
    true,
  ]]);
});

Deno.test("those that have expired go, and of the pool the oldest beyond a hundred", () => {
  const forgets = (...known: readonly Partial<KnownKeyPackage>[]): unknown =>
    new Agent().ask(reminder(5)).looked(...known).effects.map((each) =>
      "forget" in each && each.forget.length
    );
  assertEquals(
    forgets(...pool(3), { madeAtMs: 69 * dayMs }, { madeAtMs: 69 * dayMs, purpose: "handed" }),
    [2],
  );
  assertEquals(forgets(...pool(100)), [5]);
});

Deno.test("a last resort that was used goes a week after the relay got another one", () => {
  const forgets = (days: number, next: Partial<KnownKeyPackage>): unknown => {
    const used = { ...lastResort, isUsed: true, madeAtMs: 80 * dayMs };
    const known = [used, { ...next, id: "next", madeAtMs: (100 - days) * dayMs }, ...pool(10)];
    return new Agent().ask(reminder(5)).looked(...known).effects.map((each) =>
      "forget" in each && each.forget
    );
  };
  assertEquals(forgets(8, { purpose: "last_resort" }), [["last"]]);
  assertEquals(forgets(6, { purpose: "last_resort" }), [[]]);
  assertEquals(forgets(8, { purpose: "last_resort", isThere: false }), [[]]);
  assertEquals(forgets(8, { purpose: "pool" }), [[]]);
});

Deno.test("those that were made by a clock that was ahead, and that no relay took, go, and no last resort of them is uploaded", () => {
  const ahead = { madeAtMs: 465 * dayMs, isThere: false } as const;
  const agent = new Agent().ask(connection(0, false)).looked(
    { ...lastResort, ...ahead },
    { id: "pooled", ...ahead },
    { id: "asks", purpose: "handed", ...ahead },
    { id: "there", madeAtMs: 465 * dayMs },
    { id: "minutes", madeAtMs: 100 * dayMs + 60_000, isThere: false },
  );
  assertEquals(agent.effects, [
    { type: "write", job: 1, pool: 10, lastResort: true, forget: ["last", "pooled"] },
  ]);
});

Deno.test("a program that replaces all is answered, and hears why it could not be done", () => {
  const agent = new Agent().ask({ of: "program", operation: 7 }).looked().end({
    type: "written",
    made: [],
  });
  agent.end({ type: "uploaded" }).end({ type: "noted" });
  assertEquals(agent.effects, [{ type: "answer", operation: 7, failed: undefined }]);
  agent.ask({ of: "program", operation: 8 }).looked().end({ type: "failed", error: "full" });
  assertEquals(agent.effects, [{ type: "answer", operation: 8, failed: { error: "full" } }]);
  assertEquals(agent.at, "resting");
});

Deno.test("one refill after the other: the relay's last word counts, without what came behind it", () => {
  const agent = new Agent().ask(reminder(9)).ask(reminder(8)).looked(...pool(10), lastResort);
  assertEquals(agent.effects, [{ type: "write", job: 1, pool: 2, lastResort: false, forget: [] }]);
  agent.ask(reminder(7)).ask(reminder(6)).end({ type: "written", made: [] }).end({
    type: "uploaded",
  });
  agent.end({ type: "noted" }).looked(...pool(10), lastResort);
  assertEquals(agent.effects, [{ type: "write", job: 2, pool: 2, lastResort: false, forget: [] }]);
});

Deno.test("a refill of a connection that is over is not uploaded; a call of the program comes behind the next one", () => {
  const agent = new Agent().ask(connection(0, false)).looked();
  agent.isOnline = false;
  assertEquals([agent.end({ type: "written", made: [] }).at, agent.effects], ["resting", []]);
  agent.ask({ of: "program", operation: 1 }).ask(connection(0, false)).looked();
  const { refill, waiting } = agent.state;
  assertEquals(["cause" in refill && refill.cause.of, waiting.map(({ of }) => of)], ["connection", [
    "program",
  ]]);
});

Deno.test("an end of a refill that is over changes nothing", () => {
  const agent = new Agent().ask(connection(0, false));
  const before = structuredClone(agent.state);
  for (const type of ["uploaded", "noted"] as const) agent.step({ type, job: 9 });
  assertEquals([agent.state, agent.effects], [before, []]);
});
