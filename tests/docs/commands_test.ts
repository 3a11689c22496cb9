// Pages, help, errors of every language, the console and the skill tell users to run `static`: what
// they name exists.
import { assertEquals, assertGreater } from "@std/assert";
import { commands, globalFlags } from "../../cli/mod.ts";
import { isTest, lineAt, listFiles } from "../../tools/source.ts";

const root = new URL("../../", import.meta.url).pathname;
const firstWords = new Set(commands.map(({ path }) => path.split(" ")[0]));
/** Up to a sign that ends it in prose, code, HTML or a table. */
const written = new RegExp(
  `\\bstatic ((?:${[...firstWords].join("|")})\\b[^\`"'<\\n|;,.()]*)`,
  "g",
);

/** Returns undefined if it exists with all its flags. */
function mistakeIn(words: string): string | undefined {
  const [command] = commands.filter(({ path }) => `${words} `.startsWith(`${path} `))
    .sort((one, other) => other.path.length - one.path.length);
  if (command === undefined) return "there is no such command";
  const known = [...globalFlags, ...command.flags ?? []].map(({ name }) => name);
  // After a lone -- follows the command line of another program.
  const [own = ""] = words.split(" -- ");
  const strange = Array.from(own.matchAll(/ --([a-z][a-z-]+)/g), ([, flag = ""]) => flag)
    .filter((flag) => !known.includes(flag));
  return strange.length === 0 ? undefined : `${command.path} has no flag --${strange.join(", --")}`;
}

Deno.test("every command of static that a text names exists, and so do its flags", async () => {
  const files = (await listFiles(root)).filter((path) =>
    /\.(?:html|md|mjs|py|txt|ts|yml)$/.test(path) && !isTest(path)
  );
  const mistakes: string[] = [];
  let found = 0;
  for (const path of files) {
    const text = await Deno.readTextFile(root + path);
    for (const { index, 1: words = "" } of text.matchAll(written)) {
      found++;
      const mistake = mistakeIn(words.trim());
      if (mistake !== undefined) {
        mistakes.push(`${path}:${lineAt(text, index)} says "static ${words.trim()}": ${mistake}`);
      }
    }
  }
  assertGreater(found, 150);
  assertEquals(mistakes, []);
});
