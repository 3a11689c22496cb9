/**
 * The suites of all runtimes in a Node that has ML-KEM of its own, which that of the machine may
 * not be, and long suites in every runtime.
 */
import { assert, assertEquals } from "@std/assert";
import { createProject } from "../../tools/bundle.ts";
import { tried } from "../support/campaign.ts";
import { installed, runCommand, testWhen } from "../support/mod.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import { node, runInNode, runInNodeAt } from "../support/runtime/node.ts";
import { createNodeMlKem } from "../../sdk/platform/node_key_agreement.ts";
import type { RuntimeResult } from "../support/runtime/suite.ts";
import { runLongSuites } from "./long_suites.ts";
import { runSuites, type SuiteResults } from "./suites_directory.ts";

/** From npm, where it is a package of each machine's kind. */
const version = "24.21.0";
const platform = `node-${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;
const newerNode = installed("npm");

interface Runtimes extends AsyncDisposable {
  readonly folder: string;
  /** The path of the newer Node. */
  readonly program: string;
}

async function installNode(): Promise<Runtimes> {
  const folder = await Deno.makeTempDir({ prefix: "static-node-" });
  const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder];
  await runCommand("npm", ["install", ...flags, `${platform}@${version}`], { cwd: folder });
  return {
    folder,
    program: `${folder}/node_modules/${platform}/bin/node`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function assertPassed(results: SuiteResults): void {
  const failed = Object.values(results).flat().filter(({ outcome }) => outcome === "failed");
  assertEquals(failed, []);
}

testWhen(
  newerNode,
  `the runtime suites pass in Node ${version}, with the same answers`,
  async () => {
    await using runtimes = await installNode();
    await using project = await createProject();
    const bundle = await project.bundle(new URL("suites_node.ts", import.meta.url), "node");
    const works = `${runtimes.folder}/works`;
    await Deno.mkdir(works);
    const output = await runInNodeAt(runtimes.program, bundle, works);
    const results: SuiteResults = JSON.parse(output);
    assertPassed(results);
    await Deno.mkdir(`${runtimes.folder}/deno`);
    assertEquals(results, await runSuites(`${runtimes.folder}/deno`));
    // Not by falling back to the portable one.
    const has = 'process.stdout.write(String(typeof require("node:crypto").decapsulate))';
    assertEquals(await runCommand(runtimes.program, ["-e", has]), "function");
  },
);

testWhen(newerNode, "long suites have the same answers in every runtime", async () => {
  const inDeno = await runLongSuites(createNodeMlKem());
  assertPassed({ inDeno });
  await using runtimes = await installNode();
  await using project = await createProject();
  const forNode = await project.bundle(new URL("long_suites_node.ts", import.meta.url), "node");
  const outputs = [await runInNodeAt(runtimes.program, forNode)];
  if (node.met) outputs.push(await runInNode(forNode));
  if (chromium.met) {
    const entry = new URL("long_suites_browser.ts", import.meta.url);
    outputs.push(await runInChromium(await project.bundle(entry, "browser")));
  }
  for (const output of outputs) {
    const results: readonly RuntimeResult[] = JSON.parse(output);
    assertEquals(results, inDeno);
  }
  assert(inDeno.every(({ text }) => text.length > 0));
  tried(`every byte of a layer and every place of a key, in ${1 + outputs.length} runtimes`);
});
