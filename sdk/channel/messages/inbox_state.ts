/**
 * Messages that wait for the application, and its readers. It is plain data, and `stepInbox` alone
 * changes it. `I` is a message: a step looks at its lane and its size alone.
 */
import type { IncomingEnvelope } from "../../content/incoming.ts";

export interface InboxEntry<I> {
  readonly item: I;
  /** Counted from the first that came. */
  readonly number: number;
  readonly lane: IncomingEnvelope["lane"];
  /** Memory that it takes, roughly. */
  readonly bytes: number;
  /** Nobody but readers has to be done with it. */
  isHandled: boolean;
  /** The message's time was over when a reader would have been given it. */
  isExpired: boolean;
}

export interface InboxReaderState {
  readonly reader: number;
  /** The reader gets messages for others too. */
  readonly all: boolean;
  /** Asking for the next message does not acknowledge those before. */
  readonly isManual: boolean;
  /** Number of the first message that it has not been given. */
  next: number;
  /** Messages that the reader was given and is not done with, ascending. */
  readonly open: number[];
  /** Messages that the reader has given back, ascending: they come again, before the next. */
  readonly back: number[];
  /** Several callers take one message each. While none of them waits it is `parked`. */
  readonly isShared: boolean;
  /** Calls for the next one, in the order in which they came. */
  readonly waiting: number[];
  /** `parked`: nobody asks, so it wants nothing now. */
  at: "reading" | "parked";
}

export interface InboxState<I> {
  /** In the order in which they came. */
  readonly entries: InboxEntry<I>[];
  count: number;
  /**
   * The number of messages that wait for readers. Requests and replies that wait for others are
   * bounded by those others, and hold up no message.
   */
  held: number;
  bytes: number;
  readonly readers: InboxReaderState[];
  /** Messages that loops which have ended may be working on, ascending. They hold up nothing. */
  readonly ended: number[];
  /** Nothing more will come. */
  isOver: boolean;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface InboxFacts<I> {
  /**
   * More is done with than may come again after a crash: those that wait are given nothing, until
   * the disk has come nearer.
   */
  readonly isFarAhead: boolean;
  /**
   * The application wants no messages: each is done with as it arrives. Requests and replies still
   * come.
   */
  readonly isDiscarding: boolean;
  /**
   * Whether a message's time is over; then it is not shown. Asked once it would be, and not again
   * when it was.
   */
  readonly isExpired: (item: I) => boolean;
}

export type InboxEvent<I> =
  /** A message was opened, and waits for readers or for a handler. */
  | {
    readonly type: "arrived";
    readonly item: I;
    readonly lane: InboxEntry<I>["lane"];
    readonly bytes: number;
  }
  /** The handler of a request or a reply is done. */
  | { readonly type: "handled"; readonly number: number }
  /** A reader begins with the oldest message that is here. `isManual`: it acknowledges by hand. */
  | {
    readonly type: "begins";
    readonly reader: number;
    readonly all: boolean;
    readonly isManual: boolean;
    readonly isShared?: boolean;
  }
  /**
   * The reader is done with the messages that it was given, unless it says so itself, and wants
   * more.
   */
  | { readonly type: "asks"; readonly reader: number }
  /** The same, and the reader waits for the next message that it wants. */
  | { readonly type: "waits"; readonly reader: number; readonly operation: number }
  /** The caller has given up. */
  | { readonly type: "withdraws"; readonly reader: number; readonly operation: number }
  /** The reader is given the next message that is here. */
  | { readonly type: "takes"; readonly reader: number }
  /** A reader is done with this message, or does not want it. */
  | { readonly type: "passes"; readonly reader: number; readonly number: number }
  /** A reader gives this message back: it is given to it again before the next one. */
  | { readonly type: "gives_back"; readonly reader: number; readonly number: number }
  /** A reader ends, and holds up nothing any more. */
  | { readonly type: "ends"; readonly reader: number }
  /** The disk has come nearer. */
  | { readonly type: "near" }
  /** Readers that wait get what is here, and then the end. */
  | { readonly type: "over" };

export type InboxEffect<I> =
  /** `operation`: for a call that waits. */
  | {
    readonly type: "given";
    readonly reader: number;
    readonly operation: number | undefined;
    readonly entry: InboxEntry<I>;
  }
  /** Everybody is done with these. */
  | { readonly type: "done"; readonly items: readonly I[] }
  /** The reader of a waiting call has ended. */
  | { readonly type: "ended"; readonly operation: number }
  /** The inbox of a waiting call is over. */
  | { readonly type: "over"; readonly operation: number };

/** Returns the inbox of a process that starts: messages come again, and loops are begun anew. */
export function newInbox<I>(): InboxState<I> {
  return { entries: [], count: 0, held: 0, bytes: 0, readers: [], ended: [], isOver: false };
}
