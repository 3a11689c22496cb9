/**
 * Time that the host of a virtual machine gave to others while programs here wanted to run. Where much of it is stolen, a wait says
 * nothing about a program: an idle machine was seen to stand still for 300 ms at a time. Linux only.
 */

/** Where the first line of `/proc/stat` has the times in which nobody wanted to run, and the time that was stolen. */
const idleFields: readonly number[] = [3, 4];
const stolenField = 7;

/** Each call returns which share of the processor time that programs wanted was stolen since the watch began; 0 where nobody tells. */
export function watchStolenTime(read: () => string = readStat): () => number {
  const before = timesOf(read());
  return () => {
    const now = timesOf(read());
    const wanted = now.wanted - before.wanted;
    return wanted > 0 ? (now.stolen - before.stolen) / wanted : 0;
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
function timesOf(stat: string): { readonly wanted: number; readonly stolen: number } {
  const times = (stat.split("\n", 1)[0] ?? "").split(/\s+/).slice(1, stolenField + 2).map(Number);
  const wanted = times.filter((_, field) => !idleFields.includes(field));
  return { wanted: wanted.reduce((sum, time) => sum + time, 0), stolen: times[stolenField] ?? 0 };
}
