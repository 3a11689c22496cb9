/**
 * How fast the HTTP API is on real PostgreSQL, beside its floor in the same run: `POST /v1/tokens` and `GET /v1/keys` with a
 * warm key, against (a) a bare hono hello, (b) the same endpoint with the verified-key memory turned off and (c) hono + one
 * indexed SELECT + one Ed25519 signature. Targets: warm tokens ≥ 80 % of (c) and ≥ 50 × (b). All requests are of one key, as
 * after an outage, and the API signs equal claims once a second; (c) signs each time.
 * Each server is its own process; rounds alternate between the cases, and the median round of each is shown. The CPU time of
 * the server per request is shown too, because it does not depend on what else the machine does.
 */
import { reportRatio } from "./ratio.ts";
import { startPostgres } from "../tests/support/mod.ts";
import { type LoadResult, measureLoad } from "./http_load.ts";

const rounds = 3;
const seconds = Number(Deno.env.get("BENCH_SECONDS") ?? 3);
const connections = Number(Deno.env.get("BENCH_CONNECTIONS") ?? 32);

const environment = {
  STATIC_API_PORT: "0",
  STATIC_INTERNAL_PORT: "0",
  STATIC_ADMIN_PORT: "off",
  STATIC_RATE_ACCOUNT: "999999999/1",
  STATIC_RATE_FAILURES: "999999999/1",
};

interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function startServer(script: string, env: Record<string, string>): Promise<Server> {
  const args = ["run", "-A", "--no-check", script];
  const child = new Deno.Command(Deno.execPath(), { args, env, stdin: "null", stdout: "piped" }).spawn();
  const [first, rest] = child.stdout.tee();
  const drained = rest.pipeTo(new WritableStream());
  const url = await readUrl(first);
  return {
    url,
    pid: child.pid,
    stop: async () => {
      child.kill("SIGTERM");
      await child.status;
      await drained;
    },
  };
}

/** Servers print their address as JSON; everything else they print is read and thrown away. */
async function readUrl(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const url = /"url":"([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`A server did not start: ${text}`);
}

async function run(): Promise<void> {
  const postgres = await startPostgres();
  const dataDir = await Deno.makeTempDir();
  const servers: Server[] = [];
  const start = async (script: string, env: Record<string, string>): Promise<Server> => {
    const server = await startServer(script, env);
    servers.push(server);
    return server;
  };
  try {
    const database = { STATIC_DATA_DIR: dataDir, DATABASE_URL: await postgres.createDatabase() };
    const warm = await start("api/main.ts", { ...environment, ...database });
    const cold = await start("api/main.ts", { ...environment, ...database, STATIC_KEY_MEMORY: "0" });
    const body = JSON.stringify({ email: "bench@example.com", password: "a password for the benchmark" });
    const account = await fetch(`${warm.url}/v1/accounts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const { api_key: apiKey, key } = await account.json();
    const baseline = await start("bench/api_baseline.ts", { ...database, KEY_PREFIX: key.key_prefix });
    const headers = { authorization: `Bearer ${apiKey}` };
    report(
      await measureAll({
        "(a) bare hono hello": { server: baseline, method: "GET", path: "/hello" },
        "(c) hono + SELECT + Ed25519": { server: baseline, method: "POST", path: "/token" },
        "POST /v1/tokens, warm": { server: warm, method: "POST", path: "/v1/tokens", headers },
        "GET /v1/keys, warm": { server: warm, method: "GET", path: "/v1/keys", headers },
        "(b) POST /v1/tokens, no memory": { server: cold, method: "POST", path: "/v1/tokens", headers },
        "(b) GET /v1/keys, no memory": { server: cold, method: "GET", path: "/v1/keys", headers },
      }),
    );
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

interface Case {
  readonly server: Server;
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
}

interface Measured extends LoadResult {
  readonly cpuMicroseconds: number;
}

async function measureAll(cases: Record<string, Case>): Promise<Map<string, Measured>> {
  const results = new Map<string, Measured[]>();
  for (const load of Object.values(cases)) await measure(load, seconds / 3);
  for (let round = 0; round < rounds; round++) {
    for (const [name, load] of Object.entries(cases)) {
      results.set(name, [...results.get(name) ?? [], await measure(load, seconds)]);
    }
  }
  return new Map(Array.from(results, ([name, all]) => {
    const sorted = all.sort((a, b) => a.perSecond - b.perSecond);
    const median = sorted[sorted.length >> 1];
    if (median === undefined) throw new TypeError("no rounds");
    return [name, median];
  }));
}

async function measure({ server, ...load }: Case, seconds: number): Promise<Measured> {
  const before = await cpuSeconds(server.pid);
  const result = await measureLoad({ ...load, url: server.url, connections, seconds });
  const used = await cpuSeconds(server.pid) - before;
  return { ...result, cpuMicroseconds: used * 1e6 / (result.perSecond * seconds) };
}

/** User and system time of a process, from Linux' accounting in hundredths of a second; NaN elsewhere. */
async function cpuSeconds(pid: number): Promise<number> {
  try {
    const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return NaN;
  }
}

function report(results: Map<string, Measured>): void {
  const of = (name: string): Measured => {
    const measured = results.get(name);
    if (measured === undefined) throw new TypeError(name);
    return measured;
  };
  console.log(`${connections} connections, ${rounds} rounds of ${seconds} s, median round, Deno ${Deno.version.deno}`);
  for (const [name, { perSecond, p50Ms, p99Ms, cpuMicroseconds }] of results) {
    const times = `p50 ${p50Ms.toFixed(2).padStart(7)} ms   p99 ${p99Ms.toFixed(2).padStart(7)} ms`;
    const cpu = `${cpuMicroseconds.toFixed(0).padStart(6)} µs CPU`;
    console.log(`${name.padEnd(32)} ${perSecond.toFixed(0).padStart(7)} /s   ${times}   ${cpu}`);
  }
  const [warm, floor] = [of("POST /v1/tokens, warm"), of("(c) hono + SELECT + Ed25519")];
  const cold = of("(b) POST /v1/tokens, no memory");
  const verdict = (value: number, target: number): string => `target ${target}: ${value >= target ? "met" : "SHORT"}`;
  const [ofFloor, overCold] = [warm.perSecond / floor.perSecond, warm.perSecond / cold.perSecond];
  const rates = { unit: "/s", ours: warm.perSecond };
  const [bare, memoryless] = ["bare hono, one SELECT, one signature", "the same API without memory of verified keys"];
  const tokens = { bench: "api", what: "POST /v1/tokens", ...rates };
  reportRatio({ ...tokens, peer: bare, theirs: floor.perSecond, ratio: ofFloor, target: 0.8 });
  reportRatio({ ...tokens, peer: memoryless, theirs: cold.perSecond, ratio: overCold, target: 50 });
  console.log(`warm tokens / (c): ${ofFloor.toFixed(2)}, ${verdict(ofFloor, 0.8)}`);
  console.log(`warm tokens / (b): ${overCold.toFixed(0)}, ${verdict(overCold, 50)}`);
  const cpu = (other: Measured): string => (other.cpuMicroseconds / warm.cpuMicroseconds).toFixed(2);
  console.log(`server CPU per request: (c) costs ${cpu(floor)} × and (b) ${cpu(cold)} × of warm tokens`);
}

await run();
