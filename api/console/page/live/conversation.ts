/**
 * The conversation of one channel as its reader sees it: what was said, which reply belongs to
 * which request, what is unread. `converse` is the only thing that changes it, and knows neither
 * clock nor network. A message is there from the moment it is typed, and one that could not be sent
 * stays, to be sent again.
 */
import type { ChannelMember } from "static-sdk";
import type { SeenAgent } from "../../../../proto/mod.ts";

/** An agent as it was when it spoke. `self` is the reader's own. */
export type Speaker = SeenAgent & Pick<ChannelMember, "agentId">;

export interface ConversationMessage {
  readonly kind: "message";
  readonly id: number;
  readonly from: Speaker;
  readonly text: string;
  readonly atMs: number;
  readonly state: "sending" | "sent" | "failed";
  readonly problem?: string | undefined;
}

/** A question to one agent or several, with what was answered. */
export interface ConversationRequest {
  readonly kind: "request";
  readonly id: number;
  readonly from: Speaker;
  readonly to: readonly Speaker[];
  readonly text: string;
  readonly atMs: number;
  readonly state: "waiting" | "answered" | "failed";
  readonly replies: readonly ConversationReply[];
  readonly problem?: string | undefined;
  /** By which its replies name it, where it was overheard between others. */
  readonly key?: string;
}

export interface ConversationReply {
  readonly from: Speaker;
  readonly text: string;
  readonly atMs: number;
  /** The other side says that it failed. */
  readonly isError?: boolean;
}

/** Something that happened in the channel. */
export interface ConversationNews {
  readonly kind: "news";
  readonly id: number;
  readonly text: string;
  readonly atMs: number;
}

export type ConversationEntry = ConversationMessage | ConversationRequest | ConversationNews;

export interface Conversation {
  readonly entries: readonly ConversationEntry[];
  /** The id of the next entry. */
  readonly next: number;
  /** Entries of others that came since the reader looked. */
  readonly unread: number;
}

export type ConversationTurn =
  | { readonly do: "say"; readonly from: Speaker; readonly text: string; readonly atMs: number }
  | { readonly do: "hear"; readonly from: Speaker; readonly text: string; readonly atMs: number }
  | {
    readonly do: "ask";
    readonly from: Speaker;
    readonly to: readonly Speaker[];
    readonly text: string;
    readonly atMs: number;
    readonly key?: string;
  }
  | { readonly do: "tell"; readonly text: string; readonly atMs: number }
  | { readonly do: "sent"; readonly id: number }
  /** `of` is a request's id, or the key of one that was overheard. */
  | { readonly do: "reply"; readonly of: number | string; readonly reply: ConversationReply }
  | { readonly do: "fail"; readonly id: number; readonly problem: string }
  | { readonly do: "again"; readonly id: number }
  | { readonly do: "read" };

export const silence: Conversation = { entries: [], next: 1, unread: 0 };

const maxEntries = 500;
/** Messages of one speaker that follow each other within this time stand under one name. */
const togetherMs = 5 * 60_000;

export function converse(before: Conversation, turn: ConversationTurn): Conversation {
  switch (turn.do) {
    case "say":
      return add(before, { ...said(turn), kind: "message", state: "sending", id: before.next });
    case "hear":
      return add(before, { ...said(turn), kind: "message", state: "sent", id: before.next });
    case "ask": {
      const { to, key } = turn;
      const asked = { to, replies: [], ...(key !== undefined && { key }) };
      return add(before, {
        ...said(turn),
        ...asked,
        kind: "request",
        state: "waiting",
        id: before.next,
      });
    }
    case "tell":
      return add(before, { kind: "news", text: turn.text, atMs: turn.atMs, id: before.next });
    case "sent":
      return change(
        before,
        turn.id,
        (entry) => entry.kind === "message" ? { ...entry, state: "sent" } : entry,
      );
    case "reply":
      return answer(before, turn);
    case "fail": {
      const { id, problem } = turn;
      return change(
        before,
        id,
        (entry) => isOpen(entry) ? { ...entry, state: "failed", problem } : entry,
      );
    }
    case "again":
      return change(before, turn.id, (entry) => {
        if (entry.kind === "news" || entry.state !== "failed") return entry;
        const problem = undefined;
        return entry.kind === "message"
          ? { ...entry, problem, state: "sending" }
          : { ...entry, problem, state: "waiting" };
      });
    case "read":
      return before.unread === 0 ? before : { ...before, unread: 0 };
  }
}

function said(
  { from, text, atMs }: Pick<ConversationMessage, "from" | "text" | "atMs">,
): Pick<ConversationMessage, "from" | "text" | "atMs"> {
  return { from, text, atMs };
}

function add({ entries, next, unread }: Conversation, entry: ConversationEntry): Conversation {
  const isNew = entry.kind !== "news" && entry.from.self !== true;
  return {
    entries: [...entries, entry].slice(-maxEntries),
    next: next + 1,
    unread: unread + (isNew ? 1 : 0),
  };
}

function change(
  before: Conversation,
  id: number,
  by: (entry: ConversationEntry) => ConversationEntry,
): Conversation {
  return { ...before, entries: before.entries.map((entry) => entry.id === id ? by(entry) : entry) };
}

/**
 * A reply to nothing that is here, or to a request that has failed meanwhile, stands alone: nothing
 * that was said is lost.
 */
function answer(
  before: Conversation,
  { of, reply }: ConversationTurn & { do: "reply" },
): Conversation {
  const asked = before.entries.findLast((entry) =>
    entry.kind === "request" && entry.state !== "failed" && (entry.id === of || entry.key === of)
  );
  if (asked === undefined) {
    const { from, text, atMs } = reply;
    return reply.from.self === true ? before : converse(before, { do: "hear", from, text, atMs });
  }
  const joined = change(
    before,
    asked.id,
    (entry) =>
      entry.kind === "request"
        ? { ...entry, state: "answered", replies: [...entry.replies, reply] }
        : entry,
  );
  return { ...joined, unread: joined.unread + (reply.from.self === true ? 0 : 1) };
}

function isOpen(entry: ConversationEntry): entry is ConversationMessage | ConversationRequest {
  return entry.kind !== "news" && (entry.state === "sending" || entry.state === "waiting");
}

/**
 * A line of the page: a new day, or an entry, with its speaker's name unless that stands above
 * already.
 */
export type ConversationRow =
  | { readonly kind: "day"; readonly atMs: number }
  | { readonly kind: "entry"; readonly entry: ConversationEntry; readonly isNamed: boolean };

/** `dayOf` names the reader's day of a time. */
export function rowsOf(
  entries: readonly ConversationEntry[],
  dayOf: (atMs: number) => string,
): ConversationRow[] {
  return entries.flatMap((entry, index): ConversationRow[] => {
    const above = entries[index - 1];
    const isSameDay = above !== undefined && dayOf(above.atMs) === dayOf(entry.atMs);
    const isNamed = !isSameDay || above.kind !== "message" || entry.kind !== "message" ||
      above.from.agentId !== entry.from.agentId || entry.atMs - above.atMs > togetherMs;
    const row: ConversationRow = { kind: "entry", entry, isNamed };
    return isSameDay ? [row] : [{ kind: "day", atMs: entry.atMs }, row];
  });
}

/** Requests to the reader that wait for an answer. */
export function isForReader(entry: ConversationEntry): boolean {
  return entry.kind === "request" && entry.state === "waiting" && entry.from.self !== true &&
    entry.to.some(({ self }) => self === true);
}
