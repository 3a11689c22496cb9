/**
 * The state of a channel's connection: how far the relay has shown that we may act, and the notices
 * that are not read yet. It is plain data, and `stepLink` alone changes it.
 */
import type { ReplyBody } from "../../../proto/mod.ts";
import type { Anchor } from "./anchor.ts";
import type { OwnCommit } from "../reading/log_place.ts";
import type { Doubt, Permit } from "./permit.ts";

/** In the order in which they are asked. */
export type ConnectionQuestion =
  | "stop"
  | "open_commit"
  | "subscribe"
  | "put_back"
  | "own_commit"
  | "epoch_began"
  | "epoch_ended";

export type SubscriptionReply = ReplyBody<"Subscribe">;
/** The commit that the log holds of an epoch, if there is one. */
export type FindCommitReply = Pick<ReplyBody<"FindCommit">, "epoch" | "commit">;

/** Commits that a log had lost which was set back. */
export interface RestoredCommits {
  /**
   * Number of lost commits that the log holds again. It is fewer than were lost when one is not
   * kept, or the relay refuses it.
   */
  readonly commits: number;
  /** How many of these this agent put back; other members put back the rest. */
  readonly own: number;
  /** Where the last of them stands. */
  readonly sequence: number;
}

/** The answers of the relay, as far as it has been asked on this connection. */
export interface ConnectionAnswers {
  readonly subscribe?: SubscriptionReply;
  readonly put_back?: RestoredCommits;
  readonly own_commit?: FindCommitReply;
  readonly epoch_began?: FindCommitReply;
  readonly epoch_ended?: FindCommitReply;
}

/** Entries belong to the latest `Subscribe`, from when the relay says that they begin. */
export interface EntryStream {
  readonly tag: number;
  begun: boolean;
}

export type LinkStage =
  /** There is no connection; entries are dropped. */
  | { readonly at: "offline" }
  /**
   * The relay is asked one question at a time, then its answers are judged. Entries are kept once
   * the stream has begun.
   */
  | {
    readonly at: "settling";
    readonly tries: number;
    readonly question: ConnectionQuestion;
    readonly call: number;
    readonly answers: ConnectionAnswers;
    /** Our epoch and place when the relay was asked to subscribe. */
    readonly epoch: number;
    readonly place: LinkPlace["at"];
    readonly stream: EntryStream | undefined;
  }
  /** Until the questions begin again; entries are dropped. */
  | { readonly at: "pausing"; readonly tries: number; readonly timer: number }
  /** The connection was judged good: there is a permit, and entries are read. */
  | {
    readonly at: "reading";
    readonly permit: Permit;
    readonly stream: EntryStream;
    /** Until the connection was judged. */
    readonly tries: number;
    timer: number | undefined;
  }
  /** The relay is asked to deliver the log again; entries are kept once that begins. */
  | {
    readonly at: "fetching";
    readonly permit: Permit;
    readonly call: number;
    readonly stream: EntryStream;
  }
  /** Too many entries had come, and were dropped: they are fetched in a moment. */
  | { readonly at: "fetching_later"; readonly permit: Permit; readonly timer: number }
  /**
   * The log is in doubt: entries are read without a permit, because a stopped owner reads on up to
   * a founding.
   */
  | { readonly at: "listening"; readonly stream: EntryStream; timer: number | undefined }
  /** The connection is in doubt, and entries are dropped. */
  | { readonly at: "doubted" }
  /** The relay has no place for us: nothing is subscribed. */
  | { readonly at: "idle" };

/** `word`: belongs to no stream. */
export interface ArrivedNotice<N> {
  readonly kind: "entry" | "word";
  readonly content: N;
  readonly bytes: number;
}

/** `recover()` waits for what stands in front of the commit at which the channel is stopped. */
export interface ArrivalWaiter {
  readonly operation: number;
  timer: number;
  /** How much had come when it began to wait. */
  seen: number;
  waits: number;
}

