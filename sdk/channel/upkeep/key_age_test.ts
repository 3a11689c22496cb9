/** Every transition, one by one. */
import { assert, assertEquals } from "@std/assert";
import type { AgentId } from "../../../proto/mod.ts";
import { createPace, healingMs } from "./healing_pace.ts";
import type { SeenLeaf } from "./key_age_records.ts";
import { stepKeyAge } from "./key_age.ts";
import {
  areKeysOld,
  type KeyAgeEffect,
  type KeyAgeEvent,
  type KeyAgeFacts,
  keyAgesOf,
  type KeyAgeWrite,
  restoreKeyAges,
} from "./key_age_state.ts";

const [minuteMs, hourMs] = [60_000, 3_600_000];
// cast: nobody reads more than their names
const [self, other] = ["self" as AgentId, "other" as AgentId];
const startMs = 1000 * hourMs;

class Keeper {
  readonly leaves = new Map<AgentId, string>([[self, "8000"], [other, "4000"]]);
  readonly state;
  nowMs = startMs;
  isRenewalWanted = false;
  writes: KeyAgeWrite[] = [];
  effects: KeyAgeEffect[] = [];

  constructor(
    seen: Record<string, SeenLeaf> = { self: { leaf: "8000", atMs: startMs - 5 * hourMs } },
    draw = 0.5,
  ) {
    // cast: as above
    const known = new Map(
      Object.entries(seen).map(([agentId, each]) => [agentId as AgentId, each]),
    );
    this.state = restoreKeyAges(known, { atMs: startMs, draw });
  }

  get facts(): KeyAgeFacts {
    const { leaves, nowMs, isRenewalWanted } = this;
    return {
      nowMs,
      self,
      ownLeaf: leaves.get(self) ?? "",
      members: leaves.size,
      leavesOf: (members) =>
        [...leaves].filter(([agentId]) => members === "all" || members.has(agentId)),
      isRenewalWanted,
      pace: createPace(),
      draw: () => 0.5,
    };
  }

  get at(): string {
    return this.state.keys.at;
  }

  step(...events: KeyAgeEvent[]): this {
    this.effects = [];
    this.writes = [];
    for (const event of events) {
      const { write, effects } = stepKeyAge(this.state, event, this.facts);
      this.writes.push(...write);
      this.effects.push(...effects);
    }
    return this;
  }

  look(): this {
    return this.step({ type: "look" });
  }

  /** The time that is waited for, or this one, has passed. */
  pass(ms = this.waitMs): this {
    this.nowMs += ms ?? 0;
    const { keys } = this.state;
    return "timer" in keys ? this.step({ type: "time", timer: keys.timer }) : this;
  }

  turn(afterMs = 0): this {
    const { keys } = this.state;
    assert(keys.at === "asking_turn");
    return this.step({ type: "turn", turn: keys.turn, afterMs });
  }

  /** To the change. */
  due(): this {
    return this.look().pass().turn();
  }

  moved(more: Partial<Extract<KeyAgeEvent, { type: "moved" }>> = {}): this {
    const calm = {
      committer: self,
      added: [],
      removed: [],
      isNewGeneration: false,
      isOfBefore: false,
    };
    return this.step({ type: "moved", ...calm, ...more });
  }

  changed(text?: string, isLost = false): this {
    const { keys, renewal } = this.state;
    const change = keys.at === "changing"
      ? keys.change
      : renewal.at === "renewing"
      ? renewal.change
      : 0;
    return this.step({
      type: "changed",
      change,
      why: text === undefined ? undefined : { isLost, text },
    });
  }

  get waitMs(): number | undefined {
    return this.effects.flatMap((effect) => effect.type === "wake" ? [effect.afterMs] : []).at(-1);
  }

  count(type: KeyAgeEffect["type"]): number {
    return this.effects.filter((effect) => effect.type === type).length;
  }
}

Deno.test("look: keys that the process found rest no longer, and are due soon", () => {
  const keeper = new Keeper().look();
  assertEquals([keeper.at, keeper.waitMs], ["waiting", minuteMs / 2]);
});

Deno.test("look: keys that were made since the start are due by the clock, worked out anew after six hours", () => {
  const keeper = new Keeper();
  keeper.look();
  keeper.leaves.set(self, "0000");
  keeper.moved();
  assertEquals(keeper.waitMs, 6 * hourMs);
  for (let looks = 0; looks < 3; looks++) assertEquals(keeper.pass(6 * hourMs).at, "waiting");
  assertEquals(
    healingMs({ leaf: "0000", atMs: startMs }, 2, undefined),
    startMs + 0.9 * 24 * hourMs,
  );
  assertEquals(keeper.waitMs, 3.6 * hourMs);
});

