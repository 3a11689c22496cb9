// `deno task test types` checks the types of every sample; the campaign `packages` compiles them
// against the npm package.
import { assertEquals, assertGreater } from "@std/assert";
import { isSample, readProgramPages } from "../../tools/pages/programs.ts";

Deno.test("samples of the pages run in Node as they run in Deno: none names Deno", () => {
  const samples = readProgramPages().flatMap(({ blocks }) => blocks).filter(isSample);
  assertGreater(samples.length, 9);
  const named = samples.filter(({ text }) => /\bDeno\b/.test(text));
  assertEquals(
    named.map(({ page, line }) => `${page}:${line} names Deno: use node: modules, which both have`),
    [],
  );
});
