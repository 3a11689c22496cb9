// One scale of type and one of space, on all pages of the API: every size of a letter and every gap
// is one of its steps.
import { assert, assertEquals } from "@std/assert";

const read = (path: string): string =>
  Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));
const pages = {
  "the console": read("api/console/page/style.css"),
  "/docs": read("api/routes/documentation/docs_assets.ts"),
};
const scaled =
  /(?<![\w-])(font(?:-size)?|padding[\w-]*|margin[\w-]*|gap|border-radius|word-spacing): ([^;}]+)/g;
/**
 * Beside a step: nothing, what the browser finds out, a circle, and shares of the whole page's
 * size.
 */
const unscaled =
  /^(?:0|auto|inherit|50%|8vh|125%|175%|[\d.]+|-1|system-ui|sans-serif|ui-monospace|monospace)$/;

for (const [name, style] of Object.entries(pages)) {
  Deno.test(`${name}: sizes of type and space are steps of one scale`, () => {
    const steps = new Set(
      Array.from(style.matchAll(/--(small|body|large|title|space-\d|round):/g), ([, step]) => step),
    );
    const isOdd = (value: string): boolean =>
      value.replaceAll(/var\(--([\w-]+)\)/g, "$1").split(/calc|[\s()*+/,]+/)
        .some((part) => part !== "" && !steps.has(part) && !unscaled.test(part));
    const odd = Array.from(style.matchAll(scaled)).filter(([, , value = ""]) => isOdd(value)).map((
      [whole],
    ) => whole);
    assertEquals(odd, []);
    assert(steps.size >= 9, [...steps].join(" "));
  });
}
