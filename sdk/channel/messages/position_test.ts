/**
 * Transitions, one by one. The runner's tests have those on a disk; orders of events are tried in
 * tests/small_worlds.
 */
import { assertEquals } from "@std/assert";
import { stepPosition } from "./position.ts";
import {
  forgetPosition,
  type PositionEffect,
  type PositionEvent,
  type PositionState,
  restorePosition,
} from "./position_state.ts";

class Program {
  readonly state: PositionState = restorePosition(0);
  position = 0;
  effects: PositionEffect[] = [];

  step(...events: PositionEvent[]): this {
    for (const event of events) {
      this.effects.push(...stepPosition(this.state, event, { position: this.position }));
    }
    return this;
  }

  done(messages = 1): this {
    this.position += messages;
    return this.step({ type: "noted", changes: 1, messages });
  }

  ask(operation: number, isUrgent = false): this {
    return this.step({ type: "asked", operation, isUrgent });
  }

  turn(): this {
    const { writing } = this.state;
    return writing.at === "gathering" ? this.step({ type: "gathered", turn: writing.turn }) : this;
  }

  /** The end of the write, or of what follows it. */
  end(type: "written" | "told" | "failed"): this {
    const { writing } = this.state;
    return "call" in writing ? this.step({ type, call: writing.call }) : this;
  }

  time(): this {
    const { writing, later } = this.state;
    const timer = writing.at === "collecting" ? writing.timer : later?.timer ?? 0;
    return this.step({ type: "time", timer });
  }

  get at(): string {
    return this.state.writing.at;
  }

  get told(): string[] {
    return this.effects.flatMap((effect) =>
      effect.type === "settle" ? [`${effect.operation}${effect.isLost ? " lost" : ""}`] : []
    );
  }
}

Deno.test("position: a message is gathered, collected, written and told", () => {
  const program = new Program().done();
  assertEquals(program.at, "gathering");
  assertEquals(program.turn().at, "collecting");
  assertEquals(program.time().at, "gathering");
  assertEquals(program.turn().at, "writing");
  assertEquals([program.end("written").at, program.state.durable, program.state.ahead], [
    "telling",
    1,
    0,
  ]);
  assertEquals(program.end("told").at, "resting");
});

Deno.test("position: 32 messages ahead, and somebody who waits, go with the turn", () => {
  assertEquals(new Program().done(32).turn().at, "writing");
  assertEquals(new Program().done().ask(1).turn().at, "writing");
});

Deno.test("position: behind a write those who wait are paced, unless one is urgent", () => {
  const paced = new Program().done().ask(1).turn().done().ask(2).end("written").end("told").turn();
  assertEquals([paced.at, paced.told], ["collecting", ["1"]]);
  const urgent = new Program().done().ask(1).turn().done().ask(2, true).end("written").end("told")
    .turn();
  assertEquals([urgent.at, urgent.told], ["writing", ["1"]]);
});

Deno.test("position: one that only moved is written a second later", () => {
  const program = new Program();
  program.position = 3;
  program.step({ type: "noted", changes: 0, messages: 0 });
  assertEquals([program.at, program.effects], ["resting", [{
    type: "wake",
    timer: 1,
    afterMs: 1_000,
  }]]);
  assertEquals(program.time().turn().at, "collecting");
});

Deno.test("position: a write of an earlier log says nothing of this one, and its changes are on disk", () => {
  const program = new Program().done().ask(1).turn();
  program.position = 0;
  program.step({ type: "forgotten" }).end("written");
  assertEquals([program.at, program.told, program.state.durable, program.state.isVoid], [
    "resting",
    ["1"],
    0,
    true,
  ]);
});

Deno.test("position: a write that fails, and an end before it, reject all that wait", () => {
  const failed = new Program().done().ask(1).turn().ask(2).end("failed");
  assertEquals([failed.at, failed.told, failed.ask(3).told.at(-1)], ["resting", [
    "1 lost",
    "2 lost",
  ], "3 lost"]);
  assertEquals(new Program().done().ask(1).step({ type: "stop" }).told, ["1 lost"]);
  assertEquals(new Program().step({ type: "stop" }).ask(1).told, ["1"]);
});

Deno.test("position: an end, a turn or a timer of an earlier state changes nothing", () => {
  const program = new Program().done().turn().time().turn();
  const before = structuredClone(program.state);
  program.step({ type: "gathered", turn: 99 }, { type: "time", timer: 99 }, {
    type: "written",
    call: 99,
  });
  program.step({ type: "told", call: 99 }, { type: "failed", call: 99 });
  assertEquals(structuredClone(program.state), before);
  assertEquals(forgetPosition(program.state), restorePosition(0));
});
