import { assertEquals } from "@std/assert";
import { likenessKeys } from "./look_alikes.ts";

function areAlike(one: string, other: string): boolean {
  return !likenessKeys(one).isDisjointFrom(likenessKeys(other));
}

Deno.test("names look alike whatever their case, blanks, invisible characters and scripts", () => {
  const pairs = [
    ...[
      "alice",
      "ALICE",
      "a1ice",
      "AIice",
      "аlice",
      " alice ",
      "alice\u200b",
      "ａｌｉｃｅ",
      "𝓪𝓵𝓲𝓬𝓮",
      "al\u202eice",
    ]
      .map((name) => ["alice", name]),
    ["paypal", "раураӏ"],
    ["modern", "modem"],
    ["bob", "b0b"],
    ["alice smith", "alice  smith"],
    ["alice smith", "alice\u00a0smith"],
    ["ALICE", "ALlCE"],
  ] as const;
  for (const [one = "", other = ""] of pairs) {
    assertEquals(areAlike(one, other), true, `${one} and ${other}`);
  }
});

Deno.test("names of a fleet do not look alike", () => {
  const fleet = [
    ...Array.from({ length: 1_000 }, (_, index) => `worker-${index}`),
    "alice",
    "alicia",
    "álice",
    "Алиса",
    "",
  ];
  const owners = new Map<string, string>();
  for (const name of fleet) {
    for (const key of likenessKeys(name)) {
      assertEquals(owners.get(key) ?? name, name);
      owners.set(key, name);
    }
  }
});
