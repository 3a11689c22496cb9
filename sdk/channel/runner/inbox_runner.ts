/**
 * Carries out what `stepInbox` says: loops over messages, and one at a time. Promises of those who wait for a message are here alone.
 */
import type { StaticError } from "../../base/errors.ts";
import { Serial } from "../../base/serial.ts";
import { Envelope } from "../../content/envelope.ts";
import type { Incoming } from "../../content/incoming.ts";
import type { Handed } from "../../content/ports.ts";
import type { Receipt } from "../../mls/durable_group.ts";
import type { RecordChange } from "../../store/mod.ts";
import { HandedAhead } from "../handed_ahead.ts";
import { holds, isFullInbox, isNearlyEmptyInbox, isReading, isUnhandled, stepInbox } from "../messages/inbox.ts";
import {
  type Entry,
  type InboxEffect,
  type InboxEvent,
  type InboxFacts,
  type InboxState,
  newInbox,
} from "../messages/inbox_state.ts";
import type { Arrival } from "../reading/senders.ts";

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

const noItems: readonly InboxItem[] = Object.freeze([]);
const noChanges: readonly RecordChange[] = Object.freeze([]);

export class InboxRunner {
  readonly handedAhead = new HandedAhead();
  readonly #parts: InboxParts;
  readonly #state: InboxState<InboxItem> = newInbox();
  readonly #facts: InboxFacts<InboxItem>;
  #wakers: (() => void)[] = [];
  #readers = 0;
  #ended: { readonly error: StaticError | undefined } | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#facts = { isDiscarding: parts.discard, isExpired: ({ incoming }) => parts.isExpired(incoming) };
  }

  get unread(): number {
    return this.#state.entries.length;
  }

  /** Somebody asks for messages, or did. */
  get isRead(): boolean {
    return this.#state.readers.length > 0;
  }

  get isFull(): boolean {
    return isFullInbox(this.#state);
  }

  get isNearlyEmpty(): boolean {
    return isNearlyEmptyInbox(this.#state);
  }

  /** The oldest message that is not done with. */
  get oldest(): InboxItem | undefined {
    return this.#state.entries[0]?.item;
  }

  push(item: InboxItem): void {
    const { incoming, incoming: { lane }, bytes } = item;
    const number = this.#state.count;
    const effects = stepInbox(this.#state, { type: "arrived", item, lane, bytes }, this.#facts);
    if (lane === "reply" || lane === "request") {
      const done = (changes: readonly RecordChange[] = []): void => {
        if (isUnhandled(this.#state, number)) void this.#step({ type: "handled", number }, changes);
      };
      if (!this.handedAhead.arrived(incoming, done)) this.#hand({ incoming, done });
    }
    void this.#perform(effects);
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
    const reader = this.#begin(all, ack === "manual");
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
        const written = this.#step({ type: "asks", reader });
        return calls.run(() => this.#next(reader, written));
      },
      finish: async () => {
        await this.#step({ type: "asks", reader });
        close();
      },
      begun: () => Promise.resolve(),
      poll: () => this.#give(reader),
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
    const reader = this.#begin(false, false);
    return {
      acknowledge: () => this.#step({ type: "asks", reader }),
      poll: () => this.#poll(reader),
      park: () => void this.#step({ type: "parks", reader }),
      news: () => this.#news(),
      finish: async () => {
        await this.#step({ type: "asks", reader });
        this.#close(reader);
      },
    };
  }

  #begin(all: boolean, isManual: boolean): number {
    const reader = ++this.#readers;
    void this.#step({ type: "begins", reader, all, isManual });
    return reader;
  }

  #close(reader: number): void {
    if (this.#isReading(reader)) void this.#step({ type: "ends", reader });
  }

  #isReading(reader: number): boolean {
    return isReading(this.#state, reader);
  }

  async #next(reader: number, written: Promise<void> | undefined): Promise<IteratorResult<Envelope, undefined>> {
    await (written ?? this.#step({ type: "asks", reader }));
    for (;;) {
      const next = this.#poll(reader);
      if (next !== undefined) return next;
      await this.#news();
    }
  }

  /** Undefined when there is nothing for it now. */
  #poll(reader: number): IteratorResult<Envelope, undefined> | undefined {
    if (!this.#isReading(reader)) return { done: true, value: undefined };
    const value = this.#give(reader);
    return value === undefined ? this.#ended && this.#finish(reader, this.#ended) : { done: false, value };
  }

  #give(reader: number): Envelope | undefined {
    const effects = stepInbox(this.#state, { type: "takes", reader }, this.#facts);
    void this.#perform(effects);
    const given = effects.at(-1);
    return given?.type === "given" ? this.#envelopeOf(reader, given.entry) : undefined;
  }

  #envelopeOf(reader: number, { number, item: { incoming } }: Entry<InboxItem>): Envelope {
    const pass = (): Promise<void> | undefined => this.#step({ type: "passes", reader, number });
    const ack = async (): Promise<void> => {
      await pass();
      // Another reader may still hold it.
      if (!holds(this.#state, number)) await this.#parts.written();
    };
    const giveBack = (): void => void this.#step({ type: "gives_back", reader, number });
    return new Envelope(incoming, ack, pass, giveBack);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#wakers.push(resolve));
  }

  #finish(reader: number, { error }: { readonly error: StaticError | undefined }): IteratorResult<Envelope, undefined> {
    this.#close(reader);
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  #step(event: InboxEvent<InboxItem>, changes: readonly RecordChange[] = noChanges): Promise<void> | undefined {
    return this.#perform(stepInbox(this.#state, event, this.#facts), changes);
  }

  /** Changes go in one write with what is done with. A reader that runs far ahead of it waits for the promise. */
  #perform(
    effects: readonly InboxEffect<InboxItem>[],
    changes: readonly RecordChange[] = noChanges,
  ): Promise<void> | undefined {
    let items = noItems;
    let isNews = false;
    for (const effect of effects) {
      if (effect.type === "done") items = effect.items;
      else if (effect.type === "news") isNews = true;
    }
    const written = items.length + changes.length > 0 ? this.#parts.onDone(items, changes) : undefined;
    if (isNews && this.#wakers.length > 0) this.#wake();
    return written;
  }

  #wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }
}
