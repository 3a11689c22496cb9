import { assertEquals, assertLess } from "@std/assert";
import { answerFile, createFile } from "./files.ts";

const file = await createFile("text/plain", "a".repeat(1_000));

function isZipped(encodings: string): boolean {
  return answerFile(file, { encodings, known: undefined }).headers["content-encoding"] === "gzip";
}

Deno.test("a file is compressed for a browser that takes it so", () => {
  for (const encodings of ["gzip", "br, GZIP", "deflate , gzip ; q=0.5"]) assertEquals(isZipped(encodings), true);
  for (const encodings of ["", "br", "gzip;q=0", "gzip ; q=0.0", "xgzip"]) assertEquals(isZipped(encodings), false);
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
