/**
 * Clients that need Node and packages from npm. The packages are installed once per checkout and
 * version, below `dist/`; the scripts are copied beside them, because that is how Node finds
 * packages.
 */
import { installed, type Requirement, runCommand } from "../mod.ts";

const dependencies = {
  "@bufbuild/protobuf": "2.17.0",
  "@connectrpc/connect": "2.1.2",
  "@connectrpc/connect-node": "2.1.2",
  "@grpc/grpc-js": "1.14.7",
};
const scripts = new URL("./peers/", import.meta.url);

export const node: Requirement = installed("node", "npm");

/** The folder with all scripts of `peers/`, ready to run. */
export async function installNodePeers(): Promise<string> {
  const versions = Object.values(dependencies).join("_");
  const folder = new URL(`../../../dist/http2-peers-${versions}`, import.meta.url).pathname;
  const marker = `${folder}/node_modules/.installed`;
  if (!await isFile(marker)) {
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(
      `${folder}/package.json`,
      JSON.stringify({ private: true, type: "module", dependencies }),
    );
    await runCommand(
      "npm",
      ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"],
      { cwd: folder },
    );
    await Deno.writeTextFile(marker, "");
  }
  for await (const entry of Deno.readDir(scripts)) {
    await Deno.copyFile(new URL(entry.name, scripts), `${folder}/${entry.name}`);
  }
  return folder;
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isFile: is }) => is, () => false);
}
