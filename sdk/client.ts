/** What a user begins with: one agent, connected. */
import { platform } from "#platform";
import { type AgentId, agentIdOf, type ChannelName } from "../proto/mod.ts";
import { Agent, type ChannelOptions } from "./channel/agent.ts";
import type { ClientEvent, MissedEvents, QuotaEvent } from "./channel/events.ts";
import { QuotaWatch } from "./channel/quota_watch.ts";
import { Channel } from "./channel.ts";
import { type Abortable, abortable } from "./base/abortable.ts";
import { createError } from "./base/errors.ts";
import type { LiveChannel } from "./channel/live_channel.ts";
import { translating } from "./channel/faults.ts";
import { openIdentity } from "./mls/identity.ts";
import { createSignatures } from "./mls/crypto/signatures.ts";
import type { Platform } from "./platform/platform.ts";
import { createEndedSession } from "./session/ended_session.ts";
import { openRelaySession, type RelayOptions } from "./session/open_session.ts";
import type { RelaySession, SessionState } from "./session/relay_session.ts";
import { type RecordStore, storeMigrations } from "./store/mod.ts";
import type { TransportName } from "./transport/transport.ts";

/**
 * How to reach the relay and the API (`endpoint`, `apiKey` and `apiUrl` or `token`, `tls`, `transport`, `cover`; what is not
 * given comes from the environment or the CLI's file where the platform has them), and who this agent is.
 *
 * @example
 * ```ts
 * import type { ConnectOptions } from "static-sdk";
 *
 * function optionsFor(name: string, folder: string): ConnectOptions {
 *   return {
 *     endpoint: "quic://relay.example",
 *     apiUrl: "https://api.example",
 *     apiKey: "sk_live_...",
 *     dataDir: `${folder}/${name}`,
 *     identity: name,
 *     cover: "strong",
 *     tls: { caFile: "ca.pem" },
 *   };
 * }
 * ```
 */
export interface ConnectOptions extends RelayOptions {
  /** Where this agent's keys and channels are kept, encrypted: a folder, or in a browser a name. One agent each. */
  readonly dataDir: string;
  /** Unique for each agent. Text is taken as UTF-8. */
  readonly identity: Uint8Array | string;
  /** Protects the keys in `dataDir`; without it they are protected by the file's permissions alone. */
  readonly passphrase?: string;
  /** After `store_corrupt`: rebuild the database from its intact files first; see also `repairAgentStore`. */
  readonly repair?: boolean;
  /**
   * What to do when the directory as a whole cannot be trusted: `refuse`, which is the default; `read`, to look at what is
   * intact, such as who is in its channels, without a connection and without changing anything; or `accept` the loss.
   */
  readonly damaged?: "refuse" | "read" | "accept";
}

/**
 * An agent: its keys, its channels, and its connection to the relay, which comes back by itself when it is lost.
 *
 * @example Two agents exchange an encrypted message
 * ```ts
 * import { StaticClient } from "static-sdk";
 *
 * async function hello(endpoint: string, apiUrl: string, apiKey: string): Promise<string> {
 *   await using alice = await StaticClient.connect({ endpoint, apiUrl, apiKey, dataDir: "alice", identity: "alice" });
 *   await using bob = await StaticClient.connect({ endpoint, apiUrl, apiKey, dataDir: "bob", identity: "bob" });
 *   const channel = await alice.createChannel("acme/ops/deploy");
 *   const welcome = await channel.addMember(await bob.generateKeyPackage());
 *   const joined = await bob.joinChannel("acme/ops/deploy", welcome);
 *   await channel.send("hello, bob");
 *   const envelope = await joined.receiveEnvelope({ timeoutMs: 10_000 });
 *   return envelope?.text() ?? "";
 * }
 * ```
 */
export class StaticClient {
  readonly #agent: Agent;
  #quota: QuotaWatch | undefined;

  private constructor(agent: Agent) {
    this.#agent = agent;
  }

