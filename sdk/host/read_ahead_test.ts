// A loop's messages that it has not seen: when it gets several, what its host is told, and what goes back.
import { assertEquals } from "@std/assert";
import { HostConnection } from "./connection.ts";
import { Fields } from "./fields.ts";
import { FrameReader, type Header } from "./frames.ts";
import { type GivenItem, ReadAhead } from "./read_ahead.ts";

function loop(): {
  readonly ahead: ReadAhead;
  readonly holding: Set<ReadAhead>;
  readonly told: Header[];
  readonly pass: (ms: number) => void;
  readonly answer: (...items: readonly number[]) => GivenItem;
} {
  let nowMs = 1_000;
  const told: Header[] = [];
  const frames = new FrameReader();
  const write = (bytes: Uint8Array): void => {
    for (const { header } of frames.push(bytes)) told.push(header);
  };
  const stream = { connection: new HostConnection({ write, close: () => {} }), number: 7 };
  const holding = new Set<ReadAhead>();
  const answer = (...items: readonly number[]): GivenItem => {
    const bytes = Uint8Array.from(items);
    const fields = items.length === 1 ? { item: items[0] } : { items: items.map((item) => ({ item, length: 1 })) };
    return { fields: new Fields(fields), bytes, stream };
  };
  return {
    ahead: new ReadAhead({ nowMs: () => nowMs }, holding),
    holding,
    told,
    pass: (ms) => void (nowMs += ms),
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

Deno.test("messages come in order with their own bytes, and the host is told while they last, not for each", () => {
  const program = loop();
  const { ahead, pass, told, answer } = program;
  hurry(program);
  const got = [ahead.put(answer(1, 2, 3, 4))];
  pass(60);
  for (let next = ahead.take(); next !== undefined; next = ahead.take()) got.push(next);
  assertEquals(got.map(({ fields, bytes }) => [fields.number("item"), [...bytes]]), [1, 2, 3, 4].map((n) => [n, [n]]));
  assertEquals(told.map(({ op, stream, item, back }) => [op, stream, item, back]), [["passed", 7, 1, undefined]]);
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
