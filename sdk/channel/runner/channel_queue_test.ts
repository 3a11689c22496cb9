import { assertEquals } from "@std/assert";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { SimulatedClock } from "../../../tests/support/simulated_clock.ts";
import { ChannelQueue, type Steps } from "./channel_queue.ts";

/**
 * Rooms that write a line for each step and effect. An event is the effects of its step; `write`
 * holds it up.
 */
class House {
  readonly lines: string[] = [];
  readonly faults: unknown[] = [];
  readonly clock = new SimulatedClock();
  readonly queue = new ChannelQueue(this.clock.after, (fault) => this.faults.push(fault));
  readonly writes: Deferred<string[] | void>[] = [];

  room(
    name: string,
    act: (effect: string, steps: Steps<Event, string>) => void = () => {},
  ): Steps<Event, string> {
    const held: number[] = [];
    const steps: Steps<Event, string> = this.queue.add<Event, string>({
      step: (event) => {
        if ("type" in event) return this.#stepped(`${name} time ${event.timer}`, []);
        if (event.holds !== undefined) held.splice(0, held.length, ...event.holds);
        const { effects } = this.#stepped(`${name} step`, event.effects);
        if (event.writes !== true) return { effects };
        const write = createDeferred<string[] | void>();
        this.writes.push(write);
        return { effects, written: write.promise };
      },
      perform: (effect) => {
        this.lines.push(`${name} ${effect}`);
        act(effect, steps);
      },
      timers: () => held,
    });
    return steps;
  }

  #stepped(line: string, effects: readonly string[]): { readonly effects: readonly string[] } {
    this.lines.push(line);
    return { effects };
  }

  get said(): string[] {
    return this.lines.splice(0);
  }
}

interface Event {
  readonly effects: readonly string[];
  readonly writes?: boolean;
  readonly holds?: readonly number[];
}

Deno.test("a step is made at once; what its effects bring about is stepped behind them", () => {
  const house = new House();
  const second = house.room("b");
  const first = house.room("a", (effect) => effect === "1" && second.push({ effects: ["x"] }));
  first.push({ effects: ["1", "2"] });
  assertEquals(house.said, ["a step", "a 1", "a 2", "b step", "b x"]);
});

Deno.test("what effects bring about comes in their order, with all that it causes, and before what waited", async () => {
  const house = new House();
  const third = house.room("c");
  const second = house.room("b", (effect) => third.push({ effects: [effect] }));
  const first = house.room("a", (effect) => second.push({ effects: [effect] }));
  first.push({ effects: ["1", "2"], writes: true });
  third.push({ effects: ["x"] });
  house.writes[0]?.resolve();
  await house.clock.settle();
  const caused = (name: string): string[] => ["b step", `b ${name}`, "c step", `c ${name}`];
  assertEquals(house.said, [
    "a step",
    "a 1",
    "a 2",
    ...caused("1"),
    ...caused("2"),
    "c step",
    "c x",
  ]);
});

Deno.test("what is so already comes before what waits, in its order", async () => {
  const house = new House();
  const [first, second] = [house.room("a"), house.room("b")];
  first.push({ effects: ["1"], writes: true });
  second.push({ effects: ["x"] });
  first.pushFirst({ effects: ["2"] });
  second.pushFirst({ effects: ["3"] });
  house.writes[0]?.resolve();
  await house.clock.settle();
  assertEquals(house.said, ["a step", "a 1", "a step", "a 2", "b step", "b 3", "b step", "b x"]);
});

Deno.test("a write holds up its effects, and the steps of every room", async () => {
  const house = new House();
  const [first, second] = [house.room("a"), house.room("b")];
  first.push({ effects: ["1"], writes: true });
  second.push({ effects: ["x"] });
  assertEquals(house.said, ["a step"]);
  house.writes[0]?.resolve();
  await house.clock.settle();
  assertEquals(house.said, ["a 1", "b step", "b x"]);
});

Deno.test("a write may say that the effects are others", async () => {
  const house = new House();
  house.room("a").push({ effects: ["1"], writes: true });
  house.writes[0]?.resolve(["2"]);
  await house.clock.settle();
  assertEquals(house.said, ["a step", "a 2"]);
});

Deno.test("a write that fails, or an effect that throws, is told; the steps that wait are made", async () => {
  const house = new House();
  const second = house.room("b", () => {
    throw new Error("effect");
  });
  house.room("a").push({ effects: ["1"], writes: true });
  second.push({ effects: ["x"] });
  second.push({ effects: [] });
  house.writes[0]?.reject(new Error("disk"));
  await house.clock.settle();
  assertEquals(house.said, ["a step", "b step", "b x", "b step"]);
  assertEquals(house.faults.map(String), ["Error: disk", "Error: effect"]);
});

Deno.test("a room that has ended makes no step and no effect any more, also behind its write", async () => {
  const house = new House();
  const first = house.room("a");
  first.push({ effects: ["1"], writes: true });
  first.push({ effects: ["2"] });
  first.end();
  first.push({ effects: ["3"] });
  house.writes[0]?.resolve();
  await house.clock.settle();
  assertEquals(house.said, ["a step"]);
});

Deno.test("a timer that the state holds is an event; any other is cancelled with the next step", async () => {
  const house = new House();
  const steps = house.room("a", (effect, self) => self.wake(Number(effect), 10));
  steps.push({ effects: ["1", "2"], holds: [1] });
  assertEquals([house.said, house.clock.timers], [["a step", "a 1", "a 2"], 1]);
  await house.clock.advance(10);
  assertEquals([house.said, house.clock.timers], [["a time 1"], 0]);
  steps.push({ effects: ["3"], holds: [3] });
  steps.end();
  assertEquals(house.clock.timers, 0);
});
