// Agents of a service with two relays. Each relay has a log of its own here, so only connections
// are looked at: the relays on one log are tested with the replicated engine.
import { assert, assertEquals } from "@std/assert";
import { StaticClient } from "../../sdk/mod.ts";
import { anyBackend, relaySecret, startTestApi, type TestApi } from "../support/api/harness.ts";
import { eventually, freePorts } from "../support/mod.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";

interface Relay {
  readonly urls: string;
  /** Agents that have a session here; none while it is down. */
  agents(): Promise<number>;
  start(api: TestApi): Promise<void>;
  readonly process: RelayProcess;
  ca(): Promise<string>;
}

function createRelay(dataDir: string): Relay {
  const [quicPort = 0, grpcPort = 0] = freePorts(2);
  let process: RelayProcess | undefined;
  const running = (): RelayProcess => {
    assert(process !== undefined);
    return process;
  };
  return {
    urls: `quic://localhost:${quicPort},https://localhost:${grpcPort}`,
    agents: async () => {
      const text = await running().metrics().catch(() => "");
      return Number(/^static_relay_sessions_authenticated (\d+)$/m.exec(text)?.[1] ?? 0);
    },
    start: async (api) => {
      process = await startRelayProcess({
        STATIC_DATA_DIR: dataDir,
        STATIC_API_URL: api.url,
        STATIC_API_INTERNAL_URL: api.internalUrl,
        STATIC_RELAY_SECRET: relaySecret,
        STATIC_RELAY_QUIC_PORT: String(quicPort),
        STATIC_RELAY_GRPC_PORT: String(grpcPort),
      });
    },
    get process() {
      return running();
    },
    ca: () => Deno.readTextFile(running().caFile),
  };
}

const agents = 4;

Deno.test("agents find two relays by the API, go to the other one when theirs is stopped or killed, and none waits for it", async (t) => {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const folders = await Promise.all(
    [1, 2].map(() => Deno.makeTempDir({ prefix: "static-relay-" })),
  );
  opened.defer(async () => {
    for (const folder of folders) await Deno.remove(folder, { recursive: true });
  });
  const relays = folders.map(createRelay);
  const [first, second] = relays;
  assert(first !== undefined && second !== undefined);
  const api = await startTestApi({
    ...backend.environment,
    STATIC_RELAY_URL: relays.map(({ urls }) => urls).join(","),
  });
  opened.defer(() => api.close());
  await Promise.all(relays.map((relay) => relay.start(api)));
  for (const relay of relays) opened.defer(() => relay.process.stop());

  const account = await api.signUp();
  const caCerts = await Promise.all(relays.map((relay) => relay.ca()));
  const data = await Deno.makeTempDir({ prefix: "static-agents-" });
  opened.defer(() => Deno.remove(data, { recursive: true }));
  const connect = (number: number): Promise<StaticClient> =>
    StaticClient.connect({
      apiUrl: api.url,
      apiKey: account.apiKey,
      tls: { caCerts },
      dataDir: `${data}/${number}`,
      identity: `agent-${number}`,
      cover: "off",
      ...(number % 2 === 0 && { transport: "grpc" as const }),
    });
  for (let number = 0; number < agents; number++) opened.use(await connect(number));
  const counts = (): Promise<number[]> => Promise.all(relays.map((relay) => relay.agents()));
  const settled = (wanted: readonly number[], withinMs: number): Promise<number[]> =>
    eventually(
      { withinMs, what: `sessions ${wanted}` },
      counts,
      (seen) => seen.join() === wanted.join(),
    );

  await t.step("each has one session", async () => {
    await eventually({ what: "sessions" }, counts, ([a = 0, b = 0]) => a + b === agents);
  });

  await t.step(
    "SIGTERM sends the agents of a relay to the other one before it has ended",
    async () => {
      first.process.signal("SIGTERM");
      await settled([0, agents], 20_000);
      assertEquals(await first.process.finished(), 0);
    },
  );

  await t.step("kill -9 of a relay: its agents go to the one that is back", async () => {
    await first.start(api);
    await second.process.stop();
    await settled([agents, 0], 90_000);
  });
});
