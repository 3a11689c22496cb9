/** The memory of a process, sampled while something else happens. Linux only; NaN elsewhere. */

export interface MemoryWatch {
  /** The most since the start. */
  peakBytes(): number;
  stop(): void;
}

const sampleMs = 100;

/** Its own: pages of its program come and go with the rest of the machine. */
export function residentBytes(pid: number): number {
  try {
    return Number(
      /^RssAnon:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1],
    ) * 1024;
  } catch {
    return NaN; // It has ended, or this is no Linux.
  }
}

export function watchMemory(pid: number): MemoryWatch {
  let peak = residentBytes(pid);
  const sample = (): void => {
    const now = residentBytes(pid);
    if (now > peak) peak = now;
  };
  const timer = setInterval(sample, sampleMs);
  return {
    peakBytes: () => {
      sample();
      return peak;
    },
    stop: () => clearInterval(timer),
  };
}
