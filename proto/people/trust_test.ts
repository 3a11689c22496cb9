import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../base/errors.ts";
import { addName, formatTrust, parseTrust, trustPath } from "./trust.ts";

const [alice, bob] = ["a".repeat(22), "b".repeat(22)];

Deno.test("names of agents come back as they were saved, beside the credentials", () => {
  const names = new Map([[alice, "Alice's laptop"], [bob, "Bob"]]);
  assertEquals(parseTrust(formatTrust({ names }), "f").names, names);
  assertEquals(parseTrust("{}", "f").names.size, 0);
  const later = formatTrust(
    { names },
    JSON.stringify({ version: 2, names: { [alice]: "A" }, domains: ["acme.com"] }),
  );
  assertEquals(JSON.parse(later), {
    version: 2,
    names: Object.fromEntries(names),
    domains: ["acme.com"],
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
    ]
  ) {
    assertThrows(() => parseTrust(text, "f"), WireError, "Cannot use f: ");
  }
});
