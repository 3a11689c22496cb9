/** The benchmark's load: gRPC calls by connect-node against any server. Reads jobs as JSON lines, prints seconds taken. */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { Echo } from "./echo.mjs";

const ca = readFileSync(process.argv[2]);
const clients = new Map();

function clientOf(port) {
  const transport = createGrpcTransport({ baseUrl: `https://localhost:${port}`, nodeOptions: { ca } });
  if (!clients.has(port)) clients.set(port, createClient(Echo, transport));
  return clients.get(port);
}

const jobs = {
  async unary(client, { total, parallel, bytes }) {
    const data = new Uint8Array(bytes);
    let left = total;
    await Promise.all(Array.from({ length: parallel }, async () => {
      while (left-- > 0) await client.unary({ data });
    }));
  },
  async download(client, { total, bytes }) {
    let count = 0;
    for await (const { data } of client.serverStream({ data: new Uint8Array(bytes), count: total })) {
      if (data.length === bytes) count++;
    }
    if (count !== total) throw new Error(`${count} messages of ${total}`);
  },
  async upload(client, { total, bytes }) {
    const data = new Uint8Array(bytes);
    const { count } = await client.clientStream((async function* () {
      for (let i = 0; i < total; i++) yield { data };
    })());
    if (count !== total) throw new Error(`${count} messages of ${total}`);
  },
  async echo(client, { total, bytes }) {
    const data = new Uint8Array(bytes);
    let count = 0;
    const requests = (async function* () {
      for (let i = 0; i < total; i++) yield { data };
    })();
    for await (const _ of client.bidi(requests)) count++;
    if (count !== total) throw new Error(`${count} messages of ${total}`);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const started = performance.now();
  await jobs[job.kind](clientOf(job.port), job);
  console.log((performance.now() - started) / 1000);
}
