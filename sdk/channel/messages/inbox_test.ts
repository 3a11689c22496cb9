/**
 * Transitions, one by one. The runner's tests have those with loops; orders of events are tried in
 * tests/small_worlds.
 */
import { assertEquals } from "@std/assert";
import { hasInboxRoom, isFullInbox, stepInbox } from "./inbox.ts";
import { type InboxEffect, type InboxEvent, newInbox } from "./inbox_state.ts";

class Program {
  readonly state = newInbox<string>();
  readonly late: string[] = [];
  readonly done: string[] = [];
  readonly given: string[] = [];
  /** Calls that wait, with what they have heard. */
  readonly told: string[] = [];
  isDiscarding = false;
  isFarAhead = false;

  step(...events: InboxEvent<string>[]): this {
    const { late, isDiscarding, isFarAhead } = this;
    const facts = { isDiscarding, isFarAhead, isExpired: (item: string) => late.includes(item) };
    for (const event of events) {
      for (const effect of stepInbox(this.state, event, facts)) this.#hear(effect);
    }
    return this;
  }

  #hear(effect: InboxEffect<string>): void {
    if (effect.type === "done") return void this.done.push(...effect.items);
    if (effect.type === "given") this.given.push(effect.entry.item);
    if (effect.operation === undefined) return;
    this.told.push(
      `${effect.operation} ${effect.type === "given" ? effect.entry.item : effect.type}`,
    );
  }

  /** Calls for the next one. */
  wait(reader: number, ...operations: number[]): this {
    return this.step(
      ...operations.map((operation) => ({ type: "waits", reader, operation }) as const),
    );
  }

  arrive(items: string, bytes = 1): this {
    for (const item of items) {
      this.step({
        type: "arrived",
        item,
        lane: item === "r" ? "request" : item === "o" ? "aside" : "message",
        bytes,
      });
    }
    return this;
  }

  begin(reader: number, { isManual = false, all = false, isShared = false } = {}): this {
    return this.step({ type: "begins", reader, all, isManual, isShared });
  }

  next(reader: number): this {
    return this.step({ type: "asks", reader }, { type: "takes", reader });
  }
}

Deno.test("inbox: a loop gets what it wants in order, and is done with one when it asks for the next", () => {
  const program = new Program().begin(1).arrive("aob").next(1).next(1);
  assertEquals([program.given, program.done], [["a", "b"], ["o", "a"]]);
});

Deno.test("inbox: of two loops the slower one decides; one that has ended holds up nothing", () => {
  const both = (): Program => new Program().begin(1).begin(2).arrive("ab").next(1).next(1).next(1);
  assertEquals(both().done, []);
  assertEquals(both().step({ type: "ends", reader: 2 }).done, ["a", "b"]);
});

Deno.test("inbox: calls of a loop that wait are given one message each, and ask past the one before", () => {
  const program = new Program().begin(1).wait(1, 1, 2).arrive("a");
  assertEquals([program.told, program.done], [["1 a"], ["a"]]);
  assertEquals([program.arrive("bc").told, program.done], [["1 a", "2 b"], ["a"]]);
  assertEquals([program.wait(1, 3).told.at(-1), program.done], ["3 c", ["a", "b"]]);
  program.wait(1, 4).step({ type: "withdraws", reader: 1, operation: 4 }).arrive("d");
  assertEquals([program.told.length, program.wait(1, 5).told.at(-1)], [3, "5 d"]);
});

Deno.test("inbox: callers that share a reader hold up others only while one of them waits", () => {
  const program = new Program().begin(1).begin(2, { isShared: true }).arrive("ab").next(1).next(1);
  assertEquals([program.done, program.wait(2, 1).told], [["a"], ["1 b"]]);
  assertEquals(
    program.next(1).done,
    ["a", "b"],
    "it is parked again, and another one may be done with what it was given",
  );
  program.wait(2, 2).arrive("c").wait(2, 3).arrive("d").next(1).next(1).next(1);
  assertEquals([program.told, program.done], [["1 b", "2 c", "3 d"], ["a", "b", "c", "d"]]);
  program.wait(2, 4).step({ type: "withdraws", reader: 2, operation: 4 }).arrive("e").next(1).next(
    1,
  );
  assertEquals(program.done.at(-1), "e");
});

