/**
 * An agent that a host holds, as `StaticClient` and `ChannelManager` use it. Channels are watched
 * from the moment they are opened.
 */
import {
  agentOperations,
  type entrances,
  type OperationExtras,
  type ResultOf,
} from "../../proto/host/operations.ts";
import { type AgentId, parseAgentId, parseChannelName } from "../../proto/mod.ts";
import { EventStream } from "../base/event_stream.ts";
import type { Runtime } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import { Channel } from "../api/channel.ts";
import type { ClientEvent, MissedEvents } from "../channel/events.ts";
import type { ManagerPort } from "../api/client_port.ts";
import type { TransportName } from "../transport/transport.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { type HostAnswer, type HostConnection, resultOf } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import { HostLink, isGone, type LinkParts } from "./host_link.ts";
import { RemoteChannel } from "./remote_channel.ts";
import { decodeEvent } from "./wire_values.ts";

interface HostUpdate {
  readonly state: HeaderFields;
  readonly events: readonly HeaderFields[];
}

export class RemoteClient implements ManagerPort {
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
  readonly #early = new Map<string, HostUpdate[]>();
  #state: HeaderFields = new HeaderFields({});
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
      client.#state = (await client.link.ask("agent", {}, { signal })).fields;
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

  async number(): Promise<string> {
    return (await this.link.ask("number", {})).fields.text("number");
  }

  async act<Op extends keyof typeof agentOperations>(
    op: Op,
    fields: FrameHeader,
    given?: OperationExtras,
  ): Promise<ResultOf<typeof agentOperations[Op]>> {
    const answered = await this.link.ask(op, fields, given);
    if (op === "closeChannel") await this.#refresh();
    return resultOf(agentOperations[op], answered);
  }

  async enter(
    op: keyof typeof entrances,
    fields: FrameHeader,
    given: OperationExtras = {},
  ): Promise<Channel> {
    const open = this.#channels.get(String(fields["channel"]));
    // The channel's state arrives without asking.
    if (op === "open" && open !== undefined && this.#isWatched(open)) return new Channel(open);
    // Whatever way it was entered at a host that died then, it is there now. Ways that open it say
    // so of another channel.
    const opensIt = op === "joinOrOpen" || op === "joinLink";
    const enteredBefore = (error: unknown): Promise<HostAnswer> =>
      isCode(error, "name_taken") && !opensIt
        ? this.link.ask("open", { channel: fields["channel"] })
        : Promise.reject(error);
    const answered = await this.link.ask(op, fields, given, enteredBefore);
    const name = answered.fields.text("name");
    if (op !== "open") await this.#refresh();
    // One after the other: a channel that is opened twice at once is watched once.
    return new Channel(await this.#watching.run(() => this.#watchChannel(name, given.signal)));
  }

  /** The agent is watched from the first time that somebody wants to know. */
  events(
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ClientEvent | MissedEvents, undefined> {
    const events = this.#events.listen(signal);
    if (!this.#isWatching) {
      this.#isWatching = true;
      this.#watchAgain().catch(() => {}); // the next call says what is wrong
    }
    return events;
  }

  async close(): Promise<void> {
    for (const channel of this.#channels.values()) channel.giveBack();
    await this.link.close();
    for (const channel of this.#channels.values()) channel.end();
    this.#events.end();
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
    const early: HostUpdate[] = [];
    this.#early.set(name, early);
    const { fields } = await connection.call("watch", { channel: name }).finally(() =>
      this.#early.delete(name)
    );
    const state = fields.optionalObject("state") ?? new HeaderFields({});
    const isSame = known !== undefined && known.id === state.text("id") && known.over === undefined;
    const channel = isSame ? known : new RemoteChannel(this.link, this.#runtime, state);
    if (isSame) channel.back(state, this.transport);
    this.#channels.set(name, channel);
    this.#told.add(channel);
    for (const { state: later, events } of early) channel.update(later, events);
    return channel;
  }

  async #refresh(): Promise<void> {
    this.#state = (await this.link.ask("agent", {})).fields;
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

  #hear(connection: HostConnection, name: string, fields: HeaderFields): void {
    const state = fields.optionalObject("state");
    if (state === undefined || connection !== this.#watched) return;
    const events = fields.optionalObjects("events") ?? [];
    if (name === "agent") {
      this.#state = state;
      // cast: the host's own, of this version
      for (const each of events) this.#events.tell(decodeEvent(each) as unknown as ClientEvent);
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
