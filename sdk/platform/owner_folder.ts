/** Folders for their owner alone. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./errno.ts";

export const ownerFolder = 0o700;

/** Makes it where it is missing, with its parents. Not by `recursive`: Node says of a read-only disk then that there is no such folder. */
export async function makeOwnerFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: ownerFolder });
  } catch (error) {
    if (hasCode(error, "EEXIST") && (await stat(path)).isDirectory()) return;
    if (!hasCode(error, "ENOENT") || dirname(path) === path) throw error;
    await makeOwnerFolder(dirname(path));
    await makeOwnerFolder(path);
  }
}
