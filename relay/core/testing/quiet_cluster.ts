/** Other relays, which do nothing unless a test says so. */
import type { Cluster } from "../cluster.ts";

export function quietCluster(changes: Partial<Cluster> = {}): Cluster {
  const ignore = (): void => {};
  let sessions = 0;
  return {
    moment: () => ({ position: 0, timeMs: 0 }),
    beginSession: () => Promise.resolve(++sessions),
    endSession: ignore,
    catchUp: () => Promise.resolve(),
    waitingMs: () => 0,
    isNewest: () => true,
    hasRoomElsewhere: () => false,
    others: () => [],
    moved: ignore,
    movedMs: () => undefined,
    isOnline: () => true,
    tell: ignore,
    shareJoin: ignore,
    endJoin: ignore,
    confirm: ignore,
    listen: ignore,
    ...changes,
  };
}
