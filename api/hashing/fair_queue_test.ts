import { assertEquals } from "@std/assert";
import { FairQueue } from "./fair_queue.ts";

function drain(queue: FairQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

Deno.test("clients are served in turn, each in its own order", () => {
  const queue = new FairQueue<string>(10);
  for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) assertEquals(queue.push(item.slice(0, 1), item), undefined);
  assertEquals(drain(queue), ["a1", "b1", "c1", "a2", "c2", "a3"]);
  assertEquals([queue.size, queue.waitingFor("a")], [0, 0]);
});

Deno.test("a full queue refuses those that fill it, never a client that waits with less", () => {
  const queue = new FairQueue<string>(4);
  for (const item of ["a1", "a2", "a3", "a4"]) queue.push("a", item);
  assertEquals(queue.push("a", "a5"), "a5");
  assertEquals(queue.push("b", "b1"), "a4");
  assertEquals(queue.push("b", "b2"), "a3");
  assertEquals(queue.push("b", "b3"), "b3"); // It would wait with most.
  assertEquals(queue.push("c", "c1"), "a2");
  assertEquals(queue.push("d", "d1"), "b2");
  assertEquals(queue.push("e", "e1"), "e1"); // Everybody has one place.
  assertEquals(queue.size, 4);
  assertEquals(drain(queue), ["a1", "b1", "c1", "d1"]);
});
