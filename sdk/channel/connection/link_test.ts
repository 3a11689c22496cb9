/** Every transition, one by one. Orders of events are tried in tests/small_worlds. */
import { assert, assertEquals } from "@std/assert";
import { newAnchor } from "./anchor.ts";
import { facts, reply } from "../testing/calm_agent.ts";
import { newLink, stepLink } from "./link.ts";
import { permitOf, windowBytes } from "./link_run.ts";
import type {
  ConnectionAnswer,
  LinkEffect,
  LinkEvent,
  LinkFacts,
  LinkPlace,
  LinkState,
} from "./link_state.ts";

/** An agent with its link, what it knows, and the latest effects. */
class Agent {
  readonly state: LinkState<string> = newLink(undefined);
  facts: LinkFacts = facts;
  effects: readonly LinkEffect<string>[] = [];

  get at(): string {
    return this.state.link.at;
  }

  step(...events: LinkEvent<string>[]): this {
    for (const event of events) this.effects = stepLink(this.state, event, this.facts).effects;
    return this;
  }

  know(facts: Partial<LinkFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  get call(): number {
    return "call" in this.state.link ? this.state.link.call : 0;
  }

  get tag(): number {
    return "stream" in this.state.link ? this.state.link.stream?.tag ?? 0 : 0;
  }

  answer(answer: ConnectionAnswer = { question: "subscribe", reply }): this {
    return this.step({ type: "answered", call: this.call, answer });
  }

  refuse(code: string): this {
    return this.step({ type: "refused", call: this.call, code, text: "no" });
  }

  begin(): this {
    return this.step({ type: "started", tag: this.tag });
  }

  deliver(
    content: string,
    { kind = "entry", bytes = 10 }: { kind?: "entry" | "word"; bytes?: number } = {},
  ): this {
    return this.step({ type: "delivered", notice: { kind, content, bytes } });
  }

  /** The time of the present state is over. */
  time(): this {
    const timer = "timer" in this.state.link ? this.state.link.timer ?? 0 : 0;
    return this.step({ type: "time", timer });
  }

  has(type: LinkEffect<string>["type"]): boolean {
    return this.effects.some((effect) => effect.type === type);
  }

  get asked(): string | undefined {
    return this.effects.flatMap((effect) => effect.type === "ask" ? [effect.question] : [])[0];
  }

  get reads(): string | undefined {
    return this.effects.flatMap((effect) =>
      effect.type === "read" ? [effect.notice.content] : []
    )[0];
  }
}

function reading(): Agent {
  return new Agent().step({ type: "connected" }).answer().begin();
}

function listening(): Agent {
  const own = { sequence: 8, epoch: 2, hash: new Uint8Array(32) };
  const agent = new Agent().know({ own }).step({ type: "connected" }).answer();
  const commit = {
    sequence: 8,
    commitHash: new Uint8Array(32).fill(1),
    sender: "a" as never,
    timeMs: 0,
  }; // cast: nobody looks at it
  return agent.answer({ question: "own_commit", reply: { epoch: 3, commit } });
}

function doubted(): Agent {
  return new Agent().step({ type: "connected" }).answer({
    question: "subscribe",
    reply: { ...reply, acknowledged: 8 },
  });
}

Deno.test("link: a connection begins with what was left open, and outside by commits with nothing", () => {
  const open = { ...facts.store, commits: [new Uint8Array(32)] };
  const first = (place: LinkPlace, isOpen = false): string | undefined =>
    new Agent().know({ place, ...(isOpen && { store: open }) }).step({ type: "connected" }).asked;
  assertEquals(first({ at: "in_step" }), "subscribe");
  assertEquals(first({ at: "in_step" }, true), "open_commit");
  assertEquals(first({ at: "stopped", sequence: 4 }, true), "stop");
  assertEquals(first({ at: "outside", isByWord: true }), "subscribe");
  assertEquals(first({ at: "outside", isByWord: false }), undefined);
  const stopped = new Agent().know({ place: { at: "stopped", sequence: 4 } }).step({
    type: "connected",
  });
  assertEquals(stopped.answer({ question: "stop" }).asked, "subscribe", "still stopped");
  const freed = new Agent().know({ place: { at: "stopped", sequence: 4 }, store: open }).step({
    type: "connected",
  });
  assertEquals(
    freed.know({ place: { at: "in_step" } }).answer({ question: "stop" }).asked,
    "open_commit",
    "taken back",
  );
});

Deno.test("link: a judgement ends in reading, listening or doubt, and only the first has a permit", () => {
  assertEquals([reading().at, permitOf(reading().state) !== undefined], ["reading", true]);
  assertEquals([listening().at, listening().has("come_back"), permitOf(listening().state)], [
    "listening",
    true,
    undefined,
  ]);
  assertEquals([doubted().at, doubted().has("come_back"), permitOf(doubted().state)], [
    "doubted",
    true,
    undefined,
  ]);
  assert(new Agent().step({ type: "connected" }).answer().has("cleared"));
});

Deno.test("link: where our membership began is written before anything else happens", () => {
  const agent = new Agent().step({ type: "connected" });
  agent.know({ store: { ...agent.facts.store, anchor: newAnchor(undefined) } });
  const answer: ConnectionAnswer = { question: "subscribe", reply };
  const { write } = stepLink(
    agent.state,
    { type: "answered", call: agent.call, answer },
    agent.facts,
  );
  assertEquals(write?.joinedSequence, 5);
});

Deno.test("link: a refusal pauses, longer each time, and a few mean something else", () => {
  const settling = (): Agent => new Agent().step({ type: "connected" });
  const pauses = settling();
  const waits = Array.from({ length: 7 }, () => {
    pauses.refuse("overloaded");
    assertEquals(pauses.at, "pausing");
    const wait = pauses.effects.flatMap((effect) =>
      effect.type === "wake" ? [effect.afterMs] : []
    )[0];
    pauses.time();
    return wait;
  });
  assertEquals(waits, [1000, 2000, 4000, 8000, 16000, 32000, 32000]);
  assertEquals([settling().refuse("not_found").at, settling().refuse("not_found").has("unknown")], [
    "idle",
    true,
  ]);
  assertEquals(settling().refuse("membership_lapsed").at, "idle");
  assert(settling().refuse("membership_lapsed").has("come_back"));
  assertEquals([
    settling().refuse("cursor_invalid").at,
    settling().refuse("cursor_invalid").has("lose_log"),
  ], [
    "pausing",
    true,
  ]);
  const putBack = settling().answer({ question: "subscribe", reply: { ...reply, epoch: 2 } });
  assertEquals(putBack.refuse("overloaded").at, "pausing", "also while commits are put back");
});

Deno.test("link: answers, beginnings and times of an earlier state change nothing", () => {
  const agent = new Agent().step({ type: "connected" });
  const [call, tag] = [agent.call, agent.tag];
  agent.step({ type: "disconnected" }, { type: "connected" });
  agent.step({ type: "answered", call, answer: { question: "subscribe", reply } }, {
    type: "started",
    tag,
  });
  assertEquals([agent.at, "stream" in agent.state.link && agent.state.link.stream?.begun], [
    "settling",
    false,
  ]);
  const late = new Agent().step({ type: "connected" }).refuse("overloaded");
  const timer = "timer" in late.state.link ? late.state.link.timer ?? 0 : 0;
  assertEquals(late.step({ type: "disconnected" }, { type: "time", timer }).at, "offline");
});

Deno.test("link: entries are read one at a time, in their order, and words in their place among them", () => {
  const agent = reading().deliver("one");
  assertEquals(agent.reads, "one");
  assertEquals(agent.deliver("two").deliver("end", { kind: "word" }).reads, undefined);
  const done = (): Agent => agent.step({ type: "read", reading: agent.state.reading ?? 0 });
  assertEquals(done().reads, "two");
  assertEquals(done().reads, "end");
});

Deno.test("link: nothing is read while the relay is asked, and entries of a connection that is over are not read at all", () => {
  const agent = new Agent().step({ type: "connected" }).begin().deliver("one").deliver("word", {
    kind: "word",
  });
  assertEquals(agent.reads, undefined);
  assertEquals(agent.answer().reads, "one", "what came before the judgement is read behind it");
  const broken = new Agent().step({ type: "connected" }).begin().deliver("one").deliver("word", {
    kind: "word",
  });
  assertEquals(broken.step({ type: "disconnected" }).reads, "word");
  assertEquals(
    new Agent().step({ type: "connected" }).deliver("of before").answer().reads,
    undefined,
    "not begun",
  );
});

Deno.test("link: more than the window holds is fetched again, later", () => {
  const agent = reading().deliver("one").deliver("large", { bytes: windowBytes }).deliver(
    "larger",
    {
      bytes: windowBytes,
    },
  );
  assertEquals(
    agent.step({ type: "read", reading: agent.state.reading ?? 0 }).at,
    "fetching_later",
  );
  assertEquals(agent.time().asked, "subscribe");
  const settling = new Agent().step({ type: "connected" }).begin().deliver("large", {
    bytes: windowBytes + 1,
  });
  assertEquals(settling.answer().at, "fetching_later");
});

Deno.test("link: the log is fetched again from every state in which it is read", () => {
  assertEquals(reading().step({ type: "fetch", afterMs: 0 }).at, "fetching");
  assertEquals(reading().step({ type: "fetch", afterMs: 5 }).at, "fetching_later");
  assertEquals(listening().step({ type: "fetch", afterMs: 5000 }).at, "pausing");
  assertEquals(
    new Agent().step({ type: "connected" }, { type: "fetch", afterMs: 0 }).answer().at,
    "fetching_later",
  );
  const fetched = reading().step({ type: "fetch", afterMs: 0 }).answer();
  assertEquals([fetched.at, fetched.has("resumed")], ["reading", true]);
  const doubt = reading().step({ type: "fetch", afterMs: 0 });
  doubt.answer({ question: "subscribe", reply: { ...reply, acknowledged: 8 } });
  assertEquals([doubt.at, doubt.has("rest")], ["doubted", true]);
  const refused = reading().step({ type: "fetch", afterMs: 0 }).refuse("overloaded");
  assertEquals([refused.at, refused.has("rest")], ["settling", true]);
});

Deno.test("link: a reading of the connection before acknowledges nothing in this one", () => {
  const agent = reading().deliver("large", { bytes: windowBytes / 4 });
  const before = agent.state.reading ?? 0;
  agent.step({ type: "disconnected" }, { type: "connected" });
  agent.step({ type: "read", reading: before, took: { sequence: 10, bytes: windowBytes / 4 } });
  assert(!agent.has("acknowledge"));
});

Deno.test("link: a stream that does not begin is asked for again", () => {
  assertEquals(new Agent().step({ type: "connected" }).answer().time().at, "fetching");
  assertEquals(listening().time().at, "pausing");
  assertEquals(reading().time().at, "reading", "it has begun");
  assertEquals(
    reading().step({ type: "started", tag: 1_000 }).at,
    "fetching_later",
    "another one has begun in it",
  );
});

Deno.test("link: out of step, a founding without a permit, and a founding that cannot be asked for", () => {
  assertEquals(reading().step({ type: "out_of_step" }).at, "idle");
  assertEquals(listening().step({ type: "hold" }).at, "doubted");
  assertEquals(reading().step({ type: "hold" }).at, "reading");
  const retrying = reading();
  const pauses = [0, 1, 2].map(() => {
    const [wait] = retrying.step({ type: "retry" }).effects.flatMap((each) =>
      each.type === "wake" ? [each.afterMs] : []
    );
    retrying.time().answer();
    return wait;
  });
  assertEquals(pauses, [1000, 2000, 4000]);
  const late = reading().step({ type: "fetch", afterMs: 0 }).step({ type: "retry" });
  assertEquals(late.at, "pausing", "also while the log is fetched again");
});

Deno.test("link: somebody that asks to come back makes us ask again, once in five seconds", () => {
  const agent = doubted().know({ place: { at: "outside", isByWord: true } }).step({
    type: "asked_back",
  });
  assertEquals(agent.at, "settling");
  agent.answer({ question: "subscribe", reply: { ...reply, acknowledged: 8 } });
  assertEquals(agent.step({ type: "asked_back" }).at, "doubted");
  assertEquals(
    agent.step({ type: "time", timer: agent.state.calm ?? 0 }, { type: "asked_back" }).at,
    "settling",
  );
});

Deno.test("link: recover() waits for what stands in front of the stop while something comes", () => {
  const agent = new Agent().know({ place: { at: "stopped", sequence: 12 } });
  agent.step({ type: "connected" }).answer({ question: "stop" }).answer().begin();
  agent.step({ type: "wait", operation: 1 });
  const late = (): Agent =>
    agent.step({ type: "time", timer: agent.state.arrival.waiting[0]?.timer ?? 0 });
  agent.deliver("one").step({
    type: "read",
    reading: agent.state.reading ?? 0,
    took: { sequence: 10, bytes: 10 },
  });
  assert(!late().has("settle"), "one has come");
  assertEquals(late().effects, [{ type: "settle", operation: 1, result: "late" }]);
  agent.step({ type: "wait", operation: 2 }, { type: "all_arrived" });
  assertEquals(agent.effects, [{ type: "settle", operation: 2, result: "now" }]);
});

Deno.test("link: what the program is done with is acknowledged with a permit only, and room is given back in any case", () => {
  const agent = reading().know({ durable: 9 }).step({ type: "durable" });
  assert(agent.has("wake"));
  assertEquals(agent.step({ type: "time", timer: agent.state.window.timer ?? 0 }).effects, [
    { type: "acknowledge", consumed: 9, received: 9 },
  ]);
  const without = listening().know({ durable: 9 }).step({ type: "durable" });
  assertEquals(without.effects, []);
  without.begin().deliver("large", { bytes: windowBytes / 4 });
  without.step({
    type: "read",
    reading: without.state.reading ?? 0,
    took: { sequence: 10, bytes: windowBytes / 4 },
  });
  assertEquals(without.effects, [{ type: "acknowledge", consumed: 7, received: 10 }]);
  const ahead = new Agent().know({ durable: 9 }).step({ type: "connected" }).answer();
  assert(ahead.has("acknowledge"), "a crash came between the write and the acknowledgement");
});

Deno.test("link: nothing is acknowledged behind the commit at which we are stopped, also if we are counted in anew there", () => {
  const stopped = reading().know({ place: { at: "stopped", sequence: 9 }, durable: 11 }).step({
    type: "durable",
  });
  assertEquals(stopped.step({ type: "time", timer: stopped.state.window.timer ?? 0 }).effects, [
    { type: "acknowledge", consumed: 8, received: 9 },
  ]);
  assertEquals(stopped.step({ type: "durable" }).effects, []);
  stopped.know({ place: { at: "in_step" } }).step({ type: "durable" });
  assert(stopped.has("wake"), "we have entered a generation");
});
