/**
 * One agent: its keys, its channels, its session with the relay. `StaticClient` and
 * `ChannelManager` are two faces of it. Calls of the program go to its names, deliveries of the
 * relay to their channel.
 */
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  nobodyKnown,
  type NoticeBody,
  type NoticeEnvelope,
  parseChannelName,
} from "../../proto/mod.ts";
import type { Abortable } from "../base/abortable.ts";
import { createError, invalidArgument } from "../base/errors.ts";
import { EventStream } from "../base/event_stream.ts";
import { withOwnTimers } from "../base/runtime.ts";
import { Turns } from "../base/turns.ts";
import type { SealingChoice } from "../mls/sealing_rules.ts";
import type { ConnectionInfo } from "../session/relay_session.ts";
import type { AgentParts } from "./agent_parts.ts";
import { ConnectionWatch } from "./connection_events.ts";
import { Carrier } from "./upkeep/carrier.ts";
import { type ChannelDeps, ReceiptBudget } from "./deps.ts";
import type { ClientEvent, ConnectionEvent, QuotaEvent, WelcomeEvent } from "./events.ts";
import { toStaticError, translating } from "./faults.ts";
import { Recogniser } from "./group/recognition.ts";
import type { ChannelRunner } from "./runner/channel_runner.ts";
import type { KeptNames } from "./names/kept_names.ts";
import type { MembershipRecord } from "./records.ts";
import type { ExpectedChannel } from "./runner/entrances.ts";
import type { OfferedWelcome } from "./runner/name_jobs.ts";
import { HealingTurns } from "./runner/healing_turns.ts";
import { KeyPackages } from "./runner/key_package_runner.ts";
import { type InvitePermission, NamesRunner, readNames } from "./runner/names_runner.ts";
import { createPace } from "./upkeep/healing_pace.ts";
import { Welcomes } from "./runner/welcomes.ts";

/** How a channel is opened. */
export interface ChannelOptions extends Abortable {
  /**
   * False for an agent that wants no messages: they are acknowledged as they arrive. Requests and
   * replies still come.
   */
  readonly receive?: boolean | undefined;
}

/** How a channel is made. */
export interface CreateOptions extends ChannelOptions {
  /**
   * Post-quantum keys of those that come in. `require`, when not given: nobody comes in without
   * one. `prefer`: an agent of another maker without one may, and then the channel is not protected
   * against recordings any more, which `health()` and an event tell. It stays as it is made.
   */
  readonly postQuantum?: SealingChoice | undefined;
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
  /** The last machine of each channel, also when it is over. */
  readonly #channels = new Map<ChannelId, ChannelRunner>();
  readonly #names: NamesRunner;
  #runs = 0;
  readonly #listeners = new Set<AgentListener>();
  /** Joins by invites, which wait for others. */
  readonly joining = new Turns<ChannelId>();
  readonly #detach: (() => void)[] = [];
  readonly #endTimers: () => void;
  /** Join requests that came before anybody was there to answer them. */
  readonly #unheard: NoticeBody<"DeliverJoinRequest">[] = [];
  #closing: Promise<void> | undefined;

  private constructor(given: AgentParts, kept: KeptNames) {
    const { runtime, endAll } = withOwnTimers(given.runtime);
    this.parts = { ...given, runtime };
    this.#endTimers = endAll;
    this.agentId = given.session.agentId;
    const { pace = createPace(), trust = nobodyKnown } = given;
    const badges = given.ownBadges?.choice(given.signatures);
    const relayNowMs = (): number => given.session.relayNowMs();
    this.keyPackages = new KeyPackages({ ...this.parts, badges, relayNowMs });
    this.#deps = {
      ...this.parts,
      badges,
      agentId: this.agentId,
      keyPackages: this.keyPackages,
      welcomes: this.welcomes,
      nextRun: () => ++this.#runs,
      carrier: new Carrier(this.#channels, () => runtime.nowMs()),
      pace,
      recogniser: new Recogniser({
        trust,
        ownAccount: given.ownAccount ?? (() => undefined),
        nowMs: () => runtime.nowMs(),
        signatures: given.signatures,
      }),
      inviteOf: (channelId, agentId) => {
        for (const { inviteOf } of this.#listeners) {
          if (inviteOf !== undefined) return inviteOf(channelId, agentId);
        }
        return undefined;
      },
      areReceiptsGiven: given.receipts !== "off",
      receiptBudget: new ReceiptBudget({ runtime, usage: given.session.usage }),
      healing: new HealingTurns(pace.turnMs),
      relayNowMs,
      onEvent: (event) => this.events.tell(event),
    };
    this.#names = new NamesRunner({ deps: this.#deps, channels: this.#channels }, kept);
  }

