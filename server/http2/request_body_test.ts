import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { bytes } from "../../tests/support/http2/wire.ts";
import { StreamRequestBody } from "./request_body.ts";

function body(): { body: StreamRequestBody; taken: () => number; dropped: () => number } {
  let [taken, dropped] = [0, 0];
  const owner = {
    taken: (count: number) => taken += count,
    dropped: (count: number) => dropped += count,
  };
  return { body: new StreamRequestBody(owner), taken: () => taken, dropped: () => dropped };
}

Deno.test("RequestBody gives what was queued, then its end, to every reader in order", async () => {
  const { body: queue, taken } = body();
  const reads = [queue.next(), queue.next(), queue.next()];
  queue.push(bytes(1));
  queue.push(bytes(2));
  queue.end();
  const results = await Promise.all(reads);
  assertEquals(results.map(({ done, value }) => done ? "end" : [...value ?? []]), [
    [1, 2],
    "end",
    "end",
  ]);
  assertEquals(taken(), 2);
});

Deno.test("RequestBody stores a flood of one-byte chunks in little more than their bytes", async () => {
  const { body: queue } = body();
  const before = Deno.memoryUsage().heapUsed;
  for (let i = 0; i < 262_144; i++) queue.push(bytes(i));
  assertLess((Deno.memoryUsage().heapUsed - before) / 1e6, 60);
  let [length, sum] = [0, 0];
  queue.end();
  for await (const chunk of queue) {
    length += chunk.length;
    sum += chunk.reduce((a, b) => a + b, 0);
  }
  assertEquals([length, sum], [262_144, 262_144 / 256 * (255 * 256 / 2)]);
});

Deno.test("RequestBody reports what it drops when its reader leaves or its request fails", async () => {
  const left = body();
  left.body.push(bytes(1, 2, 3));
  await left.body.return();
  assertEquals([left.dropped(), left.taken(), left.body.push(bytes(4))], [3, 0, false]);
  assertEquals(await left.body.next(), { done: true, value: undefined });

  const failed = body();
  failed.body.push(bytes(1, 2, 3));
  failed.body.fail(new Error("cut off"));
  assertEquals(failed.dropped(), 3);
  await assertRejects(() => failed.body.next(), Error, "cut off");
});
