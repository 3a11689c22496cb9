/**
 * docs/relay_word.md lists everything that the relay says by itself: nothing new can be forgotten.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { calls, errorCodes, notices } from "../../proto/mod.ts";

const root = new URL("../../", import.meta.url);
const page = Deno.readTextFileSync(new URL("docs/relay_word.md", root));

/** The rows of a part of the page: what is said, and the test. */
function rowsOf(
  heading: string,
): { readonly said: string[]; readonly path: string; readonly name: string }[] {
  const [, part = ""] = page.split(`## ${heading}\n`);
  const lines = (part.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => {
    const [, first = ""] = line.split("|");
    const [, path = "", name = ""] = /`([^`]+\.ts)`: "(.+)"/.exec(line) ?? [];
    return { said: Array.from(first.matchAll(/`([\w.]+)`/g), ([, word = ""]) => word), path, name };
  });
}

const rows = ["Replies", "Notices", "Refusals"].map(rowsOf).flat();

Deno.test("every reply field, notice and refusal of the protocol is on the page about the relay's word, once", () => {
  const fields = Object.entries(calls).flatMap(([name, { reply }]) =>
    Object.keys(reply.shape).map((field) => `${name}.${field}`)
  );
  const all = [...fields, ...Object.keys(notices), ...Object.keys(errorCodes)];
  assertEquals(rows.flatMap(({ said }) => said).toSorted(), all.toSorted());
});

Deno.test("every row of the page about the relay's word names a test that exists", () => {
  for (const { said, path, name } of rows) {
    assertEquals(name !== "", true, `no test is named for ${said.join()}`);
    assertStringIncludes(
      Deno.readTextFileSync(new URL(path, root)),
      `"${name}"`,
      `${path} has no test "${name}"`,
    );
  }
});
