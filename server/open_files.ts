/**
 * How many files this process may have open; sockets count as files. A server that accepts one too
 * many is not refused that one socket: it can no longer open anything, and its listener dies. So
 * limits are derived from this at the start.
 */

export interface OpenFilesQuestion {
  /** More than this is not looked for. */
  readonly atMost: number;
  /** A file or folder that may be read, to be opened again and again. */
  readonly path: string;
}

/** Call it at the start, before other threads open files. */
export function openFileLimit({ atMost, path }: OpenFilesQuestion): number {
  return Math.min(atMost, limitFromKernel() ?? countByOpening(path, atMost));
}

/** Deno lets nobody read this without `--allow-all`. */
function limitFromKernel(): number | undefined {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(Deno.readTextFileSync("/proc/self/limits")) ?? [];
    if (soft === undefined) return undefined;
    return soft === "unlimited" ? Infinity : Number(soft);
  } catch {
    return undefined;
  }
}

/** Exact everywhere, in about 6 µs a file. */
function countByOpening(path: string, atMost: number): number {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < atMost) files.push(Deno.openSync(path));
  } catch (error) {
    if (!isOutOfFiles(error)) throw error;
  } finally {
    for (const file of files) file.close();
  }
  return files.length;
}

function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error &&
    ["EMFILE", "ENFILE"].includes(String(Reflect.get(error, "code")));
}
