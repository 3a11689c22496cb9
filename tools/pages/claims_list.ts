/**
 * `docs/claims.json`: the sentences of the security pages that promise something, each with the
 * tests that show it. A mark at the end of a sentence, as in `…<!--R1-->`, is its id; page and
 * sentence are collected from the marks, the tests are written into the list by hand.
 */

/** The pages whose promises need a proof. */
export const claimPages = ["docs/security.md", "docs/traffic.md", "docs/keys.md"];

/** A word with which a sentence promises that something does not happen. */
const promise = /(?<!-)\b(?:cannot|never|only|nobody)\b/i;
const mark = /<!--([A-Z]\d+)-->/g;

interface ShownBy {
  readonly file: string;
  /** The test's name, or that of a step, as it stands in the file. */
  readonly test: string;
}

export interface Claim {
  readonly id: string;
  readonly page: string;
  readonly sentence: string;
  readonly tests: readonly ShownBy[];
}

/** Every sentence of a page that promises something or has a mark, with its ids. */
export function promisesIn(
  page: string,
): { readonly sentence: string; readonly ids: readonly string[] }[] {
  return sentencesOf(page).map((text) => ({
    sentence: text.replace(mark, ""),
    ids: Array.from(text.matchAll(mark), ([, id = ""]) => id),
  })).filter(({ sentence, ids }) =>
    ids.length > 0 || promise.test(sentence.replace(/`[^`]*`|"[^"]*"/g, ""))
  );
}

/** Returns the list as JSON, not yet formatted. `read` returns the text of a file. */
export function renderClaims(list: readonly Claim[], read: (path: string) => string): string {
  const marked = claimPages.flatMap((page) =>
    promisesIn(read(page)).flatMap(({ sentence, ids }) => ids.map((id) => ({ id, page, sentence })))
  );
  const tests = new Map(list.map(({ id, tests }) => [id, tests]));
  return JSON.stringify(marked.map((each) => ({ ...each, tests: tests.get(each.id) ?? [] })));
}

/**
 * Returns the sentences of prose, list items and cells of tables; not of headings and blocks of
 * code.
 */
function sentencesOf(page: string): string[] {
  const prose = page.replace(/^ *```[^]*?^ *```$/gm, "").replace(/^#.*$/gm, "");
  const parts = prose.split(/\n\n+|\n(?= *(?:[-|]|\d+\.) )/).flatMap((part) =>
    part.startsWith("|") ? part.split("|") : [part]
  );
  return parts.flatMap((part) =>
    part.replace(/\s+/g, " ").replace(/^ ?(?:-|\d+\.) /, "").trim()
      .split(/(?<=[.!?](?:\*\*)?(?:<!--[A-Z]\d+-->)?) (?=["`*[(]*[A-Z])/)
  ).filter((sentence) => sentence !== "");
}
