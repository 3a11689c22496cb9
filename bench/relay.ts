/**
 * Deliveries per second and CPU of the relay for each, with the clients on the same machine, beside
 * NATS in the same run: `deno run -A bench/relay.ts`. One sender, 1, 10 and 100 receivers, messages
 * of 1 KiB that MLS padding makes one cell of 4 KiB; over QUIC and gRPC, with the engine in memory
 * and on disk. Then what an idle session costs beside a bare connection.
 */
import { grantedToken } from "../relay/testing/open_relay.ts";
import { installed } from "../tests/support/mod.ts";
import { createProject } from "../tools/bundle.ts";
import { cpuUs } from "./e2e/processes.ts";
import { reportRatio, reportUnmatched } from "./ratio.ts";
import { Child } from "./relay/child.ts";

const fanOuts = [{ receivers: 1, messages: 3_000 }, { receivers: 10, messages: 2_000 }, {
  receivers: 100,
  messages: 400,
}];
const rounds = 3;
const idleSessions = 300;
const targets = { deliveries: 5_000, durableRatio: 0.5, idleRatio: 1.3 };
const token = grantedToken("00000000-0000-4000-8000-000000000001");
const deno = ["run", "-A", "--no-check", "--quiet", "--unstable-net"];

const script = (name: string): string => new URL(`relay/${name}.ts`, import.meta.url).pathname;
const folder = await Deno.makeTempDir();

interface Measured {
  readonly perSecond: number;
  /** CPU of the server for each delivery, microseconds. */
  readonly cpuUs: number;
}

async function measure(load: Child, serverCpuUs: () => Promise<number>): Promise<Measured[]> {
  const results: Measured[] = [];
  for (const { receivers, messages } of fanOuts) {
    const found: Measured[] = [];
    for (let round = 0; round < rounds; round++) {
      await load.ask(`${receivers} ${messages}`); // warm
      const before = await serverCpuUs();
      const { deliveries, seconds } = JSON.parse(await load.line());
      found.push({
        perSecond: deliveries / seconds,
        cpuUs: (await serverCpuUs() - before) / deliveries,
      });
    }
    results.push(
      found.toSorted((a, b) => a.perSecond - b.perSecond)[rounds >> 1] ??
        { perSecond: 0, cpuUs: 0 },
    );
  }
  return results;
}

function show(what: string, results: readonly Measured[]): void {
  const cells = results.map(({ perSecond, cpuUs }) =>
    `${perSecond.toFixed(0).padStart(8)}${`${cpuUs.toFixed(0)} µs`.padStart(9)}`
  );
  console.log(`${what.padEnd(26)}${cells.join("  ")}`);
}

async function measureRelay(
  engine: "memory" | "disk",
  transport: "quic" | "grpc",
  bundle: string,
): Promise<Measured[]> {
  const path = engine === "memory" ? ":memory:" : `${folder}/${transport}.db`;
  const server = new Child(Deno.execPath(), [...deno, script("server"), path]);
  const { quicPort, grpcPort, cert } = JSON.parse(await server.line());
  const certFile = `${folder}/cert.pem`;
  await Deno.writeTextFile(certFile, cert);
  const load = transport === "quic"
    ? new Child(Deno.execPath(), [...deno, script("quic_load"), String(quicPort), certFile, token])
    : new Child("node", [bundle, String(grpcPort), certFile, token]);
  await load.line();
  const results = await measure(load, async () => JSON.parse(await server.ask("stats")).cpuUs);
  await load.end();
  await server.end();
  show(`${transport}, ${engine}`, results);
  return results;
}

const natsServer = installed("nats-server");

async function measureNats(): Promise<Measured[] | undefined> {
  if (!natsServer.met) {
    console.log(`${natsServer.reason}: no floor to compare with`);
    return undefined;
  }
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const server = new Child("nats-server", [
    "-a",
    "127.0.0.1",
    "-p",
    String(port),
    "-l",
    `${folder}/nats.log`,
  ]);
  await untilListening(port);
  const load = new Child(Deno.execPath(), [...deno, script("nats_load"), String(port)]);
  await load.line();
  const results = await measure(load, () => cpuUs(server.pid));
  await load.end();
  Deno.kill(server.pid, "SIGTERM");
  await server.end();
  show("NATS (floor)", results);
  return results;
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50)); // wait: until the port answers
    }
  }
}

