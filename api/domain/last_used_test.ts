import { assertEquals, assertRejects } from "@std/assert";
import { type KeyId, parseKeyId } from "../../proto/mod.ts";
import { createLastUsed } from "./last_used.ts";

const [a, b] = [1, 2].map((n) => parseKeyId(`00000000-0000-0000-0000-00000000000${n}`));

function createWorld(): {
  clock: { now: number; down: boolean };
  writes: KeyId[][];
  lastUsed: ReturnType<typeof createLastUsed>;
} {
  const clock = { now: 1_000_000, down: false };
  const writes: KeyId[][] = [];
  const recordUse = (keyIds: readonly KeyId[]): Promise<void> => {
    if (clock.down) return Promise.reject(new Error("down"));
    writes.push([...keyIds]);
    return Promise.resolve();
  };
  return {
    clock,
    writes,
    lastUsed: createLastUsed({ store: { recordUse }, clock: () => clock.now }),
  };
}

Deno.test("any number of uses becomes one write per key and minute", async () => {
  const { clock, writes, lastUsed } = createWorld();
  if (a === undefined || b === undefined) throw new TypeError();
  for (let second = 0; second < 130; second++) {
    for (let i = 0; i < 10; i++) lastUsed.note(a);
    if (second === 0) lastUsed.note(b);
    await lastUsed.flush();
    clock.now += 1000;
  }
  assertEquals(writes, [[a, b], [a], [a]]);
});

Deno.test("nothing used, nothing written", async () => {
  const { writes, lastUsed } = createWorld();
  await lastUsed.flush();
  assertEquals(writes, []);
});

Deno.test("what could not be written is written at the next flush", async () => {
  const { clock, writes, lastUsed } = createWorld();
  if (a === undefined) throw new TypeError();
  lastUsed.note(a);
  clock.down = true;
  await assertRejects(() => lastUsed.flush(), Error, "down");
  clock.down = false;
  await lastUsed.flush();
  assertEquals(writes, [[a]]);
});
