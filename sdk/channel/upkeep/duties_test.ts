/** Every transition, one by one. */
import { assert, assertEquals } from "@std/assert";
import type { AgentId, JoinRequestId } from "../../../proto/mod.ts";
import { stepDuties } from "./duties.ts";
import {
  type DutyEffect,
  type DutyEvent,
  type DutyFacts,
  type DutyState,
  type LeafStatus,
  newDuties,
  openRequests,
  type RejoinAsker,
} from "./duties_state.ts";

// cast: nobody reads more than their names
const agent = (name: string): AgentId => name as AgentId;
// cast: as above
const request = (name: string): JoinRequestId => `by ${name}` as JoinRequestId;

const names = ["ann", "bob", "carl", "dora"];

function ask(name: string, more: Partial<RejoinAsker> = {}): RejoinAsker {
  return {
    agentId: agent(name),
    requestId: request(name),
    expiresAtMs: 60_000,
    epoch: 3,
    isNamed: false,
    ...more,
  };
}

/** Carl, the third of four members. */
class Carl {
  readonly state: DutyState = { ...newDuties(), work: { at: "idle" } };
  facts: DutyFacts = {
    nowMs: 1000,
    relayNowMs: 1000,
    self: agent("carl"),
    isGenuine: () => true,
    lacks: () => undefined,
    judge: () => "present",
    leavers: [],
    isWithoutLeavers: false,
    wantsOwnLeaf: false,
    hasAbsentLeavers: false,
    members: () => names.map((name, leafIndex) => ({ agentId: agent(name), leafIndex })),
    joinedAfter: () => false,
    jitter: (ms) => ms,
  };
  effects: DutyEffect[] = [];

  get at(): string {
    return this.state.work.at;
  }

