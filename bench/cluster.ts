/**
 * How relays on one log grow: 1, 2 and 3 relays on three NATS nodes, each with a sender and ten
 * receivers of its own that stay with it, all at once: `deno run -A bench/cluster.ts`. Shown:
 * deliveries a second of all relays, and CPU of each relay for one of its own deliveries. The
 * clients are on the same machine, so rates stop growing when its cores are full; CPU does not lie.
 * Then what a message costs the relay that wrote it and one that follows, without agents.
 */
import { grantedToken } from "../relay/testing/open_relay.ts";
import { freshPrefix } from "../relay/cluster/testing/open_test_cluster.ts";
import { natsInstalled, startNats } from "../tests/support/mod.ts";
import { Child } from "./relay/child.ts";

const receivers = 10;
const messages = 2_000;
const token = grantedToken("00000000-0000-4000-8000-000000000001");
const deno = ["run", "-A", "--no-check", "--quiet", "--unstable-net"];
const script = (name: string): string => new URL(`relay/${name}.ts`, import.meta.url).pathname;

interface Pair {
  readonly server: Child;
  readonly load: Child;
}

interface Measured {
  readonly perSecond: number;
  readonly cpuUs: number;
}

async function startPair(
  place: { urls: string; prefix: string; folder: string },
  number: number,
): Promise<Pair> {
  const { urls, prefix, folder } = place;
  const args = [
    script("cluster_server"),
    urls,
    prefix,
    `relay-${number}`,
    `${folder}/relay-${number}.sqlite`,
  ];
  const server = new Child(Deno.execPath(), [...deno, ...args]);
  const { quicPort, cert } = JSON.parse(await server.line());
  const certFile = `${folder}/cert-${number}.pem`;
  await Deno.writeTextFile(certFile, cert);
  const agents = String(number * 1_000);
  const load = new Child(Deno.execPath(), [
    ...deno,
    script("quic_load"),
    String(quicPort),
    certFile,
    token,
    agents,
  ]);
  await load.line();
  return { server, load };
}

async function cpuOf({ server }: Pair): Promise<number> {
  return JSON.parse(await server.ask("stats")).cpuUs;
}

async function measure(relays: number): Promise<readonly Measured[]> {
  await using nats = await startNats({ plain: true });
  const place = { urls: nats.access.urls.join(), prefix: freshPrefix(), folder: nats.folder };
  const pairs: Pair[] = [];
  for (let number = 1; number <= relays; number++) pairs.push(await startPair(place, number));
  await Promise.all(pairs.map(({ load }) => load.ask(`${receivers} ${messages}`)));
  const before = await Promise.all(pairs.map(cpuOf));
  const results = await Promise.all(pairs.map(async ({ load }) => JSON.parse(await load.line())));
  const after = await Promise.all(pairs.map(cpuOf));
  for (const { load, server } of pairs) {
    await load.end();
    await server.end();
  }
  return results.map(({ deliveries, seconds }, index) => ({
    perSecond: deliveries / seconds,
    cpuUs: ((after[index] ?? 0) - (before[index] ?? 0)) / deliveries,
  }));
}

interface Use {
  readonly cpuUs: number;
  readonly position: number;
}

interface Engine {
  readonly engine: Child;
  readonly use: () => Promise<Use>;
}

async function startEngine(
  place: { urls: string; prefix: string; folder: string },
  id: string,
): Promise<Engine> {
  const file = `${place.folder}/${id}.sqlite`;
  const args = [script("cluster_engine"), place.urls, place.prefix, id, file];
  const engine = new Child(Deno.execPath(), [...deno, ...args]);
  await engine.line();
  return { engine, use: async (): Promise<Use> => JSON.parse(await engine.ask("use")) };
}

/** CPU of two relays for a message of 4 KiB, and what stood in one batch. */
async function measureFold(): Promise<void> {
  await using nats = await startNats({ plain: true });
  const place = { urls: nats.access.urls.join(), prefix: freshPrefix(), folder: nats.folder };
  const [writer, follower] = [
    await startEngine(place, "relay-1"),
    await startEngine(place, "relay-2"),
  ];
  console.log("messages/s  cursors with each  CPU: own, followed  messages in a batch");
  for (const [rate, readers] of [[1_000, 0], [1_000, 0], [500, 2], [1_000, 2]] as const) {
    const before = [await writer.use(), await follower.use()];
    const count = Number(await writer.engine.ask(`write ${rate} 5 ${readers}`));
    const after = [await writer.use(), await follower.use()];
    const cpu = after.map(({ cpuUs }, index) =>
      `${((cpuUs - (before[index]?.cpuUs ?? 0)) / count).toFixed(0)} µs`
    );
    const batches = (after[0]?.position ?? 0) - (before[0]?.position ?? 0);
    console.log(
      `${String(rate).padStart(10)}${String(readers).padStart(19)}  ${cpu.join(", ").padEnd(18)}  ${
        (count / batches).toFixed(1)
      }`,
    );
  }
  const latenciesMs: number[] = JSON.parse(await writer.engine.ask("alone 300"));
  console.log(`one append after the other: p50 ${latenciesMs[150]?.toFixed(2)} ms`);
  await writer.engine.end();
  await follower.engine.end();
}

if (!natsInstalled.met) throw new Error(natsInstalled.reason);
console.log(`relays  deliveries/s of all  CPU of a relay for one of its deliveries`);
for (const relays of [1, 2, 3]) {
  const measured = await measure(relays);
  const sum = measured.reduce((total, { perSecond }) => total + perSecond, 0);
  const cpu = measured.map(({ cpuUs }) => `${cpuUs.toFixed(0)} µs`).join(", ");
  console.log(`${String(relays).padStart(6)}${sum.toFixed(0).padStart(21)}  ${cpu}`);
}
await measureFold();
console.log(`load ${Deno.loadavg()[0]?.toFixed(1)}`);
Deno.exit(0);