/** Memory of the server for each connection, in bytes. */
async function measureIdle(server: Child, withToken: boolean): Promise<number> {
  const { quicPort, cert } = JSON.parse(await server.line());
  const certFile = `${folder}/idle.pem`;
  await Deno.writeTextFile(certFile, cert);
  const connect = async (number: number): Promise<Child> => {
    const args = [
      ...deno,
      script("idle"),
      String(quicPort),
      certFile,
      String(number),
      ...(withToken ? [token] : []),
    ];
    const child = new Child(Deno.execPath(), args);
    await child.line();
    return child;
  };
  const first = await connect(20); // what the first connections cost once
  const before = JSON.parse(await server.ask("stats")).rssBytes;
  const second = await connect(idleSessions);
  const after = JSON.parse(await server.ask("stats")).rssBytes;
  for (const child of [first, second]) await child.end();
  await server.end();
  return (after - before) / idleSessions;
}

console.log(
  `${Deno.build.arch} ${Deno.build.os}, ${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}`,
);
console.log("deliveries/s, server CPU each         1 → 1            1 → 10           1 → 100");
const project = await createProject();
const bundle = await project.bundle(new URL("relay/grpc_load.ts", import.meta.url), "node");
const quicMemory = await measureRelay("memory", "quic", bundle);
const quicDisk = await measureRelay("disk", "quic", bundle);
await measureRelay("memory", "grpc", bundle);
await measureRelay("disk", "grpc", bundle);
const nats = await measureNats();
await project[Symbol.asyncDispose]();

const bare = await measureIdle(new Child(Deno.execPath(), [...deno, script("bare_server")]), false);
const session = await measureIdle(
  new Child(Deno.execPath(), [...deno, script("server"), ":memory:"]),
  true,
);
const best = quicMemory[2]?.perSecond ?? 0;
const durable = quicDisk.map(({ perSecond }, index) =>
  perSecond / (quicMemory[index]?.perSecond ?? 1)
);
console.log(`
QUIC, memory, 1 → 100: ${best.toFixed(0)} deliveries/s, ${
  (best / targets.deliveries).toFixed(2)
} of the target ${targets.deliveries}
disk / memory: ${
  durable.map((ratio) => ratio.toFixed(2)).join(", ")
} (target at least ${targets.durableRatio})
idle session ${(session / 1024).toFixed(0)} KiB, bare connection ${(bare / 1024).toFixed(0)} KiB: ${
  (session / bare).toFixed(2)
} (target at most ${targets.idleRatio})`);
for (const [index, { receivers }] of fanOuts.entries()) {
  const ours = quicMemory[index]?.perSecond ?? NaN;
  const figures = { bench: "relay", what: `QUIC, 1 → ${receivers}`, unit: "deliveries/s" };
  const peer = "NATS, plain text";
  const theirs = nats?.[index]?.perSecond;
  if (theirs === undefined) reportUnmatched({ ...figures, ours, peer, reason: natsServer.reason });
  else reportRatio({ ...figures, ours, peer, theirs, ratio: ours / theirs });
  const durably = {
    ...figures,
    what: `QUIC, on disk, 1 → ${receivers}`,
    ours: quicDisk[index]?.perSecond ?? NaN,
  };
  const ratio = durable[index] ?? NaN;
  reportRatio({
    ...durably,
    peer: "the same in memory",
    theirs: ours,
    ratio,
    target: targets.durableRatio,
  });
}
const capacity = {
  bench: "relay",
  what: "QUIC, 1 → 100, promised",
  unit: "deliveries/s",
  ours: best,
};
const promised = { peer: "what was promised", theirs: targets.deliveries, target: 1 };
reportRatio({ ...capacity, ...promised, ratio: best / targets.deliveries });
await Deno.remove(folder, { recursive: true });
