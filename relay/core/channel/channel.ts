/**
 * A channel in memory: the fold of its log, the last items of it, who reads them, and how far each
 * member is. Everything here can be dropped and loaded again from the engine; what is not there yet
 * was not accepted.
 */
import type {
  AccountId,
  AgentId,
  ChannelId,
  ChannelName,
  JoinRequestId,
} from "../../../proto/mod.ts";
import type { ChannelRecord, Cursor, Engine, Entry } from "../../engine/engine.ts";
import type { ConfirmationBudget } from "../limits/confirmation_budget.ts";
import { Confirmations, type ConfirmationStatement } from "./confirmations.ts";
import { ChannelState } from "./channel_state.ts";
import { DeliverableItem } from "./deliverable_item.ts";
import { FanOut, type FanOutHost } from "./fan_out.ts";
import type { ReadingEnd, SubscribedChannel, Subscription } from "./subscription.ts";
import type { CachedEntries, DeliveryCacheBudget } from "../limits/delivery_cache.ts";

/**
 * Items kept in memory for members that are nearly up to date. A reader that is a thousand messages
 * behind is usual while many are sent; reading them again from the engine takes longer than
 * everything else about a delivery.
 */
const tailBytes = 4 * 1024 * 1024;
const pageBytes = 256 * 1024;

export interface ChannelHost {
  readonly engine: Engine;
  readonly nowMs: () => number;
  readonly tails: DeliveryCacheBudget;
  /** The budget for channels without readers. */
  readonly unreadTails: DeliveryCacheBudget;
  readonly confirmations: ConfirmationBudget;
  /** How readers hear of messages. */
  readonly fanOut: FanOutHost;
  /** An entry became part of the channel. Unless it is a message, its readers have been told. */
  appended(channel: LoadedChannel, entry: Entry): void;
}

export class LoadedChannel implements SubscribedChannel, CachedEntries {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly account: AccountId;
  readonly createdAtMs: number;
  readonly state: ChannelState;
  readonly #confirmations: Confirmations;
  /** One per agent: an agent has one session. */
  readonly subscriptions = new Map<AgentId, Subscription>();
  /** Agents whose Welcome answers a request of theirs, so that they can tell which. */
  readonly answered = new Map<AgentId, JoinRequestId>();
  lastUsedMs: number;
  /** Everything up to here is known to be trimmed. */
  trimmed = 0;
  /** No application message is left up to here. */
  dropped = 0;
  /**
   * An entry was refused because the log is too long: the next care makes all the room that it can.
   */
  full = false;
  snapshotSequence: number;
  /** Bytes of application messages in the log. */
  queueBytes = 0;
  readonly #host: ChannelHost;
  readonly #fanOut: FanOut;
  readonly #cursors = new Map<AgentId, number>();
  /** The last entry that each agent itself said it is done with. */
  readonly #acknowledged = new Map<AgentId, number>();
  /** Cursors that are not on disk yet. */
  readonly #moved = new Set<AgentId>();
  readonly #tail: DeliverableItem[] = [];
  #tailBytes = 0;
  #stopWatching: () => void = () => {};

