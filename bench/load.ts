/**
 * How much the relay carries, and what gives way first. `deno task load` runs the standard series;
 * with arguments it runs one load until it breaks:
 *
 *     deno task load --agents 100 --channels 10 --rate 200 --seconds 10
 *
 * The rate (messages a second, in all channels) doubles until deliveries fall behind, come too late
 * or are refused. The relay is a process of its own with its engine in memory; messages of 1 KiB
 * fill a cell of 4 KiB; agents are on the same machine.
 */
import { parseArgs } from "node:util";
import { grantedToken } from "../relay/testing/open_relay.ts";
import type { LoadOrder, LoadReport } from "./load/agents.ts";
import { Child } from "./relay/child.ts";

const deno = ["run", "-A", "--no-check", "--quiet", "--unstable-net"];
const token = grantedToken("00000000-0000-4000-8000-000000000001");
/** Later than this at the 99th percentile counts as broken. */
const lateMs = 1_000;
const targets = { deliveries: 5_000, busyPairRatio: 2 };

export interface Row {
  readonly what: string;
  readonly report: LoadReport;
  /** Processor time of the relay over the run. */
  readonly relayCpuUs: number;
}

class Bench {
  readonly #relay: Child;
  readonly #agents: Child;
  readonly #certFile: string;

  private constructor(relay: Child, agents: Child, certFile: string) {
    this.#relay = relay;
    this.#agents = agents;
    this.#certFile = certFile;
  }

  static async start(): Promise<Bench> {
    const script = (path: string): string => new URL(path, import.meta.url).pathname;
    const relay = new Child(Deno.execPath(), [...deno, script("relay/server.ts"), ":memory:"]);
    const { quicPort, cert } = JSON.parse(await relay.line());
    const certFile = await Deno.makeTempFile({ suffix: ".pem" });
    await Deno.writeTextFile(certFile, cert);
    const agents = new Child(Deno.execPath(), [
      ...deno,
      script("load/agents.ts"),
      String(quicPort),
      certFile,
      token,
    ]);
    await agents.line();
    return new Bench(relay, agents, certFile);
  }

