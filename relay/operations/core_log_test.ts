import { assertEquals } from "@std/assert";
import type { AgentId } from "../../proto/mod.ts";
import type { LogFields } from "../../server/mod.ts";
import { createCoreLog } from "./core_log.ts";

Deno.test("strangers that end leave one line in ten seconds, with the number of the others; agents one each", () => {
  const lines: [string, LogFields][] = [];
  let nowMs = 1_000_000;
  const core = createCoreLog(
    (_level, event, fields = {}) => lines.push([event, fields]),
    () => nowMs,
  );
  for (let i = 0; i < 1_000; i++) core({ event: "session_end", code: "overloaded", ms: 1 });
  nowMs += 10_000;
  core({ event: "session_end", ms: 2 });
  const agentId = "agent" as AgentId; // cast: only passed on
  for (let i = 0; i < 3; i++) core({ event: "session_end", agentId, ms: 3 });
  assertEquals(lines, [
    ["session_end", { code: "overloaded", ms: 1 }],
    ["session_end", { ms: 2, others: 999 }],
    ...new Array(3).fill(["session_end", { agentId, ms: 3 }]),
  ]);
});
