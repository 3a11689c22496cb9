/**
 * One agent: its keys, its channels, its session with the relay. `StaticClient` and `ChannelManager` are two faces of
 * it. Deliveries of the relay arrive here and go to their channel. Long because it is the one place where all of these
 * meet.
 */
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  nobodyKnown,
  type NoticeBody,
  type NoticeEnvelope,
  parseChannelName,
  type Trust,
} from "../../proto/mod.ts";
import type { Abortable } from "../base/abortable.ts";
import { createError, isCode, StaticError } from "../base/errors.ts";
import { EventStream } from "../base/event_stream.ts";
import { type Runtime, withOwnTimers } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import { Turns } from "../base/turns.ts";
import { MlsFault } from "../mls/codec.ts";
import type { Signatures } from "../mls/crypto/signatures.ts";
import type { MlsIdentity } from "../mls/identity.ts";
import type { ConnectionInfo, RelaySession } from "../session/relay_session.ts";
import type { RecordStore } from "../store/mod.ts";
import { ConnectionWatch } from "./connection_events.ts";
import { Carrier } from "./carrier.ts";
import type { ChannelDeps } from "./deps.ts";
import { hiddenError } from "./end_errors.ts";
import { createChannel, type ExpectedChannel, joinChannel, openChannel } from "./entering.ts";
import { finishErasing, hasKeys } from "./erasing.ts";
import type { ClientEvent, ConnectionEvent, QuotaEvent, WelcomeEvent } from "./events.ts";
import { toStaticError, translating } from "./faults.ts";
import { createPace, type HealingPace } from "./healing_pace.ts";
import { HealingTurns } from "./healing_turns.ts";
import { KeyPackages } from "./key_packages.ts";
import { LiveChannel } from "./live_channel.ts";
import { createAtRelay, findAtRelay } from "./names_at_relay.ts";
import { type ChannelRecord, deleteChannel, listChannels } from "./records.ts";
import { checkWelcome, Welcomes } from "./welcomes.ts";

export interface AgentParts {
  readonly store: RecordStore;
  readonly session: RelaySession;
  readonly runtime: Runtime;
  readonly signatures: Signatures;
  readonly identity: MlsIdentity;
  /** The agents that the user knows; nobody when it is not given. */
  readonly trust?: Trust & { readonly look?: () => void };
  /** The usual one when it is not given. */
  readonly pace?: HealingPace;
}

/** How a channel is opened. */
export interface ChannelOptions extends Abortable {
  /** False for an agent that wants no messages: they are acknowledged as they arrive. Requests and replies still come. */
  readonly receive?: boolean;
}

/** A channel of the wanted name that this agent has and cannot go on in. */
export interface Former {
  readonly record: ChannelRecord;
  /** Set when the relay still counts this agent among its members. */
  readonly stuck: LiveChannel | undefined;
}

interface JoinOptions extends ChannelOptions {
  readonly former: Former | undefined;
  /** The channel for which the relay delivered the Welcome; undefined for one that came by hand. */
  readonly deliveredFor?: ChannelId | undefined;
}

interface Offered {
  readonly welcome: Uint8Array;
  /** The channel for which the relay delivered it. */
  readonly channelId?: ChannelId;
}

/** Deliveries of the relay that belong to no open channel, and the return of the connection. */
export interface AgentListener {
  readonly onJoinRequest?: (request: NoticeBody<"DeliverJoinRequest">) => void;
  readonly onJoinRejected?: (rejection: NoticeBody<"DeliverJoinRejected">) => void;
  readonly onOnline?: () => void;
  /** See `ChannelDeps`. */
  readonly inviteOf?: ChannelDeps["inviteOf"];
}

const maxUnheard = 1000;

