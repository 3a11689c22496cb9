/** Every transition, one by one. Orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import { calmPermit } from "../testing/calm_agent.ts";
import { stepCommits } from "./own_commit.ts";
import {
  candidateOf,
  type ChangeOutcome,
  type ChangeRefusal,
  type CommitCandidate,
  type CommitEffect,
  type CommitEvent,
  type CommitFacts,
  type CommitRecords,
  type CommitWrite,
  forgetCommits,
  restoreCommits,
} from "./own_commit_state.ts";

const calm: CommitFacts<string> = {
  work: calmPermit(),
  isStopped: false,
  isOnline: true,
  departure: "staying",
  epoch: 3,
  made: 1,
  isAlone: false,
  isOwner: false,
  planOf: () => "change",
  jitter: (ms) => ms,
};

const hash = (letter: number): Uint8Array => new Uint8Array(32).fill(letter);

function commitOf(letter: number, more: Partial<CommitCandidate> = {}): CommitCandidate {
  return {
    epoch: 3,
    hash: hash(letter),
    adds: false,
    isLast: false,
    removesLeavers: false,
    ...more,
  };
}

class Agent {
  readonly state;
  facts = calm;
  writes: CommitWrite[] = [];
  effects: CommitEffect<string>[] = [];
  #operations = 0;

  constructor(records: Partial<CommitRecords> = {}) {
    this.state = restoreCommits<string>({ candidate: undefined, given: [], ...records });
  }

  get at(): string {
    return this.state.commit.at;
  }

  know(facts: Partial<CommitFacts<string>>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  step(...events: CommitEvent<string>[]): this {
    for (const event of events) {
      const { write, effects } = stepCommits(this.state, event, this.facts);
      if (write !== undefined) this.writes.push(write);
      this.effects.push(...effects);
    }
    return this;
  }

  change(plan = "rotate"): this {
    return this.step({ type: "change", operation: ++this.#operations, plan });
  }

  prepared(made: CommitCandidate | ChangeRefusal = commitOf(1)): this {
    const { commit } = this.state;
    return commit.at === "preparing"
      ? this.step({ type: "prepared", job: commit.job, made })
      : this;
  }

  get #call(): number {
    const { commit, question } = this.state;
    return "call" in commit ? commit.call : question ?? 0;
  }

  taken(): this {
    return this.step({ type: "taken", call: this.#call, sequence: 7 });
  }

  refused(code: string, more: Partial<ChangeRefusal> = {}): this {
    return this.step({ type: "refused", call: this.#call, why: { code, ...more } });
  }

  /** The log's commit of our epoch, and the epoch that the log is in. */
  found(letter?: number, epoch = letter === undefined ? 3 : 4): this {
    // cast: nobody looks at it
    const commit = letter === undefined
      ? {}
      : { commit: { sequence: 7, commitHash: hash(letter), sender: "a" as never, timeMs: 0 } };
    return this.step({ type: "found", call: this.#call, found: { epoch, ...commit } });
  }

  time(): this {
    const { commit, again } = this.state;
    return this.step({ type: "time", timer: commit.at === "resting" ? commit.timer : again ?? 0 });
  }

  get settled(): string[] {
    return this.effects.flatMap((effect) =>
      effect.type === "settle" ? [wordOf(effect.result)] : []
    );
  }

  get written(): string {
    return this.writes.map(({ type }) => type).join(" ");
  }

  count(type: CommitEffect<string>["type"]): number {
    return this.effects.filter((effect) => effect.type === type).length;
  }

  get explained(): string[] {
    return this.effects.flatMap((effect) => effect.type === "explained" ? [effect.as] : []);
  }

  get findings(): string[] {
    return this.effects.flatMap((effect) => effect.type === "finding" ? [effect.finding.is] : []);
  }
}

function wordOf(result: ChangeOutcome): string {
  if (result.is === "refused") return result.why.code;
  return result.is === "failed" ? result.why.by : result.is;
}

const sent = (more: Partial<CommitCandidate> = {}): Agent =>
  new Agent().change().prepared(commitOf(1, more));
const open = (more: Partial<CommitCandidate> = {}): Agent =>
  new Agent({ candidate: commitOf(1, more) });
const offline = { work: undefined, isOnline: false };

Deno.test("own commits: a change is prepared, written, sent, and entered", () => {
  const agent = new Agent().change();
  assertEquals([agent.at, agent.written], ["preparing", ""]);
  agent.prepared();
  assertEquals([agent.at, agent.written, agent.count("send")], ["sent", "prepared", 1]);
  agent.taken();
  assertEquals([agent.at, agent.written, agent.findings], ["entering", "prepared entered", [
    "entered",
  ]]);
  agent.know({ epoch: 4 }).step({ type: "moved", by: "own" });
  assertEquals([agent.at, agent.settled], ["none", ["made"]]);
});

Deno.test("own commits: a plan with nothing to do, or a refusal, waits for no permit; a change has 30 s", () => {
  const plan = (planOf: CommitFacts<string>["planOf"]): Agent =>
    new Agent().know({ ...offline, planOf }).change();
  assertEquals(plan(() => "nothing").settled, ["nothing"]);
  assertEquals(plan(() => ({ code: "not_allowed" })).settled, ["not_allowed"]);
  const waiting = plan(() => "change");
  assertEquals([waiting.at, waiting.settled], ["none", []]);
  waiting.step({ type: "time", timer: waiting.state.plans[0]?.timer ?? 0 });
  assertEquals(waiting.settled, ["offline"]);
  const inTime = plan(() => "change").know(calm).step({ type: "look" });
  assertEquals([inTime.at, inTime.state.plans[0]?.timer], ["preparing", undefined]);
});

Deno.test("own commits: while leaving, or stopped, changes are rejected, also those that wait", () => {
  assertEquals(new Agent().know({ departure: "leaving" }).change().settled, ["leaving"]);
  const own = new Agent().know({ departure: "leaving" });
  own.step({ type: "change", operation: 1, plan: "succession", isOfDeparture: true });
  assertEquals(own.at, "preparing");
  assertEquals(new Agent().know({ isStopped: true, work: undefined }).change().settled, [
    "stopped",
  ]);
  const queued = sent().change().know({ isStopped: true, work: undefined }).step({ type: "look" });
  assertEquals(
    [queued.settled, queued.at],
    [["stopped"], "sent"],
    "the one that is on its way waits for its answer",
  );
  assertEquals(sent().change().know({ departure: "goodbye" }).step({ type: "look" }).settled, [
    "leaving",
  ]);
});

Deno.test("own commits: a permit that is lost ends work that is not on its way", () => {
  const preparing = new Agent().change().know(offline).step({ type: "look" });
  assertEquals([preparing.at, preparing.state.plans[0]?.timer !== undefined], ["none", true]);
  assertEquals(preparing.prepared().written, "");
});

Deno.test("own commits: what cannot be prepared rejects, and the next plan goes on", () => {
  const agent = new Agent().change().change().prepared({ code: "key_package_invalid" });
  assertEquals([agent.settled, agent.at, agent.written], [
    ["key_package_invalid"],
    "preparing",
    "",
  ]);
});

Deno.test("own commits: after a conflict the log is asked: ours, another, or none", () => {
  const conflict = (): Agent => sent().refused("epoch_conflict", { epoch: 4 });
  assertEquals([conflict().at, conflict().count("find")], ["asking", 1]);
  const ours = conflict().found(1);
  assertEquals([ours.at, ours.settled, ours.count("report")], ["entering", ["made"], 1]);
  const other = conflict().found(2);
  assertEquals([other.at, other.written, other.settled], ["resting", "prepared lost", []]);
  other.know({ epoch: 4 }).step({ type: "moved", by: "commit" });
  assertEquals(other.state.commit.at === "resting" && other.state.commit.until, "pause");
  assertEquals(other.time().at, "preparing");
  const none = conflict().found();
  assertEquals([none.written, none.at], ["prepared refused", "resting"]);
});

Deno.test("own commits: a log that is behind us is tried three times, and left open by the last member", () => {
  const agent = new Agent().change();
  for (let tries = 0; tries < 3; tries++) {
    agent.prepared(commitOf(tries)).refused("epoch_conflict", { epoch: 2 }).found().time();
  }
  assertEquals([agent.settled, agent.at], [["behind"], "none"]);
  const last = sent({ isLast: true }).refused("epoch_conflict", { epoch: 2 }).found();
  assertEquals([last.settled, last.at], [["behind"], "open"]);
});

Deno.test("own commits: an answer that is lost is asked for, and the same bytes go again, five times", () => {
  const agent = sent();
  for (let sends = 1; sends < 5; sends++) {
    assertEquals(agent.refused("transport_error").found().at, "sent");
  }
  agent.refused("transport_error");
  assertEquals([agent.at, agent.count("send"), agent.settled], ["open", 5, ["transport_error"]]);
  assertEquals(
    sent().refused("transport_error").refused("connection_error").at,
    "open",
    "the log is not heard",
  );
});

Deno.test("own commits: one at which the relay itself fails is given up with its last copy, and plans go on", () => {
  const agent = sent();
  for (let sends = 1; sends < 5; sends++) {
    assertEquals(agent.refused("internal").found().at, "sent");
  }
  assertEquals([agent.refused("internal").at, agent.settled], ["none", ["internal"]]);
  assertEquals([agent.written, agent.state.given.length], ["prepared given", 1]);
  assertEquals(agent.change().found().at, "preparing");
  assertEquals(open().step({ type: "look" }).refused("internal").written, "given");
});

Deno.test("own commits: a plan with nothing to do waits for what became of those before it", () => {
  const nothing: Partial<CommitFacts<string>> = { planOf: () => "nothing" };
  const behind = open().know(nothing).change();
  assertEquals([behind.at, behind.settled, behind.taken().settled], ["sent", [], []]);
  assertEquals(behind.know({ epoch: 4 }).step({ type: "moved", by: "own" }).settled, ["nothing"]);
  assertEquals(
    open().know(nothing).change().refused("transport_error").refused("overloaded").settled,
    ["overloaded"],
  );
  const given = new Agent({ given: [commitOf(9)] }).know(nothing).change();
  assertEquals([given.at, given.settled, given.found().settled], ["checking", [], ["nothing"]]);
});

Deno.test("own commits: a plan that lost against the commit at which we stop waits for the next generation", () => {
  const agent = sent().refused("epoch_conflict", { epoch: 4 }).found(2).know({
    isStopped: true,
    work: undefined,
  });
  assertEquals([agent.step({ type: "look" }).at, agent.settled], ["resting", []]);
  const begun = agent.know({ epoch: 9 }).step({ type: "moved", by: "generation" });
  assertEquals([begun.at, begun.settled], ["none", []]);
  assertEquals([begun.know({ ...calm, epoch: 9 }).step({ type: "look" }).at, begun.settled], [
    "preparing",
    [],
  ]);
  const late = sent().refused("epoch_conflict", { epoch: 4 }).found(2).know({
    isStopped: true,
    work: undefined,
  });
  assertEquals(late.time().settled, ["stopped"]);
});

Deno.test("own commits: one that is lost with its connection waits half a minute for a permit, and goes again", () => {
  const held = sent().know(offline).refused("connection_error");
  assertEquals([held.at, held.count("find"), held.settled], ["asking", 0, []]);
  assertEquals(
    held.step({ type: "fate", call: 9 }).refused("transport_error").at,
    "asking",
    "lost once more",
  );
  assertEquals(held.know(calm).step({ type: "look" }).found().at, "sent");
  const found = sent().know(offline).refused("connection_error").step({ type: "fate", call: 9 });
  assertEquals(
    [found.found(1).at, found.settled],
    ["entering", ["made"]],
    "the connection's question tells",
  );
  const late = sent().know(offline).refused("connection_error");
  late.step({ type: "time", timer: late.state.plans[0]?.timer ?? 0 });
  assertEquals([late.at, late.settled], ["open", ["offline"]]);
  const stopped = sent().know(offline).refused("connection_error").know({ isStopped: true }).step({
    type: "look",
  });
  assertEquals([stopped.at, stopped.settled], ["open", ["stopped"]]);
  const busy = sent().know(offline).refused("connection_error").step({ type: "fate", call: 9 });
  assertEquals([busy.refused("overloaded").at, busy.settled], ["open", ["overloaded"]]);
});

Deno.test("own commits: a refusal gives up: without a trace but its hash, or as one that the relay may take yet", () => {
  const only = sent().refused("storage_full");
  assertEquals([only.written, only.settled, only.state.given.length], ["prepared refused", [
    "storage_full",
  ], 0]);
  const second = sent().refused("transport_error").found().refused("storage_full");
  assertEquals([second.written, second.state.given.length], ["prepared given", 1]);
  const busy = sent().refused("overloaded", { isBusy: true });
  assertEquals([busy.written, busy.at], ["prepared given", "none"]);
  const last = sent({ isLast: true }).refused("overloaded", { isBusy: true });
  assertEquals([last.written, last.at, last.settled], ["prepared", "open", ["overloaded"]]);
});

Deno.test("own commits: leavers that the relay refuses are left out once in an epoch, and never by an owner", () => {
  const leavers = { removesLeavers: true };
  const agent = sent(leavers).refused("not_allowed");
  assertEquals([agent.at, agent.settled], ["preparing", []]);
  assertEquals(agent.prepared(commitOf(2, leavers)).refused("not_allowed").settled, [
    "not_allowed",
  ]);
  const owner = new Agent().know({ isOwner: true }).change().prepared(commitOf(1, leavers)).refused(
    "not_allowed",
  );
  assertEquals(owner.settled, ["not_allowed"]);
  const duty = new Agent().know({ planOf: (_, isWithout) => isWithout ? "nothing" : "change" })
    .change();
  assertEquals(duty.prepared(commitOf(1, leavers)).refused("not_allowed").settled, ["nothing"]);
});

Deno.test("own commits: other keys than the log's group lead outside", () => {
  const agent = sent().refused("state_conflict");
  assertEquals([agent.findings, agent.settled], [["outside"], ["state_conflict"]]);
});

Deno.test("own commits: an open one is sent again with a permit, by its time, or for a plan behind it", () => {
  const agent = open();
  assertEquals([agent.at, agent.know(offline).step({ type: "look" }).at], ["open", "open"]);
  assertEquals(agent.know(calm).step({ type: "look" }).at, "sent");
  assertEquals(agent.refused("storage_full").written, "given");
  const again = open().step({ type: "look" });
  assertEquals(
    [again.refused("transport_error").at, again.count("send")],
    ["open", 1],
    "one copy each time",
  );
  assertEquals([again.step({ type: "look" }).at, again.time().at], ["open", "sent"]);
  const waitedFor = open().change();
  for (let sends = 1; sends < 5; sends++) {
    assertEquals(waitedFor.refused("transport_error").found().at, "sent");
  }
  assertEquals([waitedFor.refused("transport_error").at, waitedFor.settled], ["open", [
    "transport_error",
  ]]);
  const adding = open({ adds: true }).step({ type: "look" });
  assertEquals([adding.at, adding.found().written, adding.at], ["asking", "given", "none"]);
  const behind = open().change();
  assertEquals([behind.at, behind.taken().settled], ["sent", []], "entered for nobody");
  assertEquals(behind.know({ epoch: 4 }).step({ type: "moved", by: "own" }).at, "preparing");
  assertEquals(open().change().know(offline).refused("connection_error").settled, [
    "connection_error",
  ]);
});

Deno.test("own commits: of those given at most eight are kept, and before another commit the log is asked for them", () => {
  const given = Array.from({ length: 8 }, (_, at) => commitOf(10 + at));
  const agent = new Agent({ given, candidate: commitOf(1, { adds: true }) }).step({ type: "look" })
    .found();
  assertEquals([agent.state.given.length, agent.state.given[0]], [8, given[1]]);
  const next = new Agent({ given }).change();
  assertEquals([next.at, next.found().at], ["checking", "preparing"]);
  assertEquals(new Agent({ given }).change().found(12).settled, [], "entered; the plan goes on");
  assertEquals(new Agent({ given }).change().refused("overloaded").settled, ["overloaded"]);
});

Deno.test("own commits: an entry waits until a commit of ours explains it, or does not", () => {
  const entry = { type: "entry", reading: 5 } as const;
  assertEquals(new Agent().step(entry).explained, ["not_ours"]);
  assertEquals(sent().step(entry).explained, []);
  assertEquals(sent().step(entry).taken().explained, ["settled"]);
  const given = new Agent({ given: [commitOf(9)] }).step(entry);
  assertEquals([given.count("find"), given.found(9).findings], [1, ["entered"]]);
  assertEquals(new Agent({ given: [commitOf(9)] }).step(entry).found(2).explained, ["settled"]);
  assertEquals(new Agent({ given: [commitOf(9)] }).step(entry).found().explained, ["not_ours"]);
  assertEquals(new Agent({ given: [commitOf(9)] }).step(entry).refused("overloaded").explained, [
    "unknown",
  ]);
  const older = sent().refused("transport_error").step(entry).found();
  assertEquals(
    [older.explained, older.count("find"), older.at],
    [[], 2, "asking"],
    "an answer from before the entry",
  );
});

Deno.test("own commits: an answer that is older than a copy of ours does not count for it", () => {
  const agent = new Agent({ given: [commitOf(9)] }).change().found().step({
    type: "entry",
    reading: 5,
  });
  const { question = 0 } = agent.state;
  agent.prepared().step({ type: "found", call: question, found: { epoch: 3 } });
  assertEquals([agent.at, agent.explained, agent.state.question], ["sent", [], undefined]);
  assertEquals([agent.refused("epoch_conflict", { epoch: 4 }).at, agent.count("find")], [
    "asking",
    3,
  ]);
  assertEquals(
    [agent.found(9).at, agent.explained],
    ["entering", ["settled"]],
    "one given had won",
  );
});

Deno.test("own commits: behind a goodbye nothing is sent", () => {
  const goodbye = { departure: "goodbye" } as const;
  const lost = sent().know(goodbye).refused("transport_error");
  assertEquals([lost.at, lost.count("send")], ["open", 1]);
  assertEquals(open().know(goodbye).step({ type: "look" }).at, "open");
  assertEquals(
    lost.know({ departure: "staying" }).step({ type: "time", timer: lost.state.again ?? 0 }).at,
    "sent",
  );
});

Deno.test("own commits: the connection is told what became of them", () => {
  const told = (agent: Agent): number => agent.step({ type: "fate", call: 9 }).count("fate_told");
  assertEquals([told(new Agent()), told(sent())], [1, 1]);
  const asked = open().know(offline);
  assertEquals([told(asked), asked.count("find"), asked.found(1).count("fate_told")], [0, 1, 1]);
  assertEquals(asked.findings, ["entered"]);
  const twice = open().know(offline).step({ type: "fate", call: 9 }, { type: "fate", call: 10 });
  const toldOf = (): unknown[] =>
    twice.effects.flatMap((each) => each.type === "fate_told" ? [each.call, each.why?.code] : []);
  assertEquals(toldOf(), [9, "connection_error"]);
  twice.found();
  assertEquals(toldOf(), [9, "connection_error", 10, undefined]);
});

Deno.test("own commits: one that another commit overtook is looked for once more: the relay may have taken both", () => {
  const overtaken = (agent: Agent): Agent =>
    agent.know({ epoch: 4 }).step({ type: "moved", by: "commit" });
  assertEquals(overtaken(sent()).at, "overtaken");
  const both = overtaken(sent()).taken();
  assertEquals([both.findings, both.settled], [["outside"], ["forked"]]);
  assertEquals(overtaken(sent()).refused("epoch_conflict").at, "resting");
  const asking = overtaken(sent().refused("transport_error"));
  assertEquals([asking.at, asking.found(1).findings], ["overtaken", ["outside"]]);
  const given = overtaken(new Agent({ given: [commitOf(9)] }));
  assertEquals([given.at, given.found(2).at], ["overtaken", "none"]);
});

Deno.test("own commits: with another generation or membership everything of before is void, and plans go on", () => {
  for (const by of ["generation", "membership"] as const) {
    const agent = sent().know({ epoch: 9 }).step({ type: "moved", by });
    assertEquals([agent.at, agent.state.given.length], ["preparing", 0]);
  }
});

Deno.test("own commits: a plan that loses forty races is told so", () => {
  const agent = new Agent().change();
  for (let races = 0; races < 40; races++) {
    agent.prepared(commitOf(1, { epoch: 3 + races })).refused("epoch_conflict").found(2);
    agent.know({ epoch: 4 + races }).step({ type: "moved", by: "commit" }).time();
  }
  assertEquals(agent.settled, ["faster"]);
});

Deno.test("own commits: a plan whose winner does not arrive is told so, and prepares nothing", () => {
  const agent = sent().refused("epoch_conflict", { epoch: 9 }).found(2, 9);
  const { commit } = agent.state;
  assertEquals(commit.at === "resting" && commit.until === "epoch" && commit.logEpoch, 9);
  assertEquals([agent.time().settled, agent.at, agent.count("prepare")], [
    ["not_arrived"],
    "none",
    1,
  ]);
  const conflict = sent().refused("epoch_conflict", { epoch: 7 }).refused("overloaded");
  assertEquals([conflict.time().settled, conflict.count("prepare")], [["not_arrived"], 1]);
});

Deno.test("own commits: members can follow the last one of an epoch that the pace allows", () => {
  const agent = new Agent().know({ made: 500 }).change().prepared().refused("storage_full")
    .change();
  assertEquals(agent.settled, ["storage_full", "pace"]);
  assertEquals(
    agent.step({ type: "time", timer: agent.state.rest?.timer ?? 0 }).change().at,
    "preparing",
  );
  assertEquals(new Agent().know({ made: 8001 }).change().settled, ["pace"]);
  assertEquals(new Agent().know({ made: 8001, isAlone: true }).change().at, "preparing");
});

Deno.test("own commits: a process that starts is as one that has forgotten what is in memory alone", () => {
  const agent = sent().refused("transport_error").found().refused("storage_full").change().found()
    .prepared(
      commitOf(2),
    );
  const candidate = candidateOf(agent.state.commit);
  assertEquals([agent.state.given.length, candidate?.hash[0]], [1, 2]);
  assertEquals(forgetCommits(agent.state), restoreCommits({ candidate, given: agent.state.given }));
});
