/**
 * Debian's package of nats-server: whether this machine can use it, and how it is unpacked without
 * being installed.
 */
import { natsSource, type PinnedSource } from "./sources.ts";

/** `obstacle` is a clause that says why this machine cannot use the package. */
export type NatsPackage = PinnedSource | { readonly obstacle: string };

const unpacker = "dpkg-deb";

export function natsPackage(): NatsPackage {
  const { os, arch } = Deno.build;
  const source = natsSource({ os, arch });
  if (source === undefined) return { obstacle: `Debian has no package for ${os} on ${arch}` };
  return isRunnable(unpacker)
    ? source
    : { obstacle: `there is no ${unpacker} to unpack Debian's package` };
}

/**
 * Unpacks a package into a folder of its name below `into`, and returns that folder. It is not
 * unpacked again. Several processes may do this at once: the first whole folder stays.
 */
export async function unpackPackage(file: string, into: string): Promise<string> {
  const folder = `${into}/${file.slice(file.lastIndexOf("/") + 1).replace(/\.deb$/, "")}`;
  if (await isFolder(folder)) return folder;
  await Deno.mkdir(into, { recursive: true });
  const fresh = await Deno.makeTempDir({ dir: into });
  try {
    const args = ["-x", file, `${fresh}/package`];
    const { success, stderr } = await new Deno.Command(unpacker, { args, stdin: "null" }).output();
    if (!success) {
      throw new Error(
        `Cannot unpack ${file}: ${unpacker} says "${new TextDecoder().decode(stderr).trim()}"`,
      );
    }
    await Deno.rename(`${fresh}/package`, folder).catch(async (error: unknown) => {
      if (!await isFolder(folder)) throw error;
    });
  } finally {
    await Deno.remove(fresh, { recursive: true });
  }
  return folder;
}

function isRunnable(program: string): boolean {
  try {
    return new Deno.Command(program, {
      args: ["--version"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    })
      .outputSync().success;
  } catch {
    return false;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isDirectory }) => isDirectory, () => false);
}
