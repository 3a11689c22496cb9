import { assert, assertEquals } from "@std/assert";
import { isClean, quoted, shown, shownJson, shownLines, shownSentence } from "../mod.ts";

const esc = (...codes: readonly number[]): string =>
  codes.map((code) => `\\u{${code.toString(16)}}`).join("");
const unescape = (text: string): string =>
  text.replace(
    /\\u\{([0-9a-f]+)\}/g,
    (_, code: string) => String.fromCodePoint(parseInt(code, 16)),
  );

/**
 * Characters that are not seen, end a line, steer a terminal or turn the direction of what follows.
 */
const unseen = [
  ...[
    0x00,
    0x07,
    0x08,
    0x09,
    0x0a,
    0x0b,
    0x0c,
    0x0d,
    0x1b,
    0x7f,
    0x85,
    0x9b,
    0xa0,
    0xad,
    0x34f,
    0x61c,
    0x115f,
    0x180e,
  ],
  ...[
    0x200b,
    0x200c,
    0x200d,
    0x200e,
    0x2028,
    0x2029,
    0x202e,
    0x2060,
    0x2066,
    0x2069,
    0x206a,
    0x2800,
    0x3000,
    0x3164,
  ],
  ...[
    0xd800,
    0xdfff,
    0xe000,
    0xfe0f,
    0xfeff,
    0xffa0,
    0xfff9,
    0xffff,
    0x1d173,
    0xe0001,
    0xe0041,
    0xe0100,
    0x10ffff,
  ],
];

Deno.test("shown() escapes each character that is not seen, and never drops one", () => {
  for (const code of unseen) {
    const text = `a${String.fromCodePoint(code)}b`;
    assertEquals(shown(text), `a${esc(code)}b`);
    assertEquals(isClean(text), false, esc(code));
  }
});

Deno.test("shown() leaves people's names and pictures as they are", () => {
  const names = [
    "alice",
    "Zoë O'Hara",
    "Алиса",
    "Ἀθηνᾶ",
    "山田さん Ltd",
    "김철수",
    "שלום",
    "مرحبا",
    "می\u200cخواهم",
    "क्\u200dष",
  ];
  const pictures = [
    "bot 🤖",
    "❤\ufe0f",
    "👨\u200d👩\u200d👧",
    "👍🏽",
    "1\ufe0f\u20e3",
    "🇩🇪",
    "👩🏽\u200d💻",
  ];
  for (const name of [...names, ...pictures]) {
    assertEquals(shown(name), name);
    assert(isClean(name), name);
  }
});

Deno.test("shown() escapes blanks that pass for none or for a column, and marks that leave their line", () => {
  assertEquals(shown(" alice"), `${esc(0x20)}alice`);
  assertEquals(shown("alice "), `alice${esc(0x20)}`);
  assertEquals(shown("alice   owner"), `alice ${esc(0x20, 0x20)}owner`);
  assertEquals(shown(" "), esc(0x20));
  assertEquals(shown("\u0301a"), `${esc(0x301)}a`);
  assertEquals(shown(`a${"\u0301".repeat(6)}`), `a${"\u0301".repeat(4)}${esc(0x301, 0x301)}`);
});

Deno.test("shown() can be turned back into what it shows", () => {
  const texts = [
    "C:\\u\\{x}",
    "\\u{200b}",
    "\\\u200b",
    "\\\\u{5c}u{200b}",
    "\u{1f600}\\u{1f600}",
    "\\u{",
    "a\n\\u{a}",
    "\\",
  ];
  for (const text of [...texts, ...unseen.map((code) => String.fromCodePoint(code))]) {
    assertEquals(unescape(shown(text)), text);
  }
  assertEquals(new Set(texts.map((text) => shown(text))).size, texts.length);
  assertEquals(shown("C:\\new\\table"), "C:\\new\\table");
});

Deno.test("shown() cuts between characters, and what is cut through is escaped", () => {
  assertEquals(shown("alice", { max: 5 }), "alice");
  assertEquals(shown("alice", { max: 3 }), "ali…");
  assertEquals(shown("👍👍👍", { max: 3 }), "👍👍👍");
  assertEquals(shown("👍👍👍", { max: 2 }), "👍👍…");
  assertEquals(shown("\n\n\n", { max: 2 }), `${esc(10, 10)}…`);
  assertEquals(shown("👨\u200d👩\u200d👧", { max: 2 }), `👨${esc(0x200d)}…`);
});

Deno.test("quoted() cannot be ended by what it quotes", () => {
  assertEquals(quoted('alice" (owner) "'), `"alice${esc(0x22)} (owner) ${esc(0x22)}"`);
});

Deno.test("shownLines() keeps lines, tabs, backslashes and what is escaped already", () => {
  assertEquals(shownLines("one\r\n\ttwo  \n"), "one\n\ttwo  \n");
  assertEquals(shownLines(`of "${shown("a\u200b")}"\u202e`), `of "a${esc(0x200b)}"${esc(0x202e)}`);
  assertEquals(shownLines("a\rb\x1b[2J\u2028c"), `a${esc(0xd)}b${esc(0x1b)}[2J${esc(0x2028)}c`);
  assertEquals(shownLines("prix : 5\u00a0€"), "prix : 5\u00a0€");
});

Deno.test("shownSentence() is one line, and shows again what is shown already", () => {
  const text = `"${shown("a\nb\u200b")}" said: x\ny\tz`;
  assertEquals(shownSentence(text), `"a${esc(10)}b${esc(0x200b)}" said: x${esc(10)}y${esc(9)}z`);
  assertEquals(shownSentence(shownSentence(text)), shownSentence(text));
});

Deno.test("shownJson() is the same value, with every character that is not seen as an escape of JSON", () => {
  for (const code of unseen) {
    const value = { [String.fromCodePoint(code)]: `a${String.fromCodePoint(code)}b\\u{a}` };
    const text = shownJson(value);
    assertEquals(JSON.parse(text), value);
    if (code !== 0xa0 && code !== 0x3000) assert(/^[ -~]*$/.test(text), esc(code));
  }
  assertEquals(shownJson({ name: "Zoë ❤\ufe0f" }), '{"name":"Zoë ❤\ufe0f"}');
});

Deno.test("isClean() refuses letters of two scripts that are not written together", () => {
  for (const name of ["аlice", "Αlice", "alice админ", "שלום alice", ""]) {
    assertEquals(isClean(name), false, name);
  }
  assert(isClean("東京タワー bot"));
});