  private constructor(record: ChannelRecord, host: ChannelHost) {
    this.channelId = record.channelId;
    this.name = record.name;
    this.account = record.account;
    this.createdAtMs = record.timeMs;
    this.#host = host;
    this.#fanOut = new FanOut(host.fanOut, record.account, this.subscriptions);
    this.lastUsedMs = host.nowMs();
    this.state = record.snapshot
      ? ChannelState.decode(record.snapshot.state)
      : ChannelState.create(record.creator);
    this.snapshotSequence = record.snapshot?.sequence ?? 0;
    const tail = { dropTail: (): void => this.#confirmations.clear() };
    this.#confirmations = new Confirmations(this.channelId, {
      nowMs: host.nowMs,
      isMember: (agentId) => this.state.isActive(agentId),
      hold: (bytes) => host.confirmations.hold(this.account, tail, bytes),
    });
  }

  /**
   * Reads the log since the last snapshot. Entries that come meanwhile are held back and applied
   * after it.
   */
  static async load(record: ChannelRecord, host: ChannelHost): Promise<LoadedChannel> {
    const channel = new LoadedChannel(record, host);
    const arrived: Entry[] = [];
    let loaded = false;
    channel.#stopWatching = host.engine.watch(channel.channelId, (entry) => {
      if (loaded) channel.#append(entry);
      else arrived.push(entry);
    });
    try {
      await channel.#read();
    } catch (error) {
      channel.#stopWatching();
      throw error;
    }
    loaded = true;
    for (const entry of arrived) channel.#append(entry);
    return channel;
  }

  get head(): number {
    return this.state.sequence;
  }

  /** The last entry that an agent is done with. */
  cursor(agentId: AgentId): number | undefined {
    return this.#cursors.get(agentId);
  }

  /** Where an agent is, as far as the relay keeps it. */
  cursorOf(agentId: AgentId): Cursor {
    return {
      consumed: this.#cursors.get(agentId) ?? 0,
      acknowledged: this.#acknowledged.get(agentId) ?? 0,
    };
  }

  /**
   * The position of an agent: entries that are not for it are passed over once nothing before them
   * is open. An agent that has not taken its Welcome has no position yet.
   */
  progress(agentId: AgentId): number {
    const consumed = this.#cursors.get(agentId) ?? 0;
    const joined = this.state.members.get(agentId)?.joinedSequence ?? 0;
    if (consumed < joined) return consumed;
    const subscription = this.subscriptions.get(agentId);
    if (subscription === undefined || subscription.lastDelivered > consumed) return consumed;
    return Math.max(consumed, subscription.position);
  }

  /** A Welcome waits for this agent. */
  hasWelcomeFor(agentId: AgentId): boolean {
    const member = this.state.members.get(agentId);
    return this.state.isActive(agentId) && member !== undefined &&
      this.state.welcomes.has(agentId) &&
      (this.#cursors.get(agentId) ?? 0) < member.joinedSequence;
  }

  /**
   * Moves a cursor, never back. Durable with the next `takeMoved`, or when the caller awaits the
   * engine itself.
   */
  consume(agentId: AgentId, sequence: number): void {
    if (sequence <= (this.#cursors.get(agentId) ?? -1)) return;
    this.#cursors.set(agentId, sequence);
    this.#moved.add(agentId);
  }

  /** Another relay has moved a cursor, or has dropped it. */
  learnCursor(agentId: AgentId, cursor: Cursor | undefined): void {
    if (cursor === undefined) {
      if (!this.state.members.has(agentId)) this.forgetReader(agentId);
      return;
    }
    const [consumed, acknowledged] = [
      this.#cursors.get(agentId),
      this.#acknowledged.get(agentId) ?? 0,
    ];
    if (consumed === undefined) return;
    this.#cursors.set(agentId, Math.max(consumed, cursor.consumed));
    this.#acknowledged.set(agentId, Math.max(acknowledged, cursor.acknowledged));
  }

  /**
   * An agent says that it is done with everything up to here. Of an earlier membership that says
   * nothing.
   */
  acknowledge(agentId: AgentId, sequence: number): void {
    this.consume(agentId, sequence);
    const joined = this.state.members.get(agentId)?.joinedSequence ?? 0;
    if (sequence < joined || sequence <= (this.#acknowledged.get(agentId) ?? 0)) return;
    this.#acknowledged.set(agentId, sequence);
    this.#moved.add(agentId);
  }

  /** Returns the cursors that moved since the last call, to be written. */
  takeMoved(): [AgentId, Cursor][] {
    for (const agentId of this.subscriptions.keys()) {
      if (this.#cursors.has(agentId)) this.consume(agentId, this.progress(agentId));
    }
    const moved = [...this.#moved].filter((agentId) => this.#cursors.has(agentId))
      .map((agentId): [AgentId, Cursor] => [agentId, this.cursorOf(agentId)]);
    this.#moved.clear();
    return moved;
  }

  /** These could not be written: the next `takeMoved` answers them again. */
  putBackMoved(moved: readonly [AgentId, Cursor][]): void {
    for (const [agentId] of moved) this.#moved.add(agentId);
  }

  /** Forgets an agent whose reading is over, and that was told so. */
  forgetReader(agentId: AgentId): void {
    this.state.former.delete(agentId);
    this.#cursors.delete(agentId);
    this.#acknowledged.delete(agentId);
    this.#moved.delete(agentId);
  }

  /** Where this agent's reading ends, if it does. */
  endOf(agentId: AgentId): ReadingEnd | undefined {
    const { members, former, closed } = this.state;
    const member = members.get(agentId);
    if (member?.leaving !== undefined) {
      return { ...member.leaving, atOnce: !this.state.isLapsedOwner(agentId) };
    }
    if (member !== undefined) {
      return closed &&
        { sequence: closed.sequence, timeMs: closed.timeMs, reason: "closed", atOnce: false };
    }
    const gone = former.get(agentId);
    if (gone === undefined) {
      return { sequence: this.head, timeMs: this.#host.nowMs(), reason: "removed", atOnce: true };
    }
    return {
      sequence: gone.endSequence,
      timeMs: gone.timeMs,
      reason: gone.reason,
      atOnce: gone.reason === "left" || gone.reason === "lapsed",
    };
  }

  itemAfter(position: number): DeliverableItem | "stored" | undefined {
    if (position >= this.head) return undefined;
    const first = this.#tail[0];
    if (first === undefined || position + 1 < first.item.sequence) return "stored";
    return this.#tail[position + 1 - first.item.sequence];
  }

  async readItems(after: number, maxBytes: number): Promise<readonly DeliverableItem[]> {
    const items = await this.#host.engine.read(this.channelId, { after, maxBytes });
    return items.map((item) => new DeliverableItem(this.channelId, item));
  }

  /** One item by its sequence, from memory or the engine. */
  async itemAt(sequence: number): Promise<DeliverableItem | undefined> {
    if (sequence < 1) return undefined;
    const found = this.itemAfter(sequence - 1);
    const item = found === "stored" ? await this.#readOne(sequence - 1) : found;
    return item?.item.sequence === sequence ? item : undefined;
  }

  /** These are gone from the log, so from memory too. */
  dropItems(through: number): void {
    const kept = this.#tail.findIndex(({ item }) => item.sequence > through);
    const dropped = this.#tail.splice(0, kept < 0 ? this.#tail.length : kept);
    for (const { bytes } of dropped) this.#tailBytes -= bytes;
    this.#holdTail();
  }

  /** They are in the log still. */
  dropTail(): void {
    this.dropItems(this.head);
  }

  /** A member's word about an epoch of the log. */
  confirm(agentId: AgentId, statement: ConfirmationStatement): void {
    this.#confirmations.take(agentId, statement);
  }

  /** Returns statements of members that a reader has not been told yet, if they fit the room. */
  rider({ riders }: Subscription, room: number): Uint8Array | undefined {
    return this.#confirmations.rider(riders, room, {
      epoch: this.state.epoch,
      agents: () => this.#confirming(),
    });
  }

  /** Members whose clients read now, over a link on which confirmations can ride. */
  *#confirming(): Iterable<AgentId> {
    for (const [agentId, { confirms }] of this.subscriptions) {
      if (confirms && this.state.isActive(agentId)) yield agentId;
    }
  }

  /** No longer follows the log. */
  unload(): void {
    this.#stopWatching();
    this.dropTail();
    this.#confirmations.clear();
    for (const subscription of this.subscriptions.values()) subscription.end();
    this.subscriptions.clear();
  }

  async #readOne(after: number): Promise<DeliverableItem | undefined> {
    const [item] = await this.#host.engine.read(this.channelId, { after, maxBytes: 1 });
    return item && new DeliverableItem(this.channelId, item);
  }

  /** Reads the channel from the engine. */
  async #read(): Promise<void> {
    await this.#replay();
    const { engine } = this.#host;
    for (const [agentId, { consumed, acknowledged }] of await engine.cursors(this.channelId)) {
      this.#cursors.set(agentId, consumed);
      this.#acknowledged.set(agentId, acknowledged);
    }
    this.queueBytes = (await engine.queueSize(this.channelId)).bytes;
    for (const agentId of this.state.former.keys()) {
      if (!this.#cursors.has(agentId)) this.state.former.delete(agentId);
    }
  }

  async #replay(): Promise<void> {
    for (;;) {
      const page = await this.#host.engine.read(this.channelId, {
        after: this.head,
        maxBytes: pageBytes,
      });
      if (page.length === 0) return;
      for (const item of page) {
        if (item.kind === "gap") this.state.sequence = item.lastSequence;
        else this.state.apply(item);
      }
    }
  }

  #append(entry: Entry): void {
    if (entry.sequence <= this.head) return;
    this.state.apply(entry);
    if (entry.kind === "commit") this.#startCursors(entry.sequence);
    if (entry.kind === "leave") this.#cursors.delete(entry.sender);
    if (entry.kind === "message") this.queueBytes += entry.body.length;
    this.#keep(new DeliverableItem(this.channelId, entry));
    if (entry.kind === "message") this.#fanOut.begin();
    else this.#tellReaders();
    this.#host.appended(this, entry);
  }

  /**
   * Tells readers of an entry that changes the channel at once, because the entry may end the
   * reading of some.
   */
  #tellReaders(): void {
    for (const [agentId, subscription] of this.subscriptions) {
      const end = this.endOf(agentId);
      if (end !== undefined) subscription.stopAt(end);
      subscription.wake();
    }
  }

  /**
   * A joining agent starts just before its joining commit: acknowledging that commit means taking
   * the Welcome.
   */
  #startCursors(sequence: number): void {
    for (const [agentId, { joinedSequence }] of this.state.members) {
      if (joinedSequence !== sequence) continue;
      this.#cursors.set(agentId, sequence - 1);
      this.#acknowledged.set(agentId, sequence - 1);
    }
  }

  /**
   * Without readers it is for Welcomes that are sent at once; what is sent to sleeping agents must
   * not fill the memory.
   */
  #holdTail(): void {
    const isRead = this.subscriptions.size > 0;
    this.#host.tails.hold(this, isRead ? this.#tailBytes : 0);
    this.#host.unreadTails.hold(this, isRead ? 0 : this.#tailBytes);
  }

  #keep(item: DeliverableItem): void {
    this.#tail.push(item);
    this.#tailBytes += item.bytes;
    while (this.#tailBytes > tailBytes && this.#tail.length > 1) {
      this.#tailBytes -= this.#tail.shift()?.bytes ?? 0;
    }
    this.#holdTail();
  }
}
