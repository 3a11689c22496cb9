import { assertEquals } from "@std/assert";
import { DeafNode } from "./deaf_node.ts";

Deno.test("a relay leaves a node that does not answer, each time after twice the time, until it is answered", () => {
  const node = new DeafNode();
  const left = (fromMs: number, toMs: number): number[] => {
    const times: number[] = [];
    for (let nowMs = fromMs; nowMs < toMs; nowMs += 1_000) {
      if (node.shouldLeave(nowMs - fromMs, nowMs)) times.push((nowMs - fromMs) / 1_000);
    }
    return times;
  };
  assertEquals(left(0, 200_000), [3, 8, 18, 38, 78, 118, 158, 198]);
  assertEquals(node.shouldLeave(100, 200_000), false);
  assertEquals(left(201_000, 210_000), [3, 8]);
});
