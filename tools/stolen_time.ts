/**
 * Time that the host of a virtual machine gave to others while programs here wanted to run. Where much of it is stolen, a wait says
 * nothing about a program: an idle machine was seen to stand still for 300 ms at a time. Linux only.
 */

/** Where the first line of `/proc/stat` has the time that was stolen, counted after its name. */
const stolenField = 7;

/** Each call returns the share of all processor time that was stolen since the watch began; 0 where the system does not tell. */
export function watchStolenTime(read: () => string = readStat): () => number {
  const before = timesOf(read());
  return () => {
    const now = timesOf(read());
    const passed = now.all - before.all;
    return passed > 0 ? (now.stolen - before.stolen) / passed : 0;
  };
}

function readStat(): string {
  try {
    return Deno.readTextFileSync("/proc/stat");
  } catch {
    return "";
  }
}

/** proc(5): user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in them already. */
function timesOf(stat: string): { readonly all: number; readonly stolen: number } {
  const times = (stat.split("\n", 1)[0] ?? "").split(/\s+/).slice(1, stolenField + 2).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[stolenField] ?? 0 };
}
