/** Uses as much of the processor as attackers did, and asks nobody for anything. */
import { attack } from "./attack.ts";

export interface BurnerOrder {
  /** 0.5: half of one. */
  readonly cores: number;
}

const sliceMs = 10;

await attack<BurnerOrder, null>(async ({ cores }, stop) => {
  const busyMs = Math.min(1, cores) * sliceMs;
  while (!stop.aborted) {
    const startMs = performance.now();
    while (performance.now() - startMs < busyMs);
    await new Promise((resolve) => setTimeout(resolve, sliceMs - busyMs)); // wait: a pace
  }
  return null;
});
