import { assert, assertEquals } from "@std/assert";
import { nearestSuites, suitesOf, usersOf } from "./changed_suites.ts";
import { createSourceFile } from "./source.ts";

async function namesOf(...changed: string[]): Promise<string[]> {
  return (await suitesOf(changed)).map(({ name }) => name);
}

Deno.test("usersOf() sees imports, and paths of programs and workers", () => {
  const sources = [
    createSourceFile("a/x.ts", `import { y } from "./y.ts";`),
    createSourceFile("a/y.ts", `new Worker(new URL("../b/worker.ts", import.meta.url));`),
    createSourceFile("b/worker.ts", `run("a/x.ts");`),
  ];
  const users = usersOf(sources);
  assertEquals(users.get("a/y.ts"), new Set(["a/x.ts"]));
  assertEquals(users.get("b/worker.ts"), new Set(["a/y.ts"]));
  assertEquals(users.get("a/x.ts"), new Set(["b/worker.ts"]));
});

Deno.test("a change concerns the suites whose files use it, however far away", async () => {
  const names = await namesOf("relay/engine/engine.ts");
  for (const name of ["types", "relay", "scenario", "relay-processes", "cli"]) {
    assert(names.includes(name), name);
  }
  for (const name of ["wasm", "server"]) assert(!names.includes(name), name);
});

Deno.test("a change of the Python package concerns the suites that run Python, and not all", async () => {
  const names = await namesOf("sdk/python/src/static_sdk/errors.py");
  assert(names.includes("python"));
  assert(!names.includes("wasm"));
});

Deno.test("nearestSuites() begins with the tests beside a file, and ends with those that use it from afar", async () => {
  const names = (await nearestSuites("relay/engine/append_rule.ts")).map(({ name }) => name);
  assertEquals(names[0], "relay");
  assert(names.indexOf("relay-processes") > 0);
  assert(!names.includes("types"));
});

Deno.test("a page concerns the suites that read pages, a file that no test is known to use all of them", async () => {
  assertEquals(await namesOf("docs/operations.md"), ["format", "types", "tidy", "project", "docs"]);
  assert((await namesOf("deno.json")).includes("wasm"));
  assertEquals(await namesOf(), []);
});
