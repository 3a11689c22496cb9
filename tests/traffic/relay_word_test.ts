/**
 * docs/relay_word.md lists everything that the relay says by itself: nothing new can be forgotten.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { calls, errorCodes, notices } from "../../proto/mod.ts";
import { shownBy } from "./relay_word.ts";

const root = new URL("../../", import.meta.url);
const page = Deno.readTextFileSync(new URL("docs/relay_word.md", root));

/** The fields, notices or codes that each row of a part of the page names. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, part = ""] = page.split(`## ${heading}\n`);
  const lines = (part.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => {
    const [, first = ""] = line.split("|");
    return Array.from(first.matchAll(/`([\w.]+)`/g), ([, word = ""]) => word);
  });
}

const rows = ["Replies", "Notices", "Refusals"].map(rowsOf).flat();

Deno.test("every reply field, notice and refusal of the protocol is on the page about the relay's word, once", () => {
  const fields = Object.entries(calls).flatMap(([name, { reply }]) =>
    Object.keys(reply.shape).map((field) => `${name}.${field}`)
  );
  const all = [...fields, ...Object.keys(notices), ...Object.keys(errorCodes)];
  assertEquals(rows.flat().toSorted(), all.toSorted());
});

Deno.test("every row of the page about the relay's word has a test that exists", () => {
  assertEquals(shownBy.map(({ said }) => said), rows.map(([said]) => said));
  for (const { path, name } of shownBy) {
    assertStringIncludes(
      Deno.readTextFileSync(new URL(path, root)),
      `"${name}"`,
      `${path} has no test "${name}"`,
    );
  }
});
