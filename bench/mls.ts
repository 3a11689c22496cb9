/**
 * MLS groups beside OpenMLS compiled to WASM, in the same run, first in Deno and then in Node: one
 * bundle, because a package that only a benchmark needs is not among those of the project. Ratios
 * above 1 mean that we are faster. Arguments: sizes, default 2 10 100 1000.
 */
import { createProject } from "../tools/bundle.ts";

const sizes = Deno.args.length > 0 ? Deno.args : ["2", "10", "100", "1000"];

await using project = await createProject(["mls-ts"]);
const bundle = await project.bundle(new URL("mls/groups.ts", import.meta.url), "node");
await run(Deno.execPath(), ["run", "-A", "--quiet", bundle, ...sizes]);
await run("node", [bundle, ...sizes]);

async function run(command: string, args: readonly string[]): Promise<void> {
  const { success } = await new Deno.Command(command, {
    args: [...args],
    cwd: project.folder,
    stdin: "null",
  }).spawn()
    .status;
  if (!success) throw new Error(`${command} ${args.join(" ")} failed`);
}
