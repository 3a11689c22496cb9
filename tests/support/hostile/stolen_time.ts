/**
 * Time that the host of a virtual machine gave to others while programs here wanted to run. Where much of it is stolen, a wait says
 * nothing about the service: an idle machine was seen to stand still for 300 ms.
 */

/** Watches from now on. The result is the share of all processor time that was stolen; 0 where the system does not tell. */
export function watchStolenTime(): () => number {
  const before = readTimes();
  return () => {
    const now = readTimes();
    const passed = now.all - before.all;
    return passed === 0 ? 0 : (now.stolen - before.stolen) / passed;
  };
}

/** Where the host's line of `/proc/stat` has the time that was stolen. */
const stolenField = 7;

function readTimes(): { readonly all: number; readonly stolen: number } {
  if (Deno.build.os !== "linux") return { all: 0, stolen: 0 };
  const line = Deno.readTextFileSync("/proc/stat").split("\n", 1)[0] ?? "";
  const times = line.split(/\s+/).slice(1, stolenField + 2).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[stolenField] ?? 0 };
}
