/** The table of docs/channel_machine.md. The runner's tests have its rows with loops; orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import { isFullInbox, isNearlyEmptyInbox, stepInbox } from "./inbox.ts";
import { type InboxEvent, newInbox } from "./inbox_state.ts";

class Program {
  readonly state = newInbox<string>();
  readonly late: string[] = [];
  readonly done: string[] = [];
  readonly given: string[] = [];
  isDiscarding = false;

  step(...events: InboxEvent<string>[]): this {
    const { late, isDiscarding } = this;
    for (const event of events) {
      for (const effect of stepInbox(this.state, event, { isDiscarding, isExpired: (item) => late.includes(item) })) {
        if (effect.type === "done") this.done.push(...effect.items);
        if (effect.type === "given") this.given.push(effect.entry.item);
      }
    }
    return this;
  }

  arrive(items: string, bytes = 1): this {
    for (const item of items) {
      this.step({ type: "arrived", item, lane: item === "r" ? "request" : item === "o" ? "aside" : "message", bytes });
    }
    return this;
  }

  begin(reader: number, { isManual = false, all = false } = {}): this {
    return this.step({ type: "begins", reader, all, isManual });
  }

  next(reader: number): this {
    return this.step({ type: "asks", reader }, { type: "takes", reader });
  }
}

Deno.test("inbox: a loop gets what it wants in order, and is done with one when it asks for the next", () => {
  const program = new Program().begin(1).arrive("aob").next(1).next(1);
  assertEquals([program.given, program.done], [["a", "b"], ["o", "a"]]);
});

Deno.test("inbox: of two loops the slower one decides; one that is parked, or has ended, holds up nothing", () => {
  const both = (): Program => new Program().begin(1).begin(2).arrive("ab").next(1).next(1).next(1);
  assertEquals(both().done, []);
  assertEquals(both().step({ type: "parks", reader: 2 }).done, ["a", "b"]);
  assertEquals(both().step({ type: "ends", reader: 2 }).done, ["a", "b"]);
});

Deno.test("inbox: a message that is given back comes before the next, and those that were passed behind it do not", () => {
  const program = new Program().begin(1, { isManual: true }).arrive("abc").next(1).next(1);
  program.step({ type: "gives_back", reader: 1, number: 0 }, { type: "passes", reader: 1, number: 1 }).next(1).next(1);
  assertEquals([program.given, program.done], [["a", "b", "a", "c"], ["b"]]);
});

Deno.test("inbox: a loop by hand that has ended may still pass what it works on", () => {
  const program = new Program().begin(1, { isManual: true }).arrive("a").next(1).step({ type: "ends", reader: 1 });
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
  assertEquals([program.step({ type: "passes", reader: 2, number: 0 }).done, program.state.ended], [["a"], []]);
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
  assertEquals([isFullInbox(state), isNearlyEmptyInbox(state)], [false, true]);
});

Deno.test("inbox: words of a reader that has ended, and of entries that are gone, change nothing", () => {
  const program = new Program().begin(1).arrive("a").next(1).next(1).step({ type: "ends", reader: 1 });
  const before = structuredClone(program.state);
  program.step({ type: "takes", reader: 1 }, { type: "passes", reader: 1, number: 0 }, { type: "handled", number: 0 });
  program.step({ type: "gives_back", reader: 1, number: 0 }, { type: "asks", reader: 1 });
  assertEquals(structuredClone(program.state), before);
});