  /**
   * Opens the data directory, exchanges the API key, connects and authenticates. Rejects with `auth_failed` or
   * `auth_key_invalid` when the credential is not accepted, `connection_error` when the relay or the API cannot be reached,
   * `store_locked` when another process uses the directory, `passphrase_wrong`. Without any credential it resolves, and
   * what needs the relay fails with `auth_failed`.
   *
   * @example Give up after ten seconds
   * ```ts
   * import { type ConnectOptions, StaticClient } from "static-sdk";
   *
   * async function connectSoon(options: ConnectOptions): Promise<StaticClient> {
   *   return await StaticClient.connect({ ...options, signal: AbortSignal.timeout(10_000) });
   * }
   * ```
   */
  static async connect(options: ConnectOptions): Promise<StaticClient> {
    return new StaticClient(await connectAgent(options, platform));
  }

  /** @internal For the manager, and for tests that bring their own relay. */
  static over(agent: Agent): StaticClient {
    return new StaticClient(agent);
  }

  /** How the relay and other agents name this agent. */
  get agentId(): AgentId {
    return this.#agent.agentId;
  }

  /** How the connection is made: `quic`, `webtransport`, `grpc` or `cells`; undefined while there is none. */
  get transport(): TransportName | undefined {
    const { state } = this.#agent.parts.session;
    return state.kind === "online" ? state.connection.transport : undefined;
  }

  /** Names of the channels that this agent is in. */
  get channels(): ChannelName[] {
    return this.#agent.names;
  }

  /** Names of channels to which a Welcome has arrived: `joinChannel(name)` takes it. */
  get welcomes(): ChannelName[] {
    return this.#agent.welcomes.names;
  }