export interface LinkState<N> {
  link: LinkStage;
  /** Delivered and not read, in their order. */
  arrived: ArrivedNotice<N>[];
  arrivedBytes: number;
  /** More was delivered than the window holds: all of it was dropped. */
  isOverrun: boolean;
  /** The reading under way, perhaps of an earlier connection: nothing else is read beside it. */
  reading: number | undefined;
  /** A reading that does not count: the entries before and behind it come again. */
  voided: number | undefined;
  /** The last number that was given to a call, a timer, a reading, a tag. */
  numbers: number;
  /** The log that positions are of, as far as is known. */
  log: Uint8Array | undefined;
  /** The place in a log that the relay has no more. */
  lostAt: number | undefined;
  /** The latest commit of ours that this log was asked for. */
  asked: OwnCommit | undefined;
  /** The epoch of the log, as the relay said last: it may have been wrong before. */
  relayEpoch: number;
  /** Runs while nobody's request to rejoin makes us ask again. */
  calm: number | undefined;
  window: LogWindow;
  /** The entries in front of the stop: whether all of them are here, and how many have come. */
  arrival: { isOver: boolean; events: number; readonly waiting: ArrivalWaiter[] };
}

/** The positions that the relay is told. */
export interface LogWindow {
  consumed: number;
  received: number;
  bytesSince: number;
  /** Runs until it is told. */
  timer: number | undefined;
}

/** The place of the agent, as the connection needs it. `outside`: it asks to be let in again. */
export type LinkPlace =
  /** Our group follows the log. */
  | { readonly at: "in_step" }
  /** Our group stands before a commit that it cannot follow. */
  | { readonly at: "stopped"; readonly sequence: number }
  /** Our group is of no use. `isByWord`: by the relay's word alone. */
  | { readonly at: "outside"; readonly isByWord: boolean };

/** This agent's own records, by which the relay's statement about it is judged. */
export interface StoreFacts {
  readonly anchor: Anchor;
  /** The log holds something of ours that this store does not know. */
  readonly isProven: boolean;
  /** The counter of the last message that it may have sent. */
  readonly counter: number;
  /** Keys for messages of its epoch that it has used, or will not use. */
  readonly usedKeys: number;
  /** The last entry that it may have acknowledged. */
  readonly reached: number;
  /** Hashes of its commits that may be taken: the one under way, and those that it has given up. */
  readonly commits: readonly Uint8Array[];
}

/** Knowledge of the other rooms at the moment of a step. */
export interface LinkFacts {
  readonly place: LinkPlace;
  readonly epoch: number;
  /** The hash of the commit that began our epoch, if it is known. */
  readonly began: Uint8Array | undefined;
  /** The last entry that was read; undefined when the relay knows better. */
  readonly received: number | undefined;
  /** The program is done with everything up to here, and that is on disk. */
  readonly durable: number;
  /** Our latest commit that is kept. */
  readonly own: OwnCommit | undefined;
  /** The earliest generation that we refuse. */
  readonly foreign: number | undefined;
  readonly store: StoreFacts;
  /** Between half and one and a half of it. */
  readonly jitter: (ms: number) => number;
}

