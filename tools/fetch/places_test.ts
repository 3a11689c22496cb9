import { assertEquals, assertMatch } from "@std/assert";
import { cacheFolder, type EnvironmentReader, findFile, placesOf } from "./places.ts";

function variables(values: Readonly<Record<string, string>>): EnvironmentReader {
  return (name) => values[name];
}

Deno.test("the cache is below XDG_CACHE_HOME when that is absolute, or below HOME", () => {
  assertEquals(cacheFolder(variables({ XDG_CACHE_HOME: "/c", HOME: "/h" })), "/c/static");
  assertEquals(cacheFolder(variables({ XDG_CACHE_HOME: "c", HOME: "/h" })), "/h/.cache/static");
  assertEquals(cacheFolder(variables({ HOME: "/h" })), "/h/.cache/static");
  assertEquals([cacheFolder(variables({})), cacheFolder(variables({ HOME: "" }))], [
    undefined,
    undefined,
  ]);
});

Deno.test("STATIC_VECTORS comes first, then the folder beside the checkout, then the cache", () => {
  const set = variables({ STATIC_VECTORS: "/named", HOME: "/h" });
  const [named, beside = "", ...rest] = placesOf("vectors", set);
  assertEquals([named, ...rest], ["/named", "/h/.cache/static/vectors"]);
  assertMatch(beside, /\/shared\/vectors$/);
  assertEquals(placesOf("peers", set).slice(1), ["/h/.cache/static/peers"]);
  assertEquals(placesOf("vectors", variables({})), [beside]);
});

Deno.test("findFile() returns the first file of that name, and passes over folders", async () => {
  const root = await Deno.makeTempDir({ prefix: "static-places-" });
  try {
    for (const folder of ["a/v.json", "b", "c"]) {
      await Deno.mkdir(`${root}/${folder}`, { recursive: true });
    }
    for (const file of ["b/v.json", "c/v.json"]) await Deno.writeTextFile(`${root}/${file}`, "{}");
    const places = ["a", "b", "c"].map((folder) => `${root}/${folder}`);
    assertEquals(findFile("v.json", places), `${root}/b/v.json`);
    assertEquals(findFile("w.json", places), undefined);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