export class Agent {
  readonly agentId: AgentId;
  readonly keyPackages: KeyPackages;
  readonly welcomes = new Welcomes((channel) => this.tell({ type: "welcome", name: channel }));
  readonly parts: AgentParts;
  readonly events = new EventStream<ClientEvent>();
  readonly #deps: ChannelDeps;
  readonly #records = new Map<ChannelName, ChannelRecord>();
  readonly #channels = new Map<ChannelId, LiveChannel>();
  #runs = 0;
  readonly #listeners = new Set<AgentListener>();
  /** Joins by invites, which wait for others. */
  readonly joining = new Turns<ChannelId>();
  /** Entering, opening and closing channels happen one after the other: two calls for one name must not both begin. */
  readonly #entering = new Serial();
  readonly #detach: (() => void)[] = [];
  readonly #endTimers: () => void;
  /** Join requests that came before anybody was there to answer them. */
  readonly #unheard: NoticeBody<"DeliverJoinRequest">[] = [];
  #clockOffsetMs = 0;
  #closing: Promise<void> | undefined;

  private constructor(given: AgentParts) {
    const { runtime, endAll } = withOwnTimers(given.runtime);
    this.parts = { ...given, runtime };
    this.#endTimers = endAll;
    this.agentId = given.session.agentId;
    const { pace = createPace(), trust = nobodyKnown } = given;
    const relayNowMs = (): number => runtime.nowMs() + this.#clockOffsetMs;
    this.keyPackages = new KeyPackages({ ...this.parts, relayNowMs });
    this.#deps = {
      ...this.parts,
      agentId: this.agentId,
      keyPackages: this.keyPackages,
      welcomes: this.welcomes,
      nextRun: () => ++this.#runs,
      carrier: new Carrier(this.#channels, () => runtime.nowMs()),
      pace,
      nameOf: (agentId) => trust.names.get(agentId),
      inviteOf: (channelId, agentId) => {
        for (const { inviteOf } of this.#listeners) if (inviteOf !== undefined) return inviteOf(channelId, agentId);
        return undefined;
      },
      healing: new HealingTurns(pace.turnMs),
      relayNowMs,
      onEvent: (event) => this.events.tell(event),
      onErased: (channelId) => this.#forget(channelId),
    };
  }

  static async open(parts: AgentParts): Promise<Agent> {
    const agent = new Agent(parts);
    for (const record of await listChannels(parts.store)) {
      if (await finishErasing(parts.store, record.channelId)) continue;
      // In a store that was damaged, a record may be left without its keys, beside a later channel of the same name.
      const isFirst = !agent.#records.has(record.name);
      if (isFirst || hasKeys(parts.store, record.channelId)) agent.#records.set(record.name, record);
    }
    agent.#detach.push(
      parts.session.onNotice((notice) => agent.#route(notice)),
      parts.session.onConnection((connection) => agent.#connection(connection)),
      parts.session.onState(new ConnectionWatch((event) => agent.tell(event)).state),
    );
    // Those that wait for messages must not learn of it with their next write only.
    void parts.store.failed.then((fault) => agent.#channels.forEach((channel) => channel.die(fault)));
    const { state } = parts.session;
    if (state.kind === "online") agent.#connection(state.connection);
    return agent;
  }

  /** The user has given or taken names: programs that show members hear of it. */
  namesChanged(): void {
    this.parts.trust?.look?.();
    for (const channel of this.#channels.values()) channel.tell({ type: "names_changed" });
  }

  /** The relay's clock, as far as it is known, and our own; and the user's names for agents. */
  get clocks(): Pick<ChannelDeps, "relayNowMs" | "runtime" | "nameOf"> {
    return this.#deps;
  }

  get relayNowMs(): number {
    return this.#deps.relayNowMs();
  }

  get names(): ChannelName[] {
    return [...this.#records.keys()];
  }

  listen(listener: AgentListener): () => void {
    this.#listeners.add(listener);
    if (listener.onJoinRequest !== undefined) this.#unheard.splice(0).forEach(listener.onJoinRequest);
    return () => this.#listeners.delete(listener);
  }

  create(text: string, options: ChannelOptions = {}): Promise<LiveChannel> {
    return this.#enter("Cannot create the channel", () => this.#create(parseChannelName(text), options));
  }

  async #create(name: ChannelName, options: ChannelOptions): Promise<LiveChannel> {
    const former = await this.checkFree(name);
    if (former?.stuck !== undefined) throw inAlready(name);
    if (former !== undefined) this.#checkForgotten(former);
    const channelId = await createAtRelay(name, this.parts);
    this.#checkOther(channelId, name);
    await this.#eraseStored(name);
    const parts = await createChannel(channelId, name, this.#deps);
    return this.#start({ ...parts, receive: options.receive ?? true });
  }

  /** By a Welcome that came by hand, or, without one, by the one that the relay has delivered, or delivers now, for this name. */
  async join(text: string, welcome: Uint8Array | undefined, options: ChannelOptions = {}): Promise<LiveChannel> {
    if (welcome === undefined) await this.welcomes.arrival(text, this.parts.runtime);
    return await this.#enter("Cannot join the channel", async () => {
      const name = parseChannelName(text);
      const here = welcome === undefined ? this.welcomes.find(name) : [{ welcome }];
      const former = await this.checkFree(name);
      if (here.length === 0) {
        throw createError(
          "not_found",
          `Cannot join "${name}": no Welcome for it has arrived; ask a member to add this agent`,
        );
      }
      return await this.#joinByFirst(here, { name }, { ...options, former });
    });
  }

  /** By a Welcome that answers an invite. `before`: the membership that was there, and over, when the agent asked. */
  joinInvited(
    welcome: Uint8Array,
    expected: Required<ExpectedChannel>,
    before: ChannelRecord | undefined,
  ): Promise<LiveChannel> {
    return this.#enter("Cannot join the channel", async () => {
      const record = await this.#held(expected.name);
      const isSame = record?.channelId === before?.channelId && record?.joinedEpoch === before?.joinedEpoch;
      const former = record !== undefined && isSame
        ? { record, stuck: undefined }
        : await this.checkFree(expected.name);
      return await this.#joinBy(welcome, expected, { former });
    });
  }

  /** A channel that this agent is in, as it was when it last ran. One that runs does not wait for others to be entered. */
  async open(text: string, options: ChannelOptions = {}): Promise<LiveChannel> {
    const running = this.#closing === undefined ? this.#running(text) : undefined;
    return running ?? await this.#enter("Cannot open the channel", () => this.#open(parseChannelName(text), options));
  }

  /** Opens it when this agent is in it, else creates it: in one step, so that of two calls at once the second opens. */
  async openOrCreate(text: string, options: ChannelOptions = {}): Promise<LiveChannel> {
    const running = this.#closing === undefined ? this.#running(text) : undefined;
    return running ?? await this.#enter("Cannot open the channel", async () => {
      const name = parseChannelName(text);
      return await this.#held(name) === undefined ? await this.#create(name, options) : await this.#open(name, options);
    });
  }

  async #open(name: ChannelName, options: ChannelOptions): Promise<LiveChannel> {
    const running = this.#running(name);
    if (running !== undefined) return running;
    const record = await this.#held(name);
    // One that is over by the relay's word, or by a fault, begins anew: the relay may say something else now.
    const over = record && this.#channels.get(record.channelId);
    await over?.close();
    await over?.idle();
    const parts = record && await openChannel(record.channelId, this.#deps);
    if (parts === undefined) {
      const why = record === undefined
        ? `This agent is in no channel "${name}"; create it, or join it with an invite token or a Welcome`
        : `The store has lost the keys of channel "${name}"; join it again with an invite token, or close it`;
      throw createError("not_found", why);
    }
    return this.#start({ ...parts, receive: options.receive ?? true });
  }

  /** The channel of this name, once an erasure that is under way is over. */
  async #held(name: ChannelName): Promise<ChannelRecord | undefined> {
    const record = this.#records.get(name);
    if (record !== undefined) await this.#channels.get(record.channelId)?.erased();
    return this.#records.get(name);
  }

  #running(name: string): LiveChannel | undefined {
    const record = this.#records.get(name as ChannelName); // cast: a name that no parser has accepted is not in there
    const channel = record && this.#channels.get(record.channelId);
    return channel?.over === undefined ? channel : undefined;
  }

  /** As far as this agent knows. An invite of a stranger may have the id of one channel and the name of another. */
  isIn({ channelId, name }: Pick<ChannelRecord, "channelId" | "name">): boolean {
    return this.#records.get(name)?.channelId === channelId;
  }

  #recordOf(channelId: ChannelId): ChannelRecord | undefined {
    return [...this.#records.values()].find((record) => record.channelId === channelId);
  }

  /** The channel of this id, opened if need be; undefined when this agent is not in it. */
  async find(channelId: ChannelId): Promise<LiveChannel | undefined> {
    const running = this.#channels.get(channelId);
    const record = this.#recordOf(channelId);
    return running ?? (record && await this.open(record.name));
  }

  /** Ends a channel for everybody and frees its name; also when it is over, or this agent's own state of it is lost. */
  async closeChannel(text: string): Promise<void> {
    await translating("Cannot close the channel", async () => {
      const name = parseChannelName(text);
      const channelId = this.#records.get(name)?.channelId ?? await findAtRelay(name, this.parts);
      await this.parts.session.call("CloseChannel", { channelId }).catch((error) => {
        // It is over already; what is left of it here goes too. One that the token is not for may go on without us.
        if (!isCode(error, "not_found") || this.#records.get(name)?.channelId !== channelId) throw error;
        if (this.parts.session.covers?.({ name, channelId }) === false) throw hiddenError(name);
      });
      // In turn: nobody opens it meanwhile. Another channel may have taken its name since.
      await this.#entering.run(() =>
        this.#records.get(name)?.channelId === channelId ? this.#eraseStored(name) : undefined
      );
    });
  }

  /** Messages of all channels that the relay has not taken. */
  get unsent(): number {
    return [...this.#channels.values()].reduce((sum, { outbox: { size } }) => sum + size.waiting + size.underWay, 0);
  }

  /** May be called several times. When the promise settles, the data directory can be opened again. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const detach of this.#detach) detach();
    const faults: unknown[] = [];
    try {
      faults.push(...await this.#eachChannel((channel) => channel.close()));
      // Ends the calls that channels, and entering one, may be waiting for.
      await this.parts.session.close();
      await this.#entering.idle();
      faults.push(...await this.#eachChannel((channel) => channel.close()));
      faults.push(...await this.#eachChannel((channel) => channel.idle()));
    } finally {
      this.#endTimers();
      this.events.end();
      await this.parts.store.close();
    }
    if (faults.length > 0) throw toStaticError(faults[0], "Cannot write what the channels have left to write");
  }

  /** Returns what failed, for the other channels and the session are closed in any case. */
  async #eachChannel(act: (channel: LiveChannel) => Promise<void>): Promise<readonly unknown[]> {
    const results = await Promise.allSettled(Array.from(this.#channels.values(), act));
    return results.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  }

  #enter(action: string, act: () => Promise<LiveChannel>): Promise<LiveChannel> {
    return this.#entering.run(() => {
      if (this.#closing) throw createError("transport_error", `${action}: the client was closed; connect again`);
      return translating(action, act);
    });
  }

  /** Any member may send a Welcome, so one that leads nowhere does not keep us from the next. */
  async #joinByFirst(
    welcomes: readonly Offered[],
    expected: ExpectedChannel,
    options: JoinOptions,
  ): Promise<LiveChannel> {
    let failed: unknown;
    for (const { welcome, channelId } of welcomes) {
      try {
        return await this.#joinBy(checkWelcome(welcome), expected, { ...options, deliveredFor: channelId });
      } catch (error) {
        if (!(error instanceof MlsFault) && !(error instanceof StaticError)) throw error;
        failed ??= error;
      }
    }
    throw failed;
  }

  async #joinBy(welcome: Uint8Array, expected: ExpectedChannel, options: JoinOptions): Promise<LiveChannel> {
    const { former, deliveredFor, receive = true } = options;
    const parts = await joinChannel(welcome, expected, this.#deps, async (channelId) => {
      if (deliveredFor !== undefined && deliveredFor !== channelId) {
        throw createError("mls_error", "Cannot join: the Welcome leads into another channel than the one that sent it");
      }
      this.#checkOther(channelId, expected.name);
      if (former === undefined) return;
      const { stuck, record } = former;
      // That it is over was the relay's word so far: now there is a membership to put in its place, by an invite or of the same
      // channel. A Welcome for another one may be anybody's, and one that works is not over before its own connection hears of it.
      const isTheirs = expected.inviter === undefined || this.#works(record.channelId);
      if (stuck === undefined && isTheirs && record.channelId !== channelId) this.#checkForgotten(former);
      if (stuck === undefined) return await this.#eraseStored(expected.name);
      if (stuck.channelId !== channelId) throw inAlready(expected.name);
      // The Welcome's commit has put the new membership in the place of this one: there is nothing to leave.
      await stuck.close();
      await stuck.idle();
      stuck.membership.durable.retire();
    });
    this.welcomes.forget(parts.record.channelId);
    this.keyPackages.renew().catch(() => {}); // the next connection does it again
    return this.#start({ ...parts, receive });
  }

  #start(parts: ConstructorParameters<typeof LiveChannel>[0]): LiveChannel {
    const channel = new LiveChannel(parts, this.#deps);
    this.#records.set(channel.name, parts.record);
    this.#channels.set(channel.channelId, channel);
    channel.membership.reportLapsed();
    channel.lookAlikes.look();
    const { kind } = this.parts.session.state;
    if (kind === "online" || kind === "ended") channel.connection(kind === "online");
    return channel;
  }

  /**
   * A name that is held locally is free only when the relay knows nothing of that channel any more. Returns a channel in which this
   * agent cannot go on: a new invite is the way back. It stays until there is another one to put in its place. Throws `StaticError`
   * with `name_taken` when it can go on, or when the relay cannot be asked about it with the present token.
   */
  async checkFree(name: ChannelName): Promise<Former | undefined> {
    const record = await this.#held(name);
    if (record === undefined) return undefined;
    if (!await this.#isMember(record)) return { record, stuck: undefined };
    const channel = this.#channels.get(record.channelId);
    if (!isStuck(channel)) throw inAlready(name);
    return { record, stuck: channel };
  }

  #works(channelId: ChannelId): boolean {
    const channel = this.#channels.get(channelId);
    return channel !== undefined && channel.over === undefined && !isStuck(channel);
  }

  /** Anybody can make a group, or a channel, of an id that is known: it must not take the place of another channel's keys. */
  #checkOther(channelId: ChannelId, name: ChannelName): void {
    const other = [...this.#records.values()].find((record) => record.channelId === channelId && record.name !== name);
    if (other === undefined) return;
    const text =
      `This leads into channel "${other.name}", in which this agent is, under another name; ask for another ` +
      "Welcome";
    throw createError("mls_error", text, { channel: other.name });
  }

  /** That a channel is gone is the relay's word, by which no keys are erased: its user says so. Throws `StaticError`. */
  #checkForgotten({ record: { channelId, name } }: Former): void {
    if (!hasKeys(this.parts.store, channelId)) return;
    const text =
      `This agent has the keys of a channel "${name}" that is over, as the relay says. If that is so, forget it with ` +
      `closeChannel("${name}"), or in a shell with: static channel close ${name}. Then try again`;
    throw createError("name_taken", text); // without the channel: this agent is not in it, by the relay's word
  }

  async #isMember(record: ChannelRecord): Promise<boolean> {
    if (await openChannel(record.channelId, this.#deps) === undefined) return false;
    try {
      await this.parts.session.call("ListMembers", { channelId: record.channelId });
      return true;
    } catch (error) {
      if (!isCode(error, "not_found")) throw error;
    }
    if (this.parts.session.covers?.(record) !== false) return false;
    const { name } = record;
    const text = `This agent is in another channel "${name}", which its guest pass or key is not for; leave that one ` +
      "with the link or key by which it came there, or use another agent (dataDir)";
    throw createError("name_taken", text, { channel: name });
  }

  async #eraseStored(name: ChannelName): Promise<void> {
    const record = this.#records.get(name);
    if (record === undefined) return;
    const running = this.#channels.get(record.channelId);
    const parts = running === undefined ? await openChannel(record.channelId, this.#deps) : undefined;
    const channel = running ?? (parts && new LiveChannel({ ...parts, receive: false }, this.#deps));
    if (channel !== undefined) return await channel.erase();
    // A store that was damaged has lost the keys. The keys of its members stay known.
    await this.parts.store.batch(deleteChannel(record.channelId));
    this.#forget(record.channelId);
  }

  #forget(channelId: ChannelId): void {
    const name = this.#channels.get(channelId)?.name ??
      this.#recordOf(channelId)?.name;
    this.#channels.delete(channelId);
    if (name !== undefined && this.#records.get(name)?.channelId === channelId) this.#records.delete(name);
  }

  #connection(connection: ConnectionInfo | undefined): void {
    if (connection !== undefined) {
      this.#clockOffsetMs = connection.clockOffsetMs;
      // A failure does no harm: the next connection, or the relay's next reminder, repeats it.
      this.keyPackages.connected(connection).catch(() => {});
      for (const { onOnline } of this.#listeners) onOnline?.();
    }
    for (const channel of this.#channels.values()) channel.connection(connection !== undefined);
  }

  tell(event: ConnectionEvent | QuotaEvent | WelcomeEvent): void {
    this.events.tell({ ...event, atMs: this.parts.runtime.nowMs() });
    if (event.type === "quota" || event.type === "welcome") return;
    for (const channel of this.#channels.values()) channel.tell(event);
  }

  #joinRequest(request: NoticeBody<"DeliverJoinRequest">): void {
    const answering = [...this.#listeners].flatMap(({ onJoinRequest }) => onJoinRequest ?? []);
    for (const answer of answering) answer(request);
    if (answering.length === 0 && this.#unheard.length < maxUnheard) this.#unheard.push(request);
  }

  #route(notice: NoticeEnvelope): void {
    switch (notice.operation) {
      case "DeliverWelcome":
        return this.welcomes.deliver(notice.body);
      case "KeyPackagesLow":
        return void this.keyPackages.low(notice.body).catch(() => {});
      case "DeliverJoinRequest":
        return this.#joinRequest(notice.body);
      case "DeliverJoinRejected":
        for (const { onJoinRejected } of this.#listeners) onJoinRejected?.(notice.body);
        return;
      case "CoverStopped":
      case "SessionEnding":
        return;
      default:
        this.#channels.get(notice.body.channelId)?.deliver(notice);
    }
  }
}

/** It cannot go on by itself. */
function isStuck(channel: LiveChannel | undefined): boolean {
  return channel?.state.stopped !== undefined || channel?.state.unwelcome === true;
}

/** The call wanted another channel of this name, or the same one once more. */
export function inAlready(name: ChannelName): StaticError {
  const text = `This agent is in channel "${name}" already; open it with channel("${name}")`;
  return createError("name_taken", text, { channel: name });
}
