/**
 * Keys have workers of their own: passwords take six times as long, and anybody may send as many of
 * them as there is room.
 */
import { createHashingPool, type HashingPool, platformWorker, type PoolOptions } from "./pool.ts";

export interface Pools {
  readonly passwords: HashingPool;
  readonly keys: HashingPool;
  waiting(): number;
  close(): void;
}

export function createPools(
  { workers, queueLimit }: Pick<PoolOptions, "workers" | "queueLimit">,
): Pools {
  const create = (): HashingPool =>
    createHashingPool({ workers, queueLimit, createWorker: platformWorker() });
  const [passwords, keys] = [create(), create()];
  return {
    passwords,
    keys,
    waiting: () => passwords.waiting() + keys.waiting(),
    close: () => [passwords, keys].forEach((pool) => pool.close()),
  };
}
