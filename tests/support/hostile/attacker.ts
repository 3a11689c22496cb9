/**
 * Attackers in processes of their own, so that neither their work nor their memory is taken for
 * that of the service or of the honest tenant. A real one brings its own machine: they have one
 * core, and in campaigns the service and the honest tenant have the others, where `taskset` is
 * installed; elsewhere they run at a lower priority.
 */
import { inCampaign } from "../campaign.ts";
import { installed } from "../command.ts";
import { TextLineStream } from "../lines.ts";

export interface Attacker<Report> extends AsyncDisposable {
  /** Tells it to stop and returns its report. Throws when it died before. */
  stop(): Promise<Report>;
  /** Processor time that it has used so far. Linux only; NaN elsewhere. */
  cpuMs(): number;
}

/** Of the system's clock for processes, on every Linux that Deno runs on. */
const tickMs = 10;

/**
 * Starts a script that calls `attack` (`attack.ts`) and waits until it attacks. `order` is what it
 * is told, as JSON. It ends with its standard input, so none outlives its test.
 */
export async function launchAttacker<Report>(
  script: URL,
  order: unknown,
): Promise<Attacker<Report>> {
  const deno = [
    Deno.execPath(),
    "run",
    "-A",
    "--no-check",
    "--quiet",
    script.pathname,
    JSON.stringify(order),
  ];
  const [command = "", ...args] = besideOthers(deno);
  const child = new Deno.Command(command, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    .values();
  const next = async (): Promise<string> => {
    const line = await lines.next();
    if (line.done === true) {
      throw new Error(`The attacker ${script.pathname} died; what it said is above`);
    }
    return line.value;
  };
  await next();
  let ended = false;
  const end = async (): Promise<void> => {
    if (ended) return;
    ended = true;
    await child.stdin.close().catch(() => {});
  };
  return {
    cpuMs: () => cpuMsOf(child.pid),
    stop: async () => {
      await end();
      const report: Report = JSON.parse(await next());
      return report;
    },
    [Symbol.asyncDispose]: async () => {
      await end();
      await lines.return?.();
      await child.status;
    },
  };
}

const cores = navigator.hardwareConcurrency;
const hasCores = inCampaign && cores > 1 && installed("taskset").met;

function besideOthers(command: readonly string[]): readonly string[] {
  if (hasCores) return ["taskset", "-c", String(cores - 1), ...command];
  return installed("nice").met ? ["nice", "-n", "5", ...command] : command;
}

/** Keeps processes from the attackers' core, until it is disposed of. */
export function keepApart(pids: readonly number[]): Disposable {
  const keepOn = (list: string): void => {
    for (const pid of hasCores ? pids : []) {
      new Deno.Command("taskset", {
        args: ["-a", "-c", "-p", list, String(pid)],
        stdout: "null",
        stderr: "null",
      })
        .outputSync();
    }
  };
  keepOn(`0-${cores - 2}`);
  return { [Symbol.dispose]: () => keepOn(`0-${cores - 1}`) };
}

function cpuMsOf(pid: number): number {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return NaN; // It has ended, or this is no Linux.
  }
}
