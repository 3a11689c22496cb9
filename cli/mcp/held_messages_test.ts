import { assertEquals } from "@std/assert";
import { nobodyKnown, parseAgentId, parseTrust, type Trust } from "../../proto/mod.ts";
import { recognisedNow } from "./held_messages.ts";
import type { ShownSender } from "./message_view.ts";

Deno.test("the sender of a held message is told as the user knows it when it is released", () => {
  const agentId = parseAgentId("a".repeat(22));
  const word = { domain: "acme.com", name: "deploy-bot", untilMs: 1_000, how: "domain" } as const;
  const sender: ShownSender = {
    agentId,
    identity: "x",
    keyUnchanged: true,
    knownAs: undefined,
    attested: word,
  };
  const key = { kid: "k", x: "A".repeat(43) };
  const acme = { "acme.com": { source: "file", read: "2026-11-19T00:00:00Z", keys: [key] } };
  const trust: Trust = parseTrust(
    JSON.stringify({ domains: acme, names: { [agentId]: "A" } }),
    "f",
  );
  assertEquals(recognisedNow(sender, trust, 999), { ...sender, knownAs: "A" });
  const { attested: _, ...unattested } = sender;
  assertEquals(recognisedNow(sender, trust, 1_001), {
    ...unattested,
    knownAs: "A",
    badgeExpired: word,
  });
  assertEquals(recognisedNow(sender, nobodyKnown, 999), unattested);
  const mailbox = { ...sender, attested: { ...word, how: "mailbox" as const } };
  assertEquals(recognisedNow(mailbox, trust, 999), { ...unattested, knownAs: "A" });
});
