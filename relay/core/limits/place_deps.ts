/** The dependencies of places, made of those of the core. */

export interface PlaceDeps {
  /** Never goes back: it goes on with the clock, and stands still while the clock is set back. */
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

export function placeDepsOf({ nowMs: clockMs, randomBytes }: {
  readonly nowMs: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}): PlaceDeps {
  let seenMs = clockMs();
  let steadyMs = seenMs;
  return {
    nowMs: () => {
      const nowMs = clockMs();
      steadyMs += Math.max(0, nowMs - seenMs);
      seenMs = nowMs;
      return steadyMs;
    },
    random: () => {
      const { buffer, byteOffset } = randomBytes(4);
      return new DataView(buffer, byteOffset).getUint32(0) / 2 ** 32;
    },
  };
}
