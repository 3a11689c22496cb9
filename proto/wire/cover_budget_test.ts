import { assertEquals } from "@std/assert";
import { CoverBudget } from "./cover_budget.ts";

const noonMs = Date.parse("2026-12-31T12:00:00Z");
const midnightMs = Date.parse("2027-01-01T00:00:00Z");

Deno.test("a budget is spent by account and starts anew with the UTC day", () => {
  const budget = new CoverBudget({ bytes: 10_000, period: "day" });
  assertEquals(budget.spend("a", 9_999, noonMs), undefined);
  assertEquals(budget.spend("a", 1, noonMs), midnightMs);
  assertEquals(budget.spend("a", 0, midnightMs - 1), midnightMs);
  assertEquals(budget.spend("b", 0, noonMs), undefined);
  assertEquals(budget.spend("a", 0, midnightMs), undefined);
  assertEquals(budget.spend("a", 10_000, midnightMs), midnightMs + 86_400_000);
});

Deno.test("a budget of a month ends with the calendar month, whatever its length", () => {
  const budget = new CoverBudget({ bytes: 1, period: "month" });
  assertEquals(
    budget.spend("a", 1, Date.parse("2028-02-29T23:59:59Z")),
    Date.parse("2028-03-01T00:00:00Z"),
  );
  assertEquals(budget.spend("a", 0, Date.parse("2028-03-01T00:00:00Z")), undefined);
});

Deno.test("a budget of nothing allows nothing", () => {
  assertEquals(new CoverBudget({ bytes: 0, period: "day" }).spend("a", 0, noonMs), midnightMs);
});
