/** Every transition, one by one. Orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import { binaryIdFromBytes, type MessageId } from "../../../proto/mod.ts";
import type { CounterRecord } from "../records.ts";
import { calmPermit } from "../testing/calm_agent.ts";
import type { Bundle, OutgoingMessage, SendGroup } from "./bundles.ts";
import { reserveFor } from "./next_bundle.ts";
import type { SendRefusal } from "./obstacles.ts";
import { isFull, stepOutbox } from "./outbox.ts";
import {
  forgetOutbox,
  type OutboxEffect,
  type OutboxEvent,
  type OutboxFacts,
  type Rejection,
  restoreOutbox,
} from "./outbox_state.ts";

const idOf = (letter: string): MessageId =>
  binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(letter.charCodeAt(0)));

const calm: OutboxFacts = {
  work: calmPermit(),
  epoch: 3,
  mayPost: true,
  mayBundle: true,
  doAllReadBundles: true,
  nowMs: 0,
  newId: () => idOf("B"),
  jitter: (ms) => ms,
};
const offline = { work: undefined };
const apart = { mayBundle: false };

type Given = Partial<
  Pick<OutgoingMessage<string>, "id" | "untilMs" | "group" | "goes" | "mayBeKnown" | "bytes">
>;

class Agent {
  readonly state = restoreOutbox<string>({ reserved: 0, known: 0 });
  facts: OutboxFacts;
  effects: OutboxEffect<string>[] = [];
  written: string[] = [];
  #order = 0;

  constructor(facts: Partial<OutboxFacts> = {}) {
    this.facts = { ...calm, ...facts };
  }

  know(facts: Partial<OutboxFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this.step({ type: "look" });
  }

  step(event: OutboxEvent<string>): this {
    const { write, effects } = stepOutbox(this.state, event, this.facts);
    this.#write(write);
    for (const effect of effects) if (effect.type === "note") this.#write(effect.record);
    this.effects.push(...effects);
    return this;
  }

  #write(record: CounterRecord | undefined): void {
    if (record !== undefined) this.written.push(`${record.reserved} ${record.known}`);
  }

  send(letter: string, given: Given = {}): this {
    const message: OutgoingMessage<string> = {
      order: ++this.#order,
      id: idOf(letter),
      given: letter,
      bytes: 1,
      slackBytes: 0,
      untilMs: 30_000,
      group: undefined,
      mayBeKnown: false,
      goes: "freely",
      caller: "waits",
      ...given,
    };
    return this.step({ type: "send", message });
  }

  queue(letter: string): this {
    return this.send(letter, { untilMs: Infinity });
  }

  /** The turn ends, and everything that can be sealed is. */
  turn(): this {
    this.step({ type: "gathered" });
    while (this.state.next.at === "sealing") this.sealed();
    return this;
  }

  sealed(): this {
    const { next } = this.state;
    if (next.at !== "sealing") return this;
    const sealed = { epoch: this.facts.epoch, message: new Uint8Array(8) };
    this.#write(reserveFor(this.state, next.job, this.facts));
    return this.step({ type: "sealed", job: next.job, sealed });
  }

  get #first(): number {
    const [first] = this.state.underWay;
    return first?.fate.at === "under_way" ? first.fate.call : 0;
  }

  taken(isDuplicate = false): this {
    return this.step({ type: "taken", call: this.#first, isDuplicate });
  }

  refused(code: string, more: Partial<SendRefusal> = {}): this {
    const { next } = this.state;
    const call = next.at === "asking" ? next.call : this.#first;
    return this.step({ type: "refused", call, why: { code, ...more } });
  }

  asked(stands: boolean): this {
    const { next } = this.state;
    return next.at === "asking" ? this.step({ type: "asked", call: next.call, stands }) : this;
  }

  time(): this {
    const { hold } = this.state;
    return "timer" in hold ? this.step({ type: "time", timer: hold.timer }) : this;
  }

  /** Bundles as they were given to the relay. */
  get sent(): string[] {
    return this.effects.flatMap((effect) =>
      effect.type === "send" ? [lettersOf(effect.bundle)] : []
    );
  }

  get told(): string[] {
    return this.effects.flatMap((effect) => {
      if (effect.type === "accepted") return effect.messages.map(({ given }) => given);
      if (effect.type === "queued") return [`${effect.message.given} queued`];
      if (effect.type === "rejected") return [`${effect.message.given} ${wordOf(effect.why)}`];
      return effect.type === "undelivered" ? [`undelivered ${wordOf(effect.why)}`] : [];
    });
  }

  count(type: OutboxEffect<string>["type"]): number {
    return this.effects.filter((effect) => effect.type === type).length;
  }

  get settled(): number[] {
    return this.effects.flatMap((effect) => effect.type === "settle" ? [effect.operation] : []);
  }

  get counters(): (number | undefined)[] {
    return this.state.underWay.map(({ made }) => made?.first);
  }
}

function lettersOf({ messages }: Bundle<string>): string {
  return messages.map(({ given }) => given).join("");
}

function wordOf(why: Rejection): string {
  if (why.by === "refused") return why.why.code;
  if (why.by === "expired") return why.isTried ? "expired, tried" : "expired";
  return why.by;
}

const group: SendGroup = { id: idOf("G"), size: 2, isAgain: false };
const again: SendGroup = { ...group, isAgain: true };

Deno.test("outbox: what is given in one turn goes together, one epoch at a time, and is accepted", () => {
  const agent = new Agent().send("a").send("b");
  assertEquals([agent.state.next.at, agent.count("gather")], ["gathering", 1]);
  agent.step({ type: "gathered" });
  assertEquals([agent.state.next.at, agent.sent], ["sealing", []]);
  agent.sealed();
  assertEquals([agent.sent, agent.written, agent.counters], [["ab"], ["4098 0"], [1]]);
  assertEquals(agent.taken().told, ["a", "b"]);
});

Deno.test("outbox: without bundles each goes alone, and several are under way", () => {
  const agent = new Agent(apart).send("a").send("b").turn();
  assertEquals([agent.sent, agent.counters], [["a", "b"], [1, 2]]);
});

Deno.test("outbox: beside members that do not read bundles no more counters are reserved than messages that wait", () => {
  assertEquals(
    new Agent({ ...apart, doAllReadBundles: false }).send("a").send("b").turn().written,
    ["2 0", "2 0"],
  );
});

Deno.test("outbox: nothing goes without a permit; a queued caller is told at once, or when it ends", () => {
  const agent = new Agent(offline).send("a").queue("b");
  assertEquals([agent.state.next.at, agent.told], ["none", ["b queued"]]);
  agent.know({ work: calm.work }).queue("c").know(offline);
  assertEquals(agent.told, ["b queued", "c queued"]);
});

Deno.test("outbox: a permit that is lost while a bundle is sealed puts it back, and its counters are gone", () => {
  const agent = new Agent().send("a").step({ type: "gathered" }).know(offline).sealed();
  assertEquals([agent.sent, agent.state.queue.bundles.length, agent.state.counters.gone], [[], 1, [{
    first: 1,
    count: 1,
  }]]);
});

Deno.test("outbox: a lost answer brings the same bytes again, under the same counter", () => {
  const agent = new Agent().send("a").turn().refused("connection_error").time().turn();
  assertEquals([agent.sent, agent.counters, agent.count("seal")], [["a", "a"], [1], 1]);
  agent.taken(true);
  assertEquals([agent.told, agent.count("false_duplicate"), agent.state.counters.known], [
    ["a"],
    0,
    1,
  ]);
});

Deno.test("outbox: a duplicate of what was sent once is a lie; of what may be known, its counter was not used", () => {
  assertEquals(new Agent().send("a").turn().taken(true).count("false_duplicate"), 1);
  const known = new Agent().send("a", { mayBeKnown: true }).turn().taken(true);
  assertEquals([known.told, known.count("false_duplicate"), known.state.counters.gone.length], [
    ["a"],
    0,
    1,
  ]);
});

Deno.test("outbox: a conflict waits for that epoch, and the message is sealed anew under its counter", () => {
  const agent = new Agent().send("a").turn().refused("epoch_conflict", { epoch: 4 });
  assertEquals(agent.state.hold.at, "waiting_epoch");
  agent.know({ epoch: 4 }).turn();
  assertEquals([agent.sent, agent.counters, agent.count("seal"), agent.count("begin_run")], [
    ["a", "a"],
    [1],
    2,
    1,
  ]);
});

Deno.test("outbox: 30 s later those that are not queued reject, and the others stay", () => {
  const agent = new Agent(apart).send("a").queue("b").turn();
  agent.refused("epoch_conflict", { epoch: 4 }).refused("epoch_conflict", { epoch: 4 }).time();
  assertEquals([agent.told, agent.state.hold.at, agent.state.next.at], [
    ["a not_arrived"],
    "none",
    "sealing",
  ]);
});

Deno.test("outbox: 30 s later one that may stand is not told that it was not sent: it goes again as it was", () => {
  const agent = new Agent(apart).send("a").send("b").turn();
  agent.refused("internal").refused("epoch_conflict", { epoch: 4 }).time().turn();
  assertEquals([agent.told, agent.sent], [["b not_arrived"], ["a", "b", "a"]]);
});

Deno.test("outbox: an obstacle waits for everything that is under way, then its time, then begins a run", () => {
  const agent = new Agent(apart).send("a").send("b").turn().refused("overloaded", {
    retryAfterMs: 700,
  });
  assertEquals([agent.state.hold.at, agent.count("begin_run")], ["standing", 0]);
  agent.refused("overloaded");
  assertEquals(agent.state.hold.at, "waiting");
  agent.time().turn();
  assertEquals([agent.sent, agent.count("begin_run")], [["a", "b", "a", "b"], 1]);
});

Deno.test("outbox: a wait that a relay has asked for ends with its connection", () => {
  const agent = new Agent().send("a").turn().refused("rate_limited", { retryAfterMs: 60_000 });
  assertEquals(agent.know(offline).state.hold.at, "none");
  const standing = new Agent(apart).send("a").send("b").turn().refused("rate_limited").know(
    offline,
  );
  assertEquals(standing.state.hold, { at: "standing", by: { kind: "run" }, isDissolving: false });
});

Deno.test("outbox: no room later than its deadline rejects at once; else it waits, and its end names the refusal", () => {
  const late = new Agent().send("a").turn().refused("storage_full", { retryAfterMs: 40_000 });
  assertEquals([late.told, late.state.hold.at], [["a storage_full"], "none"]);
  const agent = new Agent().send("a").turn().refused("storage_full").step({
    type: "expired",
    order: 1,
  });
  assertEquals(agent.told, ["a storage_full"]);
});

Deno.test("outbox: a bundle that the quota does not cover goes in parts, before what is behind it", () => {
  const agent = new Agent().send("a").send("b").turn().send("c").turn();
  agent.refused("quota_exceeded").refused("quota_exceeded");
  assertEquals(agent.turn().sent, ["ab", "c", "a", "b", "c"]);
});

Deno.test("outbox: one that is refused for good rejects, or is reported when its caller was told that it waits", () => {
  assertEquals(new Agent().send("a").turn().refused("not_allowed").told, ["a not_allowed"]);
  const queued = new Agent(offline).queue("a").know({ work: calm.work }).turn().refused(
    "quota_exceeded",
  );
  assertEquals(queued.told, ["a queued", "undelivered quota_exceeded"]);
});

Deno.test("outbox: in silence a message rejects before it is sealed", () => {
  const agent = new Agent({ mayPost: false }).send("a").turn();
  assertEquals([agent.told, agent.count("seal")], [["a silenced"], 0]);
});

Deno.test("outbox: a message is judged by the policy of the epoch in which it was sealed", () => {
  const silent = { epoch: 4, mayPost: false };
  const asked = (): Agent => new Agent().send("a").step({ type: "gathered" });
  const inNext = asked().know(silent).sealed();
  assertEquals([inNext.sent, inNext.told], [[], ["a silenced"]]);
  assertEquals(inNext.state.counters.gone, [{ first: 1, count: 1 }]);
  const before = asked();
  const { next } = before.state;
  const sealed = { epoch: 3, message: new Uint8Array(8) };
  before.know(silent).step({ type: "sealed", job: next.at === "sealing" ? next.job : 0, sealed });
  assertEquals([before.sent, before.told], [["a"], []]);
  before.refused("epoch_conflict", { epoch: 4 }).turn();
  assertEquals([before.sent, before.told], [["a"], ["a silenced"]]);
});

Deno.test("outbox: a caller that gives up takes its message back, unless the relay was given it", () => {
  const waiting = new Agent(offline).send("a").step({ type: "expired", order: 1 });
  assertEquals([waiting.told, waiting.state.queue.messages.length], [["a expired"], 0]);
  const underWay = new Agent().send("a").turn().step({ type: "expired", order: 1 }).taken();
  assertEquals([underWay.told.slice(0, 1), underWay.state.counters.known], [
    ["a expired, tried"],
    1,
  ]);
  const sealing = new Agent().send("a").send("b").step({ type: "gathered" }).step({
    type: "withdrawn",
    order: 1,
  });
  assertEquals(sealing.turn().sent, ["b"]);
});

Deno.test("outbox: a bundle that may stand comes apart when all of its callers have given up", () => {
  const agent = new Agent().send("a").send("b").turn().know(offline).refused("connection_error");
  agent.step({ type: "expired", order: 1 });
  assertEquals(agent.state.queue.bundles.length, 1);
  agent.step({ type: "expired", order: 2 });
  assertEquals([agent.state.queue.bundles.length, agent.state.counters.gone], [0, [{
    first: 1,
    count: 2,
  }]]);
});

Deno.test("outbox: messages given as one go as one bundle of that id, or each alone", () => {
  const whole = new Agent().send("a", { group, goes: "whole" }).send("b", { group, goes: "whole" })
    .turn();
  assertEquals([whole.sent, whole.state.underWay[0]?.id], [["ab"], group.id]);
  const each = new Agent(apart).send("a", { group, goes: "whole" }).send("b", {
    group,
    goes: "whole",
  }).turn();
  assertEquals(each.sent, ["a", "b"]);
});

Deno.test("outbox: given to the next process again, the relay is asked first", () => {
  const asking = (): Agent => {
    return new Agent().send("a", { group: again, goes: "again" }).send("b", {
      group: again,
      goes: "again",
    }).turn();
  };
  assertEquals([asking().state.next.at, asking().asked(true).told], ["asking", ["a", "b"]]);
  assertEquals(asking().asked(false).turn().sent, ["a", "b"]);
  assertEquals(asking().refused("overloaded").state.hold.at, "waiting");
  assertEquals(asking().refused("not_found").told, ["a not_found", "b not_found"]);
});

Deno.test("outbox: a question that is refused for good leaves the reason why nothing leaves as it is", () => {
  const agent = new Agent().send("x").turn();
  agent.send("a", { group: again, goes: "again" }).send("b", { group: again, goes: "again" })
    .turn();
  const { next } = agent.state;
  agent.step({
    type: "refused",
    call: callOf(agent),
    why: { code: "overloaded", retryAfterMs: 700 },
  });
  if (next.at === "asking") {
    agent.step({ type: "refused", call: next.call, why: { code: "not_found" } });
  }
  assertEquals([agent.state.hold.at, agent.sent], ["waiting", ["x"]]);
});

function callOf({ state: { underWay: [first] } }: Agent): number {
  return first?.fate.at === "under_way" ? first.fate.call : 0;
}

Deno.test("outbox: a new membership seals what waits anew, from the first counter", () => {
  const agent = new Agent().send("a").turn().know(offline).refused("connection_error");
  agent.step({ type: "entered", operation: 1 });
  agent.know({ work: calm.work, epoch: 5 }).turn();
  assertEquals([agent.sent, agent.counters, agent.written], [["a", "a"], [1], [
    "4097 0",
    "0 0",
    "4097 0",
  ]]);
});

Deno.test("outbox: settled counters are noted a second later, while it may send", () => {
  const agent = new Agent().send("a").turn().taken();
  const { noting } = agent.state;
  const wakes = agent.effects.filter(({ type }) => type === "wake");
  assertEquals(wakes, [{ type: "wake", timer: noting?.timer ?? 0, afterMs: 1_000 }]);
  agent.step({ type: "time", timer: noting?.timer ?? 0 });
  assertEquals([agent.written, agent.state.noting], [["4097 0", "4097 1"], undefined]);
  assertEquals(agent.step({ type: "closing", operation: 2 }).written.at(-1), "1 1");
});

Deno.test("outbox: an end rejects everything that waits, and an answer behind it changes nothing", () => {
  const agent = new Agent(apart).send("a").turn().send("b").step({ type: "over" });
  assertEquals(agent.told, ["a over", "b over"]);
  agent.send("c").step({ type: "taken", call: 1, isDuplicate: false });
  assertEquals(
    agent.told,
    ["a over", "b over", "c over"],
    "one whose step comes behind it rejects, too",
  );
});

Deno.test("outbox: an answer, a job or a timer of an earlier state changes nothing", () => {
  const agent = new Agent().send("a").turn();
  const before = structuredClone(agent.state);
  agent.step({ type: "taken", call: 99, isDuplicate: false }).step({
    type: "refused",
    call: 99,
    why: { code: "x" },
  });
  agent.step({ type: "sealed", job: 99, sealed: { epoch: 3, message: new Uint8Array(1) } });
  assertEquals(reserveFor(agent.state, 99, agent.facts), undefined);
  agent.step({ type: "time", timer: 99 }).step({ type: "expired", order: 99 });
  assertEquals(structuredClone(agent.state), before);
});

Deno.test("outbox: those that wait until it is empty are told then, and those that wait behind the end at once", () => {
  const agent = new Agent().step({ type: "when_empty", operation: 1 }).send("a").step({
    type: "when_empty",
    operation: 2,
  });
  assertEquals(agent.settled, [1]);
  assertEquals(agent.turn().taken().settled, [1, 2]);
  agent.send("b").step({ type: "when_empty", operation: 3 }).step({ type: "over" });
  const over = agent.step({ type: "closing", operation: 4 }).step({
    type: "when_empty",
    operation: 5,
  });
  assertEquals(over.settled, [1, 2, 3, 4, 5]);
});

Deno.test("outbox: it holds 4,096 messages, and a process that starts has none", () => {
  const agent = new Agent(offline);
  for (let i = 0; i < 4096; i++) agent.send("a");
  assertEquals([isFull(agent.state, 1, 1), isFull(new Agent().state, 1, 33 * 1024 * 1024)], [
    true,
    true,
  ]);
  assertEquals(forgetOutbox(agent.state), restoreOutbox({ reserved: 0, known: 0 }));
});
