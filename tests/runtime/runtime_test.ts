/**
 * One suite, three runtimes: each must pass it, and what the tests answer must be the same in all.
 */
import { assertEquals, assertGreater } from "@std/assert";
import { testWhen } from "../support/mod.ts";
import { createProject, type Project } from "../../tools/bundle.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import { node, runInNode } from "../support/runtime/node.ts";
import { runSuites, type SuiteResults } from "./suites_directory.ts";

const inDeno = runInTemporaryFolder((folder) => runSuites(folder));

async function runInTemporaryFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "static-runtime-" });
  try {
    return await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const started: { project?: Promise<Project> } = {};

Deno.test.afterAll(async () => {
  await (await started.project)?.[Symbol.asyncDispose]();
});

/** For the bundles of all runtimes. It goes after the last test. */
async function shareProject(): Promise<Project> {
  return await (started.project ??= createProject());
}

function assertPassed(results: SuiteResults): void {
  const failed = Object.entries(results).flatMap(([suite, tests]) =>
    tests.filter(({ outcome }) => outcome === "failed").map(({ name, text }) =>
      `${suite}: ${name}\n${text}`
    )
  );
  assertEquals(failed, []);
  assertGreater(Object.values(results).flat().length, 0);
}

Deno.test("the runtime suites pass in Deno", async () => assertPassed(await inDeno));

testWhen(node, "the runtime suites pass in Node, with the same answers", async () => {
  const bundle = await (await shareProject()).bundle(
    new URL("suites_node.ts", import.meta.url),
    "node",
  );
  const results: SuiteResults = JSON.parse(
    await runInTemporaryFolder((folder) => runInNode(bundle, folder)),
  );
  assertPassed(results);
  assertEquals(results, await inDeno);
});

testWhen(chromium, "the runtime suites pass in Chromium, with the same answers", async () => {
  const bundle = await (await shareProject()).bundle(
    new URL("suites_browser.ts", import.meta.url),
    "browser",
  );
  const { indexedDb = [], ...results }: SuiteResults = JSON.parse(await runInChromium(bundle));
  assertGreater(indexedDb.length, 0);
  assertPassed({ ...results, indexedDb });
  assertEquals(results, await inDeno);
});
