/**
 * The cost of an append: 1 KiB entries into memory and into a file, from 1 and 64 callers at once,
 * with the CPU time of the whole process (the operating system's part included) and the time that
 * this disk takes to confirm a write.
 */
import { type Engine, openSqliteEngine } from "../relay/engine/mod.ts";
import {
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  parseAccountId,
  parseChannelName,
} from "../proto/mod.ts";

const bodyBytes = 1024;
const channels = 8;
const measureMs = 2_000;

const random = (length: number): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(length));
const account = parseAccountId("00000000-0000-4000-8000-000000000001");
const sender = agentIdOf(random(32), random(8));

interface Row {
  readonly engine: string;
  readonly callers: number;
  readonly "appends/s": number;
  readonly "CPU µs/append": string;
  readonly "ms until durable, median": string;
  readonly "99 %": string;
}

async function createChannels(engine: Engine): Promise<ChannelId[]> {
  return await Promise.all(Array.from({ length: channels }, async (_, index) => {
    const channelId = binaryIdFromBytes<ChannelId>(random(16));
    const name = parseChannelName(`bench/engine/channel-${index}`);
    await engine.createChannel({
      channelId,
      name,
      account,
      creator: sender,
      nonce: random(16),
      timeMs: Date.now(),
    });
    return channelId;
  }));
}

async function appendUntil(
  engine: Engine,
  channelId: ChannelId,
  endMs: number,
  latencies: number[],
): Promise<void> {
  const body = random(bodyBytes);
  while (performance.now() < endMs) {
    const start = performance.now();
    const key = `${sender}/${crypto.randomUUID()}`;
    const entry = {
      kind: "message",
      epoch: 0,
      sender,
      timeMs: Date.now(),
      bodyVersion: 1,
      body,
      key,
      added: [],
      removed: [],
    } as const;
    const outcome = await engine.append(channelId, entry);
    if (outcome.kind !== "appended") throw new Error(`The append was refused: ${outcome.kind}`);
    latencies.push(performance.now() - start);
  }
}

async function measure(name: string, path: string, callers: number): Promise<Row> {
  const engine = await openSqliteEngine({ path });
  try {
    const ids = await createChannels(engine);
    const run = async (ms: number): Promise<number[]> => {
      const latencies: number[] = [];
      const end = performance.now() + ms;
      await Promise.all(
        Array.from(
          { length: callers },
          (_, i) => appendUntil(engine, ids[i % channels] ?? fail(), end, latencies),
        ),
      );
      return latencies;
    };
    await run(measureMs / 4);
    const cpu = cpuMs();
    const start = performance.now();
    const latencies = (await run(measureMs)).sort((a, b) => a - b);
    const [elapsed, used] = [performance.now() - start, cpuMs() - cpu];
    const at = (part: number): string =>
      (latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(2);
    return {
      engine: name,
      callers,
      "appends/s": Math.round(latencies.length / elapsed * 1000),
      "CPU µs/append": (used / latencies.length * 1000).toFixed(1),
      "ms until durable, median": at(0.5),
      "99 %": at(0.99),
    };
  } finally {
    await engine.close();
  }
}

/** User and system time of all threads, from the kernel's counters in ticks of 10 ms. */
function cpuMs(): number {
  const fields = Deno.readTextFileSync("/proc/self/stat").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * One page overwritten and confirmed, again and again: the least that a durable append can take
 * here.
 */
async function measureDisk(folder: string): Promise<string> {
  const file = await Deno.open(`${folder}/disk`, { read: true, write: true, create: true });
  await file.write(new Uint8Array(1024 * 1024));
  await file.sync();
  const times: number[] = [];
  for (let i = 0; i < 200; i++) {
    const start = performance.now();
    await file.seek(i * 4096, Deno.SeekMode.Start);
    await file.write(random(4096));
    await file.syncData();
    times.push(performance.now() - start);
  }
  file.close();
  times.sort((a, b) => a - b);
  return `median ${times[100]?.toFixed(2)} ms, 99 % ${times[198]?.toFixed(2)} ms`;
}

function fail(): never {
  throw new Error("no channel");
}

const folder = await Deno.makeTempDir({
  dir: Deno.args[0] ?? Deno.cwd(),
  prefix: ".bench-engine-",
});
try {
  console.log(
    `write and fdatasync of 4 KiB in ${folder.replace(/[^/]*$/, "")}: ${await measureDisk(folder)}`,
  );
  const rows: Row[] = [];
  for (const callers of [1, 64]) {
    rows.push(await measure("memory", ":memory:", callers));
    rows.push(await measure("file", `${folder}/engine-${callers}.sqlite`, callers));
  }
  console.table(rows);
} finally {
  await Deno.remove(folder, { recursive: true });
}
