/**
 * Carries out what `stepInbox` says: loops over messages, and callers that take one at a time. It
 * stands in no queue: a step writes nothing, sets no timer and rests on nothing that is not on
 * disk, a loop may take what is here without waiting, and the place in the log is that of the
 * oldest message here, at each moment.
 */
import type { AgentId, MessageId } from "../../../proto/mod.ts";
import type { StaticError } from "../../base/errors.ts";
import type { Runtime } from "../../base/runtime.ts";
import { Envelope } from "../../content/envelope.ts";
import { askingOf, type IncomingEnvelope } from "../../content/incoming.ts";
import type { HandedMessage } from "../../content/ports.ts";
import type { ConsumptionReceipt } from "../../mls/durable_group.ts";
import type { RecordChange } from "../../store/mod.ts";
import { EarlyMessages } from "../messages/early_messages.ts";
import {
  hasInboxRoom,
  holds,
  isFullInbox,
  isReading,
  isUnhandled,
  stepInbox,
} from "../messages/inbox.ts";
import {
  type InboxEffect,
  type InboxEntry,
  type InboxEvent,
  type InboxFacts,
  type InboxState,
  newInbox,
} from "../messages/inbox_state.ts";
import type { ArrivedMessage } from "../reading/senders.ts";
import { Calls } from "./calls.ts";
import type { NotedChange } from "./position_runner.ts";
import type { ReceiptRunner } from "./receipt_runner.ts";

/**
 * One message key that was used. It is used up when the application is done with all messages that
 * were sealed with it.
 */
export interface UsedMessageKey {
  readonly receipt: ConsumptionReceipt;
  /** How many it is not done with. */
  open: number;
}

export interface InboxItem {
  readonly incoming: IncomingEnvelope;
  readonly sequence: number;
  readonly epoch: number;
  readonly opening: UsedMessageKey;
  readonly arrival: ArrivedMessage;
  /** Memory that it takes, roughly. */
  readonly bytes: number;
}

/** Which messages a loop gets, and how it acknowledges them. */
export interface EnvelopeOptions {
  /** Ends the loop quietly. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Also what is for others: messages, requests and replies with another addressee, and of members
   * whose key is not trusted.
   */
  readonly all?: boolean | undefined;
  /**
   * `auto` when not given: asking for the next message acknowledges the one before. `manual`:
   * `envelope.ack()` does.
   */
  readonly ack?: "auto" | "manual" | undefined;
  /**
   * With a host: the durable reader, `default` when not given. Each reader has a position of its
   * own and sees every message; of several programs that read as one, each message goes to one of
   * them.
   */
  readonly as?: string | undefined;
  /**
   * With a host: from now on, without a position; it holds nothing back for others and misses what
   * comes meanwhile. With `as`, first what waits for that reader, of which it takes nothing.
   */
  readonly tail?: boolean | undefined;
  /**
   * @internal The loop of a host's readers: its own acknowledgements say nothing of them, and each
   * says of its messages what is owed.
   */
  readonly forReaders?: boolean | undefined;
}

/** A loop over a channel's messages that can also be ended by hand. */
export interface InboxReader extends AsyncIterableIterator<Envelope, undefined> {
  /** Ends, and the last message counts as done with, as if the next one had been asked for. */
  finish(): Promise<void>;
  /**
   * Resolves when it has begun: what comes from then on is not missed, not even by one that reads
   * from now on.
   */
  begun(): Promise<void>;
  /**
   * @internal The next message without waiting, or undefined when there is none now; the one before
   * is not acknowledged. The end of the channel comes with `next` alone. Only of an agent's own
   * channel, and not while `next` waits.
   */
  poll?(): Envelope | undefined;
}

