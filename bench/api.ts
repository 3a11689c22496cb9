/**
 * How fast the HTTP API is on real PostgreSQL, beside its floor in the same run: `POST /v1/tokens` and `GET /v1/keys` with a
 * warm key, against (a) a bare hono hello, (b) the same endpoint with the verified-key memory turned off and (c) hono + one
 * indexed SELECT + one Ed25519 signature. Targets: warm tokens ≥ 60 % of (c) and ≥ 50 × (b).
 * Each server is its own process; rounds alternate between the cases, and the median round of each is shown.
 */
import { startPostgres } from "../tests/support/mod.ts";
import { type LoadResult, measureLoad } from "./http_load.ts";

const rounds = 3;
const seconds = Number(Deno.env.get("BENCH_SECONDS") ?? 3);
const connections = Number(Deno.env.get("BENCH_CONNECTIONS") ?? 32);

const environment = {
  STATIC_API_PORT: "0",
  STATIC_ADMIN_PORT: "off",
  STATIC_RATE_ACCOUNT: "999999999/1",
  STATIC_RATE_FAILURES: "999999999/1",
};

interface Server {
  readonly url: string;
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
  const start = async (script: string, env: Record<string, string>): Promise<string> => {
    const server = await startServer(script, env);
    servers.push(server);
    return server.url;
  };
  try {
    const database = { STATIC_DATA_DIR: dataDir, DATABASE_URL: await postgres.createDatabase() };
    const warm = await start("api/main.ts", { ...environment, ...database });
    const cold = await start("api/main.ts", { ...environment, ...database, STATIC_KEY_MEMORY: "0" });
    const body = JSON.stringify({ email: "bench@example.com", password: "a password for the benchmark" });
    const account = await fetch(`${warm}/v1/accounts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const { api_key: apiKey, key } = await account.json();
    const baseline = await start("bench/api_baseline.ts", { ...database, KEY_PREFIX: key.key_prefix });
    const headers = { authorization: `Bearer ${apiKey}` };
    report(
      await measureAll({
        "(a) bare hono hello": { url: baseline, method: "GET", path: "/hello" },
        "(c) hono + SELECT + Ed25519": { url: baseline, method: "POST", path: "/token" },
        "POST /v1/tokens, warm": { url: warm, method: "POST", path: "/v1/tokens", headers },
        "GET /v1/keys, warm": { url: warm, method: "GET", path: "/v1/keys", headers },
        "(b) POST /v1/tokens, no memory": { url: cold, method: "POST", path: "/v1/tokens", headers },
        "(b) GET /v1/keys, no memory": { url: cold, method: "GET", path: "/v1/keys", headers },
      }),
    );
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

interface Case {
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
}

async function measureAll(cases: Record<string, Case>): Promise<Map<string, LoadResult>> {
  const results = new Map<string, LoadResult[]>();
  for (const load of Object.values(cases)) await measureLoad({ ...load, connections, seconds: seconds / 3 });
  for (let round = 0; round < rounds; round++) {
    for (const [name, load] of Object.entries(cases)) {
      results.set(name, [...results.get(name) ?? [], await measureLoad({ ...load, connections, seconds })]);
    }
  }
  return new Map(Array.from(results, ([name, all]) => {
    const sorted = all.sort((a, b) => a.perSecond - b.perSecond);
    const median = sorted[sorted.length >> 1];
    if (median === undefined) throw new TypeError("no rounds");
    return [name, median];
  }));
}

function report(results: Map<string, LoadResult>): void {
  const rate = (name: string): number => results.get(name)?.perSecond ?? NaN;
  console.log(`${connections} connections, ${rounds} rounds of ${seconds} s, median round, Deno ${Deno.version.deno}`);
  for (const [name, { perSecond, p50Ms, p99Ms }] of results) {
    const figures = `${perSecond.toFixed(0).padStart(7)} /s   p50 ${p50Ms.toFixed(2)} ms   p99 ${p99Ms.toFixed(2)} ms`;
    console.log(`${name.padEnd(32)} ${figures}`);
  }
  const tokens = rate("POST /v1/tokens, warm");
  const ofFloor = tokens / rate("(c) hono + SELECT + Ed25519");
  const overCold = tokens / rate("(b) POST /v1/tokens, no memory");
  console.log(`warm tokens: ${(100 * ofFloor).toFixed(0)} % of (c), target 60 %: ${ofFloor >= 0.6 ? "met" : "SHORT"}`);
  console.log(`warm tokens: ${overCold.toFixed(0)} × (b), target 50: ${overCold >= 50 ? "met" : "SHORT"}`);
}

await run();
