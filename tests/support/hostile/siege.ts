/**
 * One attack on a real process with an honest tenant beside it: first in peace, then under attack,
 * then until it is served as in peace again. The figures are printed, because a note wants them;
 * what they must be is for each test to say.
 */
import { type HonestCall, meterHonestTenant, type Served } from "./honest_tenant.ts";
import { residentBytes, watchMemory } from "../process_memory.ts";
import { type Attacker, keepApart, launchAttacker } from "./attacker.ts";

export interface SiegeOptions {
  readonly name: string;
  /** The service's process. */
  readonly pid: number;
  readonly honest: HonestCall;
  readonly everyMs?: number;
  /** One process for each. */
  readonly attackers: readonly { readonly script: URL; readonly order: unknown }[];
  readonly peaceMs?: number;
  readonly siegeMs: number;
  /** Counted apart: nobody can tell attackers from others before they have done something. */
  readonly beginningMs?: number;
  /**
   * The attackers are where they want to be; on a busy machine that may take longer than `siegeMs`.
   */
  readonly until?: () => Promise<boolean>;
  /**
   * Afterwards, as long as the siege: somebody burns the processor time of the attackers and asks
   * nothing of the service.
   */
  readonly control?: boolean;
}

export interface Siege<Report> {
  readonly peace: Served;
  readonly siege: Served;
  /** The first moments of the attack, if they were to be counted apart. */
  readonly beginning?: Served;
  /** The service's memory before, the most in the first half of the attack, and in all of it. */
  readonly idleBytes: number;
  readonly halfwayBytes: number;
  readonly peakBytes: number;
  /**
   * From the end of the attack until the honest tenant was served as in peace; Infinity when it was
   * not.
   */
  readonly recoveryMs: number;
  readonly reports: readonly Report[];
  /**
   * Beside somebody that uses as much of the machine as the attackers did, if that was asked for:
   * else as in peace.
   */
  readonly control: Served;
}

const recoveryLimitMs = 30_000;
const longestSiegeMs = 30_000;
/** Peace is never quicker than this, for the comparison: a busy machine adds as much by itself. */
const noiseMs = 20;

export async function besiege<Report>(options: SiegeOptions): Promise<Siege<Report>> {
  const {
    name,
    pid,
    honest,
    attackers,
    siegeMs,
    peaceMs = 1_500,
    until = () => Promise.resolve(true),
  } = options;
  const meter = meterHonestTenant(honest, { everyMs: options.everyMs ?? 25 });
  const memory = watchMemory(pid);
  await using running = new AsyncDisposableStack();
  running.use(keepApart([pid, Deno.pid]));
  running.defer(memory.stop);
  running.defer(async () => void await meter.stop());
  await pass(peaceMs / 3);
  void meter.lap(); // Connections are made and code is compiled before peace is measured.
  await pass(peaceMs);
  const [peace, idleBytes] = [await meter.lap(), residentBytes(pid)];

  const launched = await Promise.all(
    attackers.map(({ script, order }) => launchAttacker<Report>(script, order)),
  );
  for (const attacker of launched) running.use(attacker);
  void meter.lap();
  const [beganMs, before] = [performance.now(), cpuOf(launched)];
  if (options.beginningMs !== undefined) await pass(options.beginningMs);
  const begun = options.beginningMs === undefined ? undefined : meter.lap();
  await pass(siegeMs / 2);
  const halfwayBytes = memory.peakBytes();
  await pass(siegeMs / 2);
  for (let longerMs = 0; longerMs < longestSiegeMs && !await until(); longerMs += 250) {
    await pass(250);
  }
  const cores = (cpuOf(launched) - before) / (performance.now() - beganMs);
  const reports = await Promise.all(launched.map((attacker: Attacker<Report>) => attacker.stop()));
  const endedMs = performance.now();
  const siege = await meter.lap();
  const peakBytes = memory.peakBytes();

  const limitMs = 2 * Math.max(peace.p99Ms, noiseMs);
  while (true) {
    await pass(100);
    const { calls, errors, maxMs } = await meter.lap();
    const passedMs = performance.now() - endedMs;
    const isServed = calls > 0 && errors === 0 && maxMs <= limitMs;
    if (!isServed && passedMs < recoveryLimitMs) continue;
    const recoveryMs = isServed ? passedMs : Infinity;
    const control = options.control === true
      ? await besideBurner(cores, siegeMs, () => meter.lap())
      : peace;
    const result = {
      ...{ peace, siege, idleBytes, halfwayBytes, peakBytes, recoveryMs, reports, control },
      ...(begun !== undefined && { beginning: await begun }),
    };
    console.log(describe(name, result));
    return result;
  }
}

function cpuOf(attackers: readonly Attacker<unknown>[]): number {
  return attackers.reduce((sum, attacker) => sum + attacker.cpuMs(), 0);
}

/**
 * Attackers share the machine with the service and the honest tenant; this is what that alone
 * costs.
 */
async function besideBurner(
  cores: number,
  ms: number,
  lap: () => Promise<Served>,
): Promise<Served> {
  await using burner = await launchAttacker(new URL("burner.ts", import.meta.url), { cores });
  void lap();
  await pass(ms);
  const served = await lap();
  await burner.stop();
  return served;
}

async function pass(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms)); // wait: an attack lasts for a time
}

function describe(name: string, held: Siege<unknown>): string {
  const {
    peace,
    siege,
    idleBytes,
    halfwayBytes,
    peakBytes,
    recoveryMs,
    reports,
    control,
    beginning,
  } = held;
  const served = ({ calls, errors, p50Ms, p99Ms }: Served): string =>
    `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms, ${errors} of ${calls} failed`;
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
  return [
    `${name}: peace ${served(peace)}${
      beginning === undefined ? "" : `; beginning ${served(beginning)}`
    }; attack ${served(siege)}${control === peace ? "" : `; control ${served(control)}`}`,
    `memory ${mib(idleBytes)} → ${mib(halfwayBytes)} → ${mib(peakBytes)} MiB; recovery ${
      recoveryMs.toFixed(0)
    } ms`,
    `attackers ${JSON.stringify(reports)}${
      siege.errors === 0 ? "" : `; ${siege.reasons.join(" | ")}`
    }`,
  ].join("; ");
}
