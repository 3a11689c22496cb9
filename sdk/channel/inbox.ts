/**
 * Messages on their way to the application. Every reader sees everything from where it began; a message is done with when the
 * slowest reader has asked for the next one. Without a reader they wait, up to a limit: beyond it messages are passed over
 * unread and fetched again later, so that memory stays small while commits go on.
 */
import type { AgentId, MessageId } from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { Receipt } from "../mls/durable_group.ts";
import { Serial } from "../base/serial.ts";
import type { SenderRecord } from "./records.ts";

/** A decrypted message with what is known about it. */
export interface Envelope {
  /** What was sent. */
  readonly payload: Uint8Array;
  /** Who sent it, authenticated. */
  readonly sender: { readonly agentId: AgentId; readonly identity: Uint8Array };
  /** Chosen by the sender, authenticated. */
  readonly id: MessageId;
  /** When the relay accepted it, by the relay's clock and word. */
  readonly timeMs: number;
}

export interface InboxItem {
  readonly envelope: Envelope;
  readonly sequence: number;
  readonly epoch: number;
  readonly receipt: Receipt;
  readonly arrived: SenderRecord;
  /** What it takes of memory, roughly. */
  readonly bytes: number;
}

/** A loop over a channel's messages that can also be ended by hand. */
export interface InboxReader extends AsyncIterableIterator<Envelope, undefined> {
  /** Ends, and the last message counts as done with, as if the next one had been asked for. */
  finish(): Promise<void>;
}

const maxItems = 4096;
const maxBytes = 8 * 1024 * 1024;
/** Below both, there is room for what was passed over: fetching it is worth a good part of the inbox. */
const [fewItems, fewBytes] = [maxItems / 16, maxBytes / 4];

export class Inbox {
  readonly #onDone: (items: readonly InboxItem[]) => Promise<void> | undefined;
  #items: InboxItem[] = [];
  /** Number of the first of `#items`, counted from the beginning. */
  #first = 0;
  #bytes = 0;
  readonly #readers = new Set<Reader>();
  #wakers: (() => void)[] = [];
  #ended: { readonly error: StaticError | undefined } | undefined;

  /** `onDone` hears of messages when they are done with; a reader that runs far ahead of it waits for its promise. */
  constructor(onDone: (items: readonly InboxItem[]) => Promise<void> | undefined) {
    this.#onDone = onDone;
  }

  get unread(): number {
    return this.#items.length;
  }

  get isFull(): boolean {
    return this.#items.length >= maxItems || this.#bytes >= maxBytes;
  }

  get isNearlyEmpty(): boolean {
    return this.#items.length < fewItems && this.#bytes < fewBytes;
  }

  /** The oldest message that is not done with. */
  get oldest(): InboxItem | undefined {
    return this.#items[0];
  }

  push(item: InboxItem): void {
    this.#items.push(item);
    this.#bytes += item.bytes;
    this.#wake();
  }

  /** Nothing more will come: readers get what is there, then the error, or the end. */
  end(error: StaticError | undefined): void {
    this.#ended ??= { error };
    this.#wake();
  }

  /** Everything from the oldest message that is not done with. Ends quietly when the signal is aborted. */
  read(signal?: AbortSignal): InboxReader {
    const reader: Reader = { next: this.#first, given: false, closed: false };
    this.#readers.add(reader);
    const calls = new Serial();
    const close = (): void => {
      if (reader.closed) return;
      reader.closed = true;
      this.#readers.delete(reader);
      // What the others have passed already waited for this one only.
      if (this.#readers.size > 0) void this.#release();
      this.#wake();
    };
    signal?.addEventListener("abort", close, { once: true });
    if (signal?.aborted === true) close();
    return {
      next: () => {
        // At once, and not in turn: who asks and then gives up has asked.
        const written = this.#followUp(reader);
        return calls.run(() => this.#next(reader, written));
      },
      finish: async () => {
        await this.#followUp(reader);
        close();
      },
      return: () => {
        close();
        signal?.removeEventListener("abort", close);
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator](): InboxReader {
        return this;
      },
    };
  }

  async #next(reader: Reader, written: Promise<void> | undefined): Promise<IteratorResult<Envelope, undefined>> {
    await (written ?? this.#followUp(reader));
    for (;;) {
      if (reader.closed) return { done: true, value: undefined };
      const item = this.#items[reader.next - this.#first];
      if (item !== undefined) {
        reader.given = true;
        return { done: false, value: item.envelope };
      }
      if (this.#ended !== undefined) return this.#finish(reader, this.#ended);
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  /** The reader is done with what it was given. */
  #followUp(reader: Reader): Promise<void> | undefined {
    if (!reader.given || reader.closed) return undefined;
    reader.given = false;
    reader.next++;
    return this.#release();
  }

  #finish(reader: Reader, { error }: { readonly error: StaticError | undefined }): IteratorResult<Envelope, undefined> {
    reader.closed = true;
    this.#readers.delete(reader);
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  #release(): Promise<void> | undefined {
    const slowest = Math.min(...Array.from(this.#readers, ({ next }) => next));
    const done = this.#items.splice(0, slowest - this.#first);
    if (done.length === 0) return undefined;
    this.#first = slowest;
    for (const { bytes } of done) this.#bytes -= bytes;
    return this.#onDone(done);
  }

  #wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }
}

interface Reader {
  /** Number of the message that it gets next, or has been given and not yet followed by another call. */
  next: number;
  given: boolean;
  closed: boolean;
}
