/**
 * The agent of this tab: the SDK, end to end, with tokens of the console's session, or with the
 * pass of a guest's link. Its state is in the SDK's encrypted store of this browser and nowhere
 * else; a pass is in memory alone. A second tab cannot have the same store, so it gets the next
 * one, and is another agent.
 */
import { failureInWords } from "../../../../proto/mod.ts";
import { ChannelManager, StaticError } from "static-sdk";
import type { ConsoleService } from "../service.ts";
import { eventInWords } from "./event_words.ts";
import type { Invitation } from "./invitation.ts";
import { type AccountChannel, listAccountChannels } from "./account_channels.ts";
import { PrivacyMeter } from "./meter.ts";
import type { CoverChoice } from "./meter.ts";
import { ChatRoom } from "./room.ts";

export type AgentState = "off" | "starting" | "on" | "failed";
export type TransportPreference = "auto" | "webtransport" | "cells";

export interface Occurrence {
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

export interface TabStartOptions {
  readonly cover: CoverChoice["profile"];
  readonly way: TransportPreference;
}

/**
 * The account that the agent uses: the signed-in person's, or that of a link's inviter, for this
 * channel alone.
 */
export type AgentAccount =
  | { readonly accountId: string }
  | (Invitation & { readonly pass: string });

interface DiscoveryAnswer {
  readonly relay: { readonly urls: readonly string[] };
  readonly certificate_hashes: readonly string[];
}

/** Tabs of one account in one browser. */
const maxSlots = 8;
const maxEvents = 100;
const rights = ["send", "receive", "create", "invite"];

export class TabAgent {
  readonly meter = new PrivacyMeter();
  readonly #rooms = new Map<string, ChatRoom>();
  readonly #listeners = new Set<() => void>();
  #manager: ChannelManager | undefined;
  #state: AgentState = "off";
  #problem: string | undefined;
  #slot = 0;
  #mark = "";
  #events: readonly Occurrence[] = [];
  #happened = 0;
  #options: TabStartOptions = { cover: "standard", way: "auto" };
  /** One start or stop after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(readonly service: ConsoleService, readonly holder: AgentAccount) {}

  get isGuest(): boolean {
    return "pass" in this.holder;
  }

  get state(): AgentState {
    return this.#state;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get manager(): ChannelManager | undefined {
    return this.#manager;
  }

  get options(): TabStartOptions {
    return this.#options;
  }

  get identity(): string {
    return `${this.isGuest ? "guest" : "console"}-${this.#slot}-${this.#mark}`;
  }

  get rooms(): readonly ChatRoom[] {
    return [...this.#rooms.values()];
  }

  /** The newest first. */
  get events(): readonly Occurrence[] {
    return this.#events;
  }

