import { assertEquals } from "@std/assert";
import { ruleOf } from "./policy.ts";

Deno.test("the most exact rule about a sender counts; words of the language are no rules", () => {
  const agentId = "a".repeat(22);
  const known = { agentId, knownAs: "Alice" };
  assertEquals(ruleOf({ "*": "hold", "@named": "refuse", [agentId]: "accept" }, known), "accept");
  assertEquals(ruleOf({ "*": "hold", "@named": "refuse" }, known), "refuse");
  assertEquals(
    ruleOf({ "*": "hold", "@named": "accept" }, { agentId, knownAs: undefined }),
    "hold",
  );
  assertEquals(ruleOf({}, { agentId, knownAs: "constructor" }), undefined);
});
