// A loop's messages that it has not seen: when it gets several, what its host is told, and what
// goes back.
import { assertEquals } from "@std/assert";
import { HostConnection } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import { type FrameHeader, HostFrameReader } from "./frames.ts";
import { type HostItem, ReadAhead } from "./read_ahead.ts";

function loop(): {
  readonly ahead: ReadAhead;
  readonly holding: Set<ReadAhead>;
  readonly told: FrameHeader[];
  /** Time goes by, and no timer runs. */
  readonly pass: (ms: number) => void;
  /** The event loop turns. Timers whose time has come run. */
  readonly turn: () => void;
  readonly timers: ReadonlySet<unknown>;
  readonly answer: (...items: readonly number[]) => HostItem;
} {
  let nowMs = 1_000;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const after = (ms: number, run: () => void): () => void => {
    const timer = { atMs: nowMs + ms, run };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const turn = (): void => {
    for (const timer of [...timers]) if (timer.atMs <= nowMs && timers.delete(timer)) timer.run();
  };
  const told: FrameHeader[] = [];
  const frames = new HostFrameReader();
  const write = (bytes: Uint8Array): void => {
    for (const { header } of frames.push(bytes)) told.push(header);
  };
  const stream = { connection: new HostConnection({ write, close: () => {} }), number: 7 };
  const holding = new Set<ReadAhead>();
  const answer = (...items: readonly number[]): HostItem => {
    const bytes = Uint8Array.from(items);
    const fields = items.length === 1
      ? { item: items[0] }
      : { items: items.map((item) => ({ item, length: 1 })) };
    return { fields: new HeaderFields(fields), bytes, stream };
  };
  return {
    ahead: new ReadAhead({ nowMs: () => nowMs, after }, holding),
    holding,
    told,
    pass: (ms) => void (nowMs += ms),
    turn,
    timers,
    answer,
  };
}

/** Asks until it would get several. */
function hurry({ ahead, answer }: ReturnType<typeof loop>): number {
  let asks = 0;
  for (ahead.take(); ahead.wanted === 1 && asks < 100; ahead.take()) ahead.put(answer(++asks));
  return asks;
}

Deno.test("a loop gets several messages only after it was quick for a while, and one again once it is slow", () => {
  const program = loop();
  const { ahead, pass, answer } = program;
  assertEquals([hurry(program) > 4, ahead.wanted], [true, 64]);
  ahead.put(answer(100));
  pass(1_000);
  assertEquals([ahead.take(), ahead.wanted], [undefined, 1]);
});

Deno.test("messages come in order with their own bytes, and a quick loop tells the host with its next question alone", () => {
  const program = loop();
  const { ahead, timers, told, answer } = program;
  hurry(program);
  const got = [ahead.put(answer(1, 2, 3, 4))];
  for (let next = ahead.take(); next !== undefined; next = ahead.take()) got.push(next);
  assertEquals(
    got.map(({ fields, bytes }) => [fields.number("item"), [...bytes]]),
    [1, 2, 3, 4].map((n) => [n, [n]]),
  );
  assertEquals([told, timers.size], [[], 0]);
});

Deno.test("a loop that stops at a message tells its host in a moment how far it is, and gives back what it has not seen", () => {
  const program = loop();
  const { ahead, holding, pass, turn, told, timers, answer } = program;
  hurry(program);
  ahead.put(answer(1, 2, 3, 4));
  ahead.take();
  ahead.take();
  pass(50);
  turn();
  assertEquals(told.map(({ op, stream, item, back }) => [op, stream, item, back]), [[
    "passed",
    7,
    2,
    4,
  ]]);
  assertEquals([ahead.take(), holding.size, timers.size], [undefined, 0, 0]);
});

Deno.test("a loop that never lets its timer run gives back what it has not seen, too", () => {
  const program = loop();
  const { ahead, pass, told, timers, answer } = program;
  hurry(program);
  ahead.put(answer(1, 2, 3));
  pass(30);
  assertEquals(ahead.take()?.fields.number("item"), 2);
  pass(30);
  assertEquals(ahead.take(), undefined);
  assertEquals(told.map(({ item, back }) => [item, back]), [[1, 3]]);
  assertEquals(timers.size, 0);
});

Deno.test("what it has not seen goes back, and nothing that it works on is called done", () => {
  const program = loop();
  const { ahead, holding, told, answer } = program;
  hurry(program);
  ahead.put(answer(11, 12, 13, 14));
  ahead.take();
  assertEquals(holding.size, 1);
  for (const each of [...holding]) each.giveBack();
  ahead.giveBack();
  assertEquals(told.map(({ op, item, back }) => [op, item, back]), [["passed", 11, 13]]);
  assertEquals([ahead.take(), holding.size], [undefined, 0]);
});
