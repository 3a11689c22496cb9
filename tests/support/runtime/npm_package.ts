/**
 * The npm package as a stranger gets it: packed, and unpacked beside its dependencies. Suites that
 * run one after the other share one build: it is kept under a hash of everything that it is made
 * of.
 */
import { buildPackage, sdkPackage, sourcesOf } from "../../../tools/build_npm.ts";
import { createProject, type Project } from "../../../tools/bundle.ts";
import { node } from "./node.ts";
import { installed, type Requirement, runCommand } from "../mod.ts";

export const packageTools: Requirement = {
  met: node.met && installed("npm", "tar").met,
  reason: "node, npm or tar is not installed",
};

const builds = new URL("../../../dist/tested/", import.meta.url).pathname;

/**
 * A project with the dependencies, those of `tools/npm` that are named and, unpacked, the package.
 */
export async function installPackage(packages: readonly string[] = []): Promise<Project> {
  await using opened = new AsyncDisposableStack();
  const project = opened.use(await createProject(packages));
  const target = `${project.folder}/node_modules/static-sdk`;
  await Deno.mkdir(target);
  await runCommand("tar", ["-xzf", await packedOnce(), "--strip-components=1", "-C", target]);
  const moved = opened.move();
  return { ...project, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/**
 * Returns the tarball. Of two that build it at once, the second to finish replaces the first with
 * the same.
 */
async function packedOnce(): Promise<string> {
  const made = `${builds}${await hashOfSources()}.tgz`;
  if (await Deno.stat(made).then(() => true, () => false)) return made;
  const out = await Deno.makeTempDir({ prefix: "static-npm-" });
  try {
    const { tarball } = await buildPackage(out);
    await Deno.remove(builds, { recursive: true }).catch(() => {});
    await Deno.mkdir(builds, { recursive: true });
    await Deno.copyFile(tarball, `${made}.part`);
    await Deno.rename(`${made}.part`, made);
  } finally {
    await Deno.remove(out, { recursive: true });
  }
  return made;
}

async function hashOfSources(): Promise<string> {
  const parts: unknown[] = [Deno.version.deno];
  for (const path of await sourcesOf(sdkPackage)) parts.push(path, await Deno.readTextFile(path));
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(JSON.stringify(parts)),
  );
  return new Uint8Array(digest).toHex();
}
