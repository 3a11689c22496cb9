import { assertEquals } from "@std/assert";
import { type AgentId, parseAgentId } from "../../proto/mod.ts";
import { assertSafe, hostileNames } from "../../tests/support/hostile_names.ts";
import { HealthLog } from "./health.ts";

Deno.test("unreadable messages are counted by sender, for the senders that were heard last", () => {
  const health = new HealthLog(() => 0);
  const sender = (number: number): AgentId => parseAgentId(String(number).padStart(22, "0"));
  for (let number = 0; number < 300; number++) health.unreadableFrom(sender(number), "it was changed");
  for (let again = 0; again < 9; again++) health.unreadableFrom(sender(100), "it was changed");
  assertEquals(health.unreadable.length, 256);
  assertEquals(health.unreadable.at(-1), { sender: sender(100), messages: 10 });
  assertEquals(health.issues.map(({ kind, count }) => [kind, count]), [["undecryptable", 309]]);
});

Deno.test("a report is one line that no name in it can forge", () => {
  const health = new HealthLog(() => 0);
  for (const [what, text] of Object.entries(hostileNames)) {
    health.report("refused_join", `"${text}" was refused`);
    assertSafe(health.issues[0]?.text ?? "", what);
  }
});