  /**
   * Makes a channel with this agent as its owner and only member.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function open(client: StaticClient): Promise<void> {
   *   const channel = await client.createChannel("acme/ops/deploy");
   *   console.log(channel.fingerprint());
   * }
   * ```
   */
  async createChannel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.#enter(options, () => this.#agent.create(name, options));
  }

  /**
   * A KeyPackage to be handed to a member of a channel, who adds this agent with it. For one channel only.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function apply(client: StaticClient): Promise<string> {
   *   const keyPackage = await client.generateKeyPackage();
   *   return btoa(String.fromCharCode(...keyPackage)); // as text, to be handed to a member by any way
   * }
   * ```
   */
  async generateKeyPackage(): Promise<Uint8Array> {
    return await translating(
      "Cannot make a KeyPackage",
      async () => (await this.#agent.keyPackages.create()).message,
    );
  }

  /**
   * Joins a channel by the Welcome that `addMember` answered; without one, by the Welcome that the relay has delivered, or
   * delivers in the next two seconds.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function enter(client: StaticClient, welcome: Uint8Array): Promise<void> {
   *   const channel = await client.joinChannel("acme/ops/deploy", welcome);
   *   await channel.send("here I am");
   * }
   * ```
   */
  async joinChannel(name: string, welcome?: Uint8Array, options: ChannelOptions = {}): Promise<Channel> {
    return await this.#enter(options, () => this.#agent.join(name, welcome, options));
  }

  /**
   * A channel that this agent is in, also after a restart.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function reopen(client: StaticClient): Promise<void> {
   *   for (const name of client.channels) console.log(name, (await client.channel(name)).health().state);
   * }
   * ```
   */
  async channel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.#enter(options, () => this.#agent.open(name, options));
  }

  /**
   * The channel of this name: opened when this agent is in it, else made with this agent as its owner. So a program is the
   * same on its first run and on every other, and its parts may ask for the channel at the same time.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function start(client: StaticClient): Promise<void> {
   *   const channel = await client.openChannel("acme/ops/deploy");
   *   await channel.send("started");
   * }
   * ```
   */
  async openChannel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.#enter(options, () => this.#agent.openOrCreate(name, options));
  }

  /**
   * What happens to the connection and in all channels, from now on: connected, disconnected, reconnecting, the plan's quota
   * near its limit, and everything that `Channel.events` tells, with the channel's name. The loop ends when the client is
   * closed, or by the signal.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function follow(client: StaticClient, signal: AbortSignal): Promise<void> {
   *   for await (const event of client.events({ signal })) {
   *     if (event.type === "disconnected") console.log("offline:", event.error?.message);
   *     else if (event.type === "member_joined") console.log(event.member.identity, "joined", event.channel);
   *   }
   * }
   * ```
   */
  events(
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<ClientEvent | MissedEvents, undefined> {
    const { session: { usage }, session, runtime } = this.#agent.parts;
    const isOver = (): boolean => session.state.kind === "ended";
    const tell = (event: QuotaEvent): void => this.#agent.tell(event);
    if (usage !== undefined) this.#quota ??= new QuotaWatch({ runtime, usage, tell, isOver });
    return this.#agent.events.listen(signal);
  }

  /**
   * Ends a channel of this account for all its members and frees its name, also when this agent's state of it is lost.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function tearDown(client: StaticClient): Promise<void> {
   *   await client.closeChannel("acme/ops/deploy");
   * }
   * ```
   */
  async closeChannel(name: string, { signal }: Abortable = {}): Promise<void> {
    await abortable(signal, () => this.#agent.closeChannel(name));
  }

  /**
   * Writes what is under way and ends the connection. Loops end.
   *
   * @example
   * ```ts
   * import type { StaticClient } from "static-sdk";
   *
   * async function stop(client: StaticClient): Promise<void> {
   *   await client.close();
   * }
   * ```
   */
  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #enter({ signal }: Abortable, act: () => Promise<LiveChannel>): Promise<Channel> {
    return new Channel(await abortable(signal, act), this.#agent);
  }

  /** `await using` closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** @internal Everything from options to a connected agent. What was opened is closed again when it does not come about. */
export async function connectAgent(options: ConnectOptions, runtime: Platform): Promise<Agent> {
  options.signal?.throwIfAborted();
  const store = await translating("Cannot open the data directory", () => openStore(options, runtime));
  try {
    return await translating("Cannot connect", () => connectWith(store, options, runtime));
  } catch (error) {
    await store.close();
    options.signal?.throwIfAborted();
    throw error;
  }
}

async function connectWith(store: RecordStore, options: ConnectOptions, runtime: Platform): Promise<Agent> {
  const signatures = await createSignatures(runtime.ed25519, runtime.x25519);
  const identity = await openIdentity(store, bytesOf(options.identity), runtime);
  const [fault] = options.damaged === "read" ? store.faults : [];
  if (fault !== undefined) {
    const text = `The data directory is damaged and was opened for reading: ${fault.message}`;
    const agentId = agentIdOf(identity.signatureKey, identity.identity);
    const session = createEndedSession(agentId, createError("store_corrupt", text, { cause: fault }));
    return await Agent.open({ store, session, runtime, signatures, identity });
  }
  const session = await openRelaySession(options, {
    identity: identity.identity,
    publicKey: identity.signatureKey,
    sign: (message) => signatures.sign(identity.signingSeed, message),
  }, runtime);
  try {
    // The agent listens before there is a connection: what the relay pushes first must not be lost.
    const agent = await Agent.open({ store, session, runtime, signatures, identity });
    if (await hasCredential(options, runtime)) await online(session, options.signal);
    return agent;
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function openStore(
  { dataDir, passphrase, repair, damaged }: ConnectOptions,
  runtime: Platform,
): Promise<RecordStore> {
  if (dataDir === "") throw createError("invalid_request", "Cannot connect: dataDir is empty; name a directory");
  return await runtime.openStore(dataDir, {
    migrations: storeMigrations,
    ...(passphrase !== undefined && { passphrase }),
    ...(repair !== undefined && { repair }),
    ...(damaged !== undefined && { damaged }),
  });
}

/** Without one, what is local works and the rest fails with `auth_failed`. */
async function hasCredential({ apiKey, token }: ConnectOptions, runtime: Platform): Promise<boolean> {
  return apiKey !== undefined || token !== undefined || (await runtime.readSettings()).apiKey !== undefined;
}

/** Resolves with the first connection; rejects with why there is none when every way has been tried once. */
async function online(session: RelaySession, signal: AbortSignal | undefined): Promise<void> {
  let stop = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (state: SessionState): void => {
        if (state.kind === "online") resolve();
        else if (state.kind === "offline") reject(state.error);
        else if (state.kind === "ended") {
          reject(state.error ?? createError("connection_error", "The session was closed"));
        }
      };
      const abort = (): void => reject(signal?.reason);
      const forget = session.onState(look);
      signal?.addEventListener("abort", abort);
      stop = () => {
        forget();
        signal?.removeEventListener("abort", abort);
      };
      if (signal?.aborted === true) abort();
      look(session.state);
    });
  } finally {
    stop();
  }
}

function bytesOf(identity: Uint8Array | string): Uint8Array {
  return typeof identity === "string" ? new TextEncoder().encode(identity) : identity;
}
