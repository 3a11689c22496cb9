/** How much room the disk of a file has. Needs `--allow-sys=statfs`; without it nobody can tell. */
import { statfsSync } from "node:fs";

export interface DiskSpace {
  /** What this process may still write. */
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

/** A file that has `fileBytes` and may have so many at most. */
export function boundedSpace(
  space: DiskSpace,
  { maxBytes, fileBytes }: { maxBytes: number; fileBytes: number },
): DiskSpace {
  return {
    availableBytes: Math.max(0, Math.min(space.availableBytes, maxBytes - fileBytes)),
    capacityBytes: Math.min(space.capacityBytes, maxBytes),
  };
}