/** How long to wait for one message. */
export interface ReceiveOptions {
  /** Until it is over; for ever when not given. */
  readonly timeoutMs?: number | undefined;
  /** Gives up; the call then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

type NextEnvelope = IteratorResult<Envelope, undefined>;

export interface InboxParts {
  /** Hears of messages that are done with, and of changes that go to disk with them. */
  readonly onDone: (items: readonly InboxItem[], changes: readonly NotedChange[]) => void;
  /**
   * More is done with than may come again after a crash. `near` is called when that is so no more.
   */
  readonly isFarAhead: () => boolean;
  /** Called when `isFarAhead`. Resolves when the disk has come nearer. */
  readonly nearer: () => Promise<void> | undefined;
  /** Resolves when what is done with so far is on disk. */
  readonly written: () => Promise<void>;
  readonly onRequest: (request: HandedMessage) => void;
  readonly onReply: (reply: HandedMessage) => void;
  /** Whether a message's time is over; then it is not shown. Asked once it would be. */
  readonly isExpired: (message: IncomingEnvelope) => boolean;
  /**
   * The application wants no messages: each is done with as it arrives. Requests and replies still
   * come.
   */
  readonly discard: boolean;
  readonly after: Runtime["after"];
  readonly receipts: Pick<ReceiptRunner, "done" | "owe" | "passed" | "say">;
}

const noItems: readonly InboxItem[] = Object.freeze([]);
const noChanges: readonly NotedChange[] = Object.freeze([]);
const noMore: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });
/**
 * The reader's number of all callers that take one message each. Loops have the numbers behind it.
 */
const shared = 0;

