/**
 * A suite runs with a temporary folder of its own. Files in it afterwards were left behind by a
 * test, which is a fault: on a machine that runs the tests every day they would fill the disk.
 */

export interface Leftovers<T> {
  readonly result: T;
  /** Names of what was left in the folder, which is removed now. */
  readonly names: readonly string[];
}

/** `run` gives the folder to its processes as `TMPDIR`. */
export async function withTemporaryFolder<T>(
  run: (folder: string) => Promise<T>,
): Promise<Leftovers<T>> {
  // A short name: paths of sockets below it may have little more than a hundred characters.
  const folder = await Deno.makeTempDir({ prefix: "st-" });
  // PostgreSQL refuses to run as root: as another user it passes through here to a folder of its
  // own.
  await Deno.chmod(folder, 0o711);
  try {
    const result = await run(folder);
    const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
    return { result, names };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