  async order(order: LoadOrder): Promise<unknown> {
    return JSON.parse(await this.#agents.ask(JSON.stringify(order)));
  }

  /** Memory that the relay needs for each of these connections, in KiB. */
  async connect(agents: number): Promise<number> {
    const before = await this.#stats();
    await this.order({ do: "connect", agents });
    return ((await this.#stats()).rssBytes - before.rssBytes) / agents / 1024;
  }

  async run(what: string, rate: number, seconds: number): Promise<Row> {
    const before = await this.#stats();
    // cast: the answer to this order
    const report = await this.order({ do: "run", rate, seconds }) as LoadReport;
    const row = { what, report, relayCpuUs: (await this.#stats()).cpuUs - before.cpuUs };
    show(row);
    return row;
  }

  async end(): Promise<void> {
    await this.#agents.end();
    await this.#relay.end();
    await Deno.remove(this.#certFile);
  }

  async #stats(): Promise<{ readonly cpuUs: number; readonly rssBytes: number }> {
    return JSON.parse(await this.#relay.ask("stats"));
  }
}

const columns = [
  "deliveries/s",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "relay µs each",
  "relay CPU",
  "agents' CPU",
];

function cells({ report, relayCpuUs }: Row): string[] {
  const { deliveries, seconds, latencyMs, cpuUs } = report;
  return [
    (deliveries / seconds).toFixed(0),
    latencyMs.p50.toFixed(1),
    latencyMs.p99.toFixed(1),
    latencyMs.p999.toFixed(1),
    (relayCpuUs / deliveries).toFixed(0),
    `${(relayCpuUs / seconds / 10_000).toFixed(0)} %`,
    `${(cpuUs / seconds / 10_000).toFixed(0)} %`,
  ];
}

function show(row: Row): void {
  console.log(row.what.padEnd(44) + cells(row).map((cell) => cell.padStart(14)).join(""));
}

/** Returns the limit that was reached, or undefined. */
export function limitHit({ report, relayCpuUs }: Row): string | undefined {
  const { deliveries, expected, seconds, latencyMs, refused, cpuUs } = report;
  const [relay, agents] = [relayCpuUs, cpuUs].map((us) => us / seconds / 10_000);
  const codes = Object.entries(refused).map(([code, count]) => `${count} × ${code}`);
  const broken = codes.length > 0 || deliveries < expected * 0.99 || latencyMs.p99 > lateMs;
  if (!broken) return undefined;
  const who = (relay ?? 0) > 85
    ? "the relay's core was busy all the time"
    : (agents ?? 0) > 85
    ? "the agents' core was busy all the time (the machine of the load, not the relay)"
    : "neither had a core to itself: the machine was busy with something else";
  const how = codes.length > 0
    ? `refused: ${codes.join(", ")}`
    : latencyMs.p99 > lateMs
    ? "too late"
    : "deliveries missing";
  return `${how}; ${who}`;
}

/** Doubles the rate until something gives way. */
async function ramp(bench: Bench, rate: number, seconds: number): Promise<void> {
  for (let current = rate;; current *= 2) {
    const row = await bench.run(`${current} messages/s`, current, seconds);
    const limit = limitHit(row);
    if (limit !== undefined) return console.log(`limit: ${limit}`);
  }
}

async function oneLoad(
  agents: number,
  channels: number,
  rate: number,
  seconds: number,
): Promise<void> {
  const bench = await Bench.start();
  console.log(
    `${
      (await bench.connect(agents)).toFixed(0)
    } KiB of the relay's memory for each idle connection`,
  );
  await bench.order({ do: "group", channels });
  await ramp(bench, rate, seconds);
  await bench.end();
}

/**
 * The same number of deliveries to few and many members; then a busy pair among few and many idle
 * connections.
 */
async function series(seconds: number): Promise<void> {
  const costs: number[] = [];
  for (const members of [10, 100, 1_000]) {
    const bench = await Bench.start();
    await bench.connect(members);
    await bench.order({ do: "group", channels: 1 });
    await bench.run(`warm, ${members} members`, Math.max(1, 500 / members), 3);
    const row = await bench.run(`one channel, ${members} members`, 1_000 / members, seconds);
    costs.push(row.relayCpuUs / row.report.deliveries);
    await bench.end();
  }
  const [few = 1, , many = 1] = costs;
  console.log(
    `CPU for each delivery, 1,000 members / 10: ${
      (many / few).toFixed(2)
    } (linear: at most about 1)\n`,
  );

  const late: number[] = [];
  for (const idle of [0, 100, 1_000]) {
    const bench = await Bench.start();
    await bench.connect(2);
    await bench.order({ do: "group", channels: 1 });
    const memory = idle === 0 ? "" : `, ${(await bench.connect(idle)).toFixed(0)} KiB each`;
    await bench.run(`warm, ${idle} idle`, 100, 2);
    const { report } = await bench.run(
      `busy pair, ${idle} idle connections${memory}`,
      100,
      seconds,
    );
    late.push(report.latencyMs.p99);
    await bench.end();
  }
  const ratio = (late[2] ?? NaN) / (late[0] ?? NaN);
  console.log(
    `p99 of a busy pair with 1,000 idle connections / none: ${
      ratio.toFixed(2)
    } (target < ${targets.busyPairRatio})`,
  );
}

async function capacity(seconds: number): Promise<void> {
  console.log(
    `\nuntil it breaks, one channel of 101 agents (target ${targets.deliveries} deliveries/s):`,
  );
  await oneLoad(101, 1, 20, seconds);
}

const { values } = parseArgs({
  args: Deno.args,
  options: {
    agents: { type: "string" },
    channels: { type: "string", default: "1" },
    rate: { type: "string", default: "100" },
    seconds: { type: "string", default: "5" },
  },
});
const seconds = Number(values.seconds);
console.log(
  `${Deno.build.arch} ${Deno.build.os}, ${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}\n`,
);
console.log("".padEnd(44) + columns.map((column) => column.padStart(14)).join(""));
if (values.agents === undefined) {
  await series(seconds);
  await capacity(seconds);
} else await oneLoad(Number(values.agents), Number(values.channels), Number(values.rate), seconds);
