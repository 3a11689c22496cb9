/**
 * The engine of a relay of a cluster, a process of its own so that its CPU can be told from the
 * others'. Arguments: the nodes with commas, the prefix, the relay's id, the file of its copy.
 * Answers `write RATE SECONDS READERS` (so many messages a second, one channel after the other,
 * each with the cursors of so many readers), `alone COUNT` (appends one after the other) and `use`.
 */
import { openTestCluster } from "../../relay/cluster/testing/open_test_cluster.ts";
import type { ChannelId } from "../../proto/mod.ts";
import { commit, createChannel, message, sampleAgent } from "../../relay/engine/testing/sample.ts";
import { linesOf } from "./lines.ts";

const [urls = "", prefix = "", relay = "", path = ""] = Deno.args;
const channels = 100;
const bodyBytes = 4_096;
const cluster = await openTestCluster({
  urls: urls.split(","),
  prefix,
  relay,
  path,
  replicas: 3,
  liveBytes: 256 * 1024 * 1024,
});
const { engine } = cluster;
const body = new Uint8Array(bodyBytes);
const ids: ChannelId[] = [];

/** With two readers beside the sender. */
async function openChannel(): Promise<ChannelId> {
  const channelId = await createChannel(engine, ids.length + 1);
  const added = [sampleAgent(2), sampleAgent(3)];
  await engine.append(channelId, commit("readers", 0, { added }));
  return channelId;
}

async function send(channelId: ChannelId, readers: number): Promise<void> {
  const outcome = await engine.append(channelId, message(crypto.randomUUID(), { body, epoch: 1 }));
  if (outcome.kind !== "appended") throw new Error(`The append was refused: ${outcome.kind}`);
  const cursor = { consumed: outcome.sequence, acknowledged: outcome.sequence };
  if (readers === 0) return;
  const moves = Array.from(
    { length: readers },
    (_, reader) => [sampleAgent(reader + 2), cursor] as const,
  );
  await engine.moveCursors(channelId, moves);
}

async function write(rate: number, seconds: number, readers: number): Promise<number> {
  while (ids.length < channels) ids.push(await openChannel());
  const startMs = performance.now();
  const sending: Promise<void>[] = [];
  for (;;) {
    const passedMs = performance.now() - startMs;
    while (sending.length < Math.min(passedMs, seconds * 1_000) * rate / 1_000) {
      const channelId = ids[sending.length % channels];
      if (channelId !== undefined) sending.push(send(channelId, readers));
    }
    if (passedMs >= seconds * 1_000) break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(sending);
  return sending.length;
}

async function alone(count: number): Promise<readonly number[]> {
  const channelId = ids[0] ?? await openChannel();
  if (ids.length === 0) ids.push(channelId);
  const latenciesMs: number[] = [];
  for (let sent = 0; sent < count; sent++) {
    const startMs = performance.now();
    await send(channelId, 0);
    latenciesMs.push(performance.now() - startMs);
  }
  return latenciesMs.sort((a, b) => a - b);
}

console.log("ready");
for await (const line of linesOf(Deno.stdin.readable)) {
  const [what, ...numbers] = line.split(" ");
  const [first = 0, second = 0, third = 0] = numbers.map(Number);
  if (what === "write") console.log(JSON.stringify(await write(first, second, third)));
  else if (what === "alone") console.log(JSON.stringify(await alone(first)));
  else {
    const { user, system } = process.cpuUsage();
    const { position, lag } = cluster.stats();
    console.log(JSON.stringify({ cpuUs: user + system, position, lag }));
  }
}
await engine.close();
Deno.exit(0);
