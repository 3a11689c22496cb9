import { assertEquals } from "@std/assert";
import { ReceiptBudget, type SpentReceipts } from "./receipt_budget.ts";

const dayMs = 24 * 60 * 60 * 1000;

interface Clock {
  nowMs: number;
}

function budgetOf(clock: Clock, plan: () => string | undefined): ReceiptBudget {
  return new ReceiptBudget({
    runtime: { nowMs: () => clock.nowMs },
    usage: () => {
      const known = plan();
      return Promise.resolve(
        known === undefined ? undefined : {
          plan: known,
          period: { startMs: 0, endMs: 0 },
          messages: { used: 0, limit: null, remaining: null },
          bytes: { payload: 0, padding: 0, cover: 0 },
        },
      );
    },
  });
}

function spend(budget: ReceiptBudget, count: number): SpentReceipts | undefined {
  let spent: SpentReceipts | undefined;
  for (let i = 0; i < count; i++) spent = budget.spend(spent);
  return spent;
}

Deno.test("a free account sends 500 receipts a day, and the others on the next one", () => {
  const clock = { nowMs: 20_000 * dayMs };
  const budget = budgetOf(clock, () => "free");
  spend(budget, 499);
  assertEquals(budget.waitMs, 0);
  assertEquals(spend(budget, 1), { day: 20_000, receipts: 1 });
  assertEquals(budget.waitMs, 60 * 60 * 1000);
  clock.nowMs += dayMs - 1000;
  assertEquals(budget.waitMs, 1000);
  clock.nowMs += 1000;
  assertEquals(budget.waitMs, 0);
});

Deno.test("a process that starts goes on counting, over all its channels, and not those of another day", () => {
  const clock = { nowMs: 20_000 * dayMs };
  const budget = budgetOf(clock, () => undefined);
  budget.restore({ day: 20_000, receipts: 300 });
  budget.restore({ day: 19_999, receipts: 300 });
  assertEquals(budget.waitMs, 0);
  budget.restore({ day: 20_000, receipts: 200 });
  assertEquals(budget.waitMs > 0, true);
});

Deno.test("another plan has no budget; it is asked for when there is none left, once an hour", async () => {
  const clock = { nowMs: 20_000 * dayMs };
  let [asked, plan] = [0, "free"];
  const budget = budgetOf(clock, () => {
    asked++;
    return plan;
  });
  spend(budget, 499);
  assertEquals([budget.waitMs, asked], [0, 0]);
  spend(budget, 1);
  assertEquals([budget.waitMs > 0, budget.waitMs > 0, asked], [true, true, 1]);
  await Promise.resolve();
  plan = "dev";
  clock.nowMs += 60 * 60 * 1000;
  assertEquals([budget.waitMs > 0, asked], [true, 2]);
  await Promise.resolve();
  assertEquals(budget.waitMs, 0);
});
