/**
 * Names and texts of strangers as people and models see them: in terminals, pages, logs, errors and
 * tool results. A character that is not seen, or that changes how others are seen, is escaped as
 * `\u{200b}` and never dropped, so that two texts that differ are shown differently.
 */

/**
 * Made when it is first needed: the classes of Unicode take milliseconds, and most texts are ASCII.
 */
function later(make: () => RegExp): () => RegExp {
  let made: RegExp | undefined;
  return () => made ??= make();
}

/**
 * Arabic, Syriac, the scripts of India, of Burma and of the Khmer: a joiner between two letters is
 * seen in their shapes.
 */
const joined = "[\\u0600-\\u0dff\\u1000-\\u109f\\u1780-\\u17ff]";
const picture = "\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?";

/**
 * Sequences that stay although their parts would be escaped. More than four marks on one sign run
 * into other lines.
 */
const kept = [
  `${picture}(?:\\u200d${picture})*`,
  "[0-9#*]\\ufe0f\\u20e3",
  `(?<=${joined})[\\u200c\\u200d](?=${joined})`,
  "(?<=[\\p{L}\\p{N}\\p{P}\\p{S}])(?:(?!\\p{Default_Ignorable_Code_Point})\\p{M}){1,4}",
].join("|");

/**
 * Controls, formats, lone surrogates, what is private or not assigned, line ends, marks without a
 * sign, signs without a form.
 */
const unseen = "\\p{C}\\p{Zl}\\p{Zp}\\p{M}\\p{Default_Ignorable_Code_Point}\\u2800";
/**
 * Blanks that pass for none, for another or for the space between two columns, and a backslash that
 * passes for one of ours.
 */
const deceiving = "(?! )\\p{Zs}|^ |(?<= ) | $|\\\\(?=u\\{[0-9a-f]+\\})";

const pattern = later(() => new RegExp(`(${kept})|[${unseen}]|${deceiving}`, "gu"));
/**
 * ASCII, Latin letters, dashes and quotes, arrows, lines and the marks of this project: nearly all
 * texts have no others.
 */
const ordinary =
  "!-[\\]-~\\u00a1-\\u00ac\\u00ae-\\u02ff\\u2010-\\u2027\\u2190-\\u21ff\\u2500-\\u259f\\u2713\\u2717";
const ordinaryLine = new RegExp(`^[${ordinary}]+(?: [${ordinary}]+)*$`);
const ordinaryLines = new RegExp(`^[${ordinary} \\\\\\n\\t]*$`);
const nothing = /^$/;
const blanksAndSlashes = /^[\p{Zs}\\]/u;
const lineParts = /^[\p{Zs}\\\n\t]/u;

function escaped(text: string, stays: RegExp): string {
  return text.replace(
    pattern(),
    (found: string, asItIs?: string) => asItIs ?? (stays.test(found) ? found : escapeOf(found)),
  );
}

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** How a text is shown. */
export interface ShownOptions {
  /** How many characters of the text are shown; `…` stands for the others. */
  readonly max?: number;
}

/**
 * Returns a name or text of a stranger on one line. Every `\u{…}` in it is an escape of ours, so
 * the text can be told from it.
 */
export function shown(text: string, { max = Infinity }: ShownOptions = {}): string {
  if (text.length > max) {
    const characters = [...text.slice(0, 2 * max + 2)];
    if (characters.length > max) return `${shown(characters.slice(0, max).join(""))}…`;
  }
  return text === "" || ordinaryLine.test(text) ? text : escaped(text, nothing);
}

/** Returns it in quotes that it cannot end. */
export function quoted(text: string, options: ShownOptions = {}): string {
  return `"${shown(text, options).replaceAll('"', "\\u{22}")}"`;
}

/**
 * Returns the body of a message. Line breaks, tabs and backslashes stay: it is for places that
 * frame each line, such as a field of JSON, an element of a page or lines that are indented.
 */
export function shownLines(text: string): string {
  return ordinaryLines.test(text) ? text : escaped(text.replaceAll("\r\n", "\n"), lineParts);
}

/**
 * Returns a sentence that may repeat words of strangers, on one line. Names in it that are `shown`
 * already stay as they are.
 */
export function shownSentence(text: string): string {
  return ordinaryLine.test(text) ? text : escaped(text, blanksAndSlashes);
}

/**
 * Returns JSON on one line that programs read as the same value, and people without being deceived.
 */
export function shownJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (ordinaryLines.test(text)) return text;
  return text.replace(
    pattern(),
    (found: string, asItIs?: string) =>
      asItIs ?? (blanksAndSlashes.test(found) ? found : unitsOf(found)),
  );
}

/** As JSON escapes them: by their units in UTF-16. */
function unitsOf(character: string): string {
  return character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/**
 * The scripts of names that are usual today (UAX 31, table 5), and those that are written together
 * (UTS 39, section 5.2).
 */
const scripts = [
  ..."Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr"
    .split(" ").map((script) => [script]),
  ["Latn", "Hani", "Hira", "Kana"],
  ["Latn", "Hani", "Bopo"],
  ["Latn", "Hani", "Hang"],
];
const oneScript = later(() => {
  const sets = scripts.map((set) => set.map((script) => `\\p{scx=${script}}`).join(""));
  return new RegExp(sets.map((set) => `^[\\p{sc=Zyyy}\\p{sc=Zinh}${set}]*$`).join("|"), "u");
});

/**
 * Returns whether a name reads as what it is: nothing in it is escaped, and its letters are of one
 * script.
 */
export function isClean(name: string): boolean {
  return name !== "" &&
    (ordinaryLine.test(name) || (shown(name) === name && oneScript().test(name)));
}
