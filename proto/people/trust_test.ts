import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../base/errors.ts";
import { believeIssuer } from "./trusted_issuers.ts";
import { addName, formatTrust, nobodyKnown, parseTrust, trustPath } from "./trust.ts";

const [alice, bob] = ["a".repeat(22), "b".repeat(22)];
const acme = believeIssuer(
  { domain: "acme.com", keys: [{ kid: "2026-11", key: new Uint8Array(32) }], closed: [] },
  { source: "web", readMs: 1_000 },
);

Deno.test("names of agents come back as they were saved, beside the credentials", () => {
  const names = new Map([[alice, "Alice's laptop"], [bob, "Bob"]]);
  const trust = {
    names,
    domains: new Map([["acme.com", acme]]),
    mailDomains: new Set(["umbrella.org"]),
  };
  assertEquals(parseTrust(formatTrust(trust), "f"), trust);
  assertEquals(parseTrust("{}", "f"), nobodyKnown);
  const later = formatTrust(
    { ...nobodyKnown, names },
    JSON.stringify({ version: 2, names: { [alice]: "A" }, countries: ["fr"] }),
  );
  assertEquals(JSON.parse(later), {
    version: 2,
    names: Object.fromEntries(names),
    domains: {},
    mail_domains: [],
    countries: ["fr"],
  });
  const places = {
    system: "linux",
    variable: () => undefined,
    home: () => "/h",
    join: (...parts: string[]) => parts.join("/"),
  };
  assertEquals(trustPath(places), "/h/.config/static/trust.json");
});

Deno.test("a name is clean, no id, no word for rules, and of one agent", () => {
  const names = new Map([[alice, "Alice's laptop"]]);
  const refused = [
    "",
    " x",
    "x ",
    "a\u200b",
    "a\nb",
    "\u0430lice",
    "@named",
    "deploy-bot@acme.com",
    "Acme.com",
    "*",
    bob,
    "x".repeat(65),
    "ALICE'S LAPTOP",
  ];
  for (const name of refused) {
    assertThrows(() => addName(names, bob, name), WireError, "Cannot use");
  }
  addName(names, alice, "alice's laptop");
  addName(names, bob, "Алиса");
  assertEquals([...names.values()], ["alice's laptop", "Алиса"]);
});

Deno.test("a file that cannot be used as a whole is refused", () => {
  const twice = `{"names":{"${alice}":"x","${bob}":"X"}}`;
  for (
    const text of [
      "",
      "[]x",
      "7",
      '{"names":[]}',
      '{"names":{"bob":"x"}}',
      `{"names":{"${bob}":7}}`,
      twice,
      '{"domains":["acme.com"]}',
      '{"domains":{"acme.com":{}}}',
      formatTrust({ ...nobodyKnown, domains: new Map([["ACME.com", acme]]) }),
      '{"mail_domains":"umbrella.org"}',
      '{"mail_domains":["umbrella"]}',
      `{"mail_domains":${JSON.stringify(Array(1001).fill("umbrella.org"))}}`,
    ]
  ) {
    assertThrows(() => parseTrust(text, "f"), WireError, "Cannot use f: ");
  }
});
