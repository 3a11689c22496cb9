/**
 * One member's reading of one channel's log, from a position on. It is pulled, never pushed: an
 * item is taken only when the session's link has room and the member's window too, so a slow reader
 * costs a position and not a buffer.
 */
import type { AgentId, ChannelEndReason } from "../../../proto/mod.ts";
import type { RiderPlace } from "./confirmations.ts";
import type { DeliverableItem } from "./deliverable_item.ts";

/** The source of a subscription. */
export interface SubscribedChannel {
  readonly head: number;
  /**
   * The item after a position: undefined at the head, `"stored"` when it is no longer in memory.
   */
  itemAfter(position: number): DeliverableItem | "stored" | undefined;
  /** A page of items from the engine: at least one, and not many more bytes than this. */
  readItems(after: number, maxBytes: number): Promise<readonly DeliverableItem[]>;
}

export interface ReadingEnd {
  /** The last entry that it reads; what lies before is still delivered. */
  readonly sequence: number;
  readonly timeMs: number;
  readonly reason: ChannelEndReason;
  /** A member that left, or lapsed, is delivered nothing more, not even what came before. */
  readonly atOnce: boolean;
}

/** Where it delivers to. */
export interface DeliverySink {
  readonly hasRoom: boolean;
  deliver(notice: Uint8Array): void;
  /** How large a page may be that waits for this session. */
  readonly pageBytes: number;
  /** Let this subscription have another turn: now if there is room, else when there is. */
  queue(subscription: Subscription): void;
  /** The subscription reads a page; only a few may at a time. */
  reading(): void;
  /** The subscription has read, and has the next turn, because it holds what it read. */
  hasRead(subscription: Subscription): void;
  /** Nothing more will come of it. */
  finished(subscription: Subscription, end: ReadingEnd): void;
  failed(error: unknown): void;
}

export interface SubscriptionOptions {
  readonly agentId: AgentId;
  readonly tag: number;
  readonly windowBytes: number;
  readonly after: number;
  /**
   * Whether its client can confirm epochs: typed sessions have no cells in which that could ride.
   */
  readonly confirms: boolean;
}

/** Also for a reader with less room: entries that are not for it must not cost a read each. */
const leastPageBytes = 8 * 1024;
/** Delivered in one turn before the session's other channels have theirs. */
const turnBytes = 32 * 1024;

export class Subscription {
  readonly agentId: AgentId;
  readonly tag: number;
  readonly confirms: boolean;
  /** How far it has been told what members confirmed. */
  readonly riders: RiderPlace = { page: 0, toldUnconfirmedMs: 0 };
  readonly #channel: SubscribedChannel;
  readonly #sink: DeliverySink;
  readonly #windowBytes: number;
  /** Everything up to here was delivered or is not for this member. */
  #position: number;
  #lastDelivered: number;
  #inFlightBytes = 0;
  /** Bytes of the next entry, if the window had no room for it. */
  #wantedBytes = 0;
  readonly #inFlight: { readonly sequence: number; readonly bytes: number }[] = [];
  #page: readonly DeliverableItem[] = [];
  #pageAt = 0;
  #reading = false;
  #end: ReadingEnd | undefined;
  #ended = false;

  constructor(channel: SubscribedChannel, sink: DeliverySink, options: SubscriptionOptions) {
    this.#channel = channel;
    this.#sink = sink;
    this.agentId = options.agentId;
    this.tag = options.tag;
    this.confirms = options.confirms;
    this.#windowBytes = options.windowBytes;
    this.#position = options.after;
    // A client that asks to start later was already given the entries before, and may still be
    // processing them.
    this.#lastDelivered = options.after;
  }

  get position(): number {
    return this.#position;
  }

  /** The last entry that the member was really given and has to acknowledge. */
  get lastDelivered(): number {
    return this.#lastDelivered;
  }

  /** Something was delivered that the member has not said to hold. */
  get hasUnreceived(): boolean {
    return this.#inFlight.length > 0;
  }

