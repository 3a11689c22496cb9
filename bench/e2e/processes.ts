/**
 * The cost of processes: processor time by the scheduler's own clock, and how often they have a
 * disk confirm a write.
 */

/** Returns the processor time of all threads, in microseconds. */
export async function cpuUs(pid: number): Promise<number> {
  let total = 0;
  for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
    // A thread may end meanwhile.
    const text = await Deno.readTextFile(`/proc/${pid}/task/${name}/schedstat`).catch(() => "0");
    total += Number(text.split(" ")[0]) / 1000;
  }
  return total;
}

/**
 * Counts fsync and fdatasync of these processes while `act` runs; undefined where `strace` is
 * missing or not allowed.
 */
export async function countSyncs(
  pids: readonly number[],
  act: () => Promise<void>,
): Promise<number[] | undefined> {
  const traces = pids.map((pid) => startTrace(pid));
  try {
    const ready = await Promise.all(traces.map(({ attached }) => attached));
    await act();
    const counts = await Promise.all(traces.map(({ stop }) => stop()));
    return ready.every((each) => each) ? counts : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

interface Trace {
  /** Whether it could. */
  readonly attached: Promise<boolean>;
  readonly stop: () => Promise<number>;
}

function startTrace(pid: number): Trace {
  const child = new Deno.Command("strace", {
    args: ["-f", "-p", String(pid), "-e", "trace=fsync,fdatasync"],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let text = "";
  const { promise: attached, resolve } = Promise.withResolvers<boolean>();
  const reading = (async () => {
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes("attached")) resolve(true);
    }
    resolve(false);
  })();
  const stop = async (): Promise<number> => {
    try {
      child.kill("SIGINT");
    } catch { /* it has ended by itself */ }
    await reading;
    await child.status;
    return text.match(/\bf(?:data)?sync\(/g)?.length ?? 0;
  };
  return { attached, stop };
}