  static async open(parts: AgentParts): Promise<Agent> {
    const agent = new Agent(parts, await readNames(parts.store));
    agent.#names.start();
    agent.#detach.push(
      parts.session.onNotice((notice) => agent.#route(notice)),
      parts.session.onConnection((connection) => agent.#connection(connection)),
      parts.session.onState(new ConnectionWatch((event) => agent.tell(event)).state),
    );
    const stop = parts.ownBadges?.follow({
      runtime: agent.parts.runtime,
      nowMs: () => agent.parts.runtime.nowMs(),
      recogniser: agent.#deps.recogniser,
      changed: () => agent.#badgesChanged(),
      rosters: () =>
        Array.from(agent.#channels.values(), ({ rooms: { membership, health } }) => ({
          members: membership.group.members(),
          health,
        })),
    });
    if (stop !== undefined) agent.#detach.push(stop);
    // Callers that wait for messages must not learn of the failure with their next write only.
    void parts.store.failed.then((fault) =>
      agent.#channels.forEach((channel) => channel.die(fault))
    );
    const { state } = parts.session;
    if (state.kind === "online") agent.#connection(state.connection);
    return agent;
  }

  /** The user has changed the list of known agents: programs that show members hear of it. */
  namesChanged(): void {
    this.parts.trust?.look?.();
    for (const { rooms } of this.#channels.values()) void rooms.watch.look();
  }

  /** The user has given this agent other badges. Resolves when they were read. */
  async badgesGiven(): Promise<void> {
    await this.parts.ownBadges?.look();
  }

  /** Offline, the next connection replaces KeyPackages that show others. */
  #badgesChanged(): void {
    if (this.parts.session.state.kind === "online") this.keyPackages.replace().catch(() => {});
  }

  /** The relay's clock, as far as it is known, and our own; and how agents are recognised. */
  get clocks(): Pick<ChannelDeps, "relayNowMs" | "runtime" | "recogniser"> {
    return this.#deps;
  }

  get relayNowMs(): number {
    return this.#deps.relayNowMs();
  }

  get names(): ChannelName[] {
    return this.#names.names;
  }

  listen(listener: AgentListener): () => void {
    this.#listeners.add(listener);
    if (listener.onJoinRequest !== undefined) {
      this.#unheard.splice(0).forEach(listener.onJoinRequest);
    }
    return () => this.#listeners.delete(listener);
  }

  async create(
    text: string,
    { receive = true, postQuantum: sealing = "require" }: CreateOptions = {},
  ): Promise<ChannelRunner> {
    return await translating("Cannot create the channel", () => {
      if (sealing !== "require" && sealing !== "prefer") {
        throw invalidArgument(
          `A channel requires or prefers post-quantum keys, and not ${JSON.stringify(sealing)}`,
        );
      }
      return this.#names.create(parseChannelName(text), { receive, sealing });
    });
  }

  /**
   * Joins by a Welcome that came by hand. Without one, joins by the Welcome that the relay has
   * delivered, or delivers now, for this name.
   */
  async join(
    text: string,
    welcome: Uint8Array | undefined,
    { receive = true }: ChannelOptions = {},
  ): Promise<ChannelRunner> {
    if (welcome === undefined) await this.welcomes.arrival(text, this.parts.runtime);
    return await translating("Cannot join the channel", () => {
      const name = parseChannelName(text);
      const find = (): readonly OfferedWelcome[] =>
        welcome === undefined ? this.#arrived(name) : [{ welcome }];
      return this.#names.join(name, { expected: { name }, find, receive });
    });
  }

  #arrived(name: ChannelName): readonly OfferedWelcome[] {
    const here = this.welcomes.find(name);
    if (here.length > 0) return here;
    const text =
      `Cannot join "${name}": no Welcome for it has arrived; ask a member to add this agent`;
    throw createError("not_found", text);
  }

  /**
   * Whether an invite may be asked for. Throws `StaticError` with `name_taken` when this agent can
   * go on in what it has.
   */
  check(name: ChannelName): Promise<InvitePermission> {
    return this.#names.check(name);
  }

  /** Joins by a Welcome that answers an invite. `before`: as `check` said it. */
  joinInvited(
    welcome: Uint8Array,
    expected: ExpectedChannel,
    before: number | undefined,
  ): Promise<ChannelRunner> {
    const find = (): readonly OfferedWelcome[] => [{ welcome }];
    return this.#names.join(expected.name, { expected, find, invited: { before }, receive: true });
  }

  /** A channel that this agent is in, as it was when it last ran. */
  async open(text: string, { receive = true }: ChannelOptions = {}): Promise<ChannelRunner> {
    return this.#names.running(text) ?? await this.#open(text, { receive, orCreates: false });
  }

  /**
   * Opens it when this agent is in it, else creates it: in one step, so that of two calls at once
   * the second opens.
   */
  async openOrCreate(
    text: string,
    { receive = true }: ChannelOptions = {},
  ): Promise<ChannelRunner> {
    return this.#names.running(text) ?? await this.#open(text, { receive, orCreates: true });
  }

  async #open(
    text: string,
    how: { readonly receive: boolean; readonly orCreates: boolean },
  ): Promise<ChannelRunner> {
    return await translating(
      "Cannot open the channel",
      () => this.#names.open(parseChannelName(text), how),
    );
  }

  /**
   * Returns whether this agent is in the channel, as far as it knows. An invite of a stranger may
   * have the id of one channel and the name of another.
   */
  isIn({ channelId, name }: Pick<MembershipRecord, "channelId" | "name">): boolean {
    return this.#names.nameOf(channelId) === name;
  }

  /** The channel of this id, opened if need be; undefined when this agent is not in it. */
  async find(channelId: ChannelId): Promise<ChannelRunner | undefined> {
    const channel = this.#channels.get(channelId);
    if (channel !== undefined) return channel;
    const name = this.#names.nameOf(channelId);
    return name && await this.open(name);
  }

  /** Leaves a channel for good: its keys are deleted. Also leaves a channel that is over. */
  leave(channel: ChannelRunner, successor?: AgentId): Promise<void> {
    return this.#names.leave(channel, successor);
  }

  /**
   * Ends a channel for everybody and frees its name; also when it is over, or this agent's own
   * state of it is lost.
   */
  async closeChannel(text: string): Promise<void> {
    await translating("Cannot close the channel", () => this.#names.close(parseChannelName(text)));
  }

  /** Messages of all channels that the relay has not taken. */
  get unsent(): number {
    return [...this.#channels.values()].reduce(
      (sum, { rooms: { outbox: { size } } }) => sum + size.waiting + size.underWay,
      0,
    );
  }

  /**
   * May be called several times. When the promise settles, the data directory can be opened again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const detach of this.#detach) detach();
    const faults: unknown[] = [];
    try {
      await this.#names.finish();
      faults.push(...await this.#eachChannel((channel) => channel.close()));
      // Ends the calls that channels, and entering one, may be waiting for.
      await this.parts.session.close();
      await this.#names.finished;
      faults.push(...await this.#eachChannel((channel) => channel.idle()));
    } finally {
      this.#endTimers();
      this.events.end();
      await this.parts.store.close();
    }
    if (faults.length > 0) {
      throw toStaticError(faults[0], "Cannot write what the channels have left to write");
    }
  }

  /** Returns what failed, for the other channels and the session are closed in any case. */
  async #eachChannel(act: (channel: ChannelRunner) => Promise<void>): Promise<readonly unknown[]> {
    const results = await Promise.allSettled(Array.from(this.#channels.values(), act));
    return results.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  }

  #connection(connection: ConnectionInfo | undefined): void {
    if (connection !== undefined) {
      this.keyPackages.connected(connection);
      for (const { onOnline } of this.#listeners) onOnline?.();
    }
    for (const channel of this.#channels.values()) channel.connection();
  }

  tell(event: ConnectionEvent | QuotaEvent | WelcomeEvent): void {
    this.events.tell({ ...event, atMs: this.parts.runtime.nowMs() });
    if (event.type === "quota" || event.type === "welcome") return;
    for (const channel of this.#channels.values()) channel.rooms.tell(event);
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
        return this.keyPackages.low(notice.body);
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