Deno.test("look: keys that this agent did not know are as old as its look", () => {
  const keeper = new Keeper({}).look();
  assertEquals(keeper.writes, [{
    type: "seen",
    agentId: self,
    seen: { leaf: "8000", atMs: startMs },
  }]);
  assertEquals(keeper.waitMs, hourMs + minuteMs / 2);
});

Deno.test("look: keys of the future are due at once", () => {
  assertEquals(new Keeper({ self: { leaf: "8000", atMs: startMs + 2 * hourMs } }).look().waitMs, 0);
});

Deno.test("look in `in_turn`, `changing`: nothing; the turn is kept", () => {
  const keeper = new Keeper().look().pass().turn(7000);
  assertEquals([keeper.look().at, keeper.effects], ["in_turn", []]);
  keeper.pass(7000);
  assertEquals([keeper.look().at, keeper.effects], ["changing", []]);
});

Deno.test("time in `waiting`, not due: the rest of it is waited for", () => {
  const keeper = new Keeper().look().pass(minuteMs / 4);
  assertEquals([keeper.at, keeper.waitMs], ["waiting", minuteMs / 4]);
});

Deno.test("time in `waiting`, due: the turn is asked for", () => {
  const keeper = new Keeper().look().pass();
  assertEquals([keeper.at, keeper.count("ask_turn")], ["asking_turn", 1]);
});

Deno.test("turn: now, the change is made; later, at its time; of an earlier question, nothing", () => {
  const now = new Keeper().due();
  assertEquals([now.at, now.effects[0]], ["changing", {
    type: "change",
    change: 3,
    plan: { is: "heal", leaf: "8000" },
  }]);
  const later = new Keeper().look().pass().turn(7000);
  assertEquals([later.at, later.waitMs], ["in_turn", 7000]);
  assertEquals(later.pass().at, "changing");
  assertEquals(later.step({ type: "turn", turn: 2, afterMs: 0 }).effects, []);
});

Deno.test("time in `in_turn`, not due any more: waits anew", () => {
  const keeper = new Keeper().look().pass().turn(7000);
  keeper.leaves.set(self, "9000");
  keeper.state.seen.set(self, { leaf: "9000", atMs: keeper.nowMs });
  assertEquals(keeper.pass(7000).at, "waiting");
});

Deno.test("changed in `changing`: waits for the next moment", () => {
  const keeper = new Keeper().due();
  keeper.leaves.set(self, "9000");
  keeper.moved().changed();
  assertEquals([keeper.at, keeper.waitMs, keeper.count("report")], ["waiting", 6 * hourMs, 0]);
});

Deno.test("changed in `changing`, refused: a report, and once more after ten minutes; lost, without a report", () => {
  const refused = new Keeper().due().changed("not today");
  assertEquals([refused.at, refused.waitMs, refused.count("report")], [
    "waiting",
    10 * minuteMs,
    1,
  ]);
  const lost = new Keeper().due().changed("gone", true);
  assertEquals([lost.waitMs, lost.count("report")], [10 * minuteMs, 0]);
  assertEquals(lost.pass().turn().at, "changing");
});

Deno.test("look in `waiting` behind a refusal: tried at once, because the connection may be another one", () => {
  assertEquals(new Keeper().due().changed("not today").look().waitMs, 0);
});

Deno.test("changed, of another change: nothing", () => {
  const keeper = new Keeper().due();
  assertEquals(keeper.step({ type: "changed", change: 99, why: undefined }).at, "changing");
});

Deno.test("rest: nothing is begun any more, and the end of what is under way changes nothing", () => {
  const keeper = new Keeper().due().step({ type: "rest" });
  assertEquals(keeper.at, "resting");
  assertEquals([keeper.changed("late").at, keeper.effects], ["resting", []]);
  assertEquals(keeper.step({ type: "time", timer: 1 }).at, "resting");
});

Deno.test("moved: the leaves of its author and of those that it adds are as old as now", () => {
  const keeper = new Keeper().look();
  keeper.nowMs += hourMs;
  // cast: as above
  const third = "third" as AgentId;
  keeper.leaves.set(other, "5000").set(third, "6000");
  keeper.moved({ committer: other, added: [third] });
  assertEquals(keeper.writes.map((write) => write.agentId), [other, third]);
  const ages = keyAgesOf(keeper.state, keeper.facts);
  assertEquals(ages.map(({ changedAtMs }) => changedAtMs), [
    startMs - 5 * hourMs,
    startMs + hourMs,
    startMs + hourMs,
  ]);
});

