/**
 * CPU time of the server for each gRPC operation of 4 KiB messages, beside connect-node on `node:http2` under Node, in
 * one run with one client (connect-node): `deno run -A bench/http2.ts`. Wall time would measure the client.
 */
import { linesOf, ServerProcess } from "../tests/support/http2/server_process.ts";
import { reportRatio } from "./ratio.ts";
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

/** A child that answers every line on its input with one on its output. */
class Answering {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[], cwd: string) {
    this.#child = new Deno.Command(command, { args: [...args], cwd, stdin: "piped", stdout: "piped" }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout);
  }

  async line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error("Cannot go on: a process of the benchmark has ended");
    return value;
  }

  async ask(line: string): Promise<string> {
    await this.#input.write(new TextEncoder().encode(`${line}\n`));
    return await this.line();
  }

  async end(): Promise<void> {
    await this.#input.close();
    await this.#lines.return?.();
    await this.#child.status;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const folder = await installNodePeers();
const ours = await ServerProcess.start();
const peer = new Answering("node", ["bench_server.mjs", ours.certFile, ours.keyFile], folder);
const client = new Answering("node", ["bench_client.mjs", ours.certFile], folder);
const servers = [
  { name: "ours", port: ours.port, cpuUs: async () => (await ours.stats()).cpuUs },
  { name: "peer", port: Number(await peer.line()), cpuUs: async () => JSON.parse(await peer.ask("stats")).cpuUs },
];

console.log(`${Deno.build.arch} ${Deno.build.os}, ${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}`);
console.log(`server CPU for each operation, ${messageBytes} bytes, median of ${rounds} rounds after one to warm up\n`);
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
  reportRatio({ bench: "http2", what, unit: "µs", ours: oursUs, peer: peerName, theirs: peerUs, ratio, target });
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
