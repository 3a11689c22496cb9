/**
 * An hour of an operator whose service works: nginx before the API and the relays' TCP ports,
 * PostgreSQL, three relays, and 500 agents of one address who talk; strangers come and become
 * customers; after a third of the time the relays are restarted one after the other, as for an
 * upgrade. A real Prometheus with the shipped rules has no alert, nobody is refused, nothing is
 * lost, and sessions are even again within three minutes. The dashboard's graphs are left in
 * `dist/operators_hour.svg`. The number of minutes, at least 10, and of agents may be given:
 * deno test -A --unstable-net --no-check FILE -- 10 100
 */
import { assertEquals, assertGreater } from "@std/assert";
import { StaticClient } from "static-sdk";
import type { Audit } from "../support/crowd/auditor.ts";
import { Crowd } from "../support/crowd/crowd.ts";
import { RelayCluster } from "../support/crowd/relay_cluster.ts";
import { signUp } from "../support/api/harness.ts";
import {
  blocksOfPage,
  httpBlock,
  nginxInstalled,
  startNginx,
  variablesOfPage,
} from "../support/balancers.ts";
import { tried } from "../support/campaign.ts";
import { drawDashboard } from "../support/dashboard_picture.ts";
import {
  createCertificate,
  eventually,
  freePorts,
  installed,
  natsInstalled,
  postgresInstalled,
  testWhen,
} from "../support/mod.ts";
import { type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { startSmtpServer } from "../support/smtp_server.ts";

const [minutes = 60, agents = 500] = Deno.args.map(Number);
const relayCount = 3;
/** Agents of a channel. */
const members = 5;
/** Each agent says something this often, on average. */
const everyMs = 120_000;
const visitEveryMs = 30_000;
const restMs = 5_000;
const evenMs = 180_000;
const quietMs = 300_000;
const picture = new URL("../../dist/operators_hour.svg", import.meta.url);
const refusals = ["calls", "quic", "quota", "sessions", "sockets"].map((what) =>
  what === "quota" ? "static_relay_quota_refusals_total" : `static_relay_${what}_refused_total`
);
const requirement = [nginxInstalled, natsInstalled, postgresInstalled, installed("prometheus")]
  .find(({ met }) => !met) ?? nginxInstalled;

interface Service extends AsyncDisposable {
  readonly cluster: RelayCluster;
  /** The API as agents reach it, and the certificate that they trust for it. */
  readonly apiUrl: string;
  readonly apiCertificate: string;
}

async function startService(): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const mail = opened.use(startSmtpServer(0));
  const [apiPort = 0, ...frontPorts] = freePorts(1 + relayCount);
  const cluster = opened.use(
    await RelayCluster.start({
      relays: relayCount,
      frontPorts,
      // As shipped: all agents are of one account.
      apiVariables: {
        STATIC_RATE_ACCOUNT: "1200/60",
        STATIC_SMTP_URL: `smtp://127.0.0.1:${mail.port}?from=static@service.example`,
        STATIC_TLS_TERMINATED: "true",
        STATIC_TRUSTED_PROXIES: "127.0.0.1",
      },
      relayVariables: { STATIC_RELAY_BALANCERS: "127.0.0.1", ...variablesOfPage() },
    }),
  );
  const certificate = await createCertificate();
  for (const name of ["cert", "key"] as const) {
    await Deno.writeTextFile(`${cluster.folder}/${name}.pem`, certificate[name]);
  }
  const apiCertificate = `${cluster.folder}/cert.pem`;
  const text = nginxText(cluster, { apiPort, frontPorts });
  opened.use(await startNginx({ port: apiPort, text }));
  const running = opened.move();
  return {
    cluster,
    apiUrl: `https://localhost:${apiPort}`,
    apiCertificate,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The page's blocks: one for the API, and one for each relay. */
function nginxText(
  { api, folder, relays }: RelayCluster,
  { apiPort, frontPorts }: { readonly apiPort: number; readonly frontPorts: readonly number[] },
): string {
  const [server = ""] = blocksOfPage("nginx", {
    "listen 443 ssl;": `listen 127.0.0.1:${apiPort} ssl;`,
    "/etc/static/tls": folder,
    "http://127.0.0.1:8080": api.url,
  });
  const streams = relays.map(({ process }, index) => {
    const [, stream = ""] = blocksOfPage("nginx", {
      "listen 5000;": `listen 127.0.0.1:${frontPorts[index]};`,
      "10.0.0.5:5000": `127.0.0.1:${new URL(process.grpcUrl).port}`,
    });
    return stream.replace(/^stream \{/, "").replace(/\}\s*$/, "");
  });
  return `${httpBlock(server)}stream {\n${streams.join("\n")}\n}\n`;
}

/** Half of the agents come over QUIC, half through nginx. */
function assemble({ cluster, apiUrl, apiCertificate }: Service): Promise<Crowd[]> {
  const groups = Math.ceil(agents / 2 / members);
  const environment = { DENO_CERT: apiCertificate };
  const size = { groups, members, everyMs, environment };
  return Promise.all([
    Crowd.of(cluster, { ...size, name: "office", options: { apiUrl } }),
    Crowd.of(cluster, { ...size, name: "home", options: { apiUrl, transport: "grpc" } }),
  ]);
}

/** A stranger becomes a customer, looks around, mistypes a password and connects an agent. */
async function visit({ cluster }: Service, name: string): Promise<void> {
  const { api, folder } = cluster;
  const { email, apiKey } = await signUp(api.call);
  const created = await api.call("POST", "/v1/keys", { key: apiKey, body: { name } });
  assertEquals(created.status, 200, created.text);
  for (const path of ["/v1/keys", "/v1/usage"]) {
    assertEquals((await api.call("GET", path, { key: apiKey })).status, 200);
  }
  const removed = await api.call("DELETE", `/v1/keys/${created.json.id}`, { key: apiKey });
  assertEquals(removed.status, 204);
  const body = { email, password: "not this one", name };
  assertEquals((await api.call("POST", "/v1/accounts/keys", { body })).status, 401);
  await using client = await StaticClient.connect({
    endpoint: cluster.endpoint,
    apiUrl: api.url,
    apiKey,
    tls: { caCerts: await cluster.authorities() },
    dataDir: `${folder}/agents/${name}`,
    identity: name,
  });
  const channel = await client.createChannel(`acme/visits/${name}`);
  await channel.send("a first message");
}

/** Alerts that fired, and whatever was refused, at any time until now. */
async function troubles(prometheus: Prometheus): Promise<readonly string[]> {
  const named = (what: string) => ({ metric }: { metric: Readonly<Record<string, string>> }) =>
    `${what} ${metric["alertname"] ?? metric["status"] ?? ""} of ${metric["instance"]}`;
  const alerts = await prometheus.query('count_over_time(ALERTS{alertstate="firing"}[3h])');
  const statuses = await prometheus.query(
    'max_over_time(static_api_requests_total{status=~"429|5.."}[3h]) > 0',
  );
  const counters = await Promise.all(
    refusals.map(async (name) => {
      const found = await prometheus.query(`max_over_time(${name}[3h]) > 0`);
      return found.map(named(name));
    }),
  );
  return [...alerts.map(named("alert")), ...statuses.map(named("answer")), ...counters.flat()];
}

/** Restarts the relays; returns the sessions of each, and after how many seconds they were even. */
async function upgrade({ cluster }: Service): Promise<string> {
  const before = await cluster.agents();
  await cluster.restartOneByOne(restMs);
  const restarted = await cluster.agents();
  const startMs = Date.now();
  const share = agents / relayCount;
  const even = await eventually(
    { what: "sessions are even", withinMs: evenMs },
    () => cluster.agents(),
    (counts) =>
      counts.every((count) => count >= 0.6 * share && count <= 1.4 * share) &&
      counts.reduce((sum, count) => sum + count) >= agents,
  );
  const seconds = Math.round((Date.now() - startMs) / 1_000);
  return `sessions ${before}, restarted ${restarted}, ${even} after ${seconds} s`;
}

testWhen(
  requirement,
  `${minutes} minutes of ${agents} agents, a restart of all relays with them, are quiet`,
  async () => {
    await using opened = new AsyncDisposableStack();
    const service = opened.use(await startService());
    const { cluster } = service;
    const from = Date.now() / 1_000;
    const prometheus = opened.use(
      await startPrometheus({
        api: new URL(cluster.api.adminUrl).host,
        relays: cluster.relays.map(({ process }) => new URL(process.adminUrl).host),
      }),
    );
    const untilMs = Date.now() + minutes * 60_000;
    const crowds = await assemble(service);
    for (const crowd of crowds) opened.use(crowd);
    console.log(`${agents} agents are in after ${Math.round(Date.now() / 1_000 - from)} s`);
    const upgradeMs = untilMs - minutes * 40_000;
    let [visits, upgraded] = [0, ""];
    while (Date.now() < untilMs) {
      await visit(service, `visit-${visits++}`);
      if (upgraded === "" && Date.now() >= upgradeMs) {
        upgraded = await upgrade(service);
        console.log(upgraded);
      }
      assertEquals(await troubles(prometheus), []);
      // wait: the pace of the visits
      await new Promise((resolve) => setTimeout(resolve, visitEveryMs));
    }
    const to = Date.now() / 1_000;
    const step = Math.max(15, Math.round((to - from) / 90));
    await Deno.mkdir(new URL("./", picture), { recursive: true });
    await Deno.writeTextFile(picture, await drawDashboard(prometheus, { from, to, step }));
    const audits: readonly Audit[] =
      (await Promise.all(crowds.map((crowd) => crowd.finish(quietMs)))).flat();
    assertEquals(audits.flatMap(({ violations }) => violations), []);
    assertEquals(crowds.flatMap((crowd) => crowd.refusals), []);
    assertEquals(await troubles(prometheus), []);
    const sum = (count: (audit: Audit) => number): number =>
      audits.reduce((total, audit) => total + count(audit), 0);
    const accepted = sum((audit) => audit.accepted);
    assertGreater(accepted, agents);
    const scrapes = await prometheus.query("min(count_over_time(up[3h]))");
    const [p99] = await prometheus.query(
      "histogram_quantile(0.99, sum by (le) (rate(static_api_request_duration_seconds_bucket[1h])))",
    );
    const line = `${minutes} minutes, ${agents} agents: ${upgraded}; ${accepted} messages, heard ${
      sum((audit) => audit.heard)
    } times, ${visits} visits, ${scrapes[0]?.value[1]} scrapes, p99 of requests ${
      Number(p99?.value[1]).toFixed(3)
    } s`;
    tried(line);
    console.log(line);
  },
);
