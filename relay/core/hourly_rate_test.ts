import { assertEquals } from "@std/assert";
import { HourlyRate } from "./hourly_rate.ts";

const hourMs = 60 * 60 * 1000;

Deno.test("so many in an hour, then a time to wait, then as many again", () => {
  const rate = new HourlyRate(2);
  assertEquals([rate.take("a", 0), rate.take("a", 1), rate.take("a", 2)], [undefined, undefined, hourMs - 2]);
  assertEquals([rate.take("b", 2), rate.take("a", hourMs)], [undefined, undefined]);
});

Deno.test("asking for the time to wait counts nothing", () => {
  const rate = new HourlyRate(1);
  assertEquals([rate.waitMs("a", 0), rate.take("a", 0), rate.waitMs("a", 1)], [undefined, undefined, hourMs - 1]);
  assertEquals(rate.waitMs("a", hourMs), undefined);
});

Deno.test("who has reached the limit does not wait for a clock that was set back", () => {
  const rate = new HourlyRate(1);
  rate.take("a", 100 * hourMs);
  assertEquals(rate.take("a", hourMs), undefined);
  assertEquals(rate.take("a", hourMs + 1), hourMs - 1);
});
