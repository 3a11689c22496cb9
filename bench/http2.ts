/**
 * CPU time of the server for each gRPC operation of 4 KiB messages, beside connect-node on
 * `node:http2` under Node, in one run with one client (connect-node): `deno run -A bench/http2.ts`.
 * Wall time would measure the client.
 */
import { ServerProcess } from "../tests/support/http2/server_process.ts";
import { median, reportRatio } from "./ratio.ts";
import { Child } from "./relay/child.ts";
import { installNodePeers } from "../tests/support/http2/node_peers.ts";

const messageBytes = 4_096;
const rounds = 3;
/** How much less CPU than the peer we promise. */
const target = 1.5;

const jobs = [
  { kind: "unary", what: "unary call, one at a time", total: 1_000, parallel: 1 },
  { kind: "unary", what: "unary call, 16 at a time", total: 3_000, parallel: 16 },
  { kind: "download", what: "message streamed to the client", total: 10_000, parallel: 1 },
  { kind: "upload", what: "message streamed to the server", total: 10_000, parallel: 1 },
  { kind: "echo", what: "message streamed there and back", total: 5_000, parallel: 1 },
] as const;

const folder = await installNodePeers();
const ours = await ServerProcess.start();
const peer = new Child("node", ["bench_server.mjs", ours.certFile, ours.keyFile], folder);
const client = new Child("node", ["bench_client.mjs", ours.certFile], folder);
const servers = [
  { name: "ours", port: ours.port, cpuUs: async () => (await ours.stats()).cpuUs },
  {
    name: "peer",
    port: Number(await peer.line()),
    cpuUs: async () => JSON.parse(await peer.ask("stats")).cpuUs,
  },
];

console.log(
  `${Deno.build.arch} ${Deno.build.os}, ${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}`,
);
console.log(
  `server CPU for each operation, ${messageBytes} bytes, median of ${rounds} rounds after one to warm up\n`,
);
console.log("operation                            ours µs   peer µs   peer / ours");
for (const { what, ...job } of jobs) {
  const measured = servers.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { port, cpuUs }] of servers.entries()) {
      const before = await cpuUs();
      await client.ask(JSON.stringify({ ...job, port, bytes: messageBytes }));
      if (round > 0) measured[i]?.push((await cpuUs() - before) / job.total);
    }
  }
  const [oursUs = 0, peerUs = 0] = measured.map(median);
  const ratio = peerUs / oursUs;
  const peerName = "connect-node on node:http2";
  reportRatio({
    bench: "http2",
    what,
    unit: "µs",
    ours: oursUs,
    peer: peerName,
    theirs: peerUs,
    ratio,
    target,
  });
  const verdict = ratio >= target ? "" : `   below ${target}`;
  console.log(
    `${what.padEnd(34)} ${oursUs.toFixed(1).padStart(9)} ${peerUs.toFixed(1).padStart(9)} ${
      ratio.toFixed(2).padStart(13)
    }${verdict}`,
  );
}
await client.end();
await peer.end();
await ours[Symbol.asyncDispose]();
