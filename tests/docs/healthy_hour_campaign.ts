// An hour of a service that works, in a real Prometheus with the shipped rules: no alert. The
// number of minutes may be given: deno test -A --unstable-net --no-check FILE -- 5
import { assertEquals, assertGreater } from "@std/assert";
import { type Channel, StaticClient } from "static-sdk";
import { realPostgres, relaySecret, signUp } from "../support/api/harness.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { tried } from "../support/campaign.ts";
import { freePort, installed, testWhen } from "../support/mod.ts";
import { type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";

const minutes = Number(Deno.args[0] ?? 60);
const agents = 4;
const messageEveryMs = 1_000;
const visitEveryMs = 30_000;

interface Service extends AsyncDisposable {
  readonly api: ApiProcess;
  readonly relay: RelayProcess;
  readonly folder: string;
}

async function startService(): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const backend = await realPostgres.open();
  opened.defer(() => backend.close());
  const folder = await Deno.makeTempDir({ prefix: "static-hour-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const [quicPort, grpcPort] = [freePort(), freePort()];
  const api = await startProcess({
    ...backend.environment,
    STATIC_RELAY_URL: `quic://localhost:${quicPort},https://localhost:${grpcPort}`,
    STATIC_CA_FILE: `${folder}/ca.pem`,
  });
  opened.defer(() => api.stop());
  const relay = await startRelayProcess({
    STATIC_DATA_DIR: folder,
    STATIC_API_URL: api.url,
    STATIC_API_INTERNAL_URL: api.internalUrl,
    STATIC_RELAY_SECRET: relaySecret,
    STATIC_RELAY_QUIC_PORT: String(quicPort),
    STATIC_RELAY_GRPC_PORT: String(grpcPort),
  });
  opened.defer(() => relay.stop());
  const running = opened.move();
  return { api, relay, folder, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A stranger becomes a customer, looks around, mistypes a password and connects an agent. */
async function visit({ api, relay, folder }: Service, name: string): Promise<void> {
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
  await using client = await connect({ api, relay, folder }, { apiKey, name });
  const channel = await client.createChannel(`acme/visits/${name}`);
  await channel.send("a first message");
}

function connect(
  { api, relay, folder }: Pick<Service, "api" | "relay" | "folder">,
  { apiKey, name }: { readonly apiKey: string; readonly name: string },
): Promise<StaticClient> {
  return StaticClient.connect({
    endpoint: `${relay.quicUrl},${relay.grpcUrl}`,
    apiUrl: api.url,
    apiKey,
    tls: { caFile: relay.caFile },
    dataDir: `${folder}/agents/${name}`,
    identity: name,
  });
}

/** Everybody in one channel, each reading what the others send. */
async function openOffice(
  service: Service,
  opened: AsyncDisposableStack,
): Promise<{ readonly channels: readonly Channel[]; readonly read: () => number }> {
  const { apiKey } = await signUp(service.api.call);
  const clients: StaticClient[] = [];
  for (let i = 0; i < agents; i++) {
    clients.push(opened.use(await connect(service, { apiKey, name: `agent-${i}` })));
  }
  const [first, ...others] = clients;
  if (first === undefined) throw new Error("There are no agents");
  const name = "acme/ops/hour";
  const channel = await first.createChannel(name);
  const channels = [channel];
  for (const other of others) {
    const welcome = await channel.addMember(await other.generateKeyPackage());
    channels.push(await other.joinChannel(name, welcome));
  }
  const read = { count: 0 };
  for (const each of channels) {
    void (async () => {
      for await (const _ of each.messages()) read.count++;
    })();
  }
  return { channels, read: () => read.count };
}

/** Alerts that fired at any time until now. */
async function fired(prometheus: Prometheus): Promise<readonly string[]> {
  const found = await prometheus.query('count_over_time(ALERTS{alertstate="firing"}[2h])');
  return found.map(({ metric }) => `${metric["alertname"]} of ${metric["instance"]}`);
}

testWhen(
  installed("prometheus"),
  `${minutes} minutes of healthy load are quiet`,
  async () => {
    await using opened = new AsyncDisposableStack();
    const service = opened.use(await startService());
    const prometheus = opened.use(
      await startPrometheus({
        api: new URL(service.api.adminUrl).host,
        relay: new URL(service.relay.adminUrl).host,
      }),
    );
    const { channels, read } = await openOffice(service, opened);
    const untilMs = Date.now() + minutes * 60_000;
    let [sent, visits, nextVisitMs] = [0, 0, 0];
    while (Date.now() < untilMs) {
      await channels[sent % channels.length]?.send(`message ${sent}`);
      sent++;
      if (Date.now() >= nextVisitMs) {
        await visit(service, `visit-${visits++}`);
        nextVisitMs = Date.now() + visitEveryMs;
        assertEquals(await fired(prometheus).catch(() => []), []);
      }
      // wait: the pace of the load
      await new Promise((resolve) => setTimeout(resolve, messageEveryMs));
    }
    assertEquals(await fired(prometheus), []);
    assertGreater(read(), sent);
    const scrapes = await prometheus.query("min(count_over_time(up[2h]))");
    const [p99] = await prometheus.query(
      "histogram_quantile(0.99, sum by (le) (rate(static_api_request_duration_seconds_bucket[1h])))",
    );
    const line = `${minutes} minutes: ${sent} messages, ${visits} visits, ${
      scrapes[0]?.value[1]
    } scrapes, p99 of requests ${Number(p99?.value[1]).toFixed(3)} s`;
    tried(line);
    console.log(line);
  },
);