export type LinkEvent<N> =
  /** A connection is up. */
  | { readonly type: "connected" }
  /** The connection is gone. */
  | { readonly type: "disconnected" }
  /** The relay has answered the question. */
  | { readonly type: "answered"; readonly call: number; readonly answer: ConnectionAnswer }
  /** The relay has refused the question, or the answer was lost. */
  | {
    readonly type: "refused";
    readonly call: number;
    readonly code: string;
    readonly text: string;
  }
  /** The relay says that the entries of this subscription begin. */
  | { readonly type: "started"; readonly tag: number }
  /** A notice has arrived. */
  | { readonly type: "delivered"; readonly notice: ArrivedNotice<N> }
  /** The reader is done with the entry that it was given. */
  | { readonly type: "read"; readonly reading: number; readonly took?: TakenEntry }
  /** The log is to be read again from where the reader is, not before this time. */
  | { readonly type: "fetch"; readonly afterMs: number }
  /** Our group is of no use any more: nothing of this log is read before we are in again. */
  | { readonly type: "out_of_step" }
  /** Somebody asks to come back: the relay may take its word about us back. */
  | { readonly type: "asked_back" }
  /** The program has come further, and that is on disk. */
  | { readonly type: "durable" }
  /** Everything in front of the stop is here, or we are not stopped any more. */
  | { readonly type: "all_arrived" }
  /** The program waits until what is in front of the stop is here. */
  | { readonly type: "wait"; readonly operation: number }
  /**
   * A generation has begun that may not be entered here: nothing behind it is read before there is
   * a permit.
   */
  | { readonly type: "hold" }
  /** The relay did not answer something that has to be known before we go on. */
  | { readonly type: "retry" }
  /** Nothing waits to be acknowledged any more: the client is being closed. */
  | { readonly type: "flush" }
  /** A timer has run out: a pause, or the time in which entries were to begin. */
  | { readonly type: "time"; readonly timer: number };

/** The entry that was read, for the window. */
export interface TakenEntry {
  readonly sequence: number;
  readonly bytes: number;
}

export type ConnectionAnswer =
  | { readonly question: "stop" | "open_commit" }
  | { readonly question: "subscribe"; readonly reply: SubscriptionReply }
  | { readonly question: "put_back"; readonly reply: RestoredCommits }
  | {
    readonly question: "own_commit" | "epoch_began" | "epoch_ended";
    readonly reply: FindCommitReply;
  };

export type LinkEffect<N> =
  | {
    readonly type: "ask";
    readonly call: number;
    readonly question: ConnectionQuestion;
    readonly about: QuestionSubject;
  }
  /** In its turn, if `isOfStream` still says so then. */
  | {
    readonly type: "read";
    readonly reading: number;
    readonly notice: ArrivedNotice<N>;
    readonly permit: Permit | undefined;
  }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  /** Our place in the log is void: it is another one. */
  | { readonly type: "lose_log" }
  /**
   * The store is as new as what we did, and the log is ours: the reader goes on from here, and work
   * with it.
   */
  | { readonly type: "cleared"; readonly permit: Permit; readonly begins: ReadingStart }
  /** Entries flow again on the same connection. */
  | { readonly type: "resumed"; readonly permit: Permit }
  | { readonly type: "rest" }
  | { readonly type: "come_back"; readonly doubt: Doubt }
  | { readonly type: "unknown" }
  | { readonly type: "acknowledge"; readonly consumed: number; readonly received: number }
  | {
    readonly type: "report";
    readonly kind: "relay_lied" | "withheld_commit" | "log_set_back";
    readonly text: string;
  }
  | { readonly type: "settle"; readonly operation: number; readonly result: "now" | "late" };

/**
 * The subject of a question. The place from which to read is for the reader to say, behind the
 * entry that it is at.
 */
export interface QuestionSubject {
  readonly tag?: number;
  readonly epoch?: number;
}

/** Where reading goes on. */
export interface ReadingStart {
  readonly after: number;
  readonly head: number;
  /** The reader had no place of its own. */
  readonly isLost: boolean;
  readonly log: Uint8Array | undefined;
}

export interface LinkStep<N> {
  /** More is known of our membership. It is on disk before anything else happens. */
  readonly write: Anchor | undefined;
  readonly effects: readonly LinkEffect<N>[];
}

/** Returns the timers that the state waits for. */
export function timersOf<N>(
  { link, window, calm, arrival }: LinkState<N>,
): readonly (number | undefined)[] {
  const of = "timer" in link ? link.timer : undefined;
  return [of, window.timer, calm, ...arrival.waiting.map(({ timer }) => timer)];
}
