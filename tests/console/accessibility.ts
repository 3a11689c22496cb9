/** Checks a page with axe-core. */
import { createProject } from "../../tools/bundle.ts";
import { oncePerRun } from "../support/once_per_run.ts";
import type { Tab } from "../support/runtime/tab.ts";

/** As the text of a script. */
export async function readAxe(): Promise<string> {
  const kept = await oncePerRun(
    "axe.js",
    async (path) => await Deno.writeTextFile(path, await unpackAxe()),
  );
  return kept === undefined ? await unpackAxe() : await Deno.readTextFile(kept);
}

async function unpackAxe(): Promise<string> {
  await using project = await createProject(["axe-core"]);
  return await Deno.readTextFile(`${project.folder}/node_modules/axe-core/axe.min.js`);
}

/** Returns faults that are serious or worse. */
export async function judge(tab: Tab, axe: string): Promise<unknown> {
  await tab.evaluate(`${axe}; undefined`);
  return await tab.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`);
}
