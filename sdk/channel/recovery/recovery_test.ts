/**
 * Every transition of stopping, generations and coming back, one by one. Orders of events are tried
 * in tests/small_worlds.
 */
import { assert, assertEquals } from "@std/assert";
import { type AgentId, foundingEpoch } from "../../../proto/mod.ts";
import { stepRecovery } from "./recovery.ts";
import { applied, forget, noRecords, type RecoveryRecords, restore } from "./recovery_records.ts";
import { backOf } from "./recovery_run.ts";
import type {
  ExclusionChoice,
  RecoveryChange,
  RecoveryEffect,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryFinding,
  RecoveryRefusal,
  RecoveryRequest,
  RecoveryState,
  RecoveryWork,
  RecoveryWorkResult,
  RejoinKeyPackage,
  UnfollowableCommit,
} from "./recovery_state.ts";
import { mayHear } from "./way_back.ts";

const [self, owner, member, blamed] = [
  agent("self"),
  agent("owner"),
  agent("member"),
  agent("blamed"),
];
const bad: UnfollowableCommit = {
  sequence: 5,
  epoch: 3,
  hash: "bad",
  blamed,
  reason: "no path",
  sinceMs: 0,
};
const foreign = { generation: 1, founder: blamed, reason: "no owner" };
const hourMs = 60 * 60 * 1000;
const lost: RecoveryRefusal = { code: "transport_error", text: "lost" };

function agent(name: string): AgentId {
  // cast: a letter for an agent
  return name as AgentId;
}

const facts: RecoveryFacts = {
  // The tests of this room need no real one.
  permit: JSON.parse('{"number":1}'),
  isOnline: true,
  epoch: 3,
  logGeneration: 0,
  leaf: "leaf",
  badges: "",
  base: "base",
  self: { agentId: self, owner: true },
  others: [{ agentId: owner, owner: true }, { agentId: member, owner: false }, {
    agentId: blamed,
    owner: false,
  }],
  members: [self, owner, member, blamed],
  claimable: [owner, member, blamed],
  leftOut: { list: [], ofDoor: [], counted: 4, needsChoice: false },
  isAllHere: true,
  isAllRead: true,
  isAllShown: true,
  isLeaving: false,
  welcomes: [],
  nowMs: 100 * hourMs,
  relayNowMs: 0,
  jitter: (ms) => ms,
};
const noPermit = { permit: undefined };

/** An agent with its room, its disk, what it knows, and the latest step. */
class Agent {
  readonly state: RecoveryState;
  records: RecoveryRecords;
  facts = facts;
  write: readonly RecoveryChange[] = [];
  effects: readonly RecoveryEffect[] = [];

  constructor(records: Partial<RecoveryRecords> = {}, known: Partial<RecoveryFacts> = {}) {
    this.records = { ...noRecords, ...records };
    this.state = restore(this.records);
    this.knows(known);
  }

  knows(known: Partial<RecoveryFacts>): this {
    this.facts = { ...this.facts, ...known };
    return this;
  }

  step(event: RecoveryEvent): this {
    const { write, effects } = stepRecovery(this.state, event, this.facts);
    [this.write, this.effects] = [write, effects];
    this.records = applied(this.records, write);
    if (!this.state.isOver) {
      assertEquals(restore(this.records), forget(this.state), "a restart makes another state");
    }
    return this;
  }

  get at(): string {
    return this.state.place.at;
  }

  get back(): string | undefined {
    return backOf(this.state.place)?.step.at;
  }

  get founding(): string {
    return this.state.founding.at;
  }

  get findings(): readonly RecoveryFinding["type"][] {
    return this.effects.flatMap((effect) => effect.type === "finding" ? [effect.finding.type] : []);
  }

  get reports(): readonly string[] {
    return this.effects.flatMap((effect) => effect.type === "report" ? [effect.report.kind] : []);
  }

  get settled(): readonly (string | undefined)[] {
    return this.effects.flatMap((effect) =>
      effect.type === "settle" ? [effect.refusal?.text ?? "resolved"] : []
    );
  }

  get asked(): RecoveryRequest["to"] | undefined {
    return this.#call?.request.to;
  }

  get works(): RecoveryWork["of"] | undefined {
    return this.#job?.work.of;
  }

  get writes(): readonly string[] {
    return this.write.map(({ type }) => type);
  }

