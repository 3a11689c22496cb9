/** Readers of a channel that hear of something new, in turns. */
import { assertEquals, assertLess } from "@std/assert";
import { parseAccountId } from "../../../proto/mod.ts";
import { FairTurns } from "../limits/fair_turns.ts";
import { FanOut } from "./fan_out.ts";
import { accountOf } from "../testing/world.ts";

interface Channel {
  readonly woken: number[];
  readonly faults: unknown[];
  readonly fanOut: FanOut;
  readonly turns: FairTurns;
  next(): void;
}

/** A channel with so many readers, and turns that the test takes by hand. */
function channelOf(readers: number, wake: (reader: number) => void = () => {}): Channel {
  const [soon, woken, faults]: [(() => void)[], number[], unknown[]] = [[], [], []];
  const turns = new FairTurns({
    soon: (run) => soon.push(run),
    turnCost: 1_000,
    sharedTurnCost: 1_000,
  });
  const waked = (reader: number): void => {
    woken.push(reader);
    wake(reader);
  };
  const each = Array.from(
    { length: readers },
    (_, reader) => [reader, { wake: () => waked(reader) }] as const,
  );
  const host = { turns, onFault: (error: unknown) => void faults.push(error) };
  const fanOut = new FanOut(host, parseAccountId(accountOf(1)), new Map(each));
  return { woken, faults, fanOut, turns, next: () => soon.splice(0).forEach((run) => run()) };
}

Deno.test("a few readers hear at once, and a thousand in several turns in which others begin too", () => {
  const few = channelOf(20);
  few.fanOut.begin();
  assertEquals(few.woken.length, 20);

  const many = channelOf(1_000);
  many.fanOut.begin();
  assertLess(many.woken.length, 200);
  const begun: number[] = [];
  many.turns.run("somebody else", 100, () => begun.push(many.woken.length));
  assertLess(begun[0] ?? Infinity, 200);
  for (let turn = 0; turn < 20; turn++) many.next();
  assertEquals(many.woken, Array.from({ length: 1_000 }, (_, reader) => reader));
});

Deno.test("what comes during a round wakes every reader once more, however much it is", () => {
  const channel = channelOf(300);
  channel.fanOut.begin();
  for (let message = 0; message < 50; message++) channel.fanOut.begin();
  for (let turn = 0; turn < 20; turn++) channel.next();
  assertEquals(channel.woken.length, 600);
  channel.fanOut.begin();
  for (let turn = 0; turn < 20; turn++) channel.next();
  assertEquals(channel.woken.length, 900);
});

Deno.test("a reader that cannot be told costs the others nothing", () => {
  const channel = channelOf(3, (reader) => {
    if (reader === 1) throw new Error("gone");
  });
  channel.fanOut.begin();
  assertEquals([channel.woken, channel.faults.length], [[0, 1, 2], 1]);
  channel.fanOut.begin();
  assertEquals(channel.woken.length, 6);
});
