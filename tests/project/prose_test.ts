// Sentences at which readers stopped do not come back. CONTRIBUTING.md shows some of them beside
// better ones.
import { assertEquals } from "@std/assert";
import { listFiles } from "../../tools/source.ts";

const root = new URL("../../", import.meta.url).pathname;
const exempt = ["CONTRIBUTING.md", "tests/project/prose_test.ts"];

/** A few words of each sentence that two readers marked. */
const marked = [
  "Whose agent is not added has no answer",
  "Who owns nothing removes only who",
  "the first is weather",
  "one Ctrl-C is one.",
  "tell chance by drawing",
  "A tick each for request and reply",
  "Who asks to start further on",
  "would be following whoever",
  "may have been a member since it was admitted lets nobody in",
  "key moves on on disk",
  "by who knows how much",
  "its key is kept and not its secret",
  "be it one still or not",
  "Removals that are remembered one by one; of earlier ones",
  "Lets in who holds an invite",
  "has much to say and no answer",
  "what they see stands what the relay sees",
  "are dealt with by themselves",
  "What was promised, and what came of it",
  "who holds it is let in",
  "Whoever is alone",
  "with another member by another way",
  "nobody stands in between",
  "is no number from 1 up",
  "shows a certificate that is not believed",
  "Every refusal has the shape of",
  "was done by halves",
  "Where a platform listens for you",
  "The units leave little",
  "was set back has forgotten commits",
  "at a restart; behind an edge, never",
  "told to go and when to come back",
  "over any private way",
  "no loop has asked past them",
];

Deno.test("no sentence that readers marked is left in code, help, errors or pages", async () => {
  const paths = (await listFiles(root)).filter((path) =>
    /\.(ts|py|md)$/.test(path) && !exempt.includes(path)
  );
  const found = await Promise.all(paths.map(async (path) => {
    const text = (await Deno.readTextFile(root + path)).replace(/\s+(?:\* |\/\/ )?/g, " ");
    return marked.filter((words) => text.includes(words)).map((words) => `${path}: ${words}`);
  }));
  assertEquals(found.flat(), []);
});

Deno.test("no page has a clause with whoever, who or what as its subject", async () => {
  const pages = (await listFiles(root)).filter((path) =>
    path.endsWith(".md") && !exempt.includes(path)
  );
  const found = await Promise.all(pages.map(async (path) => {
    const text = await Deno.readTextFile(root + path);
    // Names of tests and samples are quoted, and headings may be questions.
    const prose = text.replace(/```[^]*?```|`[^`]*`|"[^"\n]*"|^#.*$/gm, "").replace(/\s+/g, " ");
    const clauses = prose.match(
      /\bwhoever\b|[.;] (?:What|Who) (?:is|was|has|had|are|were|owns|holds) [^.?]*\./gi,
    ) ??
      [];
    return clauses.map((clause) => `${path}: ${clause}`);
  }));
  assertEquals(found.flat(), []);
});
