/**
 * One stack per data directory: the system gives the lock back when a process dies, however it
 * dies.
 */
import { StartFailed } from "../../server/mod.ts";

/**
 * Makes the directory and its folder for logs. Throws `StartFailed` when another stack runs in it.
 * Holds until the file is closed or the process ends.
 */
export async function lockDirectory(dataDir: string): Promise<Disposable> {
  const path = `${dataDir}/start.lock`;
  const file = await openLock(dataDir, path);
  if (!await file.tryLock(true)) {
    file.close();
    const pid = (await Deno.readTextFile(path)).trim();
    const holder = /^\d+$/.test(pid) ? ` (process ${pid})` : "";
    throw new StartFailed(
      `Cannot start: another stack${holder} runs in ${dataDir}. Stop it, or set STATIC_DATA_DIR to another directory`,
    );
  }
  try {
    await file.truncate();
    await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
  } catch (cause) {
    file.close();
    throw unusable(dataDir, cause);
  }
  return file;
}

async function openLock(dataDir: string, path: string): Promise<Deno.FsFile> {
  try {
    await Deno.mkdir(`${dataDir}/logs`, { recursive: true, mode: 0o700 });
    return await Deno.open(path, { create: true, read: true, write: true, mode: 0o600 });
  } catch (cause) {
    throw unusable(dataDir, cause);
  }
}

function unusable(dataDir: string, cause: unknown): StartFailed {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StartFailed(
    `Cannot start: the data directory ${dataDir} cannot be used: ${why}. Mend that, or set STATIC_DATA_DIR to another directory`,
    { cause },
  );
}
