/** An agent in this process. */
import type { AgentId } from "../proto/mod.ts";
import { type Abortable, abortable } from "./base/abortable.ts";
import { Channel } from "./channel.ts";
import type { Agent, ChannelOptions } from "./channel/agent.ts";
import type { ClientEvent, MissedEvents, QuotaEvent } from "./channel/events.ts";
import { translating } from "./channel/faults.ts";
import type { ChannelRunner } from "./channel/runner/channel_runner.ts";
import { LocalChannel } from "./channel/local_channel.ts";
import { QuotaWatch } from "./channel/runner/quota_watch.ts";
import type { ClientPort, JoinOptions } from "./client_port.ts";
import { joinByLink } from "./invites/joining.ts";
import { numberOf } from "./mls/fingerprint.ts";
import type { TransportName } from "./transport/transport.ts";

/** How long to wait to be let in. */
export const defaultJoinMs = 60_000;

export class LocalClient implements ClientPort {
  readonly #agent: Agent;
  #quota: QuotaWatch | undefined;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  get agentId(): AgentId {
    return this.#agent.agentId;
  }

  get transport(): TransportName | undefined {
    const { state } = this.#agent.parts.session;
    return state.kind === "online" ? state.connection.transport : undefined;
  }

  get channels(): readonly string[] {
    return this.#agent.names;
  }

  get welcomes(): readonly string[] {
    return this.#agent.welcomes.names;
  }

  async createChannel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.enter(options, () => this.#agent.create(name, options));
  }

  number(): Promise<string> {
    return Promise.resolve(numberOf(this.#agent.parts.identity));
  }

  async generateKeyPackage(): Promise<Uint8Array> {
    const { keyPackages } = this.#agent;
    return await translating("Cannot make a KeyPackage", async () => (await keyPackages.create()).message);
  }

  async joinChannel(name: string, welcome: Uint8Array | undefined, options: ChannelOptions): Promise<Channel> {
    return await this.enter(options, () => this.#agent.join(name, welcome, options));
  }

  async join(link: string, { timeoutMs = defaultJoinMs, ...options }: JoinOptions): Promise<Channel> {
    return await this.enter(options, () => joinByLink(this.#agent, link, { timeoutMs }));
  }

  async channel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.enter(options, () => this.#agent.open(name, options));
  }

  async openChannel(name: string, options: ChannelOptions): Promise<Channel> {
    return await this.enter(options, () => this.#agent.openOrCreate(name, options));
  }

  events(signal: AbortSignal | undefined): AsyncIterableIterator<ClientEvent | MissedEvents, undefined> {
    const { session: { usage }, session, runtime } = this.#agent.parts;
    const isOver = (): boolean => session.state.kind === "ended";
    const tell = (event: QuotaEvent): void => this.#agent.tell(event);
    if (usage !== undefined) this.#quota ??= new QuotaWatch({ runtime, usage, tell, isOver });
    return this.#agent.events.listen(signal);
  }

  async closeChannel(name: string, { signal }: Abortable = {}): Promise<void> {
    await abortable(signal, () => this.#agent.closeChannel(name));
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  /** A channel as users hold it. */
  async enter({ signal }: Abortable, act: () => Promise<ChannelRunner>): Promise<Channel> {
    return new Channel(new LocalChannel(await abortable(signal, act), this.#agent));
  }
}
