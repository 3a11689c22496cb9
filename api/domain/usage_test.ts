import { assertEquals } from "@std/assert";
import { monthOf } from "./usage.ts";

Deno.test("the period is the UTC calendar month, its end the next one's start", () => {
  const month = (text: string): string[] => {
    const { startMs, endMs } = monthOf(Date.parse(text));
    return [startMs, endMs].map((at) => new Date(at).toISOString().slice(0, 19));
  };
  const december = ["2026-12-01T00:00:00", "2027-01-01T00:00:00"];
  assertEquals(month("2026-12-01T00:00:00.000Z"), december);
  assertEquals(month("2026-12-31T23:59:59.999Z"), december);
  assertEquals(month("2027-01-01T00:30:00+01:00"), december);
  assertEquals(month("2028-02-29T12:00:00Z"), ["2028-02-01T00:00:00", "2028-03-01T00:00:00"]);
});
