import { assertEquals } from "@std/assert";
import type { Usage } from "../../../proto/mod.ts";
import { SimulatedClock } from "../../../tests/support/mod.ts";
import type { QuotaEvent } from "../events.ts";
import { QuotaWatch } from "./quota_watch.ts";

function usage(used: number, startMs = 1): Usage {
  const messages = { used, limit: 1000, remaining: 1000 - used };
  return {
    plan: "free",
    period: { startMs, endMs: startMs + 1 },
    messages,
    bytes: { payload: 0, padding: 0, cover: 0 },
  };
}

Deno.test("80 % and 100 % of the plan's messages are told once a month, and nothing after the end", async () => {
  const clock = new SimulatedClock();
  const answers = [
    usage(10),
    usage(800),
    undefined,
    usage(900),
    usage(1000),
    usage(1000),
    usage(5, 2),
    usage(801, 2),
  ];
  const told: QuotaEvent[] = [];
  let asked = 0;
  new QuotaWatch({
    runtime: { after: clock.after },
    usage: () => Promise.resolve(answers[asked++]),
    tell: (event) => told.push(event),
    isOver: () => asked > answers.length,
  });
  for (let i = 0; i < 12; i++) await clock.advance(10 * 60 * 1000);
  assertEquals(told.map(({ used }) => used), [800, 1000, 801]);
  assertEquals(asked, answers.length + 1);
});