  #lastCall: Extract<RecoveryEffect, { type: "call" }> | undefined;
  get #call(): Extract<RecoveryEffect, { type: "call" }> | undefined {
    return this.effects.findLast((effect) => effect.type === "call");
  }

  get #job(): Extract<RecoveryEffect, { type: "job" }> | undefined {
    return this.effects.findLast((effect) => effect.type === "job");
  }

  /** The call of the latest step, or the one before that is kept. */
  keep(): this {
    this.#lastCall = this.#call;
    return this;
  }

  get #its(): number {
    return (this.#call ?? this.#lastCall)?.call ?? 0;
  }

  /** That the next answer is for. */
  get call(): number {
    return this.#its;
  }

  answer(answer: Extract<RecoveryEvent, { type: "answered" }>["answer"]): this {
    return this.step({ type: "answered", call: this.#its, answer });
  }

  find(hash?: string, sequence = 7): this {
    return this.answer({
      to: "FindCommit",
      ...(hash !== undefined && { commit: { sequence, hash } }),
    });
  }

  refuse(code: string, epoch?: number): this {
    const refusal = { code, text: code };
    return this.step({
      type: "refused",
      call: this.#its,
      refusal,
      ...(epoch !== undefined && { epoch }),
    });
  }

  lose(): this {
    return this.step({ type: "lost", call: this.#its, refusal: lost });
  }

  done(result: RecoveryWorkResult): this {
    return this.step({ type: "done", job: this.#job?.job ?? 0, result });
  }

  get timer(): number {
    return this.effects.findLast((effect) => effect.type === "wake")?.timer ?? 0;
  }

  time(): this {
    return this.step({ type: "time", timer: this.timer });
  }
}

const stopped = (known: Partial<RecoveryFacts> = {}): Agent => new Agent({ stopped: bad }, known);
const ours = { hash: "F", generation: 1, badCommit: "bad", base: "base", members: 3, without: [] };
const own = { reference: "kp", leaf: "kp leaf", badges: "", notBeforeMs: 0, notAfterMs: Infinity };

/** Outside, and it has asked. */
function asked(
  by: "out_of_step" | "doubt" = "out_of_step",
  known: Partial<RecoveryFacts> = {},
): Agent {
  const agent = new Agent({}, known);
  agent.step(
    by === "doubt" ? { type: by, by: "word", reason: "why" } : { type: by, reason: "why" },
  );
  return agent.done({ of: "request", own }).answer({ to: "RequestRejoin", requestId: "r" });
}

/** Has sent a founding. */
function sent(known: Partial<RecoveryFacts> = {}): Agent {
  const agent = stopped(known).step({ type: "recover", operation: 1, choice: {} });
  agent.answer({ to: "ClaimForFounding" });
  return agent.done({ of: "founding", made: { hash: "F", members: 3 } }).keep();
}

Deno.test("a commit that cannot be followed stops the channel, and a way back goes on", () => {
  const agent = new Agent().step({ type: "cannot_follow", bad, reason: "why" });
  assertEquals([agent.at, agent.writes[0], agent.findings], ["stopped", "stopped", [
    "all_arrived",
    "stopped",
  ]]);
  assertEquals(agent.back, "making");
  const outside = asked("doubt").step({ type: "cannot_follow", bad, reason: "why" });
  assertEquals([outside.at, outside.back], ["stopped", "asked"]);
  const apart = new Agent({ foreign }).step({ type: "cannot_follow", bad, reason: "why" });
  assertEquals([apart.at, apart.back, apart.records.stopped], ["apart", undefined, bad]);
  assertEquals(
    new Agent().step({ type: "cannot_follow", bad: undefined, reason: "why" }).at,
    "outside",
  );
});

Deno.test("out of step keeps a stop and its bad commit, and moves a member outside", () => {
  const agent = new Agent().step({ type: "out_of_step", reason: "why" });
  assertEquals([agent.at, agent.findings, agent.writes], ["outside", ["outside"], ["came_back"]]);
  const before = stopped().step({ type: "out_of_step", reason: "why" });
  assertEquals([before.at, before.back, before.records.stopped], ["stopped", "making", bad]);
  const apart = new Agent({ foreign }).step({ type: "out_of_step", reason: "why" });
  assertEquals([apart.at, apart.back, apart.findings], ["apart", undefined, ["outside"]]);
});

Deno.test("what a doubt begins a permit ends, and what members signed it does not", () => {
  const word = asked("doubt").step({ type: "permit" });
  assertEquals([word.at, word.findings], ["in_step", ["in_step"]]);
  assertEquals(asked().step({ type: "permit" }).at, "outside");
  const lapsed = new Agent().step({ type: "doubt", by: "lapse", reason: "away" }).step({
    type: "permit",
  });
  assertEquals(lapsed.at, "outside");
  const stop = stopped({ isAllShown: false }).step({ type: "doubt", by: "log", reason: "why" });
  assertEquals([stop.at, stop.back], ["stopped", "making"]);
  assertEquals(stop.step({ type: "permit" }).back, undefined);
  assertEquals(
    new Agent({ foreign }).step({ type: "doubt", by: "store", reason: "why" }).at,
    "apart",
  );
});

Deno.test("a doubt does not change the ground of a way back that runs", () => {
  const agent = stopped().step({ type: "all_shown" }).step({
    type: "doubt",
    by: "log",
    reason: "why",
  });
  assertEquals(backOf(agent.state.place)?.by, "stop");
});

Deno.test("the log takes a stop back, or moves it", () => {
  const other = stopped().step({
    type: "stop_found",
    epoch: 4,
    commit: { sequence: 5, hash: "other" },
  });
  assertEquals([other.at, other.reports, other.records.stopped], [
    "in_step",
    ["log_set_back"],
    undefined,
  ]);
  assertEquals(stopped().step({ type: "stop_found", epoch: 3 }).at, "in_step");
  assertEquals(stopped().step({ type: "stop_found", epoch: 4 }).at, "stopped");
  assertEquals(stopped().step({ type: "stop_found", epoch: foundingEpoch(1) }).at, "stopped");
  const moved = stopped().step({
    type: "stop_found",
    epoch: 4,
    commit: { sequence: 9, hash: "bad" },
  });
  assertEquals([moved.at, moved.records.stopped?.sequence], ["stopped", 9]);
  const apart = new Agent({ stopped: bad, foreign }).step({ type: "stop_found", epoch: 3 });
  assertEquals([apart.at, apart.records.stopped], ["apart", undefined]);
});

Deno.test("a log in an earlier generation takes a foreign one back", () => {
  assertEquals(new Agent({ foreign }).step({ type: "log_at", generation: 0 }).at, "in_step");
  assertEquals(
    new Agent({ foreign, stopped: bad }).step({ type: "log_at", generation: 0 }).at,
    "stopped",
  );
  assertEquals(new Agent({ foreign }).step({ type: "log_at", generation: 1 }).at, "apart");
});

Deno.test("a founding is followed with a permit only, from every place that it may reach", () => {
  const event = {
    type: "founding",
    generation: 1,
    founder: owner,
    out: [blamed],
    verdict: "follow",
    reason: "",
  } as const;
  assertEquals(stopped(noPermit).step(event).findings, ["hold"]);
  for (
    const records of [{}, { stopped: bad }, { foreign }, {
      foreign,
      stopped: bad,
      foundings: [ours],
    }]
  ) {
    const agent = new Agent(records).step(event);
    assertEquals(agent.works, "generation");
    agent.done({ of: "generation", why: undefined });
    assertEquals([agent.at, agent.findings, agent.reports], ["in_step", ["generation"], [
      "recovered",
    ]]);
    assertEquals(agent.records, noRecords);
  }
  const lostIt = stopped().step(event).knows(noPermit).done({ of: "generation", why: undefined });
  assertEquals([lostIt.at, lostIt.writes], ["stopped", []]);
  const behind = stopped().step(event).done({ of: "generation", why: "not welcomed" });
  assertEquals([behind.at, backOf(behind.state.place)?.generation, behind.records.stopped], [
    "outside",
    1,
    undefined,
  ]);
});

Deno.test("a founding is behind, ahead or refused", () => {
  const event = {
    type: "founding",
    generation: 1,
    founder: blamed,
    out: [blamed],
    reason: "why",
  } as const;
  const behind = stopped().step({ type: "all_shown" }).step({ ...event, verdict: "behind" });
  assertEquals([behind.at, behind.reports, backOf(behind.state.place)?.by], ["outside", [
    "begun_anew",
  ], "commits"]);
  const ahead = stopped().step({ type: "all_shown" }).step({ ...event, verdict: "ahead" });
  assertEquals([ahead.at, ahead.reports, ahead.back], ["stopped", ["begun_ahead"], "making"]);
  assertEquals(ahead.step({ ...event, verdict: "ahead" }).reports, []);
  const refused = stopped().step({ type: "all_shown" }).step({ ...event, verdict: "refused" });
  assertEquals([refused.at, refused.back, refused.records.stopped], ["apart", undefined, bad]);
  assertEquals(refused.step({ ...event, generation: 2, verdict: "refused" }).writes, []);
  assertEquals(refused.step({ ...event, generation: 2, verdict: "ahead" }).back, undefined);
});

Deno.test("a Welcome lets in: the membership is written, and a stop with it", () => {
  const welcome = { welcome: 9, sender: member };
  const agent = asked().step({ type: "welcome", told: welcome });
  agent.done({ of: "welcome", opened: { own: "kp", generation: 0, members: [] } });
  assertEquals([agent.at, agent.writes, agent.findings], ["in_step", ["membership"], [
    "membership",
  ]]);
  const stop = new Agent({ stopped: bad, foundings: [ours] }).step({ type: "all_shown" });
  stop.done({ of: "request", own }).answer({ to: "RequestRejoin", requestId: "r" });
  stop.step({ type: "welcome", told: welcome }).done({
    of: "welcome",
    opened: { own: "kp", generation: 0, members: [] },
  });
  assertEquals([stop.at, stop.records.stopped, stop.records.foundings.length], [
    "in_step",
    undefined,
    1,
  ]);
  assertEquals(stop.records.returnedMs, facts.nowMs);
});

Deno.test("a Welcome that was opened while the channel was not stopped is opened again", () => {
  const agent = asked("doubt").step({ type: "welcome", told: { welcome: 9, sender: member } });
  const job = agent.effects.find((effect) => effect.type === "job");
  agent.step({ type: "cannot_follow", bad, reason: "why" });
  agent.step({
    type: "done",
    job: job?.job ?? 0,
    result: { of: "welcome", opened: { own: "kp", generation: 0, members: [] } },
  });
  assertEquals([agent.at, agent.works, agent.writes], ["stopped", "welcome", []]);
});

Deno.test("a commit that removes us is an answer while we ask, and the end when what made us ask is taken back", () => {
  const removed = { type: "removed", isAgain: false, reason: "removed" } as const;
  assertEquals(new Agent().step(removed).findings, ["gone"]);
  assertEquals(new Agent().step({ ...removed, isAgain: true }).at, "outside");
  const agent = asked("doubt").step(removed);
  assertEquals(agent.findings, []);
  assertEquals(agent.step({ type: "permit" }).findings, ["in_step", "gone"]);
});

Deno.test("the end of the channel counts when nothing is asked, or it was begun anew without us", () => {
  assertEquals(new Agent().step({ type: "ended", isRecovered: false }).findings, ["over"]);
  assertEquals(asked().step({ type: "ended", isRecovered: false }).findings, []);
  assertEquals(asked().step({ type: "ended", isRecovered: true }).findings, ["over"]);
});

Deno.test("recover() is refused where it is not offered", () => {
  const event = { type: "recover", operation: 1, choice: {} } as const;
  assertEquals(new Agent().step(event).settled, ["not_stopped"]);
  assertEquals(new Agent({ foreign }).step(event).settled, ["apart"]);
  assertEquals(stopped({ self: { agentId: self, owner: false } }).step(event).settled, [
    "not_offered",
  ]);
  const early = stopped({ nowMs: 1000 });
  assertEquals(early.step(event).settled, ["not_offered"]);
  for (const agentId of [owner, member]) early.step({ type: "asker", agentId, generation: 0 });
  assertEquals(early.step(event).settled, []);
  assertEquals(stopped({ isLeaving: true }).step(event).settled, ["leaving"]);
  assertEquals(stopped(noPermit).step(event).settled, ["no_permit"]);
  const apart = new Agent({ stopped: bad, foreign }).step(event);
  assertEquals(apart.asked, "ClaimForFounding");
});

Deno.test("recover() waits for what stands in front of the stop, a limited number of times", () => {
  const agent = stopped({ isAllHere: false }).step({ type: "recover", operation: 1, choice: {} });
  assertEquals([agent.founding, agent.asked], ["probing", "FindCommit"]);
  for (let times = 1; times <= 5; times++) {
    agent.find();
    assertEquals(agent.founding, "arriving");
    const wait = agent.effects.find((effect) => effect.type === "await_arrival");
    agent.step({ type: "arrived", operation: wait?.operation ?? 0, isLate: false });
  }
  assertEquals(agent.founding, "claiming");
  const offline = stopped({ isAllHere: false }).step({ type: "recover", operation: 1, choice: {} });
  assertEquals(offline.lose().settled, ["lost"]);
});

Deno.test("a founding is on disk before it is sent, and the same bytes go again", () => {
  const agent = sent();
  assertEquals([agent.writes, agent.asked, agent.founding], [
    ["founding"],
    "FoundGeneration",
    "sent",
  ]);
  assertEquals(agent.lose().settled, ["lost"]);
  agent.step({ type: "recover", operation: 2, choice: {} });
  assertEquals([agent.asked, agent.writes], ["FoundGeneration", []]);
  agent.answer({ to: "FoundGeneration", sequence: 7 });
  assertEquals([agent.at, agent.settled, agent.findings], ["in_step", ["resolved"], [
    "founding_settled",
    "generation",
  ]]);
});

Deno.test("a founding that was taken without a permit is entered with the next connection", () => {
  const agent = sent().knows(noPermit).answer({ to: "FoundGeneration", sequence: 7 });
  assertEquals([agent.at, agent.founding], ["stopped", "following"]);
  agent.knows({ permit: facts.permit }).step({ type: "permit" }).find("F");
  assertEquals([agent.at, agent.settled], ["in_step", ["resolved"]]);
});

Deno.test("a refusal is believed behind the log", () => {
  assertEquals(sent().refuse("overloaded").find("F").at, "in_step");
  assertEquals(sent().refuse("overloaded").find().settled, ["overloaded"]);
  assertEquals(sent().refuse("epoch_conflict").find("other").founding, "following");
  const another = sent().refuse("invalid_request").find();
  assertEquals([another.founding, another.records.foundings], ["claiming", []]);
  const kept = sent().lose().step({ type: "recover", operation: 2, choice: {} }).refuse(
    "invalid_request",
  ).find();
  assertEquals([kept.founding, kept.records.foundings.length], ["claiming", 1]);
  const heard = sent().refuse("rate_limited").refuse("overloaded");
  assertEquals(heard.settled, ["rate_limited"]);
});

Deno.test("without a permit recover() follows when the members of its own founding can let it in", () => {
  const agent = new Agent({ stopped: bad, foundings: [ours] }, noPermit).step({
    type: "recover",
    operation: 1,
    choice: {},
  });
  assertEquals([agent.founding, agent.asked], ["looking", "FindCommit"]);
  assertEquals(agent.find("F").founding, "following");
  const alone = new Agent({ stopped: bad, foundings: [{ ...ours, members: 1 }] }, noPermit);
  assertEquals(alone.step({ type: "recover", operation: 1, choice: {} }).find("F").settled, [
    "no_permit",
  ]);
});

Deno.test("recover() is refused when the log takes the stop back from an agent that is apart; what was sent goes on", () => {
  const takenBack: RecoveryEvent = {
    type: "stop_found",
    epoch: bad.epoch,
    commit: { sequence: 5, hash: "other" },
  };
  const apart = (): Agent =>
    new Agent({ stopped: bad, foreign }).step({ type: "recover", operation: 1, choice: {} });
  const claiming = apart();
  assertEquals(claiming.founding, "claiming");
  claiming.step(takenBack);
  assertEquals([claiming.at, claiming.founding, claiming.settled], ["apart", "none", ["apart"]]);
  const going = apart().answer({ to: "ClaimForFounding" }).done({
    of: "founding",
    made: { hash: "F", members: 3 },
  });
  going.step(takenBack);
  assertEquals([going.founding, going.settled], ["sent", ["apart"]]);
});

Deno.test("following ends with the generation, with a refusal of it, or with its time", () => {
  const follows = (): Agent => sent().refuse("epoch_conflict").find("other");
  assertEquals(follows().time().settled, ["not_followed"]);
  const refused = {
    type: "founding",
    generation: 1,
    founder: blamed,
    out: [blamed],
    verdict: "refused",
    reason: "",
  } as const;
  assertEquals(follows().step(refused).settled, ["apart"]);
  const followed = follows().step({ ...refused, verdict: "follow" }).done({
    of: "generation",
    why: undefined,
  });
  assertEquals(followed.settled, ["resolved"]);
});

Deno.test("a founding of ours in the log is entered from its base", () => {
  const agent = new Agent({ stopped: bad, foundings: [ours] }).step({ type: "permit" });
  assertEquals(agent.asked, "FindCommit");
  assertEquals(agent.find("F").at, "in_step");
  const other = new Agent({ stopped: bad, foundings: [ours] }).step({ type: "permit" }).find(
    "other",
  );
  assertEquals([other.at, other.back], ["stopped", "making"]);
  const busy = new Agent({ stopped: bad, foundings: [ours] }).step({ type: "permit" }).refuse(
    "overloaded",
  );
  assertEquals(busy.findings, ["retry"]);
});

Deno.test("from another group it is entered only when a member signed that it left for it", () => {
  const away = (): Agent => new Agent({ foundings: [ours] }, { base: "later", logGeneration: 1 });
  assertEquals(away().step({ type: "permit" }).find("F").at, "in_step");
  assertEquals(away().step({ type: "permit" }).find("F").writes, []);
  const agent = away().step({ type: "asker", agentId: member, generation: 1 }).find("F");
  assertEquals(agent.writes, ["generation"]);
});

Deno.test("a founding that its founder gave up by going on is deleted; one that is kept over a Welcome is not", () => {
  const agent = new Agent({ foundings: [ours] }).step({ type: "moved", from: "base" });
  assertEquals(agent.records.foundings, []);
  const kept = new Agent({ foundings: [ours] }, { base: "later" }).step({
    type: "moved",
    from: "welcomed",
  });
  assertEquals(kept.records.foundings, [ours]);
});

Deno.test("leaving gives up a founding that was not sent, and settles one that was", () => {
  const agent = stopped().step({ type: "recover", operation: 1, choice: {} }).step({
    type: "leaves",
  });
  assertEquals([agent.settled, agent.founding, agent.findings], [["leaving"], "none", [
    "founding_settled",
  ]]);
  const under = sent().step({ type: "leaves" });
  assertEquals(under.findings, []);
  const settling = new Agent({ stopped: bad, foundings: [ours] }).step({ type: "leaves" });
  assertEquals([settling.asked, settling.findings], ["FindCommit", []]);
  settling.keep().step({ type: "halt" }).find("F");
  assertEquals([settling.at, settling.findings], ["stopped", ["founding_settled"]]);
  assertEquals(settling.step({ type: "permit" }).asked, undefined);
  assertEquals(settling.step({ type: "resume" }).asked, "FindCommit");
});

Deno.test("who leaves without a permit waits for a founding of ours that the log holds", () => {
  const agent = new Agent({ stopped: bad, foundings: [ours] }, noPermit).step({ type: "leaves" });
  assertEquals([agent.asked, agent.findings], ["FindCommit", []]);
  agent.find("F");
  assertEquals([agent.at, agent.findings], ["stopped", []]);
  agent.knows({ permit: facts.permit }).step({ type: "permit" }).find("F");
  assertEquals([agent.at, agent.findings.includes("generation")], ["in_step", true]);
  const unread = new Agent({ stopped: bad, foundings: [ours] }, { isAllRead: false }).step({
    type: "leaves",
  }).find(
    "F",
  );
  assertEquals(
    [unread.at, unread.findings],
    ["stopped", []],
    "messages in front of the stop come first",
  );
  assertEquals(
    unread.knows({ isAllRead: true }).step({ type: "stop_read", isStop: true }).find("F").at,
    "in_step",
  );
});

Deno.test("leaving is told that a founding is settled, also when the relay has refused it and something is not here any more", () => {
  const agent = sent();
  const sending = agent.call;
  agent.step({ type: "leaves" }).find();
  assertEquals(agent.findings, [], "it is on its way yet");
  agent.knows({ isLeaving: true, isAllHere: false });
  agent.step({ type: "refused", call: sending, refusal: { code: "invalid_request", text: "gone" } })
    .find();
  assertEquals([agent.settled, agent.founding, agent.findings], [["leaving"], "none", [
    "founding_settled",
  ]]);
});

Deno.test("a founding that was opened behind a halt comes again, and one of ours is asked for where it left us", () => {
  const event = {
    type: "founding",
    generation: 1,
    founder: owner,
    out: [blamed],
    verdict: "follow",
    reason: "",
  } as const;
  const agent = stopped().step(event);
  const job = agent.effects.find((effect) => effect.type === "job")?.job ?? 0;
  agent.step({ type: "halt" }).step({
    type: "done",
    job,
    result: { of: "generation", why: undefined },
  });
  assertEquals([agent.at, agent.writes], ["stopped", []]);
  assertEquals(agent.step({ type: "resume" }).findings, ["retry"]);
  assertEquals(agent.step({ type: "halt" }).step({ type: "resume" }).findings, []);
  const away = new Agent({ foundings: [ours] }, { base: "later", logGeneration: 1 });
  assertEquals(away.step({ type: "halt" }).step({ type: "resume" }).asked, "FindCommit");
});

Deno.test("a founding that was made on another group is not sent again, and one of ours that is in the log is entered, whichever it is", () => {
  const other = new Agent({ stopped: bad, foundings: [{ ...ours, base: "of before" }] });
  assertEquals(other.step({ type: "recover", operation: 1, choice: {} }).asked, "ClaimForFounding");
  const agent = new Agent({ stopped: bad, foundings: [{ ...ours, badCommit: "another" }] });
  agent.step({ type: "recover", operation: 1, choice: {} }).answer({ to: "ClaimForFounding" });
  agent.done({ of: "founding", made: { hash: "G", members: 3 } });
  agent.refuse("epoch_conflict").find("F");
  assertEquals([agent.at, agent.writes, agent.settled], ["in_step", ["generation"], ["resolved"]]);
});

Deno.test("a member that was removed while it asked is out when it refuses the generation that it asked to be in", () => {
  const agent = asked("doubt").step({ type: "removed", isAgain: false, reason: "removed" });
  agent.step({
    type: "founding",
    generation: 1,
    founder: blamed,
    out: [blamed],
    verdict: "refused",
    reason: "why",
  });
  assertEquals([agent.at, agent.findings], ["apart", ["all_arrived", "gone"]]);
});

Deno.test("a proof is looked for before the agent asks", () => {
  const doubt = { type: "doubt", by: "store", reason: "why", sent: 4 } as const;
  const agent = new Agent().step(doubt);
  assertEquals([agent.back, agent.asked], ["proving", "ReadOwn"]);
  agent.answer({ to: "ReadOwn" }).done({ of: "proof", isProof: true });
  assertEquals([agent.back, agent.reports, agent.state.isProven], [
    "making",
    ["store_rolled_back"],
    true,
  ]);
  assertEquals(new Agent().step(doubt).refuse("not_found").reports, ["store_unproven"]);
  const internal = { code: "internal", text: "internal" };
  const failing = new Agent().step(doubt);
  assertEquals(failing.step({ type: "lost", call: failing.call, refusal: internal }).reports, [
    "store_unproven",
  ]);
  const again = new Agent().step(doubt).lose();
  assertEquals(again.time().asked, "ReadOwn");
});

Deno.test("ways back are limited by the hour and by the day", () => {
  const [nowMs] = [facts.nowMs];
  const hour = new Agent({ cameBackMs: [nowMs - 3, nowMs - 2, nowMs - 1] });
  hour.step({ type: "doubt", by: "log", reason: "why" });
  assertEquals([hour.back, hour.reports], ["resting", ["too_many_reasons"]]);
  assertEquals(hour.time().back, "making");
  const day = new Agent({ cameBackMs: new Array(12).fill(nowMs - hourMs) }).step({
    type: "out_of_step",
    reason: "why",
  });
  assertEquals([day.back, day.reports], ["resting", ["too_many_returns"]]);
  assertEquals(day.time().back, "making", "the timer counts, whatever the clock says");
  assertEquals(
    new Agent({ stopped: bad, cameBackMs: new Array(12).fill(nowMs) }).step({ type: "all_shown" })
      .back,
    "making",
  );
});

Deno.test("a store that the relay doubts without naming anything of ours is reported", () => {
  const agent = new Agent().step({ type: "doubt", by: "store", reason: "why" });
  assertEquals([agent.reports, agent.back], [["store_unproven"], "making"]);
});

Deno.test("a rest goes on behind a halt, without a second report", () => {
  const [nowMs] = [facts.nowMs];
  const agent = new Agent({ cameBackMs: [nowMs - 3, nowMs - 2, nowMs - 1] });
  agent.step({ type: "doubt", by: "log", reason: "why" });
  const [wake] = agent.effects.filter((effect) => effect.type === "wake");
  agent.step({ type: "halt" });
  assertEquals(agent.back, "halted");
  agent.step({ type: "resume" });
  assertEquals([agent.back, agent.reports, agent.effects], ["resting", [], []]);
  agent.step({ type: "halt" }).step({ type: "time", timer: wake?.timer ?? 0 }).step({
    type: "resume",
  });
  assertEquals(agent.back, "making");
});

Deno.test("a Welcome that was looked at, or waited, before a halt is looked at behind it", () => {
  const agent = asked();
  for (const welcome of [9, 8]) agent.step({ type: "welcome", told: { welcome, sender: member } });
  agent.step({ type: "halt" }).step({ type: "resume" });
  const looks = (): number[] =>
    agent.effects.flatMap((effect) =>
      effect.type === "job" && effect.work.of === "welcome" ? [effect.work.welcome] : []
    );
  assertEquals([agent.back, looks()], ["ready", [9]]);
  agent.done({ of: "welcome", opened: { why: "garbage", isForOwn: false } });
  assertEquals([agent.back, looks()], ["ready", [8]]);
  agent.done({ of: "welcome", opened: { own: "kp", generation: 0, members: [] } });
  assertEquals([agent.at, agent.writes], ["in_step", ["membership"]]);
});

Deno.test("as many Welcomes wait as may, and another one is left where it is", () => {
  const agent = asked();
  const isHeard = (): boolean =>
    agent.state.place.at === "outside" && mayHear(agent.state.place.back);
  const heard: boolean[] = [];
  // One more is being looked at.
  for (let welcome = 1; welcome <= 65; welcome++) {
    heard.push(isHeard());
    agent.step({ type: "welcome", told: { welcome, sender: member } });
  }
  assertEquals([heard.every(Boolean), isHeard()], [true, false]);
  const job = agent.state.place.at === "outside" ? agent.state.place.back.look?.job ?? 0 : 0;
  agent.step({
    type: "done",
    job,
    result: { of: "welcome", opened: { why: "garbage", isForOwn: false } },
  });
  assertEquals(isHeard(), true);
});

Deno.test("a member that owns the channel and is stopped again soon asks owners only", () => {
  const again = { stopped: { ...bad, sinceMs: 1000 }, returnedMs: 500 };
  assertEquals(new Agent(again).step({ type: "all_shown" }).back, "making");
  const alone = { others: facts.others.filter(({ agentId }) => agentId !== owner) };
  assertEquals(new Agent(again, alone).step({ type: "all_shown" }).back, undefined);
});

Deno.test("unread messages are read before a stopped member asks", () => {
  assertEquals(
    stopped({ isAllShown: false }).step({ type: "stop_read", isStop: true }).back,
    undefined,
  );
  assertEquals(stopped({ isAllHere: false }).step({ type: "all_shown" }).back, undefined);
});

Deno.test("Welcomes that were here before are looked at before the agent asks", () => {
  const agent = new Agent({}, { welcomes: [{ welcome: 9, sender: member }] }).step({
    type: "out_of_step",
    reason: "why",
  });
  assertEquals([agent.back, agent.works], ["ready", "welcome"]);
  agent.done({ of: "welcome", opened: { why: "garbage", isForOwn: false } });
  assertEquals([agent.back, agent.reports], ["making", ["refused_welcome"]]);
});

Deno.test("a request is refused: of another generation, of a member that is none, or else", () => {
  const asking = (): Agent =>
    new Agent().step({ type: "out_of_step", reason: "why" }).done({ of: "request", own });
  const later = asking().refuse("epoch_conflict", foundingEpoch(1));
  assertEquals([later.back, backOf(later.state.place)?.generation], ["making", 1]);
  later.done({ of: "request", own }).refuse("epoch_conflict", foundingEpoch(2));
  assertEquals([later.back, backOf(later.state.place)?.generation], ["pausing", 2]);
  assertEquals(asking().refuse("not_found").findings, ["over"]);
  assertEquals([asking().refuse("overloaded").back, asking().lose().back], ["pausing", "pausing"]);
});

Deno.test("a leaf that is told is signed about after a while, at most four times", () => {
  const told = (leaf: string, sender = member): RecoveryEvent => ({
    type: "leaf",
    told: { number: 1, requestId: "r", leaf, sender },
  });
  const agent = asked().step(told("leaf"));
  assertEquals(agent.works, undefined, "it was signed about");
  agent.step(told("other")).done({ of: "leaf", isOurs: true });
  assertEquals(agent.back, "asked");
  for (const [at, leaf] of ["b", "c", "d", "e"].entries()) {
    if (at === 0) agent.time();
    agent.done({ of: "request", own }).answer({ to: "RequestRejoin", requestId: "r" });
    agent.step(told(leaf)).done({ of: "leaf", isOurs: true });
  }
  assertEquals(agent.back, "pausing");
  const byOwner = asked().step(told("other", owner)).done({ of: "leaf", isOurs: true });
  assertEquals(byOwner.back, "making");
  const strange = asked();
  const { timer } = strange;
  strange.step(told("strange")).done({ of: "leaf", isOurs: false }).step({ type: "time", timer });
  assertEquals([strange.back, strange.reports], ["pausing", ["ask_for_invite"]]);
});

Deno.test("our leaf here may be our leaf in a later generation, where nothing was signed about it", () => {
  const agent = new Agent().step({ type: "out_of_step", reason: "why" }).done({
    of: "request",
    own,
  })
    .refuse("epoch_conflict", foundingEpoch(1)).done({ of: "request", own })
    .answer({ to: "RequestRejoin", requestId: "r" })
    .step({ type: "leaf", told: { number: 1, requestId: "r", leaf: facts.leaf, sender: owner } });
  assertEquals(agent.works, "leaf");
  assertEquals(agent.done({ of: "leaf", isOurs: true }).back, "making");
});

Deno.test("a Welcome of no use ends an attempt when it is for our KeyPackage, and its sender is not named again", () => {
  const useless = (isForOwn: boolean): Agent =>
    asked().step({ type: "welcome", told: { welcome: 9, sender: owner } })
      .done({ of: "welcome", opened: { why: "garbage", isForOwn } });
  assertEquals(useless(false).back, "asked");
  const spent = useless(true);
  assertEquals([spent.back, spent.state.own, spent.state.spent], ["pausing", undefined, ["kp"]]);
  spent.time().done({ of: "request", own: { ...own, reference: "kp 2" } });
  const call = spent.effects.find((effect) => effect.type === "call");
  assert(call?.request.to === "RequestRejoin" && call.request.answerer === member);
  spent.step({ type: "own_commit" });
  assertEquals(spent.effects, [{ type: "forget_keys", own: ["kp"] }]);
});

Deno.test("a KeyPackage that is not good yet, not for long any more, or shows old badges, is not asked with again", () => {
  const dayMs = 24 * 60 * 60 * 1000;
  const spentBy = (made: Partial<RejoinKeyPackage>): unknown => {
    const agent = new Agent({}, { relayNowMs: 400 * dayMs });
    agent.step({ type: "out_of_step", reason: "why" });
    agent.done({ of: "request", own: { ...own, ...made } }).refuse("invalid_key_package").time();
    return [agent.back, agent.state.spent];
  };
  const lasting = (from: number, to: number): unknown =>
    spentBy({ notBeforeMs: from * dayMs, notAfterMs: to * dayMs });
  assertEquals(lasting(380, 410), ["making", []]);
  assertEquals(lasting(375, 405), ["making", ["kp"]]);
  assertEquals(lasting(370, 400), ["making", ["kp"]]);
  // As long as a badge of four days.
  assertEquals(lasting(398, 402), ["making", []]);
  assertEquals(lasting(401, 431), ["making", ["kp"]]);
  assertEquals(spentBy({ badges: "old" }), ["making", ["kp"]]);
});

Deno.test("an attempt pauses, and a connection ends the pause", () => {
  const agent = asked().time();
  assertEquals(agent.back, "pausing");
  assertEquals(agent.step({ type: "connected" }).back, "making");
});

Deno.test("keys that cannot be made or used end what waits for them", () => {
  const refusal = { code: "mls_error", text: "broken" };
  const job = (agent: Agent): number =>
    agent.effects.find((effect) => effect.type === "job")?.job ?? 0;
  const founding = stopped({ claimable: [] }).step({ type: "recover", operation: 1, choice: {} });
  assertEquals(founding.step({ type: "failed", job: job(founding), refusal }).settled, ["broken"]);
  const back = new Agent().step({ type: "out_of_step", reason: "why" });
  assertEquals(back.step({ type: "failed", job: job(back), refusal }).back, "pausing");
  const look = asked().step({ type: "welcome", told: { welcome: 9, sender: member } });
  assertEquals(look.step({ type: "failed", job: job(look), refusal }).back, "asked");
});

Deno.test("after the end nothing changes any more", () => {
  const agent = asked().step({ type: "over" });
  assertEquals(agent.step({ type: "connected" }).effects, []);
});

/** With this list beside the blamed agent. */
const line = (list: readonly AgentId[], needsChoice = false): Pick<RecoveryFacts, "leftOut"> => ({
  leftOut: { list, ofDoor: [], counted: 4, needsChoice },
});
const calls = (choice: ExclusionChoice, operation = 1): RecoveryEvent => ({
  type: "recover",
  operation,
  choice,
});

Deno.test("recover() leaves out its list, exactly those that it names, or its list but those that it keeps", () => {
  const known = line([owner, member]);
  const cases: readonly (readonly [ExclusionChoice, readonly AgentId[]])[] = [
    [{}, [member, owner]],
    [{ without: [] }, []],
    [{ without: [blamed, member] }, [member]],
    [{ keep: [member] }, [owner]],
  ];
  for (const [choice, without] of cases) {
    const agent = stopped(known).step(calls(choice));
    const claim = agent.effects.find((effect) => effect.type === "call")?.request;
    const claimed = [owner, member].filter((agentId) => !without.includes(agentId));
    if (claimed.length > 0) {
      assertEquals(claim, { to: "ClaimForFounding", agentIds: claimed });
      agent.answer({ to: "ClaimForFounding" });
    }
    const work = agent.effects.find((effect) => effect.type === "job")?.work;
    assertEquals(work?.of === "founding" && work.without, without);
    agent.done({ of: "founding", made: { hash: "F", members: 3 } });
    assertEquals(agent.records.foundings[0]?.without, without);
  }
});

Deno.test("recover() names the agent of a list that is not valid, and sends nothing", () => {
  const cases: readonly (readonly [ExclusionChoice, string, AgentId])[] = [
    [{ without: [self] }, "names_self", self],
    [{ without: [agent("stranger")] }, "names_stranger", agent("stranger")],
    [{ keep: [blamed] }, "keeps_blamed", blamed],
    [{ keep: [owner] }, "keeps_other", owner],
  ];
  for (const [choice, text, about] of cases) {
    // Before it is asked whether it is offered.
    const { effects, founding } = stopped({ ...line([member]), nowMs: 1000 }).step(calls(choice));
    const refusal = { code: "invalid_request", text, about: [about] };
    assertEquals([effects, founding], [[{ type: "settle", operation: 1, refusal }], "none"]);
  }
});

Deno.test("an owner must say who goes when its list is too long, and is not asked when it has said so", () => {
  const known = line([member], true);
  const refused = stopped(known).step(calls({}));
  assertEquals(refused.effects, [{
    type: "settle",
    operation: 1,
    refusal: { code: "choice_needed", text: "choice_needed", about: [member] },
  }]);
  const choices = [{ without: [member] }, { without: [] }, { keep: [member] }];
  for (const choice of choices) assertEquals(stopped(known).step(calls(choice)).settled, []);
  // A founding that was begun goes again, whatever its list.
  const begun = new Agent({ stopped: bad, foundings: [{ ...ours, without: [member] }] }, known)
    .step(calls({}));
  assertEquals([begun.asked, begun.settled], ["FoundGeneration", []]);
});

Deno.test("it is offered when all that stay have asked", () => {
  const agent = stopped({ ...line([member]), nowMs: 1000 }).step({
    type: "asker",
    agentId: owner,
    generation: 0,
  });
  assertEquals(agent.step(calls({ without: [] })).settled, ["not_offered"]);
  assertEquals(agent.step(calls({})).settled, []);
});

Deno.test("a call while another runs waits with it, or names somebody else and is refused", () => {
  const agent = sent(line([member])).step(calls({ without: [member] }, 2)).step(calls({}, 3));
  assertEquals(agent.settled, []);
  assertEquals(agent.step(calls({ without: [] }, 4)).settled, ["another_runs"]);
  agent.step({
    type: "answered",
    call: agent.call,
    answer: { to: "FoundGeneration", sequence: 7 },
  });
  assertEquals(agent.settled, ["resolved", "resolved", "resolved"]);
});

Deno.test("with another list the log is asked first whether it holds an earlier founding, which is entered and told", () => {
  const foundings = [{ ...ours, without: [member] }];
  const agent = new Agent({ stopped: bad, foundings }).step(calls({ without: [owner] }));
  assertEquals([agent.founding, agent.asked], ["looking", "FindCommit"]);
  agent.find("F");
  assertEquals([agent.at, agent.settled], ["in_step", ["begun_before"]]);
  const gone = new Agent({ stopped: bad, foundings }).step(calls({ without: [owner] })).find();
  assertEquals(gone.founding, "claiming");
  assertEquals(
    new Agent({ stopped: bad, foundings }).step(calls({ without: [member] })).asked,
    "FoundGeneration",
  );
});

Deno.test("a call that named somebody is told when another founding, or a Welcome, leaves that one in", () => {
  const event = {
    type: "founding",
    generation: 1,
    founder: owner,
    verdict: "follow",
    reason: "",
  } as const;
  const follows = (choice: ExclusionChoice, out: readonly AgentId[]): Agent => {
    const agent = stopped(line([member])).step(calls(choice));
    return agent.step({ ...event, out }).done({ of: "generation", why: undefined });
  };
  assertEquals(follows({ without: [member] }, [blamed]).settled, ["begun_by_others"]);
  assertEquals(follows({ keep: [member] }, [blamed]).settled, ["resolved"]);
  assertEquals(follows({ without: [member] }, [blamed, member]).settled, ["resolved"]);
  assertEquals(follows({}, [blamed]).settled, ["resolved"]);
  const opened = { own: "kp", generation: 0, members: [self, owner, member, blamed] };
  for (
    const [choice, settled] of [[{ without: [member] }, "begun_by_others"], [
      {},
      "resolved",
    ]] as const
  ) {
    const agent = stopped().step({ type: "all_shown" }).done({ of: "request", own });
    agent.answer({ to: "RequestRejoin", requestId: "r" }).step(calls(choice));
    agent.step({ type: "welcome", told: { welcome: 9, sender: member } }).done({
      of: "welcome",
      opened,
    });
    assertEquals([agent.at, agent.settled], ["in_step", [settled]]);
  }
});

Deno.test("a call that named somebody is told when the log takes the stop back, because that one stays in", () => {
  const ends = (choice: ExclusionChoice): readonly unknown[] => {
    const agent = stopped({ ...line([member]), members: [self, owner, member, blamed] }).step(
      calls(choice),
    );
    agent.step({ type: "stop_found", epoch: bad.epoch, commit: { sequence: 5, hash: "other" } });
    return [agent.at, agent.settled];
  };
  assertEquals(ends({ without: [member] }), ["in_step", ["set_back"]]);
  assertEquals(ends({ without: [] }), ["in_step", ["resolved"]]);
  assertEquals(ends({}), ["in_step", ["resolved"]]);
});

Deno.test("a call that named the blamed agent too is told when that one is still in", () => {
  const opened = { own: "kp", generation: 0, members: [self, owner, blamed] };
  for (
    const [choice, settled] of [[{ without: [blamed, member] }, "begun_by_others"], [
      { without: [member] },
      "resolved",
    ]] as const
  ) {
    const agent = stopped().step({ type: "all_shown" }).done({ of: "request", own });
    agent.answer({ to: "RequestRejoin", requestId: "r" }).step(calls(choice));
    agent.step({ type: "welcome", told: { welcome: 9, sender: member } }).done({
      of: "welcome",
      opened,
    });
    assertEquals([agent.at, agent.settled], ["in_step", [settled]]);
  }
});

Deno.test("a founding that goes on without a caller says nothing about whom a call at the next stop leaves out", () => {
  const again = (): Agent => {
    const agent = sent(line([member])).step({
      type: "stop_found",
      epoch: 4,
      commit: { sequence: 5, hash: "other" },
    });
    assertEquals([agent.at, agent.founding, agent.settled], ["in_step", "sent", ["resolved"]]);
    return agent.step({
      type: "cannot_follow",
      bad: { ...bad, hash: "next", blamed: member },
      reason: "why",
    });
  };
  assertEquals(again().knows(line([owner], true)).step(calls({}, 2)).settled, ["choice_needed"]);
  const agent = again().knows(line([owner]));
  agent.step(calls({}, 2));
  const call = "call" in agent.state.founding ? agent.state.founding.call : 0;
  const refusal = { code: "invalid_request", text: "it is gone" };
  agent.step({ type: "refused", call, refusal }).find();
  const claim = agent.effects.find((effect) => effect.type === "call")?.request;
  assertEquals([
    agent.state.without,
    claim?.to === "ClaimForFounding" && claim.agentIds.includes(owner),
  ], [
    [owner],
    false,
  ]);
});

Deno.test("a founder that asks, and is told of a later generation, asks whether that is its own: nobody else may be in it", () => {
  const alone = { ...ours, members: 1 };
  const agent = new Agent({ stopped: bad, foundings: [alone] }).step({ type: "all_shown" });
  agent.done({ of: "request", own }).refuse("epoch_conflict", foundingEpoch(1) + 1);
  assertEquals(agent.asked, "FindCommit");
  assertEquals(agent.find("F").at, "in_step");
  const earlier = new Agent({ stopped: bad, foundings: [alone] }).step({ type: "all_shown" });
  earlier.done({ of: "request", own }).refuse("epoch_conflict", 3);
  assertEquals(earlier.asked, undefined);
});
