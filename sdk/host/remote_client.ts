/** An agent that a host holds, as `StaticClient` and `ChannelManager` use it. Channels are watched from the moment they are opened. */
import { type AgentId, parseAgentId, parseChannelName } from "../../proto/mod.ts";
import type { Abortable } from "../base/abortable.ts";
import { EventStream } from "../base/event_stream.ts";
import type { Runtime } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import { Channel } from "../channel.ts";
import type { ChannelOptions } from "../channel/agent.ts";
import type { ClientEvent, MissedEvents } from "../channel/events.ts";
import type { ClientPort, JoinOptions, ManagerPort } from "../client_port.ts";
import type { InviteOptions, InviteState } from "../invites/invite_state.ts";
import type { LinkOptions } from "../invites/links.ts";
import type { TransportName } from "../transport/transport.ts";
import { isCode, StaticError } from "../base/errors.ts";
import type { Answered, HostConnection } from "./connection.ts";
import { Fields } from "./fields.ts";
import type { Header } from "./frames.ts";
import { HostLink, isGone, type LinkParts } from "./link.ts";
import { RemoteChannel } from "./remote_channel.ts";
import { decodeEvent } from "./wire_values.ts";

interface Told {
  readonly state: Fields;
  readonly events: readonly Fields[];
}

export class RemoteClient implements ClientPort, ManagerPort {
  /** For `ChannelManager`. */
  readonly client: ClientPort = this;
  readonly link: HostLink;
  readonly #runtime: Runtime;
  readonly #channels = new Map<string, RemoteChannel>();
  readonly #events = new EventStream<ClientEvent>();
  readonly #watching = new Serial();
  /** The connection whose host has been asked to tell about changes. */
  #watched: HostConnection | undefined;
  /** Channels that it tells about. */
  readonly #told = new Set<RemoteChannel>();
  /** News of channels that are watched since a moment ago. */
  readonly #early = new Map<string, Told[]>();
  #state: Fields = new Fields({});
  #isWatching = false;

  private constructor(parts: LinkParts) {
    this.link = new HostLink(parts);
    this.#runtime = parts.runtime;
    this.link.listen({
      onEvent: (connection, name, fields) => this.#hear(connection, name, fields),
      onLost: (error) => this.#lost(error),
    });
  }

  /** Connects to the host, which is started if need be. Throws `StaticError`. */
  static async open(parts: LinkParts, signal?: AbortSignal): Promise<RemoteClient> {
    const client = new RemoteClient(parts);
    try {
      client.#state = (await client.link.repeat("agent", {}, { signal })).fields;
      return client;
    } catch (error) {
      void client.close();
      throw error;
    }
  }

  get agentId(): AgentId {
    return parseAgentId(this.#state.text("agentId"));
  }

  get transport(): TransportName | undefined {
    return this.#state.one<TransportName>("transport", ["quic", "webtransport", "grpc", "cells"]);
  }

  get channels(): readonly string[] {
    return this.#state.texts("channels").map(parseChannelName);
  }

  get welcomes(): readonly string[] {
    return this.#state.texts("welcomes").map(parseChannelName);
  }

  async createChannel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.#enter("create", { channel: name }, options);
  }

  async number(): Promise<string> {
    return (await this.link.repeat("number")).fields.text("number");
  }

  async generateKeyPackage(): Promise<Uint8Array> {
    return (await this.link.repeat("keyPackage")).bytes;
  }

  async joinChannel(name: string, welcome: Uint8Array | undefined, options: ChannelOptions): Promise<Channel> {
    const fields = { channel: name, ...(welcome === undefined && { delivered: true }) };
    return await this.#enter("join", fields, options, welcome);
  }

  async join(link: string, { timeoutMs, signal }: JoinOptions): Promise<Channel> {
    const fields = { link, ...(timeoutMs !== undefined && { timeoutMs }) };
    return await this.#enter("joinLink", fields, { ...(signal !== undefined && { signal }) });
  }

