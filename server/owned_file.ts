/**
 * Files in the data directory that only this user may read, written so that a reader never sees
 * half of one.
 */

/** Replaces the file at once, or makes it. A file that is replaced keeps its owner. */
export async function writeOwned(path: string, text: string, mode = 0o600): Promise<void> {
  const temporary = await writeTemporary(path, text, mode);
  try {
    await keepOwner(path, temporary);
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

/**
 * Makes a folder that only this user may enter, or makes an existing one so: without entering it
 * nobody reads a file in it.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  const { mode } = await Deno.stat(path);
  if (mode === null || (mode & 0o077) === 0) return;
  try {
    await Deno.chmod(path, 0o700);
  } catch (cause) {
    throw new Error(
      `others may enter ${path}, and that cannot be changed; run chmod 700 ${path} as its owner`,
      {
        cause,
      },
    );
  }
}

/**
 * The file's text; made first if there is none. Two processes that start together agree: the second
 * finds the first's.
 */
export async function readOrCreateOwned(
  path: string,
  make: () => string | Promise<string>,
): Promise<string> {
  const present = await readIfPresent(path);
  if (present !== undefined) return present;
  const temporary = await writeTemporary(path, await make(), 0o600);
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
  return await ifPresent(Deno.readTextFile(path));
}

async function writeTemporary(path: string, text: string, mode: number): Promise<string> {
  const temporary = `${path}.${crypto.randomUUID()}.new`;
  const folder = path.replace(/[^/]*$/, "") || ".";
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(temporary, text, { mode, createNew: true });
  return temporary;
}

/** An administrator is often root, and the process that reads the file afterwards is not. */
async function keepOwner(path: string, temporary: string): Promise<void> {
  const [before, fresh] = [await ifPresent(Deno.stat(path)), await Deno.stat(temporary)];
  if (before === undefined || (before.uid === fresh.uid && before.gid === fresh.gid)) return;
  await Deno.chown(temporary, before.uid, before.gid);
}

async function ifPresent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
