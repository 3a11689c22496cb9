// Fleets that start at once from one address, at a relay that has few places for agents that have
// not authenticated yet.
import { assertEquals, assertGreater } from "@std/assert";
import { type ConnectOptions, StaticClient } from "../../sdk/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import { anyBackend, relaySecret, startTestApi, type TestApi } from "../support/api/harness.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";
import { node, runInNode } from "../support/runtime/node.ts";

const agents = inCampaign ? 60 : 18;
/** On each port: a tenth of all sessions. */
const places = 8;
/** In a second, and four times as many at once. */
const newSockets = inCampaign ? 8 : 2;

/** An API, and a relay with limits of its own. */
async function startService(
  limits: Readonly<Record<string, string>>,
): Promise<Service & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const api = await startTestApi(backend.environment);
  opened.defer(() => api.close());
  const folder = await Deno.makeTempDir({ prefix: "static-fleet-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const relay = await startRelayProcess({
    STATIC_DATA_DIR: `${folder}/relay`,
    STATIC_API_URL: api.url,
    STATIC_API_INTERNAL_URL: api.internalUrl,
    STATIC_RELAY_SECRET: relaySecret,
    ...limits,
  });
  opened.defer(() => relay.stop());
  const { apiKey } = await api.signUp();
  const options = {
    apiUrl: api.url,
    apiKey,
    tls: { caCerts: [await Deno.readTextFile(relay.caFile)] },
    cover: "off" as const,
  };
  const running = opened.move();
  return { api, relay, folder, options, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

interface Service {
  readonly api: TestApi;
  readonly relay: RelayProcess;
  readonly folder: string;
  readonly options: Pick<ConnectOptions, "apiUrl" | "apiKey" | "tls" | "cover">;
}

interface Fleet {
  readonly name: string;
  readonly agents: number;
  readonly endpoint: string;
  readonly apiUrl?: string;
}

/** Returns why those that did not get in were refused. */
async function connect(
  { options, folder }: Service,
  { name, agents, ...more }: Fleet,
): Promise<string[]> {
  const fleet = await Promise.allSettled(
    Array.from({ length: agents }, (_, agent) =>
      StaticClient.connect({
        ...options,
        ...more,
        dataDir: `${folder}/${name}-${agent}`,
        identity: `agent-${agent}`,
      })),
  );
  await Promise.all(
    fleet.map((each) => each.status === "fulfilled" ? each.value.close() : undefined),
  );
  return fleet.flatMap((each) => each.status === "fulfilled" ? [] : [String(each.reason)]);
}

Deno.test("all agents of a fleet that starts at once are in, at a relay with a few places for newcomers", async (t) => {
  const sessions = String(10 * places);
  await using service = await startService({
    STATIC_RELAY_SESSIONS: sessions,
    STATIC_RELAY_SESSIONS_PER_ACCOUNT: sessions,
  });
  const { api, relay, options } = service;
  const both = `${relay.quicUrl},${relay.grpcUrl}`;

  await t.step("by both ports", async () => {
    assertEquals(await connect(service, { name: "both", agents, endpoint: both }), []);
    const [, refused = "0"] =
      /^static_relay_quic_refused_total (\d+)$/m.exec(await relay.metrics()) ?? [];
    assertGreater(Number(refused), 0, "nobody was refused, so this shows nothing");
  });

  await t.step("by the TCP port alone", async () => {
    assertEquals(await connect(service, { name: "tcp", agents, endpoint: relay.grpcUrl }), []);
  });

  await t.step("through a proxy that passes few requests at once to the API", async () => {
    let [underWay, refused] = [0, 0];
    await using proxy = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async (request) => {
        if (underWay >= places) {
          refused++;
          return new Response("busy", {
            status: refused % 2 === 0 ? 429 : 503,
            headers: { "retry-after": "1" },
          });
        }
        underWay++;
        try {
          const { pathname } = new URL(request.url);
          const { method, headers } = request;
          return await fetch(api.url + pathname, { method, headers, body: await request.bytes() });
        } finally {
          underWay--;
        }
      },
    );
    const apiUrl = `http://127.0.0.1:${proxy.addr.port}`;
    assertEquals(await connect(service, { name: "proxy", agents, endpoint: both, apiUrl }), []);
    assertGreater(refused, 0, "nobody was refused, so this shows nothing");
  });

  await t.step({
    name: "in Node, by the gRPC stream Session",
    ignore: !node.met,
    fn: async () => {
      await using project = await createProject();
      const bundle = await project.bundle(new URL("fleet_node.ts", import.meta.url), "node");
      // Fewer, because one thread of Node computes all their handshakes, and each has its time.
      const fleet = { ...options, endpoint: relay.grpcUrl, agents: 3 * places };
      assertEquals(JSON.parse(await runInNode(bundle, JSON.stringify(fleet))), []);
    },
  });
});

Deno.test("all agents of a fleet over TCP are in, at a relay that closes connections of an address that opens many", async () => {
  await using service = await startService({
    STATIC_RELAY_NEW_SOCKETS_PER_ADDRESS: String(newSockets),
  });
  const { relay } = service;
  const fleet = { name: "tcp", agents: 5 * newSockets, endpoint: relay.grpcUrl };
  assertEquals(await connect(service, fleet), []);
  const [, refused = "0"] =
    /^static_relay_sockets_refused_total (\d+)$/m.exec(await relay.metrics()) ?? [];
  assertGreater(Number(refused), 0, "nobody was refused, so this shows nothing");
  tried(`fleets of ${agents} and ${5 * newSockets} agents`);
});
