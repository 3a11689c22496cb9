/** The entry point for programs: one connected agent. */
import { connectHost } from "#hosts";
import { platform } from "#platform";
import type { AgentId } from "../../proto/mod.ts";
import { type Abortable, abortable } from "../base/abortable.ts";
import type { Channel } from "./channel.ts";
import type { Agent, ChannelOptions, CreateOptions } from "../channel/agent.ts";
import type { ClientEvent, MissedEvents } from "../channel/events.ts";
import type { ClientPort, JoinOptions } from "./client_port.ts";
import { connectAgent } from "./connect_agent.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { LocalClient } from "./local_client.ts";
import type { TransportName } from "../transport/transport.ts";

export type { ConnectOptions };

/**
 * An agent: its keys, its channels, and its connection to the relay, which is restored
 * automatically when it is lost.
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
  /** @internal For hosts, which carry out operations of programs. */
  readonly port: ClientPort;
  #forgetSignals: () => void = () => {};

  private constructor(port: ClientPort) {
    this.port = port;
  }

  /**
   * Opens the data directory, exchanges the API key, connects and authenticates. Rejects with
   * `auth_failed` or `auth_key_invalid` when the credential is not accepted, `connection_error`
   * when the relay or the API cannot be reached, `store_locked` when another process uses the
   * directory, `passphrase_wrong`. Without any credential it resolves, and what needs the relay
   * fails with `auth_failed`.
   */
  static async connect(options: ConnectOptions): Promise<StaticClient> {
    const client = options.host === "auto"
      ? new StaticClient(await connectHost(options, platform))
      : StaticClient.over(await connectAgent(options, platform));
    client.heed(options);
    return client;
  }

  /** @internal For the manager, and for tests that bring their own relay. */
  static over(agent: Agent): StaticClient {
    return new StaticClient(new LocalClient(agent));
  }

  /** @internal For the manager, which is closed with its client. */
  static through(port: ClientPort): StaticClient {
    return new StaticClient(port);
  }

  /**
   * @internal Closes at a signal, if the options say so. Nobody waits for it then, so a failure is
   * shown.
   */
  heed({ closeOnSignals }: Pick<ConnectOptions, "closeOnSignals">): void {
    if (closeOnSignals !== true) return;
    const shown = (error: unknown): void =>
      platform.show(`Cannot close the client at a signal. ${error}`);
    this.#forgetSignals = platform.onSignal(() => void this.close().catch(shown));
  }

  /** How the relay and other agents name this agent. */
  get agentId(): AgentId {
    return this.port.agentId;
  }

  /**
   * How the connection is made: `quic`, `webtransport`, `grpc` or `cells`; undefined while there is
   * none.
   */
  get transport(): TransportName | undefined {
    return this.port.transport;
  }

  /** Names of the channels that this agent is in. */
  get channels(): readonly string[] {
    return this.port.channels;
  }

  /** Names of channels to which a Welcome has arrived: `joinChannel(name)` takes it. */
  get welcomes(): readonly string[] {
    return this.port.welcomes;
  }

  /** Makes a channel with this agent as its owner and only member. */
  async createChannel(name: string, { signal, ...options }: CreateOptions = {}): Promise<Channel> {
    return await this.port.enter("create", { ...options, channel: name }, { signal });
  }

  /**
   * 40 digits of this agent, the same in all its channels. Others compare them with
   * `channel.numberOf()` before they give it a name.
   */
  async number({ signal }: Abortable = {}): Promise<string> {
    return await abortable(signal, () => this.port.number());
  }

  /**
   * A KeyPackage to be handed to a member of a channel, who adds this agent with it. For one
   * channel only.
   */
  async generateKeyPackage({ signal }: Abortable = {}): Promise<Uint8Array> {
    return await abortable(signal, () => this.port.act("keyPackage", {}));
  }

  /**
   * Joins a channel by the Welcome that `addMember` answered; without one, by the Welcome that the
   * relay has delivered, or delivers in the next two seconds.
   */
  async joinChannel(
    name: string,
    welcome?: Uint8Array,
    { signal, ...options }: ChannelOptions = {},
  ): Promise<Channel> {
    const fields = { ...options, channel: name };
    if (welcome === undefined) {
      return await this.port.enter("join", { ...fields, delivered: true }, { signal });
    }
    return await this.port.enter("join", fields, { bytes: welcome, signal });
  }

  /**
   * Joins by a link that a member has given; opens the channel if this agent is in it already. An
   * agent that was connected with the same link needs nothing else. Rejects with `link_invalid` for
   * a link that was cut short or changed, `join_timeout` when the inviter is not running, and
   * `join_rejected` when the link has expired, was used up, or was withdrawn.
   *
   * @example A guest with nothing but the link
   * ```ts
   * import { StaticClient } from "static-sdk";
   *
   * async function visit(link: string): Promise<void> {
   *   await using client = await StaticClient.connect({ link, dataDir: "visitor", identity: "visitor" });
   *   const channel = await client.join(link);
   *   await channel.send("hello from a guest");
   * }
   * ```
   */
  async join(link: string, { signal, ...options }: JoinOptions = {}): Promise<Channel> {
    return await this.port.enter("joinLink", { ...options, link }, { signal });
  }

  /** A channel that this agent is in, also after a restart. */
  async channel(name: string, { signal, ...options }: ChannelOptions = {}): Promise<Channel> {
    return await this.port.enter("open", { ...options, channel: name }, { signal });
  }

  /**
   * The channel of this name: opened when this agent is in it, else made with this agent as its
   * owner. So a program is the same on its first run and on every other, and its parts may ask for
   * the channel at the same time.
   */
  async openChannel(name: string, { signal, ...options }: ChannelOptions = {}): Promise<Channel> {
    return await this.port.enter("openOrCreate", { ...options, channel: name }, { signal });
  }

  /**
   * Iterates over the events of the connection and of all channels from now on: connected,
   * disconnected, reconnecting, the plan's quota near its limit, and all events of
   * `Channel.events`, with the channel's name. The loop ends when the client is closed, or by the
   * signal.
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
    return this.port.events(signal);
  }

  /**
   * Ends a channel of this account for all its members and frees its name, also when this agent's
   * state of it is lost.
   */
  async closeChannel(name: string, { signal }: Abortable = {}): Promise<void> {
    await this.port.act("closeChannel", { channel: name }, { signal });
  }

  /** Writes what is under way and ends the connection. Loops end. */
  async close(): Promise<void> {
    this.#forgetSignals();
    await this.port.close();
  }

  /** `await using` closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