  /** Returns the function that ends it. */
  listen(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /**
   * With other options: ends the connection and begins another one. Channels and what was said
   * stay.
   */
  start(options: TabStartOptions): Promise<void> {
    // At once, so that nobody uses the connection that ends.
    this.#set("starting");
    return this.#inTurn(async () => {
      await this.#end();
      this.#options = options;
      this.#set("starting");
      try {
        await this.#begin(options);
        this.#set("on");
      } catch (error) {
        this.#set("failed", failureInWords(error));
      }
    });
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#end();
      this.#set("off");
    });
  }

  async create(name: string): Promise<ChatRoom> {
    const channel = await this.#need().client.openChannel(name);
    return this.#room(channel.name, channel);
  }

  async join(link: string): Promise<ChatRoom> {
    const channel = await this.#need().join(link.trim());
    return this.#room(channel.name, channel);
  }

  /** Connects first, when it is not connected. */
  async enter(link: string): Promise<ChatRoom> {
    if (this.#state === "starting") await this.#turn;
    if (this.#state !== "on") await this.start(this.#options);
    if (this.#problem !== undefined) throw new Error(this.#problem);
    return await this.join(link);
  }

  async close(name: string): Promise<void> {
    await this.#need().client.closeChannel(name);
    this.#forget(name);
  }

  async leave(name: string): Promise<void> {
    await (await this.#need().channel(name)).leave();
    this.#forget(name);
  }

  /**
   * Channels of the account that this agent is not in. A relay with several addresses is asked at
   * its first.
   */
  async otherChannels(): Promise<readonly AccountChannel[]> {
    const { relay } = await this.service.get<DiscoveryAnswer>("/.well-known/static");
    const [origin] = overTcp(relay.urls).map(tcpOrigin);
    if (origin === undefined) {
      throw new Error("The service does not tell where its relay is (STATIC_RELAY_URL)");
    }
    const own = new Set(this.rooms.map(({ channel }) => channel?.id));
    return (await listAccountChannels({ origin, token: await this.#token() })).filter(({ id }) =>
      !own.has(id)
    );
  }

  #need(): ChannelManager {
    if (this.#manager === undefined) throw new Error("The agent is not connected. Start it first");
    return this.#manager;
  }

  /**
   * A tab that has lost its store to another one is another agent, and what it heard before was
   * said to the other.
   */
  #room(name: string, channel: Parameters<ChatRoom["attach"]>[0]): ChatRoom {
    const { agentId } = this.#need().client;
    const before = this.#rooms.get(name);
    const self = {
      agentId,
      identity: this.identity,
      keyUnchanged: true,
      knownAs: undefined,
      self: true,
    };
    const room = before?.self.agentId === agentId
      ? before
      : new ChatRoom(name, self, () => this.#tell());
    this.#rooms.set(name, room);
    if (room.channel !== channel) room.attach(channel);
    return room;
  }

  #forget(name: string): void {
    this.#rooms.get(name)?.detach();
    this.#rooms.delete(name);
    this.#tell();
  }

  async #begin({ cover, way }: TabStartOptions): Promise<void> {
    const { relay, certificate_hashes: hashes } = await this.service.get<DiscoveryAnswer>(
      "/.well-known/static",
    );
    const isCells = way === "cells" || (way === "auto" && !("WebTransport" in globalThis));
    const manager = await this.#connect({
      endpoint: (isCells ? overTcp(relay.urls) : relay.urls).join(","),
      apiUrl: location.origin,
      ...("pass" in this.holder ? { apiKey: this.holder.pass } : { token: () => this.#token() }),
      transport: isCells ? "grpc" : way,
      // Over `fetch` a browser takes only what its own authorities vouch for.
      tls: isCells || hashes.length === 0 ? {} : { certificateHashes: [...hashes] },
      cover,
      tap: this.meter.tap,
      // Beside this script.
      workerUrl: new URL("./worker.js", import.meta.url).href,
    });
    this.#manager = manager;
    void this.#follow(manager);
    for (const name of manager.channels) this.#room(name, await manager.channel(name));
  }

  /** A store that another tab holds is left to it. */
  async #connect(
    options: Omit<Parameters<typeof ChannelManager.connect>[0], "dataDir" | "identity">,
  ): Promise<ChannelManager> {
    const first = Math.max(1, this.#slot);
    for (let slot = first;; slot++) {
      this.#slot = slot;
      try {
        const { holder } = this;
        const place = `${
          "pass" in holder ? `guest-${holder.channelId}` : `console-${holder.accountId}`
        }-${slot}`;
        this.#mark = await markIn(place);
        const dataDir = `${place}-${this.#mark}`;
        return await ChannelManager.connect({
          ...options,
          dataDir,
          identity: this.identity,
          // People read here.
          receipts: "off",
        });
      } catch (error) {
        const isTaken = error instanceof StaticError && error.code === "store_locked";
        if (!isTaken || slot - first >= maxSlots) throw error;
      }
    }
  }

  async #token(): Promise<string> {
    const channels = [{ pattern: "*", allow: rights }];
    return (await this.service.send<{ token: string }>("POST", "/v1/session/token", { channels }))
      .token;
  }

  async #end(): Promise<void> {
    const manager = this.#manager;
    this.#manager = undefined;
    for (const room of this.#rooms.values()) room.detach();
    await manager?.close();
    this.meter.restart();
  }

  async #follow(manager: ChannelManager): Promise<void> {
    for await (const event of manager.client.events()) {
      // The end of a connection that another one follows is no news.
      if (manager !== this.#manager) return;
      if (event.type === "disconnected") this.meter.restart();
      const [text, atMs] = [eventInWords(event), Date.now()];
      const room = "channel" in event && event.channel !== undefined
        ? this.#rooms.get(event.channel)
        : undefined;
      if (text !== undefined) room?.tell(text, atMs);
      if (room === undefined) this.#note(text ?? event.type, atMs);
    }
  }

  /** Keeps an event of the connection, which belongs to no channel. */
  #note(text: string, atMs: number): void {
    this.#happened++;
    this.#events = [{ id: this.#happened, atMs, text }, ...this.#events].slice(0, maxEvents);
    this.#tell();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #set(state: AgentState, problem?: string): void {
    this.#state = state;
    this.#problem = problem;
    this.#tell();
  }

  #tell(): void {
    for (const run of this.#listeners) run();
  }
}

/** All of them where none is for TCP alone: the SDK knows the usual port. */
function overTcp(urls: readonly string[]): readonly string[] {
  const tcp = urls.filter((url) => !url.startsWith("quic:"));
  return tcp.length === 0 ? urls : tcp;
}

/**
 * As a browser dials it for typed calls. As in the SDK, a relay's two usual ports belong together.
 */
function tcpOrigin(url: string): string {
  const [, scheme = "", host = "", digits] = /^(\w+):\/\/(.+?)(?::(\d+))?$/.exec(url) ?? [];
  const port = digits ?? (scheme === "https" ? "443" : "5000");
  return `https://${host}:${port === "4433" ? "5000" : port}`;
}

/**
 * Tells the browsers of one account, and the guests of one channel, apart: an identity belongs to
 * one key. It stands in the name of the store, and so lives as long as the keys.
 */
async function markIn(place: string): Promise<string> {
  const before = `static-${place}-`;
  const stores = await indexedDB.databases();
  const kept = stores.find(({ name }) => name?.startsWith(before))?.name?.slice(before.length);
  const random = crypto.getRandomValues(new Uint8Array(4));
  return kept ?? Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
