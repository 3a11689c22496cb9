/** One stack per data directory: the system gives the lock back when a process dies, however it dies. */

export class DirectoryTaken extends Error {
  override readonly name = "DirectoryTaken";
}

/** Holds until the file is closed or the process ends. */
export async function lockDirectory(dataDir: string): Promise<Disposable> {
  await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = `${dataDir}/start.lock`;
  const file = await Deno.open(path, { create: true, read: true, write: true, mode: 0o600 });
  if (!await file.tryLock(true)) {
    file.close();
    const pid = (await Deno.readTextFile(path)).trim();
    const holder = /^\d+$/.test(pid) ? ` (process ${pid})` : "";
    throw new DirectoryTaken(
      `Cannot start: another stack${holder} runs in ${dataDir}. Stop it, or set STATIC_DATA_DIR to another directory`,
    );
  }
  await file.truncate();
  await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
  return file;
}
