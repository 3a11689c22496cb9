/**
 * Transitions, one by one. Orders of events, and kills between them, are tried in
 * tests/small_worlds.
 */
import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  binaryIdFromBytes,
  type MessageId,
  parseAgentId,
  type ReceiptState,
} from "../../../proto/mod.ts";
import { stepOwed } from "./owed_receipts.ts";
import {
  keyOf,
  type OwedEffect,
  type OwedEvent,
  type OwedFacts,
  type OwedState,
  type ReceiptDebt,
  restoreOwed,
} from "./owed_receipts_state.ts";

const [alice, bob] = [parseAgentId("A".repeat(22)), parseAgentId("B".repeat(22))];
const dayMs = 24 * 60 * 60 * 1000;

function idOf(number: number): MessageId {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, number);
  return binaryIdFromBytes<MessageId>(bytes);
}

class Debtor {
  state: OwedState;
  effects: OwedEffect[] = [];
  facts: OwedFacts = {
    nowMs: 0,
    mayTell: true,
    isMember: () => true,
    collectMs: 3000,
    budgetMs: 0,
  };

  constructor(debts: readonly ReceiptDebt[] = []) {
    this.state = restoreOwed(debts);
  }

  step(...events: OwedEvent[]): this {
    for (const event of events) this.effects.push(...stepOwed(this.state, event, this.facts));
    return this;
  }

