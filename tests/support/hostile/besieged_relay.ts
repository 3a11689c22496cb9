/** A relay's own process with agents that do nothing wrong: one over QUIC, one with typed calls, one that logs in again and again. */
import type { SpawnOptions } from "../part_process.ts";
import { TestAgent } from "../relay/agent.ts";
import { connectTransport, openQuic } from "../relay/deno_clients.ts";
import { type KeyServer, startKeyServer } from "../relay/key_server.ts";
import { type RelayProcess, startRelayProcess } from "../relay/process.ts";
import { CallFailed, type RelayClient } from "../relay/relay_client.ts";
import { TypedClient } from "../relay/typed_client.ts";
import type { HonestCall } from "./honest_tenant.ts";

export interface BesiegedRelay extends AsyncDisposable {
  readonly process: RelayProcess;
  readonly keys: KeyServer;
  readonly grpcPort: number;
  readonly quicPort: number;
  readonly ca: string;
  /** In turn: a Ping over QUIC, a typed Ping, and more rarely `/health` and a whole login. */
  readonly honest: HonestCall;
  /** One metric's value. */
  metric(name: string): Promise<number>;
}

/** One call in so many is a login. */
const loginEvery = 20;
const healthEvery = 15;

export async function besiegedRelay(
  environment: Readonly<Record<string, string>> = {},
  options: SpawnOptions = {},
): Promise<BesiegedRelay> {
  await using opened = new AsyncDisposableStack();
  const dataDir = await Deno.makeTempDir({ prefix: "static-hostile-" });
  opened.defer(() => Deno.remove(dataDir, { recursive: true }));
  const keys = opened.use(await startKeyServer());
  const process = opened.use(
    await startRelayProcess(
      { STATIC_DATA_DIR: dataDir, STATIC_API_URL: keys.url, STATIC_API_INTERNAL_URL: keys.url, ...environment },
      "permitted",
      options,
    ),
  );
  const [grpcPort, quicPort] = [portOf(process.grpcUrl), portOf(process.quicUrl)];
  const ca = await Deno.readTextFile(process.caFile);
  const fetching = opened.use(connectTransport(grpcPort, ca));
  const origin = `quic://localhost:${quicPort}`;
  const login = async (open: () => Promise<RelayClient>): Promise<RelayClient> => {
    const client = await open();
    const agent = new TestAgent({ open, origin }, client, crypto.randomUUID());
    await agent.authenticate(client, await keys.sign(agent.account));
    return client;
  };
  const overQuic = await login(() => openQuic(quicPort, ca));
  const typed = await login(() => Promise.resolve(new TypedClient(fetching.transport)));
  opened.defer(() => overQuic.close());
  opened.defer(() => typed.close());
  let turn = 0;
  const honest: HonestCall = async (signal) => {
    turn++;
    if (turn % loginEvery === 0) return await loginOnce(2);
    if (turn % healthEvery === 0) return await readHealth(signal);
    return void await (turn % 2 === 0 ? overQuic : typed).call("Ping", {});
  };
  /** On a machine that is busy with other things a login may be told to come again. */
  const loginOnce = async (retries: number): Promise<void> => {
    try {
      (await login(() => openQuic(quicPort, ca))).close();
    } catch (error) {
      if (retries === 0 || !(error instanceof CallFailed && error.code === "overloaded")) throw error;
      await loginOnce(retries - 1);
    }
  };
  const readHealth = async (signal: AbortSignal): Promise<void> => {
    const { status, body } = await fetching.fetch(`${process.grpcUrl}/health`, { signal });
    await body?.cancel();
    if (status !== 200) throw new Error(`/health: ${status}`);
  };
  const running = opened.move();
  return {
    process,
    keys,
    grpcPort,
    quicPort,
    ca,
    honest,
    metric: async (name) => Number(new RegExp(`^static_relay_${name} (\\S+)$`, "m").exec(await process.metrics())?.[1]),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function portOf(url: string): number {
  return Number(url.slice(url.lastIndexOf(":") + 1));
}
