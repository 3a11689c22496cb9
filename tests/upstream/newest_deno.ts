/**
 * The newest Deno on npm that has a build for this machine, installed below `dist/` once for each
 * version.
 */
import { installed, type Requirement, runCommand } from "../support/mod.ts";

const platform = `@deno/${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}-glibc`;

export interface NewestDeno {
  readonly version: string;
  readonly path: string;
}

/** Undefined where npm has no such package, or cannot be reached. */
export const newestDeno: NewestDeno | undefined = await install().catch(() => undefined);

export const hasNewestDeno: Requirement = {
  met: newestDeno !== undefined,
  reason: `npm or ${platform} cannot be had`,
};

async function install(): Promise<NewestDeno | undefined> {
  if (!installed("npm").met) return undefined;
  const version = (await runCommand("npm", ["view", platform, "version", "--silent"])).trim();
  const folder = new URL(`../../dist/newest-deno-${version}`, import.meta.url).pathname;
  const path = `${folder}/node_modules/${platform}/deno`;
  if (!await Deno.stat(path).then(() => true, () => false)) {
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify({ private: true }));
    const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
    await runCommand("npm", ["install", ...flags, `${platform}@${version}`], { cwd: folder });
    await Deno.chmod(path, 0o755);
  }
  return { version, path };
}
