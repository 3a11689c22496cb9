/** An engine on a disk that a test fills and gives room. */
import type { Engine } from "../../engine/mod.ts";

export const capacityBytes = 100_000_000;
/**
 * The reserve is a tenth of the disk. Above it there is room; below a half of it, for almost
 * nothing.
 */
export const freeBytes = {
  ok: capacityBytes * 0.5,
  tight: capacityBytes * 0.07,
  full: capacityBytes * 0.01,
} as const;

export interface SmallDisk {
  level: keyof typeof freeBytes;
}

export function withDisk(engine: Engine, disk: SmallDisk): Engine {
  return new Proxy(engine, {
    get: (target, property): unknown => {
      if (property === "storage") {
        return () => ({
          ...target.storage(),
          availableBytes: freeBytes[disk.level],
          capacityBytes,
        });
      }
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