  async channel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.#enter("open", { channel: name }, options);
  }

  async openChannel(name: string, options: ChannelOptions): Promise<Channel> {
    return await this.#enter("openOrCreate", { channel: name }, options);
  }

  /** The agent is watched from the first time that somebody wants to know. */
  events(signal: AbortSignal | undefined): AsyncIterableIterator<ClientEvent | MissedEvents, undefined> {
    const events = this.#events.listen(signal);
    if (!this.#isWatching) {
      this.#isWatching = true;
      this.#watchAgain().catch(() => {}); // the next call says what is wrong
    }
    return events;
  }

  async closeChannel(name: string, { signal }: Abortable = {}): Promise<void> {
    await this.link.call("closeChannel", { channel: name }, { signal });
    await this.#refresh();
  }

  async invite(name: string, { signal, expiresInMs, uses, replaces }: InviteOptions & Abortable): Promise<string> {
    const fields = {
      channel: name,
      ...(expiresInMs !== undefined && { expiresInMs }),
      ...(uses !== undefined && { uses }),
      ...(replaces !== undefined && { replaces }),
    };
    return (await this.link.call("invite", fields, { signal })).fields.text("token");
  }

  async inviteLink(name: string, { signal, ...options }: LinkOptions & Abortable): Promise<string> {
    const { expiresInMs, uses, replaces, guest = false, web } = options;
    const pass = guest === true ? {} : guest;
    const fields = {
      channel: name,
      ...(expiresInMs !== undefined && { expiresInMs }),
      ...(uses !== undefined && { uses }),
      ...(replaces !== undefined && { replaces }),
      ...(pass !== false && { guest: { ...pass } }),
      ...(web !== undefined && { web }),
    };
    return (await this.link.call("inviteLink", fields, { signal })).fields.text("link");
  }

  async invites(name: string | undefined): Promise<InviteState[]> {
    const { fields } = await this.link.repeat("invites", name === undefined ? {} : { channel: name });
    return (fields.optionalObjects("invites") ?? []).map((each) => ({
      id: each.text("id"),
      channel: parseChannelName(each.text("channel")),
      expiresAtMs: each.number("expiresAtMs"),
      uses: each.number("uses"),
      used: each.number("used"),
    }));
  }

  async revokeInvite(token: string, { signal }: Abortable): Promise<void> {
    await this.link.repeat("revokeInvite", { token }, { signal });
  }

  async revokeInviteById({ channel, id }: Pick<InviteState, "channel" | "id">): Promise<void> {
    await this.link.call("revokeInvite", { channel, invite: id });
  }

  async joinWithToken(name: string, token: string, { timeoutMs, signal }: JoinOptions): Promise<Channel> {
    const fields = { channel: name, token, ...(timeoutMs !== undefined && { timeoutMs }) };
    return await this.#enter("joinWithToken", fields, { ...(signal !== undefined && { signal }) });
  }

  async joinOrOpen(name: string, token: string, { timeoutMs, signal }: JoinOptions): Promise<Channel> {
    const fields = { channel: name, token, ...(timeoutMs !== undefined && { timeoutMs }) };
    return await this.#enter("joinOrOpen", fields, { ...(signal !== undefined && { signal }) });
  }

  async close(): Promise<void> {
    for (const channel of this.#channels.values()) channel.giveBack();
    await this.link.close();
    for (const channel of this.#channels.values()) channel.end();
    this.#events.end();
  }

  async #enter(op: string, fields: Header, { signal }: ChannelOptions, bytes?: Uint8Array): Promise<Channel> {
    const open = this.#channels.get(String(fields["channel"]));
    // Its state arrives without asking.
    if (op === "open" && open !== undefined && this.#isWatched(open)) return new Channel(open);
    const given = { signal, ...(bytes !== undefined && { bytes }) };
    // Whatever way it was entered at a host that died then, it is there now. To `joinOrOpen` it says that it is another channel.
    const enteredBefore = (error: unknown): Promise<Answered> =>
      isCode(error, "name_taken") && op !== "joinOrOpen"
        ? this.link.repeat("open", { channel: fields["channel"] })
        : Promise.reject(error);
    const answered = await this.link.repeat(op, fields, given, enteredBefore);
    const name = answered.fields.text("name");
    if (op !== "open") await this.#refresh();
    // One after the other: a channel that is opened twice at once is watched once.
    return new Channel(await this.#watching.run(() => this.#watchChannel(name, signal)));
  }

  #isWatched(channel: RemoteChannel): boolean {
    return channel.over === undefined && this.#watched !== undefined && this.#told.has(channel);
  }

  /** At the next host, when this one goes first. */
  async #watchChannel(name: string, signal: AbortSignal | undefined): Promise<RemoteChannel> {
    for (;;) {
      try {
        return await this.#watchAt(await this.link.connection(signal), name);
      } catch (error) {
        if (!isGone(error) || this.link.isClosed) throw error;
      }
    }
  }

  async #watchAt(connection: HostConnection, name: string): Promise<RemoteChannel> {
    await this.#watch(connection);
    const known = this.#channels.get(name);
    if (known !== undefined && this.#isWatched(known)) return known;
    const early: Told[] = [];
    this.#early.set(name, early);
    const { fields } = await connection.call("watch", { channel: name }).finally(() => this.#early.delete(name));
    const state = fields.optionalObject("state") ?? new Fields({});
    const isSame = known !== undefined && known.id === state.text("id") && known.over === undefined;
    const channel = isSame ? known : new RemoteChannel(this.link, this.#runtime, state);
    if (isSame) channel.back(state, this.transport);
    this.#channels.set(name, channel);
    this.#told.add(channel);
    for (const { state: later, events } of early) channel.update(later, events);
    return channel;
  }

  async #refresh(): Promise<void> {
    this.#state = (await this.link.repeat("agent")).fields;
  }

  /** Once for each connection. */
  async #watch(connection: HostConnection): Promise<void> {
    if (this.#watched === connection) return;
    this.#watched = connection;
    const { fields } = await connection.call("watch");
    this.#state = fields.optionalObject("state") ?? this.#state;
  }

  /** Everything that was watched at a host that has gone, at the next one. */
  async #watchAgain(): Promise<void> {
    await this.#watch(await this.link.connection());
    for (const [name, channel] of this.#channels) {
      if (channel.over !== undefined) continue;
      try {
        await this.#watching.run(() => this.#watchChannel(name, undefined));
      } catch (error) {
        // One that was left meanwhile keeps no other from being watched.
        if (!(error instanceof StaticError) || error.retryable || isGone(error)) throw error;
        channel.ended(error);
      }
    }
  }

  #hear(connection: HostConnection, name: string, fields: Fields): void {
    const state = fields.optionalObject("state");
    if (state === undefined || connection !== this.#watched) return;
    const events = fields.optionalObjects("events") ?? [];
    if (name === "agent") {
      this.#state = state;
      for (const each of events) this.#events.tell(decodeEvent(each) as unknown as ClientEvent); // cast: the host's own, of this version
    } else if (name === "channel") {
      const channel = this.#channels.get(fields.text("channel"));
      if (channel !== undefined && this.#told.has(channel)) channel.update(state, events);
      else this.#early.get(fields.text("channel"))?.push({ state, events });
    }
  }

  #lost(error: StaticError): void {
    this.#watched = undefined;
    this.#told.clear();
    for (const channel of this.#channels.values()) channel.lost(error);
    if (this.#isWatching || this.#channels.size > 0) void this.#comeBack();
  }

  /** Programs that wait for events make no calls, so nothing else would reconnect. */
  async #comeBack(): Promise<void> {
    while (!this.link.isClosed) {
      try {
        return await this.#watchAgain();
      } catch {
        await this.link.pause();
      }
    }
  }
}
