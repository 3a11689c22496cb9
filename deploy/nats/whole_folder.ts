/**
 * A folder of secrets that is there whole or not at all, also after a crash, and of which a crash
 * leaves nothing for long.
 */
import { basename, dirname, resolve } from "node:path";

/** Files by their names, by the names of folders. */
type FolderContents = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Makes it, so that only this user may read it. Throws `Deno.errors.AlreadyExists` when something
 * is there. `beforehand` runs when nothing but the name is missing. The remains of an interrupted
 * call are removed by the next one.
 */
export async function makeFolderAtOnce(
  place: string,
  folders: FolderContents,
  beforehand: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const path = resolve(place);
  if (await exists(path)) throw new Deno.errors.AlreadyExists(`${path} exists`);
  const making = `${path}.${crypto.randomUUID()}.new`;
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await Deno.mkdir(making, { mode: 0o700 });
    for (const [name, files] of Object.entries(folders)) {
      await writeFolder(`${making}/${name}`, files);
    }
    await sync(making);
    await beforehand();
    await Deno.rename(making, path);
  } catch (error) {
    await Deno.remove(making, { recursive: true }).catch(() => {});
    throw error;
  }
  await sync(dirname(path));
  await removeLeftOver(path);
}

async function writeFolder(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Deno.mkdir(path, { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) {
    const file = `${path}/${name}`;
    await Deno.writeTextFile(file, text, { mode: 0o600, createNew: true });
    await sync(file);
  }
  await sync(path);
}

/**
 * A call that is under way beside this one loses its folder, and fails: it would have found this
 * one.
 */
async function removeLeftOver(path: string): Promise<void> {
  const [parent, own] = [dirname(path), `${basename(path)}.`];
  for await (const { name } of Deno.readDir(parent)) {
    const isLeftOver = name.startsWith(own) && /^[\da-f-]{36}\.new$/.test(name.slice(own.length));
    if (isLeftOver) await Deno.remove(`${parent}/${name}`, { recursive: true });
  }
}

async function sync(path: string): Promise<void> {
  using opened = await Deno.open(path);
  await opened.sync();
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
