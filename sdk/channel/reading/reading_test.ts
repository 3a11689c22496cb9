/** Every transition, one by one. Orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import { type AgentId, generationOf, parseAgentId } from "../../../proto/mod.ts";
import type { FindCommitReply } from "../connection/link_state.ts";
import type { FoundingVerdict } from "../recovery/following.ts";
import { calmPermit } from "../testing/calm_agent.ts";
import type { OwnCommit } from "./log_place.ts";
import { stepReading } from "./reading.ts";
import {
  type EpochMove,
  type FollowOutcome,
  type HeldEntry,
  landmarksOf,
  type LogEntry,
  positionOf,
  type ReadingEffect,
  type ReadingEvent,
  type ReadingFacts,
  type ReadingFinding,
  restoreReading,
} from "./reading_state.ts";

const [us, bob] = [parseAgentId("a".repeat(22)), parseAgentId("b".repeat(22))];
const hash = (letter: number): Uint8Array => new Uint8Array(32).fill(letter);
const generation = 2 ** 32;

const calm: ReadingFacts = {
  agentId: us,
  nowMs: 0,
  epoch: 3,
  began: hash(2),
  stop: undefined,
  foreign: undefined,
  durable: 10,
  oldest: undefined,
  isFull: false,
  isRead: true,
  unread: 0,
  headerOf: ({ epoch }) => ({ epoch, authenticatedData: new Uint8Array(0) }),
  aadOf: () => undefined,
  judge: () => "next",
  highest: () => 5,
  adds: () => false,
  hasLeaf: () => true,
  judgeFounding: () => ({ kind: "refused", reason: "no" }),
  isEntered: () => true,
  hashOf: (commit) => commit,
};

/** cast: nobody looks at the rest of it */
function entryOf(operation: LogEntry["operation"], body: object): LogEntry {
  return {
    kind: "notice",
    operation,
    body: { sender: bob, timeMs: 0, ...body },
  } as unknown as LogEntry;
}

function message(sequence = 11, epoch = 3, sender: AgentId = bob): LogEntry {
  return entryOf("DeliverMessage", { sequence, epoch, sender, ciphertext: new Uint8Array(0) });
}

function commit(sequence = 11, epoch = 3, { sender = bob, letter = 7 } = {}): LogEntry {
  return entryOf("DeliverCommit", { sequence, epoch, sender, commit: hash(letter) });
}

const leave = (sequence = 11): LogEntry => entryOf("DeliverLeave", { sequence, epoch: 3 });
const lapse = (sequence = 11): LogEntry =>
  entryOf("DeliverLapse", { sequence, epoch: 3, agentId: bob });
const gap = (lastSequence = 11): LogEntry =>
  entryOf("DeliverGap", { firstSequence: lastSequence, lastSequence, messages: 2, reason: "age" });
const founding = (sequence = 11, generation = 1): LogEntry =>
  entryOf("DeliverFounding", { sequence, epoch: 3, founding: { generation } });

const unknown: FindCommitReply = { epoch: 3 };
// cast: nobody looks at it
const found = (letter: number, epoch = 4): FindCommitReply => ({
  epoch,
  commit: { sequence: 12, commitHash: hash(letter), sender: bob as never, timeMs: 0 },
});

class Agent {
  readonly state;
  facts: ReadingFacts;
  effects: ReadingEffect[] = [];
  isLandmark = false;

  constructor(facts: Partial<ReadingFacts> = {}, own: readonly OwnCommit[] = []) {
    this.facts = { ...calm, ...facts };
    const landmarks = { ownCommits: own, endings: [] };
    this.state = restoreReading(
      { position: { sequence: 10, epoch: 3 }, landmarks, joinedEpoch: 0 },
      0,
    );
  }

