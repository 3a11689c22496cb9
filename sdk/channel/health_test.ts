import { assertEquals } from "@std/assert";
import { type AgentId, parseAgentId } from "../../proto/mod.ts";
import { assertSafe, hostileNames } from "../../tests/support/hostile_names.ts";
import { HealthLog } from "./health.ts";

Deno.test("unreadable messages are counted by sender, for the senders that were heard last", () => {
  const health = new HealthLog(() => 0);
  const sender = (number: number): AgentId => parseAgentId(String(number).padStart(22, "0"));
  for (let number = 0; number < 300; number++) {
    health.unreadableFrom(sender(number), "it was changed");
  }
  for (let again = 0; again < 9; again++) health.unreadableFrom(sender(100), "it was changed");
  assertEquals(health.unreadable.length, 256);
  assertEquals(health.unreadable.at(-1), { sender: sender(100), messages: 10 });
});

Deno.test("troubles of one kind about several agents hide none of each other, and those about one are counted", () => {
  let nowMs = 0;
  const told: string[] = [];
  const health = new HealthLog(
    () => ++nowMs,
    (event) => event.type === "issue" && told.push(event.issue.text),
  );
  health.report("member_lied", "bob lies");
  health.report("member_lied", "carol lies");
  health.report("repeated_counter", "bob used counter 1 twice", { about: "bob" });
  health.report("repeated_counter", "bob used counter 2 twice", { about: "bob" });
  health.report("member_lied", "bob lies");
  assertEquals(health.issues, [
    { kind: "member_lied", text: "bob lies", count: 2, firstAtMs: 1, lastAtMs: 5 },
    {
      kind: "repeated_counter",
      text: "bob used counter 2 twice",
      count: 2,
      firstAtMs: 3,
      lastAtMs: 4,
    },
    { kind: "member_lied", text: "carol lies", count: 1, firstAtMs: 2, lastAtMs: 2 },
  ]);
  assertEquals(told.length, 5);
});

Deno.test("of one kind the latest 16 troubles are kept, and none of another kind goes for them", () => {
  const health = new HealthLog(() => 0);
  health.report("rejoined", "it was behind");
  for (let number = 0; number < 100; number++) {
    health.report("bad_content", "it is broken", { about: `agent ${number}` });
  }
  health.report("bad_content", "again", { about: "agent 84" });
  assertEquals(health.issues.filter(({ kind }) => kind === "bad_content").length, 16);
  assertEquals(
    health.issues.find(({ text }) => text === "again")?.count,
    2,
    "the oldest that is kept",
  );
  health.report("bad_content", "again", { about: "agent 83" });
  assertEquals(health.issues.filter(({ text }) => text === "again").map(({ count }) => count), [
    1,
    2,
  ]);
  assertEquals(health.issues.filter(({ kind }) => kind === "rejoined").length, 1);
});

Deno.test("a report is one line that no name in it can forge", () => {
  const health = new HealthLog(() => 0);
  for (const [what, text] of Object.entries(hostileNames)) {
    health.report("refused_join", `"${text}" was refused`);
    assertSafe(health.issues[0]?.text ?? "", what);
  }
});
