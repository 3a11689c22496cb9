/**
 * Messages on their way to the application. Every reader sees everything from where it began; a message is done with when every
 * reader is. Requests and replies are for others than readers, who say when they are done with them. Without a reader messages
 * wait, up to a limit: beyond it they are passed over unread and fetched again later, so that memory stays small while commits
 * go on.
 */
import type { StaticError } from "../base/errors.ts";
import { Serial } from "../base/serial.ts";
import { Envelope } from "../content/envelope.ts";
import type { Incoming } from "../content/incoming.ts";
import type { Handed } from "../content/ports.ts";
import type { Receipt } from "../mls/durable_group.ts";
import type { RecordChange } from "../store/mod.ts";
import { HandedAhead } from "./handed_ahead.ts";
import type { Arrival } from "./reading/senders.ts";

/**
 * One message key that was used. It is used up when the application is done with all messages that were sealed with it.
 */
export interface Opening {
  readonly receipt: Receipt;
  /** How many it is not done with. */
  open: number;
}

export interface InboxItem {
  readonly incoming: Incoming;
  readonly sequence: number;
  readonly epoch: number;
  readonly opening: Opening;
  readonly arrival: Arrival;
  /** Memory that it takes, roughly. */
  readonly bytes: number;
}

/** Which messages a loop gets, and how it acknowledges them. */
export interface EnvelopeOptions {
  /** Ends the loop quietly. */
  readonly signal?: AbortSignal;
  /** Also what is for others: messages, requests and replies with another addressee, and of members whose key is not trusted. */
  readonly all?: boolean;
  /** `auto` when not given: asking for the next message acknowledges the one before. `manual`: `envelope.ack()` does. */
  readonly ack?: "auto" | "manual";
  /**
   * With a host: the durable reader, `default` when not given. Each reader has a position of its own and sees every message; of
   * several programs that read as one, each message goes to one of them.
   */
  readonly as?: string;
  /** With a host: from now on, without a position; it holds nothing back for others and misses what comes meanwhile. */
  readonly tail?: boolean;
}

/** A loop over a channel's messages that can also be ended by hand. */
export interface InboxReader extends AsyncIterableIterator<Envelope, undefined> {
  /** Ends, and the last message counts as done with, as if the next one had been asked for. */
  finish(): Promise<void>;
  /** Resolves when it has begun: what comes from then on is not missed, not even by one that reads from now on. */
  begun(): Promise<void>;
  /**
   * @internal The next message without waiting, or undefined when there is none now; the one before is not acknowledged. The end
   * of the channel comes with `next` alone. Only of an agent's own channel, and not while `next` waits.
   */
  poll?(): Envelope | undefined;
}

/** For callers that take one message at a time. While nobody waits it holds up no other reader. */
export interface OneByOne {
  /** Marks the messages given before as processed. A caller far ahead of the disk waits for the promise. */
  acknowledge(): Promise<void> | undefined;
  /** The next message, the end, or undefined when there is neither now. Throws the error with which the channel ended. */
  poll(): IteratorResult<Envelope, undefined> | undefined;
  /** Nobody waits: other readers decide about what comes, and about what was given. */
  park(): void;
  /** Resolves when something has come, or the channel has ended. */
  news(): Promise<void>;
  /** Marks the messages given as processed, and asks for no more. */
  finish(): Promise<void>;
}

export interface InboxParts {
  /** Hears of messages that are done with; a reader that runs far ahead of it waits for its promise. */
  readonly onDone: (items: readonly InboxItem[], changes: readonly RecordChange[]) => Promise<void> | undefined;
  /** Resolves when what is done with so far is on disk. */
  readonly written: () => Promise<void>;
  readonly onRequest: (request: Handed) => void;
  readonly onReply: (reply: Handed) => void;
  /** Whether a message's time is over; then it is not shown. Asked once it would be. */
  readonly isExpired: (message: Incoming) => boolean;
  /** The application wants no messages: each is done with as it arrives. Requests and replies still come. */
  readonly discard: boolean;
}

const maxItems = 4096;
const maxBytes = 8 * 1024 * 1024;
/** Below both, there is room for what was passed over: fetching it is worth a good part of the inbox. */
const [fewItems, fewBytes] = [maxItems / 16, maxBytes / 4];

interface Entry {
  readonly item: InboxItem;
  /** Counted from the first that came. */
  readonly number: number;
  /** Nobody but readers has to be done with it. */
  handled: boolean;
  /** Its time was over when a reader would have been given it. */
  expired: boolean;
}