  know(facts: Partial<DutyFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  judge(signed: Readonly<Record<string, LeafStatus>>): this {
    return this.know({ judge: (id) => signed[id.slice(3)] ?? "present" });
  }

  step(...events: DutyEvent[]): this {
    this.effects = [];
    for (const event of events) {
      this.effects.push(...stepDuties(this.state, event, this.facts).effects);
    }
    return this;
  }

  look(): this {
    return this.step({ type: "start" });
  }

  asked(name: string, more: Partial<RejoinAsker> = {}): this {
    return this.step({ type: "asked", request: ask(name, more) });
  }

  listed(...online: string[]): this {
    const call = "call" in this.state.work ? this.state.work.call : 0;
    return this.step({ type: "listed", call, online: new Set(online.map(agent)) });
  }

  time(): this {
    return this.step({
      type: "time",
      timer: "timer" in this.state.work ? this.state.work.timer : 0,
    });
  }

  told(failed?: string): this {
    return this.step({
      type: "told",
      call: "call" in this.state.work ? this.state.work.call : 0,
      failed,
    });
  }

  changed(refused?: "content" | "else"): this {
    const change = "change" in this.state.work ? this.state.work.change : 0;
    const why = refused && { isAboutContent: refused === "content", text: "the relay says so" };
    return this.step({ type: "changed", change, why });
  }

  /** Some leave, and it is our turn. */
  working(): this {
    return this.look().listed().time();
  }

  get waitMs(): number | undefined {
    return this.effects.flatMap((effect) => effect.type === "wake" ? [effect.afterMs] : []).at(-1);
  }

  get wants(): string[] {
    return this.effects.flatMap((effect) => effect.type === "change" ? [effect.of] : []);
  }

  get reports(): string[] {
    return this.effects.flatMap((effect) => effect.type === "report" ? [effect.report.is] : []);
  }

  get requests(): string[] {
    return this.state.requests.map(({ agentId }) => agentId);
  }
}

const leaving = { leavers: [agent("dora")] };

Deno.test("look in `idle`: nothing to do, nothing is done", () => {
  assertEquals([
    new Carl().look().at,
    new Carl().know({ ...leaving, isWithoutLeavers: true }).look().at,
  ], [
    "idle",
    "idle",
  ]);
});

Deno.test("look in `idle`: the relay is asked who is online, unless nobody leaves or asks", () => {
  assertEquals(new Carl().know(leaving).look().at, "asking_turn");
  for (const own of [{ wantsOwnLeaf: true }, { hasAbsentLeavers: true }]) {
    const carl = new Carl().know(own).look();
    assertEquals([carl.at, carl.waitMs], ["turn", 0]);
  }
});

Deno.test("look in any other: nothing", () => {
  const carl = new Carl().know(leaving).look();
  assertEquals(carl.look().effects, []);
  assertEquals(carl.listed("ann").look().effects, []);
  assertEquals(carl.time().look().effects, []);
  assertEquals(carl.changed("else").look().effects, []);
});

Deno.test("listed: one and a half seconds for each member online that comes before", () => {
  const waits = (...online: string[]): number | undefined =>
    new Carl().know(leaving).look().listed(...online).waitMs;
  assertEquals([waits(), waits("bob", "dora"), waits("ann", "bob")], [0, 1500, 3000]);
});

Deno.test("listed: those that ask do not come before, those that joined after the asker come last", () => {
  const asking = new Carl().asked("ann").listed("ann", "bob", "dora");
  assertEquals(asking.waitMs, 1500);
  const late = new Carl().know({ joinedAfter: (agentId) => agentId === agent("bob") }).asked("ann");
  assertEquals(late.listed("ann", "bob", "dora").waitMs, 0);
  const last = new Carl().know({ joinedAfter: (agentId) => agentId === agent("carl") }).asked(
    "ann",
  );
  assertEquals(last.listed("bob", "dora").waitMs, 3000);
});

Deno.test("listed: without an answer, the time of about one member", () => {
  const carl = new Carl().know(leaving).look();
  const call = "call" in carl.state.work ? carl.state.work.call : 0;
  assertEquals(carl.step({ type: "listed", call, online: undefined }).waitMs, 1500);
  assertEquals(carl.listed().effects, [], "an answer of an earlier question");
});

Deno.test("time in `turn`: others have done it", () => {
  const carl = new Carl().know(leaving).look().listed("ann").know({ leavers: [] }).time();
  assertEquals([carl.at, carl.effects], ["idle", []]);
});

Deno.test("time in `turn`: a commit for all", () => {
  const carl = new Carl().know(leaving).working();
  assertEquals([carl.at, carl.wants], ["working", ["all"]]);
  assertEquals([carl.know({ leavers: [] }).changed().at], ["idle"]);
});

Deno.test("time in `turn`: askers with outdated leaves are told first, one after the other, and once", () => {
  const carl = new Carl().judge({ ann: "other", bob: "other" }).asked("ann").asked("bob").listed()
    .time();
  const { work } = carl.state;
  const call = work.at === "telling" ? work.call : 0;
  assertEquals(carl.effects, [{
    type: "tell",
    call,
    requestId: request("ann"),
    agentId: agent("ann"),
  }]);
  carl.told();
  assertEquals(carl.effects, [{
    type: "tell",
    call: 4,
    requestId: request("bob"),
    agentId: agent("bob"),
  }]);
  assertEquals([carl.told().at, carl.wants], ["idle", []]);
  assertEquals(carl.look().effects, []);
  assertEquals(carl.asked("ann").at, "asking_turn", "the relay delivers it anew");
  assertEquals(carl.listed().time().told().look().effects, []);
  assertEquals(
    carl.asked("ann", { requestId: request("ann again") }).at,
    "asking_turn",
    "another request",
  );
});

Deno.test("told, not: a report, and the work goes on", () => {
  const carl = new Carl().judge({ ann: "other" }).asked("ann").asked("bob").listed().time().told(
    "offline",
  );
  assertEquals([carl.reports, carl.at], [["failed"], "working"]);
});

Deno.test("changed in `working`, work is left: again after five seconds, without another turn", () => {
  const carl = new Carl().know(leaving).working().changed();
  assertEquals([carl.at, carl.waitMs], ["pausing", 5000]);
  assertEquals(carl.time().wants, ["all"]);
});

Deno.test("changed in `working`, refused for another reason: a report, and again after five seconds", () => {
  const carl = new Carl().know(leaving).working().changed("else");
  assertEquals([carl.at, carl.reports], ["pausing", ["failed"]]);
});

Deno.test("changed in `working`, refused for what it was to do: each request alone, behind those that leave", () => {
  const carl = new Carl().know(leaving).asked("ann").asked("bob").listed().time().changed(
    "content",
  );
  assertEquals([carl.at, carl.wants, carl.reports], ["one_by_one", ["none"], ["failed"]]);
  assertEquals(carl.know({ leavers: [] }).changed().wants, [request("ann")]);
  carl.changed("content");
  assertEquals([carl.reports, carl.requests, carl.wants], [["cannot_be_granted"], ["bob"], [
    request("bob"),
  ]]);
  assertEquals([carl.changed("else").at, carl.requests], ["pausing", ["bob"]]);
});

Deno.test("changed in `one_by_one`: those that leave cannot be removed either", () => {
  const carl = new Carl().know(leaving).asked("ann").listed().time().changed("content").changed(
    "content",
  );
  assertEquals([carl.at, carl.requests], ["pausing", ["ann"]]);
});

Deno.test("changed in `one_by_one`: a request whose agent has another leaf by now is not tried, and not dropped", () => {
  const carl = new Carl().asked("ann").asked("bob").listed().time().changed("content").changed();
  assertEquals(carl.wants, [request("ann")]);
  carl.judge({ ann: "other", bob: "other" }).changed("content");
  assertEquals([carl.at, carl.reports, carl.requests], ["pausing", [], ["ann", "bob"]]);
});

Deno.test("changed, of another change: nothing", () => {
  assertEquals(
    new Carl().know(leaving).working().step({ type: "changed", change: 99, why: undefined }).at,
    "working",
  );
});

Deno.test("asked: one that names us is answered at once", () => {
  const carl = new Carl().asked("ann", { isNamed: true });
  assertEquals([carl.at, carl.waitMs], ["turn", 0]);
});

Deno.test("asked: under the id of another member's request, a report; that one stays as it was signed", () => {
  let looks = 0;
  const carl = new Carl().know({ isGenuine: () => ++looks > 0 }).asked("ann");
  carl.asked("dora", { requestId: request("ann") });
  assertEquals([carl.reports, carl.requests, looks], [["not_genuine"], ["ann"], 1]);
});

Deno.test("asked: not genuine, a report", () => {
  const carl = new Carl().know({ isGenuine: () => false }).asked("ann");
  assertEquals([carl.reports, carl.requests, carl.at], [["not_genuine"], [], "idle"]);
});

Deno.test("asked: without a badge or a key that the channel requires, or out of time, a report; the others come in", () => {
  for (const lacked of ["badge", "key", "time"] as const) {
    const carl = new Carl().asked("ann").know({ lacks: () => lacked }).asked("dora");
    assertEquals([carl.reports, carl.requests], [["lacking"], ["ann"]]);
  }
});

Deno.test("asked: the 101st member is not looked at", () => {
  const carl = new Carl();
  for (let each = 0; each < 100; each++) carl.asked(`a${each}`);
  let looked = 0;
  carl.know({ isGenuine: () => looked++ > 0 }).asked("ann");
  assertEquals([looked, carl.requests.length], [0, 100]);
  carl.asked("a7");
  assertEquals(looked, 1);
});

Deno.test("asked: a member that came back 24 times within a day has no answer before it is over", () => {
  const carl = new Carl();
  const back = { type: "moved", added: [agent("ann")], removed: [agent("ann")] } as const;
  for (let times = 0; times < 24; times++) carl.step(back);
  assertEquals([carl.asked("ann").reports, carl.requests], [["too_often"], []]);
  assertEquals(carl.know({ nowMs: 1000 + 24 * 3_600_000 }).asked("ann").requests, ["ann"]);
  carl.know({ nowMs: 1000 }).step({ type: "moved", added: [], removed: [agent("ann")] });
  assertEquals(carl.asked("ann").reports, [], "it was removed meanwhile");
});

Deno.test("requests go with their time, with their agent, and when it leaves", () => {
  const gone = (facts: Partial<DutyFacts>): string[] =>
    new Carl().asked("ann").know(facts).listed().time().requests;
  assertEquals(gone({}), ["ann"]);
  assertEquals(gone({ relayNowMs: 60_001 }), []);
  assertEquals(gone({ judge: () => "gone" }), []);
  assertEquals(gone({ leavers: [agent("ann")] }), []);
  assertEquals(new Carl().asked("ann").step({ type: "left", agentId: agent("ann") }).requests, []);
  assertEquals(
    new Carl().asked("ann").step({ type: "moved", added: [], removed: [agent("ann")] }).requests,
    [],
  );
});

Deno.test("rest: requests are taken and wait; what was under way changes nothing; start looks at them", () => {
  const carl = new Carl().know(leaving).working().step({ type: "rest" });
  assertEquals(carl.changed("content").at, "resting");
  assertEquals(carl.asked("ann").at, "resting");
  assertEquals(carl.step({ type: "start" }).at, "asking_turn");
  assert(openRequests(carl.state, carl.facts).some(({ leaf }) => leaf === "present"));
});

Deno.test("a channel that is opened has no duties before it may work: it may be stopped", () => {
  const { state, facts } = new Carl().know(leaving);
  state.work = newDuties().work;
  assertEquals([
    stepDuties(state, { type: "left", agentId: agent("ann") }, facts).effects,
    state.work.at,
  ], [
    [],
    "resting",
  ]);
});