Deno.test("moved: of those that are gone nothing is kept, of those that came back in the same commit all", () => {
  const keeper = new Keeper({ other: { leaf: "4000", atMs: 1 } });
  keeper.moved({ committer: self, removed: [other], added: [other] });
  assertEquals(keeper.writes.map(({ type }) => type), ["seen"]);
  keeper.leaves.delete(other);
  keeper.moved({ committer: self, removed: [other] });
  assertEquals(keeper.writes, [{ type: "gone", agentId: other }]);
});

Deno.test("moved into a new generation: every leaf is looked at", () => {
  const keeper = new Keeper({});
  keeper.moved({ committer: other, isNewGeneration: true });
  assertEquals(keeper.writes.length, 2);
});

Deno.test("moved by our own commit in `waiting`, `in_turn`: by the new keys", () => {
  const keeper = new Keeper().look().pass().turn(7000);
  keeper.leaves.set(self, "9000");
  assertEquals([keeper.moved().at, keeper.waitMs], ["waiting", 6 * hourMs]);
});

Deno.test("moved by a commit of ours from before: its keys count as found", () => {
  const keeper = new Keeper().look();
  keeper.leaves.set(self, "9000");
  keeper.moved({ isOfBefore: true });
  assertEquals(keeper.waitMs, hourMs + minuteMs / 2);
});

Deno.test("finish: overdue keys that the process found are changed before it ends, when no other channel has the turn", () => {
  const keeper = new Keeper(undefined, 1).look().step({ type: "finish", operation: 1 });
  assertEquals([keeper.at, keeper.count("settle")], ["asking_turn", 0]);
  keeper.turn();
  assertEquals([keeper.at, keeper.count("settle")], ["changing", 0]);
  assertEquals(keeper.changed().count("settle"), 1);
  const busy = new Keeper(undefined, 1).look().step({ type: "finish", operation: 1 }).turn(7000);
  assertEquals([busy.at, busy.count("settle")], ["in_turn", 1]);
});

Deno.test("finish in `changing`: waits for the change, or until it rests", () => {
  const keeper = new Keeper().due().step({ type: "finish", operation: 1 });
  assertEquals(keeper.count("settle"), 0);
  assertEquals(keeper.step({ type: "rest" }).count("settle"), 1);
});

Deno.test("finish, else: at once", () => {
  const young = { self: { leaf: "8000", atMs: startMs - minuteMs } };
  assertEquals(new Keeper(young).look().step({ type: "finish", operation: 1 }).count("settle"), 1);
  assertEquals(new Keeper().step({ type: "finish", operation: 1 }).count("settle"), 1);
  const own = new Keeper().look();
  own.leaves.set(self, "9000");
  own.moved();
  own.nowMs += 2 * hourMs;
  assert(areKeysOld(own.state, own.facts));
  assertEquals(
    own.step({ type: "finish", operation: 1 }).count("settle"),
    1,
    "another life goes by the clock",
  );
});

Deno.test("a leaf from an earlier version is renewed at a random moment, once at a time, and without a turn", () => {
  const keeper = new Keeper();
  keeper.isRenewalWanted = true;
  keeper.moved({ committer: other });
  assertEquals(keeper.state.renewal.at, "none", "nothing begins before the channel is in step");
  keeper.look();
  assertEquals(keeper.effects.flatMap((effect) => effect.type === "wake" ? [effect.afterMs] : []), [
    minuteMs / 2,
    150_000,
  ]);
  const { renewal } = keeper.state;
  assert(renewal.at === "waiting");
  assertEquals(keeper.look().state.renewal, renewal);
  keeper.step({ type: "time", timer: renewal.timer });
  assertEquals([keeper.state.renewal.at, keeper.count("ask_turn")], ["renewing", 0]);
  keeper.changed("not today");
  assertEquals([keeper.count("report"), keeper.state.renewal.at], [1, "waiting"]);
  keeper.isRenewalWanted = false;
  const again = keeper.state.renewal;
  assert(again.at === "waiting");
  keeper.step({ type: "time", timer: again.timer });
  assertEquals(keeper.changed().state.renewal.at, "none");
});
