/** Folders for their owner alone. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./errno.ts";

export const ownerFolder = 0o700;

/** Makes it where it is missing, with its parents, which need no permission of their own. */
export async function makeOwnerFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: ownerFolder });
  } catch (error) {
    throw hasCode(error, "ENOENT") ? await whyNot(path) ?? error : error;
  }
}

/**
 * Returns why a folder was not made. On a read-only disk, Node says that there is no such folder
 * when parents are made with it. The first missing one, made alone, says why.
 */
async function whyNot(path: string): Promise<unknown> {
  try {
    await mkdir(path, { mode: ownerFolder });
    return undefined;
  } catch (error) {
    return hasCode(error, "ENOENT") && dirname(path) !== path
      ? await whyNot(dirname(path)) ?? error
      : error;
  }
}
