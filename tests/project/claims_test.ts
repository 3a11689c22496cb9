// The security pages promise nothing that no test shows.
import { assert, assertEquals } from "@std/assert";
import { type Claim, claimPages, promisesIn } from "../../tools/pages/claims_list.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => Deno.readTextFileSync(new URL(path, root));
const claims: readonly Claim[] = JSON.parse(read("docs/claims.json"));

Deno.test("every sentence of the security pages with cannot, never, only or nobody has an id", () => {
  const found = claimPages.flatMap((page) => promisesIn(read(page)));
  const bare = found.filter(({ ids }) => ids.length === 0).map(({ sentence }) => sentence);
  assertEquals(bare, []);
  const ids = found.flatMap(({ ids }) => ids);
  assert(ids.length > 60, `${ids.length} claims`);
  assertEquals(ids, [...new Set(ids)], "an id stands once");
  assertEquals(ids, claims.map(({ id }) => id), "run deno task generate");
});

Deno.test("every claim of the security pages has a test, and that test exists", () => {
  for (const { id, sentence, tests } of claims) {
    assert(tests.length > 0, `${id} has no test: ${sentence}`);
    for (const { file, test } of tests) {
      const text = read(file);
      // As a name: a test's own, or that of a step.
      assert(
        text.includes(`"${test}"`) || text.includes(`\`${test}\``),
        `${id}: ${file} has no test "${test}"`,
      );
    }
  }
});

Deno.test("promisesIn() finds promises in prose, items and cells, and none in code and headings", () => {
  const page = "# Never\n\nOne cannot. Two `only`.<!--A1--> Three\nnever ends.<!--A2-->\n\n" +
    "- Nobody\n  here.<!--B1-->\n\n```text\nnever\n```\n\n| a | b |\n| - | - |\n| only x | y |\n";
  assertEquals(promisesIn(page), [
    { sentence: "One cannot.", ids: [] },
    { sentence: "Two `only`.", ids: ["A1"] },
    { sentence: "Three never ends.", ids: ["A2"] },
    { sentence: "Nobody here.", ids: ["B1"] },
    { sentence: "only x", ids: [] },
  ]);
});
