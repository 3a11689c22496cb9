/**
 * Names and texts of strangers as people and models see them: in terminals, pages, logs, errors and tool results. A character
 * that is not seen, or that changes how others are seen, is escaped as `\u{200b}` and never dropped, so that two texts that
 * differ are shown differently.
 */

/** Letters of these scripts are joined, and a joiner between two of them is seen in the shape of both. */
const joined =
  "\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}";

/**
 * Sequences that stay although their parts would be escaped: an emoji of several characters, a joiner between letters that it
 * joins, and up to four marks on one sign. More marks run into the lines above and below.
 */
const kept = [
  "\\p{RGI_Emoji}",
  `(?<=[${joined}])[\\u200c\\u200d](?=[${joined}])`,
  "(?<=[\\p{L}\\p{N}\\p{P}\\p{S}])[\\p{M}--\\p{Default_Ignorable_Code_Point}]{1,4}",
].join("|");

/** Controls, formats, lone surrogates, what is private or not assigned, line ends, marks without a sign, and signs without a form. */
const unseen = "\\p{C}\\p{Zl}\\p{Zp}\\p{M}\\p{Default_Ignorable_Code_Point}\\u2800";

const inLines = new RegExp(`(${kept})|[[${unseen}]--[\\n\\t]]`, "gv");
/** Blanks that could pass for none, for another or for the space between two columns, and a backslash that could pass for ours. */
const inOneLine = new RegExp(
  `(${kept})|[${unseen}]|[\\p{Zs}--\\x20]|^\\x20|(?<=\\x20)\\x20|\\x20$|\\\\(?=u\\{[0-9a-f]+\\})`,
  "gv",
);
const ordinaryLine = /^[!-[\]-~]+(?: [!-[\]-~]+)*$/;
const ordinaryLines = /^[\n\t -~]*$/;

function escaped(text: string, pattern: RegExp): string {
  return text.replace(
    pattern,
    (found: string, asItIs?: string) => asItIs === undefined ? `\\u{${found.codePointAt(0)?.toString(16)}}` : found,
  );
}

export interface ShownOptions {
  /** How many characters of the text are shown; `…` stands for the others. */
  readonly max?: number;
}

/**
 * Returns a name or text of a stranger on one line. Every `\u{…}` in it is an escape of ours, so the text can be told from it.
 */
export function shown(text: string, { max = Infinity }: ShownOptions = {}): string {
  if (text.length > max) {
    const characters = [...text.slice(0, 2 * max + 2)];
    if (characters.length > max) return `${shown(characters.slice(0, max).join(""))}…`;
  }
  return text === "" || ordinaryLine.test(text) ? text : escaped(text, inOneLine);
}

/** Returns it in quotes that it cannot end. */
export function quoted(text: string, options: ShownOptions = {}): string {
  return `"${shown(text, options).replaceAll('"', "\\u{22}")}"`;
}

/**
 * Returns the body of a message. Line breaks, tabs and backslashes stay: it is for places that frame each line, such as a
 * field of JSON, an element of a page or lines that are indented.
 */
export function shownLines(text: string): string {
  return ordinaryLines.test(text) ? text : escaped(text.replaceAll("\r\n", "\n"), inLines);
}

/** Returns a sentence that may repeat words of strangers, on one line. Names in it that are `shown` already stay as they are. */
export function shownSentence(text: string): string {
  return shownLines(text).replace(/[\n\t]/g, (found) => found === "\n" ? "\\u{a}" : "\\u{9}");
}

/** Returns JSON on one line that programs read as the same value, and people without being deceived. */
export function shownJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (ordinaryLines.test(text)) return text;
  return text.replace(inLines, (found: string, asItIs?: string) => asItIs ?? unitsOf(found));
}

/** As JSON escapes them: by their units in UTF-16. */
function unitsOf(character: string): string {
  return character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

/** The scripts of names that are usual today (UAX 31, table 5), and those that are written together (UTS 39, section 5.2). */
const scripts = [
  ..."Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr"
    .split(" ").map((script) => [script]),
  ["Latn", "Hani", "Hira", "Kana"],
  ["Latn", "Hani", "Bopo"],
  ["Latn", "Hani", "Hang"],
];
const oneScript = new RegExp(
  scripts.map((set) => `^[\\p{sc=Zyyy}\\p{sc=Zinh}${set.map((script) => `\\p{scx=${script}}`).join("")}]*$`).join("|"),
  "v",
);

/** Returns whether a name reads as what it is: nothing in it is escaped, and its letters are of one script. */
export function isClean(name: string): boolean {
  return name !== "" && (ordinaryLine.test(name) || (shown(name) === name && oneScript.test(name)));
}

/** Returns a member's name as people see it. One that is not clean stands beside the agent id, which nobody can imitate. */
export function shownIdentity({ identity, agentId }: { readonly identity: string; readonly agentId: string }): string {
  if (identity === "") return agentId;
  return isClean(identity) ? identity : `${shown(identity)} (${agentId})`;
}
