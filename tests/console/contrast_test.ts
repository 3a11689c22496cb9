// Colours of the console by the numbers of WCAG 2.1 AA, in both schemes: text 4.5 to 1, borders,
// marks and focus 3 to 1.
import { assert, assertEquals } from "@std/assert";

const style = Deno.readTextFileSync(new URL("../../api/console/page/style.css", import.meta.url));
const [textRatio, markRatio] = [4.5, 3];
const grounds = ["page", "card"];
const pairs: readonly (readonly [string, readonly string[], number])[] = [
  ["text", grounds, textRatio],
  ["quiet", grounds, textRatio],
  ["accent", grounds, textRatio],
  ["on-accent", ["accent"], textRatio],
  ["good", grounds, textRatio],
  ["bad", [...grounds, "bad-ground"], textRatio],
  ["border", grounds, markRatio],
  ["real", grounds, markRatio],
  ["cover", grounds, markRatio],
];

/** The custom properties of a block of `:root`. */
function colours(block: string): ReadonlyMap<string, string> {
  return new Map(
    Array.from(
      block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g),
      ([, name = "", value = ""]) => [name, value],
    ),
  );
}

/** WCAG's relative luminance. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

Deno.test("contrast() is WCAG's", () => {
  assertEquals(contrast("#ffffff", "#000000"), 21);
  assertEquals(contrast("#777777", "#ffffff").toFixed(2), "4.48");
});

Deno.test("every colour stands out from its ground as WCAG AA asks, light and dark", () => {
  const light = colours(/^:root \{([^}]+)\}/m.exec(style)?.[1] ?? "");
  const dark = colours(
    /prefers-color-scheme: dark\) \{\s+:root \{([^}]+)\}/.exec(style)?.[1] ?? "",
  );
  assertEquals([...dark.keys()].sort(), [...light.keys()].sort());
  const compared = new Set(["line", ...pairs.flatMap(([front, behind]) => [front, ...behind])]);
  // Lines between rows carry no meaning; every other colour is compared with something.
  assertEquals([...light.keys()].filter((name) => !compared.has(name)), []);
  for (const [scheme, values] of [["light", light], ["dark", dark]] as const) {
    for (const [front, behind, least] of pairs) {
      for (const ground of behind) {
        const ratio = contrast(values.get(front) ?? "", values.get(ground) ?? "");
        assert(
          ratio >= least,
          `${scheme}: ${front} on ${ground} is ${ratio.toFixed(2)}, ${least} are needed`,
        );
      }
    }
  }
});
