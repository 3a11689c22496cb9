import { assertEquals } from "@std/assert";
import { watchStolenTime } from "./stolen_time.ts";

Deno.test("watchStolenTime() returns the share of the time that programs wanted since it began", () => {
  const stats = ["cpu  100 0 50 800 10 5 5 30 7 0\ncpu0 1 2 3", "cpu  150 0 60 820 20 5 5 50 9 0\ncpu0 4 5 6"];
  let reads = 0;
  const share = watchStolenTime(() => stats[reads++] ?? "");
  assertEquals(share(), 0.25);
});

Deno.test("watchStolenTime() returns 0 where the system does not tell, and before time has passed", () => {
  assertEquals(watchStolenTime(() => "")(), 0);
  assertEquals(watchStolenTime(() => "cpu  100 0 50 800 10 5 5 30 7 0")(), 0);
  assertEquals(watchStolenTime(() => "cpu  100 0 50 800")(), 0);
});

Deno.test("watchStolenTime() reads this machine", () => {
  const share = watchStolenTime()();
  assertEquals(share >= 0 && share <= 1, true);
});
