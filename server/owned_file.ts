/** Files in the data directory that only this user may read, written so that a reader never sees half of one. */

/** Replaces the file at once, or makes it. */
export async function writeOwned(path: string, text: string, mode = 0o600): Promise<void> {
  const temporary = await writeTemporary(path, text, mode);
  await Deno.rename(temporary, path);
}

/** The file's text; made first if there is none. Two processes that start together agree: the second finds the first's. */
export async function readOrCreateOwned(path: string, make: () => string): Promise<string> {
  const present = await readIfPresent(path);
  if (present !== undefined) return present;
  const temporary = await writeTemporary(path, make(), 0o600);
  try {
    await Deno.link(temporary, path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  } finally {
    await Deno.remove(temporary);
  }
  return await Deno.readTextFile(path);
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function writeTemporary(path: string, text: string, mode: number): Promise<string> {
  const temporary = `${path}.${crypto.randomUUID()}.new`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(temporary, text, { mode, createNew: true });
  return temporary;
}
