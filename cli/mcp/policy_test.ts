import { assertEquals } from "@std/assert";
import { domainOfRule, ruleOf } from "./policy.ts";

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

Deno.test("a rule for a domain is about the agents that it attests, and about no mailbox or claim", () => {
  const agentId = "a".repeat(22);
  const word = { domain: "acme.com", name: "deploy-bot", untilMs: 1, how: "domain" } as const;
  const sender = { agentId, knownAs: undefined, attested: word, sameAccount: true };
  const policy = { "*": "refuse", "@acme.com": "accept", "@own-account": "hold" } as const;
  assertEquals(ruleOf(policy, sender), "accept");
  assertEquals(ruleOf({ ...policy, "@named": "refuse" }, { ...sender, knownAs: "Ann" }), "refuse");
  assertEquals(ruleOf({ ...policy, [agentId]: "refuse" }, sender), "refuse");
  assertEquals(ruleOf(policy, { ...sender, attested: { ...word, how: "mailbox" } }), "hold");
  assertEquals(ruleOf(policy, { ...sender, attested: undefined }), "hold");
  const other = { ...sender, attested: { ...word, domain: "evil.com" }, sameAccount: false };
  assertEquals(ruleOf(policy, other), "refuse");
  // A domain that would be a word of the rules is none.
  assertEquals(["@named", "@own-account", "*", "@acme.com"].map(domainOfRule), [
    undefined,
    undefined,
    undefined,
    "acme.com",
  ]);
});
