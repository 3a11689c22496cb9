/** An agent in this process. */
import type { InputFields } from "../../proto/host/fields.ts";
import type { clientOperations, entrances, OperationMethods } from "../../proto/host/operations.ts";
import type { AgentId } from "../../proto/mod.ts";
import { abortable } from "../base/abortable.ts";
import { Channel } from "./channel.ts";
import type { Agent } from "../channel/agent.ts";
import type { ClientEvent, MissedEvents, QuotaEvent } from "../channel/events.ts";
import { translating } from "../channel/faults.ts";
import type { ChannelRunner } from "../channel/runner/channel_runner.ts";
import { LocalChannel } from "../channel/local_channel.ts";
import { QuotaWatch } from "../channel/runner/quota_watch.ts";
import type { ClientPort } from "./client_port.ts";
import { joinByLink, joinOrOpen, joinWithToken } from "../invites/joining.ts";
import { numberOf } from "../mls/fingerprint.ts";
import type { TransportName } from "../transport/transport.ts";

/** How long to wait to be let in. */
const defaultJoinMs = 60_000;
const nothing = new Uint8Array(0);

/** Ways into a channel, each as a function. */
type Entrances = {
  readonly [Op in keyof typeof entrances]: (
    fields: InputFields<typeof entrances[Op]["fields"]>,
    bytes: Uint8Array,
  ) => Promise<ChannelRunner>;
};

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

  number(): Promise<string> {
    return Promise.resolve(numberOf(this.#agent.parts.identity));
  }

  act: ClientPort["act"] = (op, fields, { bytes = nothing, signal } = {}) =>
    abortable(signal, () => this.acts[op](fields, bytes));

  enter: ClientPort["enter"] = async (op, fields, { bytes = nothing, signal } = {}) => {
    const live = await abortable(signal, () => this.#entrances[op](fields, bytes));
    // Members are there without waiting from now on: what takes long of them is done in parts.
    await live.rooms.watch.look();
    return new Channel(new LocalChannel(live, this.#agent));
  };

  events(
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ClientEvent | MissedEvents, undefined> {
    const { session: { usage }, session, runtime } = this.#agent.parts;
    const isOver = (): boolean => session.state.kind === "ended";
    const tell = (event: QuotaEvent): void => this.#agent.tell(event);
    if (usage !== undefined) this.#quota ??= new QuotaWatch({ runtime, usage, tell, isOver });
    return this.#agent.events.listen(signal);
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  protected readonly acts: OperationMethods<typeof clientOperations> = {
    keyPackage: () =>
      translating(
        "Cannot make a KeyPackage",
        async () => (await this.#agent.keyPackages.create()).message,
      ),
    closeChannel: ({ channel }) => this.#agent.closeChannel(channel),
  };

  readonly #entrances: Entrances = {
    create: ({ channel, ...options }) => this.#agent.create(channel, options),
    open: ({ channel, ...options }) => this.#agent.open(channel, options),
    openOrCreate: ({ channel, ...options }) => this.#agent.openOrCreate(channel, options),
    join: ({ channel, delivered, ...options }, welcome) =>
      this.#agent.join(channel, delivered === true ? undefined : welcome, options),
    joinLink: ({ link, timeoutMs = defaultJoinMs, ...use }) =>
      joinByLink(this.#agent, link, { ...use, timeoutMs }),
    joinWithToken: ({ channel, timeoutMs = defaultJoinMs, ...use }) =>
      joinWithToken(this.#agent, channel, { ...use, timeoutMs }),
    joinOrOpen: ({ channel, timeoutMs = defaultJoinMs, ...use }) =>
      joinOrOpen(this.#agent, channel, { ...use, timeoutMs }),
  };
}
