import { assertEquals, assertLess } from "@std/assert";
import { answerFile, createConsoleFiles, createFile } from "./files.ts";

const file = await createFile("text/plain", "a".repeat(1_000));

function isZipped(encodings: string): boolean {
  return answerFile(file, { encodings, known: undefined }).headers["content-encoding"] === "gzip";
}

Deno.test("a file is compressed for a browser that takes it so", () => {
  for (const encodings of ["gzip", "br, GZIP", "deflate , gzip ; q=0.5"]) {
    assertEquals(isZipped(encodings), true);
  }
  for (const encodings of ["", "br", "gzip;q=0", "gzip ; q=0.0", "xgzip"]) {
    assertEquals(isZipped(encodings), false);
  }
});

Deno.test("a list of encodings full of space takes no longer than another", () => {
  const tookMs = Array.from({ length: 5 }, () => {
    const startMs = performance.now();
    isZipped(`gzip${" ".repeat(16_000)}x`);
    return performance.now() - startMs;
  });
  // It took a second when a pattern looked for the space.
  assertLess(Math.min(...tookMs), 200);
});

Deno.test("files are those of the last build, and none before it or without its folder", async () => {
  const folder = new URL(`file://${await Deno.makeTempDir({ prefix: "static-console-" })}/`);
  const { find } = createConsoleFiles(folder);
  const read = async (): Promise<string | undefined> => {
    const found = await find("ui.js");
    return found && new TextDecoder().decode(found.plain.bytes);
  };
  const build = async (name: string): Promise<void> => {
    await Deno.mkdir(new URL(name, folder));
    for (
      const file of [
        "console.css",
        "console.js",
        "live.js",
        "plot.js",
        "shared.js",
        "ui.js",
        "worker.js",
      ]
    ) {
      await Deno.writeTextFile(new URL(`${name}/${file}`, folder), name);
    }
  };
  const choose = (name: string): Promise<void> =>
    Deno.writeTextFile(new URL("current", folder), name);
  assertEquals(await read(), undefined);
  await build("a");
  assertEquals(await read(), undefined);
  await choose("a");
  assertEquals(await read(), "a");
  await choose("b");
  assertEquals(await read(), undefined);
  await build("b");
  assertEquals([await read(), await find("operator.js"), await find("../current")], [
    "b",
    undefined,
    undefined,
  ]);
  // They are in memory now.
  await Deno.remove(new URL("b", folder), { recursive: true });
  assertEquals(await read(), "b");
  await Deno.remove(folder, { recursive: true });
});
