/**
 * An engine for the benchmark, a process of its own so that its CPU and memory can be told from others'. Arguments: `embedded`
 * and its file; or `cluster`, the nodes with commas, the prefix, the relay's id and the file of its copy. It answers each line:
 * `append COUNT MS` appends entries of 4 KiB to one channel, `seen` tells when entries came, `channels COUNT` makes channels,
 * `use` tells CPU and memory.
 */
import { openTestCluster } from "../../relay/cluster/testing/open_test_cluster.ts";
import { type Engine, openSqliteEngine } from "../../relay/engine/mod.ts";
import { message, sampleChannel, sampleChannelId } from "../../relay/engine/testing/sample.ts";
import { linesOf } from "./lines.ts";

/** The answer to `append`. */
export interface Appends {
  readonly count: number;
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
  /** The longest time without any acknowledgement. */
  readonly pauseMs: number;
  /** When entries were acknowledged, by position, in milliseconds of the machine's clock. */
  readonly times: readonly (readonly [position: number, timeMs: number])[];
}

export interface Use {
  readonly cpuUs: number;
  readonly memoryBytes: number;
}

const bodyBytes = 4096;
/** As relays have it. */
const liveBytes = 256 * 1024 * 1024;
const channelId = sampleChannelId(1);
const life = crypto.randomUUID();
const clockMs = (): number => performance.timeOrigin + performance.now();

async function open(): Promise<Engine> {
  const [kind, ...rest] = Deno.args;
  if (kind === "embedded") return await openSqliteEngine({ path: rest[0] ?? ":memory:" });
  const [urls = "", prefix = "", relay = "", path = ""] = rest;
  const failed = (error: Error): void => console.error(error.message);
  const options = { prefix, relay, path, replicas: 3, liveBytes, onFailed: failed };
  return (await openTestCluster({ urls: urls.split(","), ...options })).engine;
}

class Appender {
  readonly #engine: Engine;
  #keys = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async append(callers: number, ms: number): Promise<Appends> {
    const [latenciesMs, times]: [number[], [number, number][]] = [[], []];
    const startMs = performance.now();
    let [lastMs, pauseMs] = [startMs, 0];
    const appendOn = async (): Promise<void> => {
      while (performance.now() - startMs < ms) {
        const body = crypto.getRandomValues(new Uint8Array(bodyBytes));
        const begunMs = performance.now();
        const entry = message(`${life} ${this.#keys++}`, { body });
        const outcome = await this.#engine.append(channelId, entry).catch(() => undefined);
        if (outcome?.kind !== "appended") continue;
        const nowMs = performance.now();
        pauseMs = Math.max(pauseMs, nowMs - lastMs);
        lastMs = nowMs;
        latenciesMs.push(nowMs - begunMs);
        times.push([outcome.sequence, clockMs()]);
      }
    };
    await Promise.all(Array.from({ length: callers }, appendOn));
    return { count: times.length, elapsedMs: performance.now() - startMs, latenciesMs, pauseMs, times };
  }
}

async function createChannels(engine: Engine, count: number): Promise<number> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (let at = 0; at < count; at += 256) {
    await Promise.all(numbers.slice(at, at + 256).map((number) => engine.createChannel(sampleChannel(number))));
  }
  return count;
}

async function serve(engine: Engine): Promise<void> {
  const appender = new Appender(engine);
  const seen: [number, number][] = [];
  engine.watch(channelId, ({ sequence }) => void seen.push([sequence, clockMs()]));
  const answer = async (line: string): Promise<unknown> => {
    const [what, first = "0", second = "0"] = line.split(" ");
    if (what === "append") return await appender.append(Number(first), Number(second));
    if (what === "channels") return await createChannels(engine, Number(first));
    if (what === "seen") return seen.splice(0);
    const { user, system } = process.cpuUsage();
    return { cpuUs: user + system, memoryBytes: process.memoryUsage().rss };
  };
  console.log("ready");
  for await (const line of linesOf(Deno.stdin.readable)) {
    if (line === "end") return;
    console.log(JSON.stringify(await answer(line)));
  }
}

const engine = await open();
await serve(engine);
await engine.close();
Deno.exit(0);
