/** The npm package as a stranger gets it: packed, and unpacked beside its dependencies. */
import { buildPackage } from "../../.ci/build_npm.ts";
import { createProject, type Project } from "../runtime/bundle.ts";
import { node } from "../runtime/node.ts";
import { installed, type Requirement, runCommand } from "../support/mod.ts";

export const packageTools: Requirement = {
  met: node.met && installed("npm", "tar").met,
  reason: "node, npm or tar is not installed",
};

/** A project with the dependencies and, unpacked, the package. */
export async function installPackage(): Promise<Project> {
  await using opened = new AsyncDisposableStack();
  const project = opened.use(await createProject());
  const out = await Deno.makeTempDir({ prefix: "static-npm-" });
  opened.defer(() => Deno.remove(out, { recursive: true }));
  const { tarball } = await buildPackage(out);
  const target = `${project.folder}/node_modules/static-sdk`;
  await Deno.mkdir(target);
  await runCommand("tar", ["-xzf", tarball, "--strip-components=1", "-C", target]);
  const moved = opened.move();
  return { ...project, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}
