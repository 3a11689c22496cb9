import { assertEquals } from "@std/assert";
import { type Ceilings, checkSizes, limits, lowered, type MeasuredSize } from "./ceilings.ts";

const reason = "One table.";

function fileOf(size: number): MeasuredSize[] {
  return [{ rule: "file_statements", path: "proto/a.ts", line: 1, place: "", size }];
}

function listOf(ceiling: number): Ceilings[] {
  return [{ rule: "file_statements", reason, ceilings: { "proto/a.ts": ceiling } }];
}

function rulesBroken(sizes: readonly MeasuredSize[], list: readonly Ceilings[]): string[] {
  return checkSizes(sizes, list).map(({ rule }) => rule);
}

Deno.test("a place may have its limit, and no more without an entry in the list", () => {
  assertEquals(rulesBroken(fileOf(limits.file_statements), []), []);
  assertEquals(rulesBroken(fileOf(limits.file_statements + 1), []), ["file_statements"]);
});

Deno.test("a ceiling is what its place has: neither more nor less passes", () => {
  assertEquals(rulesBroken(fileOf(300), listOf(300)), []);
  assertEquals(rulesBroken(fileOf(301), listOf(300)), ["file_statements"]);
  assertEquals(rulesBroken(fileOf(299), listOf(300)), ["ceiling"]);
});

Deno.test("an entry goes when its place is within the limit, or gone", () => {
  assertEquals(rulesBroken(fileOf(10), listOf(300)), ["ceiling"]);
  assertEquals(rulesBroken([], listOf(300)), ["ceiling"]);
});

Deno.test("an entry needs a reason", () => {
  assertEquals(rulesBroken(fileOf(300), listOf(300).map((group) => ({ ...group, reason: " " }))), [
    "ceiling",
  ]);
});

Deno.test("--lower lowers ceilings, raises none, and removes what is within the limit", () => {
  assertEquals(lowered(fileOf(299), listOf(300)), listOf(299));
  assertEquals(lowered(fileOf(301), listOf(300)), listOf(300));
  assertEquals(lowered(fileOf(10), listOf(300)), []);
});
