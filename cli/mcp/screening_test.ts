import { assertEquals } from "@std/assert";
import { secretIn, seenText, seenValue, withoutSecrets } from "./screening.ts";

const key = `sk_live_${"a1B_".repeat(10)}`;
const token = `inv_${"x-Y9".repeat(30)}`;

Deno.test("seenText() escapes what a person does not see, counts it, and keeps every script and line", () => {
  const ordinary = "Grüße, שלום, مرحبا, 你好, 👍, ❤\ufe0f\n\tindented";
  assertEquals(seenText(ordinary), { text: ordinary, escaped: 0 });
  const hidden = [
    "\u200b",
    "\u200d",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
    "\u00ad",
    "\u{e0041}",
    "\ufe0f",
    "\u{e0100}",
  ];
  for (
    const each of [
      ...hidden,
      "\x1b",
      "\0",
      "\x7f",
      "\u3164",
      "\ue000",
      "\u061c",
      "\u180e",
      "\r",
      "\u2028",
    ]
  ) {
    const code = each.codePointAt(0)?.toString(16);
    assertEquals(seenText(`a${each}b`), { text: `a\\u{${code}}b`, escaped: 1 }, code);
  }
  assertEquals(seenText("a\r\nb"), { text: "a\nb", escaped: 0 });
  assertEquals(seenText("written: \\u{200b}, hidden: \u200b"), {
    text: "written: \\u{200b}, hidden: \\u{200b}",
    escaped: 1,
  });
});

Deno.test("seenValue() looks into every text of a value, names included", () => {
  const given = { "na\u200bme": ["te\u202ext", 1, null, { deep: "\u{e0041}" }] };
  const value = { "na\\u{200b}me": ["te\\u{202e}xt", 1, null, { deep: "\\u{e0041}" }] };
  assertEquals(seenValue(given), { value, escaped: 3 });
});

Deno.test("seenValue() gives up on what is too deep, and on two fields that become one", () => {
  const deep = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  assertEquals(seenValue(deep(20))?.escaped, 0);
  assertEquals(seenValue(deep(5_000)), undefined);
  assertEquals(seenValue({ "amount\\u{200b}": 1, "amount\u200b": 1_000_000 }), undefined);
});

Deno.test("secrets are found as they are written in JSON", () => {
  const secret = 'two "words"\\';
  assertEquals(secretIn(JSON.stringify({ a: secret }), [secret]), "a secret of this agent");
  assertEquals(
    withoutSecrets(JSON.stringify([secret]), [secret], () => ""),
    '["[secret removed]"]',
  );
});

Deno.test("secretIn() finds keys, invites and own secrets, also with invisible characters between", () => {
  assertEquals(
    secretIn("an ordinary text about sk_live_ keys and inv_ tokens", ["horse battery"]),
    undefined,
  );
  const links = [
    `static://join/#${"x-Y9".repeat(30)}`,
    `https://api.example/console/join#${"x-Y9".repeat(30)}`,
  ];
  const invites = [token, ...links].map((each) => [each, "an invite"]);
  for (
    const [text, what] of [[key, "an API key"], ...invites, [
      "horse battery",
      "a secret of this agent",
    ]]
  ) {
    assertEquals(secretIn(`see: ${text}.`, ["horse battery"]), what);
    assertEquals(secretIn(`${text?.slice(0, 6)}\u200b${text?.slice(6)}`, ["horse battery"]), what);
  }
});

Deno.test("withoutSecrets() replaces them, wherever they stand", () => {
  const text = JSON.stringify({ text: `${key} and "${token}"`, note: "horse battery" });
  const shown = withoutSecrets(text, ["horse battery", ""], () => "[invite]");
  assertEquals(JSON.parse(shown), {
    text: '[API key removed] and "[invite]"',
    note: "[secret removed]",
  });
});
