import { assertEquals } from "@std/assert";
import { type FetchBudget, newBudget, reserveFetch, takeFetch } from "./fetch_budget.ts";

function taken(budget: FetchBudget, tries: number, nowMs = 0): number {
  return Array.from({ length: tries }, () => takeFetch(budget, nowMs)).filter(Boolean).length;
}

Deno.test("8 fetches at once, then one in 10 seconds, and never more than 8 after a quiet time", () => {
  let nowMs = 0;
  const budget = newBudget(nowMs);
  assertEquals(taken(budget, 10_000, nowMs), 8);
  let later = 0;
  for (; nowMs < 100_000; nowMs += 50) later += taken(budget, 5, nowMs);
  assertEquals(later, 9);
  nowMs += 3_600_000;
  assertEquals(taken(budget, 100, nowMs), 8);
});

Deno.test("a fetch that must be waits for its turn, and takes it from the others", () => {
  let nowMs = 0;
  const budget = newBudget(nowMs);
  taken(budget, 8, nowMs);
  assertEquals([reserveFetch(budget, nowMs), reserveFetch(budget, nowMs)], [10_000, 20_000]);
  nowMs = 29_000;
  assertEquals(takeFetch(budget, nowMs), false);
  nowMs = 30_001;
  assertEquals(takeFetch(budget, nowMs), true);
});

Deno.test("a clock that is set back neither gives fetches nor takes them", () => {
  let nowMs = 1_000_000;
  const budget = newBudget(nowMs);
  taken(budget, 7, nowMs);
  nowMs = 0;
  assertEquals(taken(budget, 5, nowMs), 1);
  nowMs = 10_000;
  assertEquals(taken(budget, 5, nowMs), 1);
});
