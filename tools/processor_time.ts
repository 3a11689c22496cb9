/**
 * Measures the processor time of child processes that have ended, including the processes that
 * these waited for. Linux only; a process whose parent was killed is not counted.
 */

/** `/proc` counts in this unit on every Linux that Deno supports. */
const ticksPerSecond = 100;

/**
 * Each call returns the seconds that were added since the call before it; undefined where the
 * system does not tell.
 */
export function childProcessorTime(read: () => string = readStat): () => number | undefined {
  let before = 0;
  return () => {
    try {
      const now = childTicks(read());
      const seconds = (now - before) / ticksPerSecond;
      before = now;
      return seconds;
    } catch {
      return undefined;
    }
  };
}

function readStat(): string {
  return Deno.readTextFileSync("/proc/self/stat");
}

/**
 * proc(5): the name in parentheses may hold spaces, so fields are counted from its end; cutime and
 * cstime are 16 and 17.
 */
function childTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [Number(fields[13]), Number(fields[14])];
  if (!Number.isFinite(user + system)) {
    throw new Error(`Cannot read processor time: /proc/self/stat is ${stat}`);
  }
  return user + system;
}
