/**
 * Brings one file to its place in the cache: it is there whole and with the right sum, or not at
 * all.
 */
import { type Downloader, DownloadError, sha256Of } from "./download.ts";
import type { PinnedSource } from "./sources.ts";

export type FetchOutcome = "fetched" | "there already";

/**
 * `folder` holds files of the source's kind. Throws an error for the user when the file cannot be
 * had or kept.
 */
export async function fetchFile(
  source: PinnedSource,
  folder: string,
  downloader: Downloader,
): Promise<FetchOutcome> {
  const path = `${folder}/${source.name}`;
  if (await onDisk(path, () => isThere(path, source.sha256))) return "there already";
  const content = await firstOf(source, downloader);
  await onDisk(path, () => writeWhole(path, content));
  return "fetched";
}

async function firstOf(
  { name, addresses, sha256 }: PinnedSource,
  downloader: Downloader,
): Promise<Uint8Array<ArrayBuffer>> {
  const failures: DownloadError[] = [];
  for (const address of addresses) {
    try {
      return await downloader.download(address, sha256);
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      failures.push(
        new DownloadError(`${address} ${error.message}`, error.advice, { cause: error }),
      );
    }
  }
  const reasons = failures.map(({ message }) => message).join("; ");
  throw new Error(`Cannot fetch ${name}: ${reasons}. ${failures.at(-1)?.advice}`, {
    cause: failures,
  });
}

/** Removes a damaged file: tests would read it if no address had a better one. */
async function isThere(path: string, sha256: string): Promise<boolean> {
  const content = await Deno.readFile(path).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  if (content === undefined) return false;
  if (await sha256Of(content) === sha256) return true;
  await Deno.remove(path);
  return false;
}

/** A rename is whole or nothing: other processes never see a part of the file. */
async function writeWhole(path: string, content: Uint8Array): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/"));
  await Deno.mkdir(folder, { recursive: true });
  const fresh = await Deno.makeTempFile({ dir: folder });
  try {
    await Deno.writeFile(fresh, content);
    await Deno.rename(fresh, path);
  } catch (error) {
    await Deno.remove(fresh);
    throw error;
  }
}

async function onDisk<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `Cannot keep ${path}: ${why}. Make room, or name another folder with XDG_CACHE_HOME.`,
      { cause },
    );
  }
}