interface Reader {
  readonly all: boolean;
  readonly manual: boolean;
  /** Number of the first message that it has not been given. */
  next: number;
  /** It was given these and is not done with them. */
  readonly open: Map<number, Entry>;
  closed: boolean;
  /** Nobody asks: it wants nothing now. */
  parked: boolean;
}

export class Inbox {
  readonly handedAhead = new HandedAhead();
  readonly #parts: InboxParts;
  /** In the order in which they came. */
  #entries: Entry[] = [];
  #count = 0;
  /** Of those that wait for readers. Requests and replies that wait for others are bounded by them, and hold up no message. */
  #held = 0;
  #bytes = 0;
  readonly #readers = new Set<Reader>();
  #wakers: (() => void)[] = [];
  #ended: { readonly error: StaticError | undefined } | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  get unread(): number {
    return this.#entries.length;
  }

  /** Somebody asks for messages, or did. */
  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  get isFull(): boolean {
    return this.#held >= maxItems || this.#bytes >= maxBytes;
  }

  get isNearlyEmpty(): boolean {
    return this.#held < fewItems && this.#bytes < fewBytes;
  }

  /** The oldest message that is not done with. */
  get oldest(): InboxItem | undefined {
    return this.#entries[0]?.item;
  }

  push(item: InboxItem): void {
    const { incoming, incoming: { lane } } = item;
    const entry: Entry = { item, number: this.#count++, handled: lane === "aside", expired: false };
    this.#entries.push(entry);
    this.#hold(entry, 1);
    const done = (changes: readonly RecordChange[] = []): void => {
      if (entry.handled) return;
      entry.handled = true;
      this.#hold(entry, 1);
      this.#settle([entry], changes);
    };
    if (lane === "reply" || lane === "request") {
      if (!this.handedAhead.arrived(incoming, done)) this.#hand({ incoming, done });
    }
    this.#settle([entry]);
    this.#wake();
  }

  /** A request or a reply before its turn: it will be pushed when the messages before it have been. */
  handAhead(incoming: Incoming): void {
    this.handedAhead.hand(incoming, (handed) => this.#hand(handed));
  }

  #hand(handed: Handed): void {
    if (handed.incoming.lane === "reply") this.#parts.onReply(handed);
    else this.#parts.onRequest(handed);
  }

  /** Nothing more will come: readers get what is there, then the error, or the end. */
  end(error: StaticError | undefined): void {
    this.#ended ??= { error };
    this.#wake();
  }

  /** Everything from the oldest message that is not done with. Ends quietly when the signal is aborted. */
  read({ signal, all = false, ack = "auto" }: EnvelopeOptions = {}): InboxReader {
    const reader = this.#begin({ all, manual: ack === "manual" });
    const calls = new Serial();
    const close = (): void => {
      signal?.removeEventListener("abort", close);
      this.#close(reader);
    };
    signal?.addEventListener("abort", close, { once: true });
    if (signal?.aborted === true) close();
    return {
      next: () => {
        // At once, not in turn: a caller that asks and then gives up has asked.
        const written = this.#followUp(reader);
        return calls.run(() => this.#next(reader, written));
      },
      finish: async () => {
        await this.#followUp(reader);
        close();
      },
      begun: () => Promise.resolve(),
      poll: () => reader.closed ? undefined : this.#give(reader),
      return: () => {
        close();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator](): InboxReader {
        return this;
      },
    };
  }

  /** From the oldest message that is not done with, for callers that share it. */
  readOneByOne(): OneByOne {
    const reader = this.#begin({ all: false, manual: false });
    return {
      acknowledge: () => {
        reader.parked = false;
        return this.#followUp(reader);
      },
      poll: () => this.#poll(reader),
      park: () => {
        reader.parked = true;
        if (this.#readers.size > 1) void this.#settle([...this.#entries]);
      },
      news: () => this.#news(),
      finish: async () => {
        reader.parked = false;
        await this.#followUp(reader);
        this.#close(reader);
      },
    };
  }

  #begin({ all, manual }: Pick<Reader, "all" | "manual">): Reader {
    const next = this.#entries[0]?.number ?? this.#count;
    const reader: Reader = { all, manual, next, open: new Map(), closed: false, parked: false };
    this.#readers.add(reader);
    return reader;
  }

  #close(reader: Reader): void {
    if (reader.closed) return;
    reader.closed = true;
    this.#readers.delete(reader);
    // Entries that the other readers have passed were waiting for this reader only.
    void this.#settle([...this.#entries]);
    this.#wake();
  }

  async #next(reader: Reader, written: Promise<void> | undefined): Promise<IteratorResult<Envelope, undefined>> {
    await (written ?? this.#followUp(reader));
    for (;;) {
      const next = this.#poll(reader);
      if (next !== undefined) return next;
      await this.#news();
    }
  }

  /** Undefined when there is nothing for it now. */
  #poll(reader: Reader): IteratorResult<Envelope, undefined> | undefined {
    if (reader.closed) return { done: true, value: undefined };
    const value = this.#give(reader);
    return value === undefined ? this.#ended && this.#finish(reader, this.#ended) : { done: false, value };
  }

  #give(reader: Reader): Envelope | undefined {
    const entry = this.#take(reader);
    if (entry === undefined) return undefined;
    const pass = (): Promise<void> | undefined => this.#acknowledge(reader, [entry]);
    const ack = async (): Promise<void> => {
      await pass();
      // Another reader may still hold it.
      if (this.#entries[this.#indexOf(entry.number)] !== entry) await this.#parts.written();
    };
    const giveBack = (): void => {
      if (reader.open.delete(entry.number)) reader.next = Math.min(reader.next, entry.number);
      this.#wake();
    };
    return new Envelope(entry.item.incoming, ack, pass, giveBack);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#wakers.push(resolve));
  }

  /** The next one that it wants. */
  #take(reader: Reader): Entry | undefined {
    const over: Entry[] = [];
    for (let at = this.#indexOf(reader.next); at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry === undefined || !wants(reader, entry) || reader.open.has(entry.number)) continue;
      reader.next = entry.number + 1;
      if (this.#isExpired(entry)) {
        over.push(entry);
        continue;
      }
      void this.#settle(over);
      reader.open.set(entry.number, entry);
      return entry;
    }
    reader.next = this.#count;
    void this.#settle(over);
    return undefined;
  }

  /** Told once, however many readers pass it. */
  #isExpired(entry: Entry): boolean {
    const { incoming } = entry.item;
    if (incoming.lane !== "message") return false;
    return entry.expired ||= this.#parts.isExpired(incoming);
  }

  /** Where the first entry of this number, or of a later one, is. */
  #indexOf(number: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.number ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The reader is done with what it was given. */
  #followUp(reader: Reader): Promise<void> | undefined {
    return reader.manual ? undefined : this.#acknowledge(reader, [...reader.open.values()]);
  }

  #acknowledge(reader: Reader, entries: readonly Entry[]): Promise<void> | undefined {
    if (reader.closed && !reader.manual) return undefined;
    const open = entries.filter(({ number }) => reader.open.delete(number));
    // A loop that has ended may still be working on what it was given; then no other reader decides about it.
    return open.length === 0 ? undefined : this.#settle(open, [], reader.closed);
  }

  #finish(reader: Reader, { error }: { readonly error: StaticError | undefined }): IteratorResult<Envelope, undefined> {
    reader.closed = true;
    this.#readers.delete(reader);
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  /** Lets go of those that everybody is done with. `acknowledged`: by a reader that has ended since. */
  #settle(
    entries: readonly Entry[],
    changes: readonly RecordChange[] = [],
    acknowledged = false,
  ): Promise<void> | undefined {
    const done = entries.filter((entry) => this.#isDone(entry, acknowledged) && this.#remove(entry));
    if (done.length === 0 && changes.length === 0) return undefined;
    for (const entry of done) this.#hold(entry, -1);
    return this.#parts.onDone(done.map(({ item }) => item), changes);
  }

  /** Counts those that wait for readers. */
  #hold({ item, handled }: Entry, change: 1 | -1): void {
    const { lane } = item.incoming;
    if ((lane === "request" || lane === "reply") && !handled) return;
    this.#held += change;
    this.#bytes += change * item.bytes;
  }

  #remove(entry: Entry): boolean {
    const at = this.#indexOf(entry.number);
    if (this.#entries[at] !== entry) return false;
    this.#entries.splice(at, 1);
    return true;
  }

  #isDone(entry: Entry, acknowledged: boolean): boolean {
    const { lane } = entry.item.incoming;
    if (this.#parts.discard && (lane === "message" || lane === "aside")) return true;
    const concerned = [...this.#readers].filter((reader) => wants(reader, entry));
    const passed = concerned.every(({ next, open }) => entry.number < next && !open.has(entry.number));
    return passed && (lane === "message" ? concerned.length > 0 || acknowledged : entry.handled);
  }

  #wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }
}

function wants({ all, parked }: Reader, { item }: Entry): boolean {
  return !parked && (all || item.incoming.lane === "message");
}
