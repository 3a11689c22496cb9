// The table of waits is what the code does: each is used, and each event and metric that it names
// exists.
import { assertEquals, assertGreater } from "@std/assert";
import { type Wait, waits } from "../../server/mod.ts";
import { isTest, readSources } from "../../tools/source.ts";

const product = (await readSources(new URL("../..", import.meta.url).pathname))
  .filter(({ path }) =>
    /^(api|relay|server|deploy)\//.test(path) && !isTest(path) && path !== "server/waits.ts"
  );

for (const [name, wait] of Object.entries(waits) as [string, Wait][]) { // cast: keys of the table
  Deno.test(`the wait ${name} has a limit that the code uses`, () => {
    assertGreater(wait.ms, 0);
    const users = product.filter(({ code }) => new RegExp(`\\bwaits\\.${name}\\b`).test(code));
    assertGreater(users.length, 0, "nobody uses it");
    for (const word of wait.then.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []) {
      const stem = word.replace(/^static_relay_/, "");
      assertEquals(
        product.some(({ text }) => text.includes(`"${stem}"`)),
        true,
        `${word} is not said anywhere`,
      );
    }
  });
}
