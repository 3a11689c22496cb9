import { assertEquals } from "@std/assert";
import { concat } from "../../tests/support/http2/wire.ts";
import { Outbox } from "./outbox.ts";

Deno.test("Outbox hands everything of one turn over in one piece and says when the peer is slow", () => {
  const written: number[] = [];
  const tasks: (() => void)[] = [];
  const transport = {
    write: (chunk: Uint8Array) => {
      written.push(chunk.length);
      return false;
    },
    queuedBytes: () => 7,
    end: () => {},
    destroy: () => {},
  };
  const outbox = new Outbox(transport, (task) => tasks.push(task));
  for (let i = 0; i < 10; i++) outbox.slab.fill(1, outbox.reserve(17));
  assertEquals([written, tasks.length, outbox.queuedBytes, outbox.blocked], [[], 1, 177, false]);
  tasks[0]?.();
  assertEquals([written, outbox.queuedBytes, outbox.blocked], [[170], 7, true]);
  outbox.reserve(5);
  outbox.end();
  outbox.reserve(5);
  tasks.forEach((task) => task());
  assertEquals(written, [170, 5]);
});

Deno.test("Outbox keeps the order of bytes over slabs of any size", () => {
  const sent: Uint8Array[] = [];
  const transport = {
    write: (c: Uint8Array) => sent.push(c.slice()) > 0,
    queuedBytes: () => 0,
    end: () => {},
    destroy: () => {},
  };
  const outbox = new Outbox(transport, () => {});
  const expected: number[] = [];
  for (let i = 0; i < 300; i++) {
    const length = (i * 37) % 5_000;
    const at = outbox.reserve(length);
    outbox.slab.fill(i, at, at + length);
    expected.push(...new Array(length).fill(i & 0xff));
    if (i % 7 === 0) outbox.flush();
  }
  outbox.flush();
  assertEquals(concat(...sent), Uint8Array.from(expected));
});
