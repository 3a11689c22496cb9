/** How much room the disk of a file has. Needs `--allow-sys=statfs`; without it nobody can tell. */
import { statfsSync } from "node:fs";

export interface DiskSpace {
  /** Bytes that this process may still write. */
  readonly availableBytes: number;
  readonly capacityBytes: number;
}

export const unknownSpace: DiskSpace = { availableBytes: Infinity, capacityBytes: Infinity };

export function readDiskSpace(path: string): DiskSpace {
  try {
    const { bsize, bavail, blocks } = statfsSync(path);
    return { availableBytes: bsize * bavail, capacityBytes: bsize * blocks };
  } catch {
    return unknownSpace; // Not allowed, or not known on this system.
  }
}

export interface FileSize {
  /** Size limit of the file. */
  readonly maxBytes: number;
  readonly fileBytes: number;
  /** The part of `fileBytes` in freed pages: they are written again before the file grows. */
  readonly freeBytes: number;
}

/**
 * Everything passes through the log beside the file, which takes space of the disk itself: on a
 * disk that is full, free pages are of no use. So they count up to so many times what the disk has.
 */
const perLogByte = 16;

/** Returns the bytes that may still be written to a file. */
export function roomInFile(
  disk: DiskSpace,
  { maxBytes, fileBytes, freeBytes }: FileSize,
): DiskSpace {
  const growth = Math.max(0, Math.min(disk.availableBytes, maxBytes - fileBytes));
  return {
    availableBytes: Math.min(growth + freeBytes, disk.availableBytes * perLogByte),
    capacityBytes: Math.min(disk.capacityBytes, maxBytes),
  };
}