  with(facts: Partial<OwedFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  acknowledge(number: number, asker: AgentId = alice, isLast = true): this {
    return this.step({ type: "acknowledged", id: idOf(number), asker, isLast });
  }

  say(number: number, state: ReceiptState, isHere = true): this {
    return this.step({ type: "said", id: idOf(number), asker: alice, state, isHere });
  }

  write(): this {
    return this.step({ type: "written", debts: [...this.state.debts.values()] });
  }

  /** The timer that is held rings. */
  time(): this {
    const { telling } = this.state;
    return "timer" in telling ? this.step({ type: "time", timer: telling.timer }) : this;
  }

  end(type: "accepted" | "refused", waitMs = 0): this {
    const { telling } = this.state;
    if (telling.at !== "sending") return this;
    const { call } = telling;
    return this.step(type === "accepted" ? { type, call } : { type, call, waitMs });
  }

  get at(): string {
    return this.state.telling.at;
  }

  get sent(): string[] {
    return this.effects.flatMap((effect) =>
      effect.type === "send"
        ? [`${effect.asker[0]} ${effect.receipts.map(({ state }) => state).join()}`]
        : []
    );
  }

  get waits(): number[] {
    return this.effects.flatMap((effect) => effect.type === "wake" ? [effect.afterMs] : []);
  }

  of(number: number): string | undefined {
    const debt = this.state.debts.get(keyOf({ id: idOf(number), asker: alice }));
    return debt && `${debt.state} ${debt.at}`;
  }
}

Deno.test("receipts: nothing is told before it is on disk; then it collects, is sent, and is forgotten", () => {
  const debtor = new Debtor().acknowledge(1);
  assertEquals([debtor.at, debtor.of(1)], ["resting", "delivered noted"]);
  assertEquals([debtor.write().at, debtor.waits], ["collecting", [3000]]);
  assertEquals([debtor.time().at, debtor.sent], ["sending", ["A delivered"]]);
  assertEquals([debtor.end("accepted").at, debtor.of(1)], ["pausing", undefined]);
  assertEquals([debtor.time().at, debtor.waits.at(-1)], ["resting", 5000]);
});

Deno.test("receipts: a full message goes at once, to one asker, and another one 5 seconds later", () => {
  const debtor = new Debtor().acknowledge(1000, bob).write();
  for (let i = 0; i < 100; i++) debtor.acknowledge(i);
  assertEquals(debtor.write().at, "sending");
  assertEquals(debtor.sent.map((each) => each.split(",").length), [64]);
  debtor.end("accepted").time();
  assertEquals(debtor.sent.at(-1), "B delivered");
  debtor.end("accepted").time().end("accepted").time();
  assertEquals(debtor.sent.map((each) => `${each[0]} ${each.split(",").length}`), [
    "A 64",
    "B 1",
    "A 36",
  ]);
  assertEquals([debtor.at, debtor.state.debts.size], ["resting", 0]);
});

Deno.test("receipts: what has changed while it was written, or under way, is told too", () => {
  const written = new Debtor().acknowledge(1);
  const before = [...written.state.debts.values()];
  written.say(1, "done").step({ type: "written", debts: before });
  assertEquals(written.of(1), "done noted");
  const sent = new Debtor().acknowledge(1).write().time().say(1, "done").write().end("accepted");
  assertEquals([sent.of(1), sent.time().sent.at(-1)], ["done due", "A done"]);
  assertEquals(sent.end("accepted").of(1), undefined);
});

Deno.test("receipts: a message that a rule holds is not delivered by its acknowledgement", () => {
  const held = new Debtor().say(1, "held").write().time().end("accepted").acknowledge(1);
  assertEquals([held.of(1), held.sent], ["held told", ["A held"]]);
  assertEquals(held.say(1, "held").of(1), "held told");
  held.say(1, "delivered").write().time().time().end("accepted");
  assertEquals([held.of(1), held.sent], [undefined, ["A held", "A delivered"]]);
});

Deno.test("receipts: one that is refused is kept until it cannot come again", () => {
  const refused = new Debtor().say(1, "refused").write().time().end("accepted");
  assertEquals(refused.of(1), "refused told");
  for (const state of ["delivered", "held", "done"] as const) refused.say(1, state);
  assertEquals(refused.of(1), "refused told");
  assertEquals(refused.acknowledge(1).of(1), undefined);
  const acknowledged = new Debtor().say(1, "refused").acknowledge(1).write();
  assertEquals(acknowledged.time().end("accepted").of(1), undefined);
});

Deno.test("receipts: while one of several readers has it, nothing that was told is forgotten", () => {
  const passed = new Debtor().acknowledge(1, alice, false).write().time().end("accepted");
  assertEquals(passed.say(1, "held").say(1, "refused").of(1), "delivered told");
  assertEquals(passed.acknowledge(1).of(1), undefined);
  const done = new Debtor().say(1, "done").write().time().end("accepted");
  assertEquals([done.of(1), done.acknowledge(1).of(1)], ["done told", undefined]);
});

Deno.test('receipts: of a message that has gone only "delivered" and "done" are said', () => {
  const gone = new Debtor().say(1, "held", false).say(1, "refused", false).say(1, "delivered");
  assertEquals(gone.of(1), undefined);
  assertEquals(gone.say(1, "done", false).write().time().end("accepted").sent, ["A done"]);
  assertEquals(gone.of(1), undefined);
});

Deno.test("receipts: nothing goes while it may not, to nobody who is gone, and not beyond the budget", () => {
  const debtor = new Debtor().with({ mayTell: false }).acknowledge(1).write();
  assertEquals(debtor.at, "resting");
  debtor.with({ mayTell: true }).step({ type: "look" }).with({ mayTell: false }).time();
  assertEquals([debtor.at, debtor.sent], ["resting", []]);
  debtor.with({ mayTell: true, isMember: () => false }).step({ type: "look" });
  assertEquals(debtor.at, "resting");
  debtor.with({ isMember: () => true, budgetMs: 70_000 }).step({ type: "look" }).time();
  assertEquals([debtor.at, debtor.waits.at(-1)], ["pausing", 70_000]);
  assertEquals(debtor.with({ budgetMs: 0 }).time().sent, ["A delivered"]);
});

Deno.test("receipts: a step asks once about an asker, however much is owed to it", () => {
  let asked = 0;
  const debtor = new Debtor().with({ mayTell: false });
  for (let number = 1; number <= 500; number++) debtor.acknowledge(number);
  debtor.write();
  for (const isMember of [false, true]) {
    asked = 0;
    debtor.with({ mayTell: true, isMember: () => ++asked > 0 && isMember }).step({ type: "look" });
    assertEquals(asked, 1);
  }
});

Deno.test("receipts: what the relay refuses is tried again, ever later, or when it says", () => {
  const debtor = new Debtor().acknowledge(1).write().time();
  for (let i = 0; i < 10; i++) debtor.end("refused").time();
  assertEquals(debtor.waits.slice(1, 4), [5000, 10_000, 20_000]);
  assertEquals(debtor.waits.at(-1), 600_000);
  assertEquals(debtor.end("refused", dayMs).waits.at(-1), dayMs);
  assertEquals(debtor.of(1), "delivered due");
});

Deno.test("receipts: another membership drops what is on no disk, and a week later nobody waits", () => {
  const debtor = new Debtor().acknowledge(1).write().acknowledge(2).step({ type: "entered" });
  assertEquals([debtor.of(1), debtor.of(2)], ["delivered due", undefined]);
  assertEquals(debtor.with({ nowMs: 14 * dayMs }).step({ type: "look" }).of(1), "delivered due");
  assertEquals(debtor.with({ nowMs: 14 * dayMs + 1 }).step({ type: "look" }).of(1), undefined);
});

Deno.test("receipts: a sender that asks and asks fills no disk: the oldest debts go", () => {
  const debtor = new Debtor().with({ mayTell: false });
  for (let i = 0; i < 4097; i++) debtor.acknowledge(i);
  assertEquals([debtor.state.debts.size, debtor.of(0)], [4096, undefined]);
  const last = debtor.effects.at(-1);
  assert(last?.type === "note" && last.keys.length === 2);
});

Deno.test("receipts: an end or a timer of an earlier state changes nothing", () => {
  const debtor = new Debtor().acknowledge(1).write().time();
  const before = structuredClone(debtor.state);
  debtor.step({ type: "accepted", call: 99 }, { type: "refused", call: 99, waitMs: 0 });
  debtor.step({ type: "time", timer: 99 });
  assertEquals(debtor.state, before);
});
