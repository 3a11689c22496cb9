/**
 * A relay's own process with agents that do nothing wrong: one over QUIC, one with typed calls, one
 * that logs in again and again.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import type { SpawnOptions } from "../part_process.ts";
import { TestAgent } from "../relay/agent.ts";
import { connectTransport, openQuic } from "../relay/deno_clients.ts";
import { type KeyServer, startKeyServer } from "../relay/key_server.ts";
import { type RelayProcess, startRelayProcess } from "../relay/process.ts";
import { CallFailed, type RelayClient } from "../relay/relay_client.ts";
import { TypedClient } from "../relay/typed_client.ts";
import type { HonestCall } from "./honest_tenant.ts";
import type { TenantOrder } from "./tenant.ts";

export interface BesiegedRelay extends AsyncDisposable {
  readonly process: RelayProcess;
  readonly keys: KeyServer;
  readonly grpcPort: number;
  readonly quicPort: number;
  readonly ca: string;
  /**
   * In turn: a Ping over QUIC, a typed Ping, a message to a member that reads, and more rarely
   * `/health` and a whole login.
   */
  readonly honest: HonestCall;
  /** A login with typed calls, on a connection of its own, from an address of its own. */
  loginOverTcp(): Promise<void>;
  /**
   * An agent of this account, connected over QUIC. `claims` are further ones of its token, as JSON
   * text.
   */
  connect(account?: string, claims?: string): Promise<TestAgent>;
  /** The order with which an attacker becomes a tenant of these accounts. */
  tenants(accounts: readonly string[]): Promise<TenantOrder>;
  /** One metric's value. */
  metric(name: string): Promise<number>;
}

/** One call in so many is a login. */
const loginEvery = 20;
const healthEvery = 15;
const sendEvery = 6;

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
      {
        STATIC_DATA_DIR: dataDir,
        STATIC_API_URL: keys.url,
        STATIC_API_INTERNAL_URL: keys.url,
        ...environment,
      },
      "permitted",
      options,
    ),
  );
  const [grpcPort, quicPort] = [portOf(process.grpcUrl), portOf(process.quicUrl)];
  const ca = await Deno.readTextFile(process.caFile);
  const fetching = opened.use(connectTransport(grpcPort, ca));
  const origin = `quic://localhost:${quicPort}`;
  const login = async (
    open: () => Promise<RelayClient>,
    account?: string,
    claims?: string,
  ): Promise<TestAgent> => {
    const client = await open();
    const agent = new TestAgent({ open, origin }, client, account ?? crypto.randomUUID());
    await agent.authenticate(client, await keys.sign(agent.account, claims));
    return agent;
  };
  const connect: BesiegedRelay["connect"] = (account, claims) =>
    login(() => openQuic(quicPort, ca), account, claims);
  const sender = await connect();
  const typed = await login(() => Promise.resolve(new TypedClient(fetching.transport)));
  const reader = await connect();
  for (const { client } of [sender, typed, reader]) opened.defer(() => client.close());
  const channelId = await readChannel(sender, reader);
  let turn = 0;
  const honest: HonestCall = async (signal) => {
    turn++;
    if (turn % loginEvery === 0) return await loginOnce(2);
    if (turn % healthEvery === 0) return await readHealth(signal);
    if (turn % sendEvery === 0) return void await sender.send(channelId, 1);
    return void await (turn % 2 === 0 ? sender : typed).client.call("Ping", {});
  };
  /** On a machine that is busy with other things a login may be told to come again. */
  const loginOnce = async (retries: number): Promise<void> => {
    try {
      (await connect()).client.close();
    } catch (error) {
      if (retries === 0 || !(error instanceof CallFailed && error.code === "overloaded")) {
        throw error;
      }
      await loginOnce(retries - 1);
    }
  };
  const loginOverTcp = async (): Promise<void> => {
    using fresh = connectTransport(grpcPort, ca, "127.0.9.1");
    const agent = await login(() => Promise.resolve(new TypedClient(fresh.transport)));
    agent.client.close();
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
    loginOverTcp,
    connect,
    tenants: async (accounts) => ({
      quicPort,
      ca,
      tenants: await Promise.all(
        accounts.map(async (account) => ({ account, token: await keys.sign(account) })),
      ),
    }),
    metric: async (name) =>
      Number(new RegExp(`^static_relay_${name} (\\S+)$`, "m").exec(await process.metrics())?.[1]),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A channel in which the one sends and the other takes what comes. */
async function readChannel(sender: TestAgent, reader: TestAgent): Promise<ChannelId> {
  const channelId = await sender.createChannel();
  await sender.client.call("SendCommit", sender.commit(channelId, 0, { added: [reader.agentId] }));
  for (const agent of [sender, reader]) {
    await agent.acknowledge(channelId, 1);
    await agent.subscribe(channelId, { windowBytes: 1 << 22 });
    agent.client.notices.onAdded = ({ operation, body }) => {
      if (operation !== "DeliverMessage" || !("sequence" in body)) return;
      void agent.acknowledge(channelId, body.sequence).catch(() => {});
    };
  }
  return channelId;
}

function portOf(url: string): number {
  return Number(url.slice(url.lastIndexOf(":") + 1));
}
