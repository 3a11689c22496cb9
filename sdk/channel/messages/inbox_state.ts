/**
 * Messages that wait for the application, and its readers. It is plain data, and `stepInbox` alone changes it. The table is in
 * docs/channel_machine.md. `I` is a message: a step looks at its lane and its size alone.
 */
import type { Incoming } from "../../content/incoming.ts";

export interface Entry<I> {
  readonly item: I;
  /** Counted from the first that came. */
  readonly number: number;
  readonly lane: Incoming["lane"];
  /** Memory that it takes, roughly. */
  readonly bytes: number;
  /** Nobody but readers has to be done with it. */
  isHandled: boolean;
  /** Its time was over when a reader would have been given it. */
  isExpired: boolean;
}

export interface Reader {
  readonly reader: number;
  /** It gets what is for others too. */
  readonly all: boolean;
  /** Asking for the next message does not acknowledge those before. */
  readonly isManual: boolean;
  /** Number of the first message that it has not been given. */
  next: number;
  /** It was given these and is not done with them, ascending. */
  readonly open: number[];
  /** It has given these back, ascending: they come again, before the next. */
  readonly back: number[];
  /** `parked`: nobody asks, so it wants nothing now. */
  at: "reading" | "parked";
}

export interface InboxState<I> {
  /** In the order in which they came. */
  readonly entries: Entry<I>[];
  count: number;
  /** Of those that wait for readers. Requests and replies that wait for others are bounded by them, and hold up no message. */
  held: number;
  bytes: number;
  readonly readers: Reader[];
  /** Messages that loops which have ended may be working on, ascending. They hold up nothing. */
  readonly ended: number[];
}

/** Knowledge of the other rooms at the moment of a step. */
export interface InboxFacts<I> {
  /** The application wants no messages: each is done with as it arrives. Requests and replies still come. */
  readonly isDiscarding: boolean;
  /** Whether a message's time is over; then it is not shown. Asked once it would be, and not again when it was. */
  readonly isExpired: (item: I) => boolean;
}

export type InboxEvent<I> =
  | { readonly type: "arrived"; readonly item: I; readonly lane: Entry<I>["lane"]; readonly bytes: number }
  /** The handler of a request or a reply is done. */
  | { readonly type: "handled"; readonly number: number }
  | { readonly type: "begins"; readonly reader: number; readonly all: boolean; readonly isManual: boolean }
  /** It is done with what it was given, unless it says so itself, and wants more. */
  | { readonly type: "asks"; readonly reader: number }
  /** It is given the next one that it wants. */
  | { readonly type: "takes"; readonly reader: number }
  | { readonly type: "passes"; readonly reader: number; readonly number: number }
  | { readonly type: "gives_back"; readonly reader: number; readonly number: number }
  | { readonly type: "parks"; readonly reader: number }
  | { readonly type: "ends"; readonly reader: number };

export type InboxEffect<I> =
  | { readonly type: "given"; readonly entry: Entry<I> }
  /** Everybody is done with these. */
  | { readonly type: "done"; readonly items: readonly I[] }
  /** Those that wait look again. */
  | { readonly type: "news" };

/** As a process that starts: messages come again, and loops are begun anew. */
export function newInbox<I>(): InboxState<I> {
  return { entries: [], count: 0, held: 0, bytes: 0, readers: [], ended: [] };
}