Deno.test("inbox: one that is far ahead of the disk waits, and goes on when it has come nearer", () => {
  const program = new Program().begin(1).arrive("ab");
  program.isFarAhead = true;
  assertEquals(program.wait(1, 1, 2).told, []);
  program.isFarAhead = false;
  assertEquals(program.step({ type: "near" }).told, ["1 a", "2 b"]);
});

Deno.test("inbox: calls get what is here before the end; a loop hears it once, and callers that share a reader each time", () => {
  const program = new Program().begin(1).begin(2, { isShared: true }).arrive("a");
  program.isFarAhead = true;
  program.wait(1, 1, 2, 3).wait(2, 4, 5).step({ type: "over" });
  assertEquals(program.told, ["1 a", "2 over", "3 ended", "4 a", "5 over"]);
  assertEquals(program.wait(1, 6).wait(2, 7).told.slice(5), ["6 ended", "7 over"]);
});

Deno.test("inbox: a reader that ends tells those that wait, and a message that is given back goes to one of them", () => {
  const program = new Program().begin(1, { isManual: true }).arrive("a").wait(1, 1, 2);
  program.step({ type: "gives_back", reader: 1, number: 0 }).wait(1, 3).step({
    type: "ends",
    reader: 1,
  });
  assertEquals(program.told, ["1 a", "2 a", "3 ended"]);
});

Deno.test("inbox: a message that is given back comes before the next, and those that were passed behind it do not", () => {
  const program = new Program().begin(1, { isManual: true }).arrive("abc").next(1).next(1);
  program.step({ type: "gives_back", reader: 1, number: 0 }, {
    type: "passes",
    reader: 1,
    number: 1,
  }).next(1).next(1);
  assertEquals([program.given, program.done], [["a", "b", "a", "c"], ["b"]]);
});

Deno.test("inbox: a loop by hand that has ended may still pass what it works on", () => {
  const program = new Program().begin(1, { isManual: true }).arrive("a").next(1).step({
    type: "ends",
    reader: 1,
  });
  assertEquals([program.done, program.state.ended.length], [[], 1]);
  program.step({ type: "passes", reader: 1, number: 0 });
  assertEquals([program.done, program.state.ended.length], [["a"], 0]);
});

Deno.test("inbox: loops by hand that come and go keep one message once, and each of them may pass it", () => {
  const program = new Program().arrive("a");
  for (const reader of [1, 2, 3]) {
    program.begin(reader, { isManual: true }).next(reader).step({ type: "ends", reader });
  }
  assertEquals([program.given, program.state.ended], [["a", "a", "a"], [0]]);
  assertEquals([program.step({ type: "passes", reader: 2, number: 0 }).done, program.state.ended], [
    ["a"],
    [],
  ]);
});

Deno.test("inbox: a request is done with when it is handled, and readers of all have passed it", () => {
  const program = new Program().begin(1, { all: true }).arrive("r").next(1).next(1);
  assertEquals([program.given, program.done], [["r"], []]);
  assertEquals(program.step({ type: "handled", number: 0 }).done, ["r"]);
});

Deno.test("inbox: one whose time is over is passed; without loops everything but requests is done with", () => {
  const program = new Program().begin(1).arrive("ab");
  program.late.push("a");
  assertEquals([program.next(1).given, program.done], [["b"], ["a"]]);
  const discarding = new Program();
  discarding.isDiscarding = true;
  assertEquals(discarding.arrive("aor").done, ["a", "o"]);
});

Deno.test("inbox: it is full by number and by bytes, and requests take no room", () => {
  assertEquals(isFullInbox(new Program().arrive("a".repeat(4096)).state), true);
  assertEquals(isFullInbox(new Program().arrive("ab", 4 * 1024 * 1024).state), true);
  const { state } = new Program().arrive("r".repeat(4096), 4 * 1024 * 1024);
  assertEquals([isFullInbox(state), hasInboxRoom(state)], [false, true]);
});

Deno.test("inbox: words of a reader that has ended, and of entries that are gone, change nothing", () => {
  const program = new Program().begin(1).arrive("a").next(1).next(1).step({
    type: "ends",
    reader: 1,
  });
  const before = structuredClone(program.state);
  program.step({ type: "takes", reader: 1 }, { type: "passes", reader: 1, number: 0 }, {
    type: "handled",
    number: 0,
  });
  program.step({ type: "gives_back", reader: 1, number: 0 }, { type: "asks", reader: 1 });
  assertEquals(structuredClone(program.state), before);
});
