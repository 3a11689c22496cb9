/**
 * The folder in which the tests of a run keep what they share (`tests/support/once_per_run.ts`):
 * gone at the end of the run.
 */

/** Tests find it by `STATIC_TEST_RUN`. */
export async function makeRunFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "run-" });
  // PostgreSQL runs as another user, and passes through here to its files.
  await Deno.chmod(folder, 0o711);
  Deno.env.set("STATIC_TEST_RUN", folder);
  return folder;
}

/** Ends the servers that tests have left running there on purpose. */
export async function removeRunFolder(folder: string): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  await Promise.all(
    entries.map(({ name }) => endPostgres(`${folder}/${name}/cluster/postmaster.pid`)),
  );
  await removeWhenQuiet(folder);
}

/** A server's last processes may write for a moment after it has said that it is over. */
async function removeWhenQuiet(folder: string): Promise<void> {
  for (const untilMs = performance.now() + 60_000;;) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      const isNotEmpty = error instanceof Error && error.message.includes("not empty");
      if (!isNotEmpty || performance.now() > untilMs) throw error;
      // wait: for processes that are nobody's children
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The file is there from its start to its end. */
async function endPostgres(pidFile: string): Promise<void> {
  const read = (): Promise<string | undefined> => Deno.readTextFile(pidFile).catch(() => undefined);
  const [pid] = (await read())?.split("\n") ?? [];
  if (pid === undefined) return;
  try {
    Deno.kill(Number(pid), "SIGQUIT");
  } catch (error) {
    // The process has died, and left the file.
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  // wait: it is nobody's child
  while (await read() !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
}
