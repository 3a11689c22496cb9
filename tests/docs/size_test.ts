// One question has one page, and the pages together can be read: their number and their words have
// limits that fall.
import { assert } from "@std/assert";
import { besideCode, readPages } from "../../tools/pages/markdown.ts";

const repository = new URL("../../", import.meta.url);

/**
 * `limit` may only fall; lower it when pages became shorter. `goal` is where it may stop. Words are
 * what `wc -w` counts, so signs of tables and comments are some, too.
 */
interface Ceiling {
  readonly what: string;
  readonly size: number;
  readonly limit: number;
  readonly goal: number;
  /** How far below its limit the size may be before the limit has to follow. */
  readonly slack: number;
}

function wordsOf(paths: readonly string[]): number {
  const texts = paths.map((path) => Deno.readTextFileSync(new URL(path, repository)));
  return texts.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

const docs = readPages().map(({ path }) => path).filter((path) => path.startsWith("docs/"));
const builders = besideCode.filter((folder) => folder !== "bench").map((folder) =>
  `${folder}/README.md`
);

const ceilings: readonly Ceiling[] = [
  { what: "words in docs/", size: wordsOf(docs), limit: 60_000, goal: 60_000, slack: 1_500 },
  { what: "pages in docs/", size: docs.length, limit: 28, goal: 28, slack: 0 },
  {
    what: "words of READMEs beside code",
    size: wordsOf(builders),
    limit: 4_000,
    goal: 4_000,
    slack: 0,
  },
];

Deno.test("the documentation has no more words and pages than its limits, which fall with it", () => {
  for (const { what, size, limit, goal, slack } of ceilings) {
    assert(size <= limit, `${size} ${what}, the limit is ${limit}: say it once, or shorter`);
    assert(
      limit <= Math.max(goal, size + slack),
      `${size} ${what}: lower the limit from ${limit} in this file, so that it stays won`,
    );
  }
});