export class InboxRunner {
  readonly handedAhead = new EarlyMessages();
  readonly #parts: InboxParts;
  readonly #state: InboxState<InboxItem> = newInbox();
  readonly #facts: InboxFacts<InboxItem>;
  readonly #waiting = new Calls<NextEnvelope | undefined>();
  #readers = shared;
  /** Programs read by way of a host's readers. */
  #isShared = false;
  /** With which it has ended. */
  #error: StaticError | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#facts = {
      get isFarAhead() {
        return parts.isFarAhead();
      },
      isDiscarding: parts.discard,
      isExpired: ({ incoming }) => parts.isExpired(incoming),
    };
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

  get hasRoom(): boolean {
    return hasInboxRoom(this.#state);
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
      const done = (changes: readonly RecordChange[] = []): void => this.#handled(number, changes);
      if (!this.handedAhead.arrived(incoming, done)) this.#hand({ incoming, done });
    }
    this.#perform(effects);
  }

  /**
   * A request or a reply before its turn: it will be pushed when the messages before it have been.
   */
  handAhead(incoming: IncomingEnvelope): void {
    this.handedAhead.hand(incoming, (handed) => this.#hand(handed));
  }

  #hand(handed: HandedMessage): void {
    if (handed.incoming.lane === "reply") this.#parts.onReply(handed);
    else this.#parts.onRequest(handed);
  }

  #handled(number: number, changes: readonly RecordChange[]): void {
    if (!isUnhandled(this.#state, number)) return;
    if (changes.length > 0) this.#parts.onDone(noItems, changes);
    this.#step({ type: "handled", number });
  }

  /** Nothing more will come: readers get what is there, then the error, or the end. */
  end(error: StaticError | undefined): void {
    if (this.#state.isOver) return;
    this.#error = error;
    this.#step({ type: "over" });
  }

  /** The disk has come nearer to what is done with. */
  near(): void {
    this.#step({ type: "near" });
  }

  /**
   * Everything from the oldest message that is not done with. Ends quietly when the signal is
   * aborted.
   */
  read({ signal, all = false, ack = "auto", forReaders }: EnvelopeOptions = {}): InboxReader {
    const reader = ++this.#readers;
    this.#isShared ||= forReaders === true;
    this.#step({ type: "begins", reader, all, isManual: ack === "manual" });
    const close = (): void => {
      signal?.removeEventListener("abort", close);
      this.#step({ type: "ends", reader });
    };
    signal?.addEventListener("abort", close, { once: true });
    if (signal?.aborted === true) close();
    return {
      next: () => this.#next(reader),
      finish: () => {
        this.#step({ type: "asks", reader });
        close();
        return Promise.resolve();
      },
      begun: () => Promise.resolve(),
      poll: () => this.#poll(reader),
      return: () => {
        close();
        return Promise.resolve(noMore);
      },
      [Symbol.asyncIterator](): InboxReader {
        return this;
      },
    };
  }

  #next(reader: number): Promise<NextEnvelope> {
    // cast: a loop's call is never withdrawn
    return this.#waiting.begin((operation) =>
      this.#step({ type: "waits", reader, operation })
    ) as Promise<NextEnvelope>;
  }

  /**
   * One message, for callers that ask with a time limit: each of several gets another one, in the
   * order in which they asked. While nobody waits, loops go on as if nobody had ever asked here.
   * Undefined when none comes in time. Asking acknowledges what was given before. Rejects with the
   * signal's reason.
   */
  receive({ timeoutMs, signal }: ReceiveOptions = {}): Promise<NextEnvelope | undefined> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (!this.#isReading(shared)) {
      this.#step({ type: "begins", reader: shared, all: false, isManual: false, isShared: true });
    }
    let asked = 0;
    const next = this.#waiting.begin((operation) => {
      asked = operation;
      this.#step({ type: "waits", reader: shared, operation });
    });
    if (timeoutMs === undefined && signal === undefined) return next;
    const withdraw = (): void =>
      this.#step({ type: "withdraws", reader: shared, operation: asked });
    const abort = (): void => {
      withdraw();
      this.#waiting.fail(asked, signal?.reason);
    };
    const late = (): void => {
      withdraw();
      this.#waiting.settle(asked, undefined);
    };
    const cancel = timeoutMs === undefined ? undefined : this.#parts.after(timeoutMs, late);
    signal?.addEventListener("abort", abort);
    const settled = (): void => {
      cancel?.();
      signal?.removeEventListener("abort", abort);
    };
    next.then(settled, settled);
    return next;
  }

  /** Messages that callers have received are done with. */
  acknowledge(): void {
    this.#step({ type: "asks", reader: shared });
  }

  #isReading(reader: number): boolean {
    return isReading(this.#state, reader);
  }

  #poll(reader: number): Envelope | undefined {
    const effects = stepInbox(this.#state, { type: "takes", reader }, this.#facts);
    this.#perform(effects);
    const given = effects.at(-1);
    return given?.type === "given" ? this.#envelopeOf(reader, given.entry) : undefined;
  }

  #envelopeOf(
    reader: number,
    { number, bytes: weight, item: { incoming } }: InboxEntry<InboxItem>,
  ): Envelope {
    const pass = (): void => this.#step({ type: "passes", reader, number });
    const ack = (): Promise<void> => {
      pass();
      // Another reader may still hold it.
      return holds(this.#state, number) ? Promise.resolve() : this.#parts.written();
    };
    const passNearer = (): Promise<void> | undefined => {
      pass();
      return this.#parts.nearer();
    };
    const giveBack = (): void => this.#step({ type: "gives_back", reader, number });
    return new Envelope(
      incoming,
      { ack, pass: passNearer, giveBack, weight },
      this.#parts.receipts,
    );
  }

  /** Programs that want no messages have acknowledged none. */
  #owedOf(items: readonly InboxItem[]): readonly NotedChange[] {
    const { receipts, discard } = this.#parts;
    if (discard || !items.some(isAsking)) return noChanges;
    return items.flatMap(({ incoming }) => {
      const asking = askingOf(incoming);
      if (asking === undefined || incoming.lane !== "message") return noChanges;
      return this.#isShared ? receipts.passed(asking) : receipts.done(asking);
    });
  }

  /** Somebody is not done with this message. */
  has(id: MessageId, sender: AgentId): boolean {
    return this.#state.entries.some(({ item: { incoming } }) =>
      incoming.id === id && incoming.sender === sender
    );
  }

  #step(event: InboxEvent<InboxItem>): void {
    this.#perform(stepInbox(this.#state, event, this.#facts));
  }

  #perform(effects: readonly InboxEffect<InboxItem>[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "done":
          this.#parts.onDone(effect.items, this.#owedOf(effect.items));
          break;
        case "given": {
          const { reader, operation, entry } = effect;
          if (operation === undefined) break;
          this.#waiting.settle(operation, { done: false, value: this.#envelopeOf(reader, entry) });
          break;
        }
        case "ended":
          this.#waiting.settle(effect.operation, noMore);
          break;
        case "over":
          if (this.#error === undefined) this.#waiting.settle(effect.operation, noMore);
          else this.#waiting.fail(effect.operation, this.#error);
      }
    }
  }
}

/** Returns whether the message's sender wants to hear of it. */
function isAsking({ incoming: { fields } }: InboxItem): boolean {
  return fields.receipt !== undefined;
}