  /**
   * A reading ends with the membership that it is of, even if another begins before it has come so
   * far.
   */
  stopAt(end: ReadingEnd): void {
    if (this.#ended) return;
    this.#end ??= end;
    // Also while the link is full: told later, it might come after the Welcome of the agent's next
    // membership.
    if (this.#end.atOnce) this.#finish(this.#end);
  }

  /**
   * Ends the subscription now, whatever its agent has not been given, because the log goes away.
   */
  cut(end: ReadingEnd): void {
    if (!this.#ended) this.#finish(end);
  }

  end(): void {
    this.#ended = true;
    this.#page = [];
  }

  /** The member holds everything up to here: room in its window. */
  received(sequence: number): void {
    let done = 0;
    for (const { sequence: sent, bytes } of this.#inFlight) {
      if (sent > sequence) break;
      this.#inFlightBytes -= bytes;
      done++;
    }
    if (done === 0) return;
    this.#inFlight.splice(0, done);
    this.#sink.queue(this);
  }

  /** There is something new. */
  wake(): void {
    this.#sink.queue(this);
  }

  /** One turn. */
  pump(): void {
    let budget = turnBytes;
    while (!this.#ended) {
      const end = this.#end;
      if (end !== undefined && (end.atOnce || this.#position >= end.sequence)) {
        return this.#finish(end);
      }
      if (!this.#sink.hasRoom || budget <= 0) return this.#sink.queue(this);
      if (
        this.#inFlight.length > 0 && this.#inFlightBytes + this.#wantedBytes > this.#windowBytes
      ) return;
      const next = this.#next();
      if (next === undefined) return;
      if (end !== undefined && next.item.sequence > end.sequence) return this.#finish(end);
      if (next.isFor(this.agentId)) {
        const { notice } = next;
        if (this.#inFlight.length > 0 && this.#inFlightBytes + notice.length > this.#windowBytes) {
          // A reader that does not acknowledge may wait for long; the page can be read again once
          // there is room for it.
          this.#page = [];
          this.#wantedBytes = notice.length;
          return;
        }
        this.#deliver(next, notice);
        budget -= notice.length;
      }
      this.#position = next.lastSequence;
    }
  }

  #deliver(next: DeliverableItem, notice: Uint8Array): void {
    this.#lastDelivered = next.lastSequence;
    this.#wantedBytes = 0;
    this.#inFlight.push({ sequence: next.lastSequence, bytes: notice.length });
    this.#inFlightBytes += notice.length;
    this.#sink.deliver(notice);
  }

  #finish(end: ReadingEnd): void {
    this.end();
    this.#sink.finished(this, end);
  }

  #next(): DeliverableItem | undefined {
    const item = this.#channel.itemAfter(this.#position);
    if (item !== "stored") {
      this.#page = [];
      return item;
    }
    while (this.#pageAt < this.#page.length) {
      const paged = this.#page[this.#pageAt];
      if (paged !== undefined && paged.item.sequence > this.#position) return paged;
      this.#pageAt++;
    }
    this.#readPage();
    return undefined;
  }

  #readPage(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#sink.reading();
    const after = this.#position;
    const maxBytes = Math.max(
      leastPageBytes,
      Math.min(this.#sink.pageBytes, this.#windowBytes - this.#inFlightBytes),
    );
    // The page ends at the head as it is now: what is appended meanwhile lies behind it and is not
    // part of it.
    const { head } = this.#channel;
    this.#channel.readItems(after, maxBytes).then((items) => {
      this.#reading = false;
      this.#page = this.#ended ? [] : items;
      this.#pageAt = 0;
      // An empty page below the head: everything in between was trimmed, and none of it was for
      // this member any more.
      if (items.length === 0) this.#position = Math.max(this.#position, head);
      this.#sink.hasRead(this);
    }).catch((error: unknown) => {
      this.#reading = false;
      this.#sink.failed(error);
    });
  }
}
