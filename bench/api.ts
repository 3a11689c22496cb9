/**
 * How fast the HTTP API is on real PostgreSQL, beside its floor in the same run: `POST /v1/tokens`
 * and `GET /v1/keys` with warm keys, against (a) a bare hono hello, (b) the same endpoints with the
 * verified-key memory turned off and (c) hono + one indexed SELECT + one Ed25519 signature.
 * Targets: warm tokens ≥ 80 % of (c) and ≥ 50 × (b). (d) is (c) with jose's `SignJWT`: once it
 * costs less than a tenth more, the API uses it (docs/architecture.md). The API signs equal claims
 * once a second and checks one key once at a time, so the requests are of many accounts: each is
 * signed, as in (c), and in (b) each is hashed. Tokens of one account, as all its agents ask for
 * after an outage, are shown beside.
 * Each server is its own process; rounds alternate between the cases, and the median round of each
 * is shown. The CPU time of the server per request is shown too, because it does not depend on what
 * else the machine does.
 */
import postgres from "postgres";
import { reportRatio } from "./ratio.ts";
import { startPostgres } from "../tests/support/mod.ts";
import { type LoadResult, measureLoad } from "./http_load.ts";

const rounds = 3;
const seconds = Number(Deno.env.get("BENCH_SECONDS") ?? 3);
const connections = Number(Deno.env.get("BENCH_CONNECTIONS") ?? 32);

/** More than are served in a second, so that no token is asked for twice in one. */
const accounts = 10_000;
/** More than there are connections, so that no key is checked twice at once. */
const coldAccounts = 64;

const environment = {
  STATIC_API_PORT: "0",
  STATIC_INTERNAL_PORT: "0",
  STATIC_ADMIN_PORT: "off",
  STATIC_RATE_ACCOUNT: "999999999/1",
  STATIC_RATE_FAILURES: "999999999/1",
  STATIC_RATE_SIGN_UP: "999999999/1",
  // Nothing that is measured has to do with passwords.
  STATIC_PASSWORD_ARGON2: "m=64,t=1,p=1",
};

interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function startServer(script: string, env: Record<string, string>): Promise<Server> {
  const args = ["run", "-A", "--no-check", script];
  const child = new Deno.Command(Deno.execPath(), { args, env, stdin: "null", stdout: "piped" })
    .spawn();
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
async function readUrl(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const url = /"url":"([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`A server did not start: ${text}`);
}

async function run(): Promise<void> {
  const server = await startPostgres();
  const dataDir = await Deno.makeTempDir();
  const servers: Server[] = [];
  const start = async (script: string, env: Record<string, string>): Promise<Server> => {
    const server = await startServer(script, env);
    servers.push(server);
    return server;
  };
  try {
    const database = { STATIC_DATA_DIR: dataDir, DATABASE_URL: await server.createDatabase() };
    const warm = await start("api/main.ts", { ...environment, ...database });
    const cold = await start("api/main.ts", {
      ...environment,
      ...database,
      STATIC_KEY_MEMORY: "0",
    });
    const headersOf = (keys: readonly string[]): Record<string, string>[] =>
      keys.map((key) => ({ authorization: `Bearer ${key}` }));
    const hashed = headersOf(await signUp(warm, coldAccounts));
    const many = headersOf(await signUp(warm, accounts));
    const one = many.slice(0, 1);
    await forgetMail(database.DATABASE_URL);
    const baseline = await start("bench/api_baseline.ts", database);
    const tokens = { method: "POST", path: "/v1/tokens" };
    await eachAtOnce(many, async (headers, client) => {
      await (await fetch(`${warm.url}/v1/tokens`, { method: "POST", headers, client })).body
        ?.cancel();
    });
    report(
      await measureAll({
        "(a) bare hono hello": { server: baseline, method: "GET", path: "/hello", headers: [{}] },
        "(c) hono + SELECT + Ed25519": {
          server: baseline,
          method: "POST",
          path: "/token",
          headers: [{}],
        },
        "(d) hono + SELECT + SignJWT": {
          server: baseline,
          method: "POST",
          path: "/token-of-jose",
          headers: [{}],
        },
        "POST /v1/tokens, warm": { server: warm, ...tokens, headers: many },
        "POST /v1/tokens, one account": { server: warm, ...tokens, headers: one },
        "GET /v1/keys, warm": { server: warm, method: "GET", path: "/v1/keys", headers: one },
        "(b) POST /v1/tokens, no memory": { server: cold, ...tokens, headers: hashed },
        "(b) GET /v1/keys, no memory": {
          server: cold,
          method: "GET",
          path: "/v1/keys",
          headers: hashed,
        },
      }),
    );
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await server.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

/**
 * Ten thousand sign-ups have asked for as many messages, which would be sent while something else
 * is measured.
 */
async function forgetMail(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql`DELETE FROM mail_queue`;
  await sql.end();
}

/** The keys of new accounts. */
async function signUp({ url }: Server, count: number): Promise<string[]> {
  const keys: string[] = [];
  await eachAtOnce(Array.from({ length: count }), async (_, client) => {
    const email = `${crypto.randomUUID()}@example.com`;
    const body = JSON.stringify({ email, password: "a password for the benchmark" });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/v1/accounts`, { method: "POST", headers, body, client });
    if (!answer.ok) throw new Error(`A sign-up failed: ${answer.status} ${await answer.text()}`);
    keys.push((await answer.json()).api_key);
  });
  return keys;
}

/**
 * As many at a time as there are connections, which are closed at the end: an address may have only
 * so many.
 */
async function eachAtOnce<T>(
  items: readonly T[],
  work: (item: T, client: Deno.HttpClient) => Promise<void>,
): Promise<void> {
  using client = Deno.createHttpClient({});
  const next = items.values();
  await Promise.all(Array.from({ length: connections }, async () => {
    for (const item of next) await work(item, client);
  }));
}

interface Case {
  readonly server: Server;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly Record<string, string>[];
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

/**
 * User and system time of a process, from Linux' accounting in hundredths of a second; NaN
 * elsewhere.
 */
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
  console.log(
    `${connections} connections, ${rounds} rounds of ${seconds} s, median round, Deno ${Deno.version.deno}`,
  );
  for (const [name, { perSecond, p50Ms, p99Ms, cpuMicroseconds }] of results) {
    const times = `p50 ${p50Ms.toFixed(2).padStart(7)} ms   p99 ${p99Ms.toFixed(2).padStart(7)} ms`;
    const cpu = `${cpuMicroseconds.toFixed(0).padStart(6)} µs CPU`;
    console.log(`${name.padEnd(32)} ${perSecond.toFixed(0).padStart(7)} /s   ${times}   ${cpu}`);
  }
  const [warm, floor] = [of("POST /v1/tokens, warm"), of("(c) hono + SELECT + Ed25519")];
  const cold = of("(b) POST /v1/tokens, no memory");
  const verdict = (value: number, target: number): string =>
    `target ${target}: ${value >= target ? "met" : "SHORT"}`;
  const [ofFloor, overCold] = [warm.perSecond / floor.perSecond, warm.perSecond / cold.perSecond];
  const rates = { unit: "/s", ours: warm.perSecond };
  const [bare, memoryless] = [
    "bare hono, one SELECT, one signature",
    "the same API without memory of verified keys",
  ];
  const tokens = { bench: "api", what: "POST /v1/tokens", ...rates };
  reportRatio({ ...tokens, peer: bare, theirs: floor.perSecond, ratio: ofFloor, target: 0.8 });
  reportRatio({ ...tokens, peer: memoryless, theirs: cold.perSecond, ratio: overCold, target: 50 });
  console.log(`warm tokens / (c): ${ofFloor.toFixed(2)}, ${verdict(ofFloor, 0.8)}`);
  console.log(`warm tokens / (b): ${overCold.toFixed(0)}, ${verdict(overCold, 50)}`);
  const cpu = (other: Measured): string =>
    (other.cpuMicroseconds / warm.cpuMicroseconds).toFixed(2);
  console.log(
    `server CPU per request: (c) costs ${cpu(floor)} × and (b) ${cpu(cold)} × of warm tokens`,
  );
}

await run();
