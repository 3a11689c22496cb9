import { assertEquals } from "@std/assert";
import { defaultBudgets } from "./budgets.ts";
import { ConnectionTimeouts } from "./connection_timeouts.ts";

Deno.test("Watch counts silence from the last byte heard, and pings once for it", () => {
  const watch = new ConnectionTimeouts(defaultBudgets, 0);
  const facts = { introduced: true, headerBlockOpen: false, openStreams: 1, lastStreamId: 1 };
  const verdicts = Array.from({ length: 60 }, (_, second) => {
    if (second === 10) watch.heard();
    return watch.tick(second * 1_000, facts);
  });
  assertEquals(verdicts.indexOf("ping"), 40);
  assertEquals(verdicts.filter((verdict) => verdict === "ping").length, 1);
  assertEquals(verdicts.indexOf("lost"), 55);
});