  know(facts: Partial<ReadingFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  step(event: ReadingEvent): this {
    const { effects, isLandmark } = stepReading(this.state, event, this.facts);
    this.effects = [...effects];
    this.isLandmark = isLandmark;
    return this;
  }

  /** `permit`: of a connection that was compared. */
  read(entry: LogEntry, { permit = true } = {}): this {
    return this.step({ type: "entry", entry, permit: permit ? calmPermit() : undefined });
  }

  get #job(): number {
    const { reading } = this.state;
    return reading.at === "none" ? 0 : reading.job;
  }

  explained(as: "settled" | "not_ours" | "unknown"): this {
    return this.step({ type: "explained", job: this.#job, as });
  }

  opened(kind: string, reason?: string): this {
    return this.step({
      type: "opened",
      job: this.#job,
      as: { kind, ...(reason !== undefined && { reason }) },
    });
  }

  followed(as: FollowOutcome): this {
    return this.step({ type: "followed", job: this.#job, as });
  }

  found(found: FindCommitReply): this {
    return this.step({ type: "found", job: this.#job, found });
  }

  unheard(): this {
    return this.step({ type: "unheard", job: this.#job });
  }

  noted(worth?: "taken" | "void" | "unsigned"): this {
    return this.step({ type: "noted", job: this.#job, ...(worth && { worth }) });
  }

  done(): this {
    return this.step({ type: "done", job: this.#job });
  }

  get at(): string {
    return this.state.reading.at;
  }

  get held(): HeldEntry["why"] | undefined {
    const { reading } = this.state;
    return reading.at === "explaining" ? reading.held.why : undefined;
  }

  get asks(): string | undefined {
    const { reading } = this.state;
    return reading.at === "asking" ? reading.question.about : undefined;
  }

  /** Where it is, and which epoch the log has there. */
  get place(): string {
    const { received, epoch } = this.state.place;
    return `${received}/${epoch}`;
  }

  get reports(): string[] {
    return this.effects.flatMap((effect) => effect.type === "report" ? [effect.kind] : []);
  }

  get findings(): ReadingFinding["is"][] {
    return this.effects.flatMap((effect) => effect.type === "finding" ? [effect.finding.is] : []);
  }

  has(type: ReadingEffect["type"]): boolean {
    return this.effects.some((effect) => effect.type === type);
  }
}

/** It came, and was fetched again for. */
function again(entry: LogEntry, ends: (agent: Agent) => unknown, agent = new Agent()): Agent {
  for (const _ of [1, 2]) {
    agent.read(entry);
    ends(agent);
  }
  return agent;
}

Deno.test("behind the stop nothing is read, and messages are counted", () => {
  const agent = new Agent({ stop: 11 });
  assertEquals(agent.read(message()).findings, ["behind_stop", "stop_read"]);
  assertEquals(agent.read(lapse()).findings, ["stop_read"]);
  assertEquals(agent.read(gap()).findings, ["stop_read"]);
  assertEquals([agent.at, agent.place], ["none", "10/3"]);
});

Deno.test("the commit at which we are stopped is told as the stop", () => {
  const [effect] = new Agent({ stop: 11 }).read(commit()).effects;
  assertEquals(effect, { type: "finding", finding: { is: "stop_read", isStop: true } });
});

Deno.test("a leave behind the stop is noted, and nothing follows", () => {
  const agent = new Agent({ stop: 11 }).read(leave());
  assertEquals([agent.at, agent.place], ["noting", "10/3"]);
  assertEquals(agent.noted("taken").findings, []);
});

Deno.test("entries of a generation that we refuse, or of a later one, are not read", () => {
  const agent = new Agent({ foreign: 1 });
  for (const entry of [message(11, generation), commit(11, 2 * generation)]) {
    assertEquals([agent.read(entry).effects, agent.place], [[], "10/3"]);
  }
  assertEquals(agent.read(message()).at, "opening");
});

Deno.test("an entry that is not above the last one is reported, and fetched within the budget", () => {
  const agent = new Agent();
  let fetches = 0;
  for (let n = 0; n < 10; n++) fetches += agent.read(message(10)).findings.length;
  assertEquals([fetches, agent.reports, agent.at], [8, ["relay_lied"], "none"]);
  assertEquals(new Agent().read(commit(9)).findings, ["fetch"]);
});

Deno.test("a statement, a gap or a founding that is not above the last one is reported, without a fetch", () => {
  for (const entry of [leave(10), lapse(10), gap(10), founding(10)]) {
    const agent = new Agent().read(entry);
    assertEquals([agent.reports, agent.findings, agent.at], [["relay_lied"], [], "none"]);
  }
});

Deno.test("ahead: a commit of ours may be why", () => {
  for (const entry of [message(11, 4), commit(11, 4)]) {
    assertEquals(new Agent().read(entry).held, "ahead");
  }
});

Deno.test("a commit of an epoch that one of ours ended, with the same bytes, is passed", () => {
  const agent = new Agent({ epoch: 4 }, [{ sequence: 11, epoch: 3, hash: hash(7) }]).read(commit());
  assertEquals([agent.at, agent.place, agent.reports], ["none", "11/4", []]);
});

Deno.test("another one is asked about", () => {
  const agent = new Agent({ epoch: 4 }, [{ sequence: 12, epoch: 3, hash: hash(8) }]).read(commit());
  assertEquals(agent.asks, "contradicted");
});

Deno.test("in a log that was set back, entries of an epoch that is over there pass up to its end", () => {
  const agent = new Agent({ epoch: 3, judge: () => "duplicate" });
  agent.step({ type: "lost" }).step({ type: "begins", after: 5, head: 8 });
  agent.state.place.epoch = 3;
  assertEquals([agent.read(message(6, 2)).reports, agent.place], [[], "6/3"]);
  assertEquals([agent.read(commit(7, 2)).reports, agent.place], [[], "7/3"]);
});

Deno.test("a message among them that was never read is reported", () => {
  const aad = { counter: 4, count: 1 } as never; // cast: nobody looks at the rest of it
  const agent = new Agent({ aadOf: () => aad });
  agent.step({ type: "lost" }).step({ type: "begins", after: 5, head: 8 });
  agent.state.place.epoch = 3;
  assertEquals([agent.read(message(6, 2)).reports, agent.place], [["undecryptable"], "6/3"]);
});

Deno.test("beyond its end, and in any other log, the relay is to blame for them", () => {
  for (const entry of [message(11, 2), commit(11, 2)]) {
    const agent = new Agent().read(entry);
    assertEquals([agent.reports, agent.place, agent.at], [["relay_lied"], "11/3", "none"]);
  }
});

Deno.test("a commit of an epoch that our group has left passes, and the epoch behind it is known", () => {
  const agent = new Agent({ epoch: 5 }).read(commit());
  assertEquals([agent.at, agent.place, agent.reports], ["none", "11/4", []]);
});

Deno.test("a commit with the header of another epoch, or with none, differs from what its sender made", () => {
  for (const header of [{ epoch: 2, authenticatedData: hash(0) }, undefined]) {
    const agent = new Agent({ headerOf: () => header }).read(commit());
    assertEquals([agent.at, agent.reports, agent.findings], ["none", ["relay_lied"], ["fetch"]]);
  }
});

Deno.test("any other commit is followed", () => {
  assertEquals(new Agent().read(commit()).effects, [{ type: "follow", job: 1 }]);
});

Deno.test("a message that is none is fetched once, and then counted as unreadable", () => {
  const agent = new Agent({ headerOf: () => undefined });
  assertEquals([agent.read(message()).findings, agent.place], [["fetch"], "10/3"]);
  assertEquals([agent.read(message()).has("unreadable"), agent.place], [true, "11/3"]);
});

Deno.test("a message with the header of another epoch is a lie", () => {
  const agent = new Agent({ headerOf: () => ({ epoch: 2, authenticatedData: hash(0) }) }).read(
    message(),
  );
  assertEquals([agent.reports, agent.place], [["relay_lied"], "11/3"]);
});

Deno.test("without room messages are passed over: each is looked at once, and the place stays in front of the first", () => {
  const agent = new Agent({ isFull: true, isRead: false });
  assertEquals([agent.read(message()).at, agent.reports], ["looking_ahead", ["unread_messages"]]);
  agent.done();
  assertEquals([agent.place, positionOf(agent.state, agent.facts)], ["11/3", {
    sequence: 10,
    epoch: 3,
  }]);
  assertEquals([agent.read(message(12)).at, agent.reports], ["looking_ahead", []]);
  agent.done().step({ type: "room" });
  assertEquals([agent.read(message()).at, agent.place], ["none", "11/3"]);
});

Deno.test("of names that the relay makes up nothing is remembered", () => {
  const aad = { counter: 4, count: 1 } as never; // cast: nobody looks at the rest of it
  const agent = new Agent({ isFull: true, aadOf: () => aad, hasLeaf: (agentId) => agentId === us });
  agent.read(message()).done().read(message(12, 3, us)).done();
  assertEquals(Object.keys(agent.state.passedCounters), [us]);
});

Deno.test("of a member that a commit of ours has removed, what stands before that commit is remembered", () => {
  const aad = { counter: 9, count: 1 } as never; // cast: nobody looks at the rest of it
  const agent = new Agent({ isFull: true, aadOf: () => aad, hasLeaf: () => false, epoch: 4 });
  agent.step({ type: "moved", by: { ...ownMove(12), silent: [bob] } });
  agent.read(message()).done().read(message(13, 4, us)).done();
  assertEquals(landmarksOf(agent.state).endings[0]?.last, 9);
});

Deno.test("what was passed over is read when there is room, and behind it nothing is remembered", () => {
  const agent = new Agent({ isFull: true });
  agent.read(message()).done().know({ isFull: false }).step({ type: "room" });
  assertEquals([agent.findings, agent.place], [["fetch"], "10/3"]);
  assertEquals(agent.read(message()).at, "opening");
  agent.opened("message");
  assertEquals([agent.read(message(12)).has("forget_ahead"), agent.at], [true, "opening"]);
});

Deno.test("a message that announces a gap is fetched once, before a key is used", () => {
  const aad = { counter: 9, count: 1 } as never; // cast: nobody looks at the rest of it
  const agent = new Agent({ aadOf: () => aad, judge: () => "gap" });
  assertEquals([agent.read(message()).findings, agent.at], [["fetch"], "none"]);
  assertEquals(agent.read(message()).at, "opening");
});

Deno.test("any other message is opened", () => {
  assertEquals(new Agent().read(message()).effects, [{ type: "open", job: 1 }]);
});

Deno.test("a statement about somebody whom a commit of ours adds waits for it", () => {
  for (const entry of [leave(), lapse()]) {
    const agent = new Agent({ adds: () => true }).read(entry);
    assertEquals([agent.held, agent.place], ["statement", "10/3"]);
    assertEquals([agent.explained("settled").at, agent.place], ["noting", "11/3"]);
  }
});

Deno.test("any other statement is noted", () => {
  assertEquals([new Agent().read(leave()).at, new Agent().read(lapse()).place], ["noting", "11/3"]);
});

Deno.test("a gap is passed, and told", () => {
  const agent = new Agent().read(gap(14));
  assertEquals([agent.has("gap"), agent.place], [true, "14/3"]);
});

Deno.test("a founding that we have entered is passed", () => {
  const agent = new Agent({ epoch: generation + 1 }).read(founding());
  assertEquals([agent.place, agent.reports], ["11/4", []]);
});

Deno.test("another one of our generation, or of an earlier one, is false", () => {
  const agent = new Agent({ epoch: generation + 1, isEntered: () => false }).read(founding());
  assertEquals([agent.place, agent.reports], ["10/3", ["relay_lied"]]);
});

Deno.test("a founding that may be entered is held without a permit", () => {
  assertEquals(new Agent().read(founding(), { permit: false }).findings, ["hold"]);
});

Deno.test("a forged founding is reported, and its place is not passed", () => {
  const forged: FoundingVerdict = { kind: "forged", reason: "nobody signed it" };
  const agent = new Agent({ judgeFounding: () => forged }).read(founding());
  assertEquals([agent.reports, agent.place, agent.at], [["relay_lied"], "10/3", "none"]);
});

Deno.test("a genuine founding waits until it is entered, or not", () => {
  const agent = new Agent().read(founding());
  assertEquals([agent.at, agent.has("enter")], ["entering", true]);
  assertEquals([agent.done().at, agent.place], ["none", "10/3"]);
});

Deno.test("unknown: the entry comes again, and this was no first time", () => {
  const entries = [message(11, 4), commit(11, 4)];
  for (const entry of entries) {
    const agent = new Agent().read(entry).explained("unknown");
    assertEquals([agent.findings, agent.state.fetchedFor], [["fetch"], undefined]);
  }
});

Deno.test("settled: an entry that was ahead is judged again", () => {
  assertEquals(new Agent().read(message(11, 4)).know({ epoch: 4 }).explained("settled").at, "none");
  const agent = new Agent().read(message(12, 4));
  agent.step({ type: "moved", by: ownMove(11) }).know({ epoch: 4 });
  assertEquals(agent.explained("settled").at, "opening");
});

Deno.test("far ahead, for the first time, it is fetched; again, the log is asked", () => {
  for (const entry of [message(11, 4), commit(11, 4)]) {
    const agent = new Agent().read(entry).explained("not_ours");
    assertEquals([agent.findings, agent.at], [["fetch"], "none"]);
    assertEquals(agent.read(entry).explained("not_ours").asks, "ahead");
  }
});

Deno.test("far ahead, when our group has followed the commit that is left out: a message is lost, and the place moves on", () => {
  const agent = again(
    message(11, 4),
    (agent) => agent.explained("not_ours"),
    new Agent({ epoch: 5 }),
  );
  assertEquals([agent.reports, agent.place, agent.at], [["relay_lied"], "11/4", "none"]);
});

Deno.test("an earlier commit moves it on behind itself", () => {
  const agent = again(
    commit(11, 4),
    (agent) => agent.explained("not_ours"),
    new Agent({ epoch: 5 }),
  );
  assertEquals([agent.reports, agent.place, agent.at], [["relay_lied"], "11/5", "none"]);
});

Deno.test("a commit of our epoch is judged once more", () => {
  const agent = again(
    commit(11, 5),
    (agent) => agent.explained("not_ours"),
    new Agent({ epoch: 5 }),
  );
  assertEquals([agent.reports, agent.place, agent.at], [["relay_lied"], "10/5", "following"]);
});

Deno.test("asked about an entry ahead: the log has not come that far, the relay made it up", () => {
  const agent = again(message(11, 4), (agent) => agent.explained("not_ours")).found(unknown);
  assertEquals([agent.reports, agent.place, agent.at], [["relay_lied"], "11/3", "none"]);
});

Deno.test("it has: a commit is withheld, and we are out of step", () => {
  const agent = again(message(11, 4), (agent) => agent.explained("not_ours")).found(found(7));
  assertEquals([agent.reports, agent.findings, agent.place], [
    ["withheld_commit"],
    ["out_of_step"],
    "10/3",
  ]);
});

Deno.test("no answer: nothing is concluded, and it is fetched again", () => {
  const agent = again(message(11, 4), (agent) => agent.explained("not_ours")).unheard();
  assertEquals([agent.findings, agent.reports, agent.at], [["fetch"], [], "none"]);
});

Deno.test("opened: a message is taken", () => {
  const agent = new Agent().read(message()).opened("message");
  assertEquals([agent.has("take"), agent.place, agent.at], [true, "11/3", "none"]);
});

Deno.test("opened: our own echo passes, and one in our name counts as unreadable", () => {
  const echo = new Agent().read(message(11, 3, us)).opened("own");
  assertEquals([echo.place, echo.reports], ["11/3", []]);
  const claimed = again(message(), (agent) => agent.opened("own"));
  assertEquals([claimed.has("unreadable"), claimed.place], [true, "11/3"]);
});

Deno.test("opened: one whose key was used passes, and its sender may be to blame", () => {
  const agent = new Agent().read(message()).opened("duplicate");
  assertEquals([agent.has("repeated"), agent.place], [true, "11/3"]);
});

Deno.test("opened: one whose keys are gone is reported", () => {
  assertEquals(new Agent().read(message()).opened("stale").reports, ["undecryptable"]);
});

Deno.test("opened: one that does not open is fetched once, and then counted", () => {
  const agent = new Agent().read(message()).opened("undecryptable", "the tag is wrong");
  assertEquals([agent.findings, agent.place], [["fetch"], "10/3"]);
  assertEquals([agent.read(message()).opened("undecryptable").has("unreadable"), agent.place], [
    true,
    "11/3",
  ]);
});

Deno.test("opened: something else than a message is a lie", () => {
  assertEquals(new Agent().read(message()).opened("commit").reports, ["relay_lied"]);
});

Deno.test("followed: the place passes it, with its epoch", () => {
  const agent = new Agent().read(commit()).know({ epoch: 4 }).followed({
    kind: "commit",
    epoch: 4,
  });
  assertEquals([agent.place, agent.at], ["11/4", "none"]);
});

Deno.test("followed: a commit that removes us is told, and not passed", () => {
  const agent = new Agent().read(commit()).followed({ kind: "removed", isAgain: true });
  assertEquals([agent.findings, agent.place], [["removed"], "10/3"]);
});

Deno.test("followed: without its signature it is fetched; again, we are out of step", () => {
  const agent = new Agent().read(commit()).followed({ kind: "unsigned" });
  assertEquals([agent.findings, agent.reports], [["fetch"], []]);
  agent.read(commit()).followed({ kind: "unsigned" });
  assertEquals([agent.findings, agent.reports], [["out_of_step"], ["withheld_commit"]]);
});

Deno.test("followed: not as its sender signed it, it is reported and fetched; again, the log is asked for the one before", () => {
  const agent = new Agent().read(commit()).followed({ kind: "misattributed" });
  assertEquals([agent.findings, agent.reports], [["fetch"], ["relay_lied"]]);
  assertEquals(agent.read(commit()).followed({ kind: "misattributed" }).asks, "misattributed");
});

Deno.test("when that is not known, it is fetched as often as the relay lies", () => {
  const agent = again(
    commit(),
    (agent) => agent.followed({ kind: "misattributed" }),
    new Agent({ began: undefined }),
  );
  assertEquals([agent.findings, agent.reports, agent.at], [["fetch"], ["relay_lied"], "none"]);
});

Deno.test("asked for the one before: the same one, or none, and it is fetched; another one, and we are out of step", () => {
  const asked = (): Agent => again(commit(), (agent) => agent.followed({ kind: "misattributed" }));
  assertEquals(asked().found(found(2)).findings, ["fetch"]);
  assertEquals(asked().found(unknown).findings, ["fetch"]);
  const other = asked().found(found(9));
  assertEquals([other.findings, other.reports], [["out_of_step"], ["relay_lied"]]);
});

Deno.test("followed: one that nobody can follow waits for what became of ours", () => {
  for (
    const as of [{ kind: "forked" }, { kind: "own" }, { kind: "refused", reason: "bad" }] as const
  ) {
    const agent = new Agent().read(commit()).followed(as);
    assertEquals([agent.held, agent.explained("settled").at], ["not_followed", "following"]);
  }
});

const refuses = (agent: Agent): Agent =>
  agent.followed({ kind: "refused", reason: "bad" }).explained("not_ours");

Deno.test("not ours: it is fetched; again, it is a stop", () => {
  assertEquals(refuses(new Agent().read(commit())).findings, ["fetch"]);
  const agent = again(commit(), refuses);
  assertEquals([agent.findings, agent.place], [["stopped"], "10/3"]);
});

Deno.test("not ours: one that claims to be ours, in another name, is a stop too", () => {
  const agent = again(commit(), (agent) => agent.followed({ kind: "own" }).explained("not_ours"));
  assertEquals(agent.findings, ["stopped"]);
});

Deno.test("not ours: one for a group with other keys puts us out of step, and members are asked by name", () => {
  const agent = again(
    commit(),
    (agent) => agent.followed({ kind: "forked" }).explained("not_ours"),
  );
  assertEquals(agent.effects, [{
    type: "finding",
    finding: {
      is: "out_of_step",
      reason: `${bob} signed its commit of epoch 3 for a group with other keys than ours`,
      isNamed: true,
    },
  }]);
});

Deno.test("our group has left the epoch of a commit while it was looked at: nothing is concluded, it is judged anew", () => {
  const ends: ((agent: Agent) => Agent)[] = [
    refuses,
    (agent) => agent.followed({ kind: "forked" }).explained("not_ours"),
    (agent) => agent.followed({ kind: "unsigned" }),
    (agent) => agent.followed({ kind: "misattributed" }),
  ];
  for (const end of ends) {
    const agent = new Agent().read(commit()).followed({ kind: "unsigned" }).read(commit());
    agent.step({ type: "moved", by: { ...ownMove(12), hash: hash(8) } }).know({ epoch: 4 });
    assertEquals([end(agent).asks, agent.findings, agent.reports], ["contradicted", [], []]);
  }
  const late = new Agent().read(commit()).followed({ kind: "refused", reason: "bad" });
  late.step({ type: "moved", by: ownMove(11) }).know({ epoch: 4 }).explained("not_ours");
  assertEquals([late.at, late.place, late.effects], ["none", "11/4", [{
    type: "passed",
    isLandmark: false,
  }]]);
});

Deno.test("not ours: one of ours that we no longer know puts us out of step at once", () => {
  const agent = new Agent().read(commit(11, 3, { sender: us })).followed({ kind: "own" }).explained(
    "not_ours",
  );
  assertEquals(agent.findings, ["out_of_step"]);
});

Deno.test("asked about a commit beside ours: none or ours is a lie, another one puts us out of step", () => {
  const asked = (): Agent =>
    new Agent({ epoch: 4 }, [{ sequence: 12, epoch: 3, hash: hash(8) }]).read(commit());
  for (const answer of [unknown, found(8)]) {
    const agent = asked().found(answer);
    assertEquals([agent.reports, agent.place, agent.findings], [["relay_lied"], "11/3", []]);
  }
  const other = asked().found(found(7));
  assertEquals([other.reports, other.findings], [["relay_lied"], ["out_of_step"]]);
  assertEquals(asked().unheard().findings, ["fetch"]);
});

Deno.test("out of step, when a commit was followed: the log is asked why, and the finding does not depend on it", () => {
  const asked = (): Agent => {
    const agent = new Agent();
    agent.step({ type: "moved", by: { ...ownMove(10), isOwn: false, epoch: 2, hash: hash(2) } });
    return again(commit(), (each) => each.followed({ kind: "unsigned" }), agent);
  };
  assertEquals(asked().at, "explaining_fork");
  assertEquals([asked().found(found(9)).reports, asked().found(found(9)).findings], [
    ["relay_lied"],
    ["out_of_step"],
  ]);
  assertEquals([asked().found(found(2)).reports, asked().found(found(2)).findings], [[], [
    "out_of_step",
  ]]);
  assertEquals(asked().unheard().findings, ["out_of_step"]);
});

Deno.test("noted: a leave is told; a void one is reported too; one that is not signed is a lie about a member", () => {
  const noted = (worth: "taken" | "void" | "unsigned", facts: Partial<ReadingFacts> = {}): Agent =>
    new Agent(facts).read(leave()).noted(worth);
  assertEquals([noted("taken").findings, noted("taken").reports], [["leaves"], []]);
  assertEquals([noted("void").findings, noted("void").reports], [["leaves"], ["void_leave"]]);
  assertEquals([noted("unsigned").findings, noted("unsigned").reports], [[], ["relay_lied"]]);
  assertEquals(noted("unsigned", { hasLeaf: () => false }).reports, []);
  assertEquals(new Agent().read(lapse()).noted().effects, []);
});

/** A commit of ours that ended epoch 3. */
function ownMove(sequence: number): EpochMove {
  return { isOwn: true, sequence, epoch: 3, hash: hash(7), silent: [], founded: undefined };
}

Deno.test("moved by our own commit: its place is a landmark, and those that it silences end with what came before it", () => {
  const agent = new Agent().step({ type: "moved", by: { ...ownMove(12), silent: [bob] } });
  const [ending] = landmarksOf(agent.state).endings;
  assertEquals([agent.isLandmark, agent.state.place.own.length, ending?.last], [
    true,
    1,
    undefined,
  ]);
  agent.know({ epoch: 4 }).read(message(13, 4)).opened("message");
  assertEquals(landmarksOf(agent.state).endings[0]?.last, 5);
  assertEquals(agent.effects.at(-1), { type: "passed", isLandmark: true });
});

Deno.test("moved by another's: those that it silences end with what has come; without any it is no landmark", () => {
  const move = { ...ownMove(11), isOwn: false };
  const agent = new Agent().step({ type: "moved", by: { ...move, silent: [bob] } });
  assertEquals([agent.isLandmark, landmarksOf(agent.state).endings[0]?.last], [true, 5]);
  assertEquals(new Agent().step({ type: "moved", by: move }).isLandmark, false);
});

Deno.test("moved by a founding of ours: it is a landmark like a commit", () => {
  const founded = { sequence: 12, epoch: 3, hash: hash(4) };
  const agent = new Agent().step({
    type: "moved",
    by: { ...ownMove(12), isOwn: false, hash: undefined, founded },
  });
  assertEquals([agent.isLandmark, agent.state.place.own, agent.state.last], [
    true,
    [founded],
    undefined,
  ]);
});

Deno.test("begins: without a place of its own, it is where the relay says", () => {
  const agent = new Agent().step({ type: "begins", after: 5, head: 20 });
  assertEquals(agent.place, "10/3");
  agent.step({ type: "lost" }).step({ type: "begins", after: 5, head: 20 });
  assertEquals([agent.place, agent.state.againUntil], ["5/3", 20]);
});

Deno.test("founded: what stood before it and was not read is passed over", () => {
  assertEquals(generationOf(generation), 1);
  assertEquals(new Agent().step({ type: "founded", sequence: 15, epoch: 3 }).place, "15/4");
});

Deno.test("lost: our place is void, and so is what was passed over", () => {
  const agent = new Agent({ isFull: true });
  agent.read(message()).done().step({ type: "lost" });
  assertEquals([agent.state.place.received, agent.state.passedOver, agent.has("forget_ahead")], [
    undefined,
    undefined,
    true,
  ]);
});

Deno.test("restarted: a new membership begins behind this entry, with nothing to remember", () => {
  const agent = new Agent().step({ type: "moved", by: { ...ownMove(12), silent: [bob] } });
  agent.step({ type: "restarted", received: 30, epoch: 9 });
  assertEquals([agent.place, landmarksOf(agent.state)], ["30/9", { ownCommits: [], endings: [] }]);
});

Deno.test("an end that nothing waits for changes nothing", () => {
  const agent = new Agent().read(message());
  agent.step({ type: "opened", job: 99, as: { kind: "message" } });
  assertEquals([agent.at, agent.effects], ["opening", []]);
  assertEquals([agent.followed({ kind: "commit", epoch: 4 }).at, agent.place], ["opening", "10/3"]);
});
