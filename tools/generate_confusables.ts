/**
 * Writes `sdk/gen/confusables.ts`, the letters that look like others, from the file
 * `confusables.txt` of the Unicode Consortium (UTS 39): `deno run -A tools/generate_confusables.ts
 * FILE`. The file is in the folder `security` of this version's data, and among the data of ICU 78.
 * Letters that NFKD replaces are left out, because names are normalised before they are looked up.
 */
const unicodeVersion = "17.0.0";
const sha256 = "091c7f82fc39ef208faf8f94d29c244de99254675e09de163160c810d13ef22a";
const target = new URL("../sdk/gen/confusables.ts", import.meta.url);
const lineLength = 110;

const [path] = Deno.args;
if (path === undefined) throw new Error("Give the path of confusables.txt as the argument");
const bytes = await Deno.readFile(path);
const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
if (sum !== sha256) {
  throw new Error(`${path} is not the file of Unicode ${unicodeVersion}: its SHA-256 is ${sum}`);
}

const alike = Map.groupBy(entriesOf(new TextDecoder().decode(bytes)), ({ like }) => like);
const records = Array.from(alike, ([like, entries]) => {
  const letters = entries.map(({ letter }) => letter).sort((a, b) => a - b);
  const steps = letters.map((letter, index) => letter - (letters[index - 1] ?? 0));
  return `${codesOf(like).map(short).join(".")}:${steps.map(short).join(".")}`;
}).join(";");
const lines = records.match(new RegExp(`.{1,${lineLength}}`, "g")) ?? [];
const text = `/**
 * Letters that look like others: Unicode ${unicodeVersion}, UTS 39, without those that NFKD replaces. Built from the Unicode
 * Consortium's confusables.txt (copyright Unicode, Inc., Unicode License V3) by tools/generate_confusables.ts; do not edit.
 * Each record is what letters look like, a colon, and these letters; numbers are base 36, and each letter counts from the one before.
 */
export const confusables = "${lines.join('" +\n  "')}";
`;
await Deno.writeTextFile(target, text);
console.log(`${alike.size} records, ${text.length} bytes`);

interface ConfusableEntry {
  readonly letter: number;
  /** The letters that it looks like. */
  readonly like: string;
}

function entriesOf(file: string): ConfusableEntry[] {
  return file.split("\n").flatMap((line) => {
    const [, letter, like] =
      /^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA/.exec(line.replace("\ufeff", "")) ?? [];
    if (letter === undefined || like === undefined) return [];
    const [source] = textOf(letter);
    return source?.normalize("NFKD") === source
      ? [{ letter: parseInt(letter, 16), like: textOf(like) }]
      : [];
  });
}

function textOf(codes: string): string {
  return String.fromCodePoint(...codes.split(" ").map((code) => parseInt(code, 16)));
}

function codesOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

function short(number: number): string {
  return number.toString(36);
}
