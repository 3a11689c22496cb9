/**
 * Messages of ours that ask for receipts, and what was said of them. Plain data: nothing waits. It
 * is on disk before the message can reach anybody, so that a receipt that comes after a crash finds
 * its message. Only those count that a message was for, and states go forward alone.
 */
import {
  type AgentId,
  limits,
  mayFollow,
  type MessageId,
  type Receipt,
  type ReceiptState,
} from "../../../proto/mod.ts";

/** The word of one agent. */
export interface ReceiptStatement {
  readonly state: ReceiptState;
  /** When this agent heard it, by the local clock. */
  readonly atMs: number;
}

export interface ReceiptRequest {
  readonly id: MessageId;
  readonly sentMs: number;
  /**
   * The agents that the message is for, with what each said; undefined for one that has said
   * nothing.
   */
  readonly by: ReadonlyMap<AgentId, ReceiptStatement | undefined>;
}

/** The oldest first. */
export type AskedReceipts = Map<MessageId, ReceiptRequest>;

/** In a channel: the oldest go. */
const maxAsked = 4096;
/** The relay keeps a message for a week, and its receipt for as long again. */
const maxAgeMs = 2 * limits.queueAgeMs;

export interface ReceiptVerdict {
  readonly news: readonly Receipt[];
  /** Why its sender is to blame. */
  readonly blame: string | undefined;
  /** How many are about messages that nobody here knows: of before, or of nobody. */
  readonly unknown: number;
}

/** Restores the requests that are on disk when a process starts. */
export function restoreAsked(all: readonly ReceiptRequest[]): AskedReceipts {
  const sorted = all.toSorted((one, other) => one.sentMs - other.sentMs);
  return new Map(sorted.map((asked) => [asked.id, asked]));
}

/**
 * A message is about to be sent. Returns the ids whose records have changed. One that was asked
 * about before, by a program that gives it again, keeps what it has heard.
 */
export function ask(
  state: AskedReceipts,
  { id, to }: { readonly id: MessageId; readonly to: readonly AgentId[] },
  nowMs: number,
): readonly MessageId[] {
  if (state.has(id)) return [id];
  const gone: MessageId[] = [];
  for (const [oldest, { sentMs }] of state) {
    // A time in the future is of a clock that was wrong.
    if (state.size < maxAsked && Math.abs(nowMs - sentMs) <= maxAgeMs) break;
    state.delete(oldest);
    gone.push(oldest);
  }
  state.set(id, { id, sentMs: nowMs, by: new Map(to.map((agentId) => [agentId, undefined])) });
  return [id, ...gone];
}

/** A receipt has come. The same again is nothing: it is said at least once. */
export function hear(
  state: AskedReceipts,
  { from, receipts }: { readonly from: AgentId; readonly receipts: readonly Receipt[] },
  nowMs: number,
): ReceiptVerdict {
  const news: Receipt[] = [];
  let [blame, unknown]: [string | undefined, number] = [undefined, 0];
  for (const receipt of receipts) {
    const asked = state.get(receipt.id);
    if (asked === undefined) unknown++;
    else if (!asked.by.has(from)) blame = "a receipt is of an agent that the message was not for";
    else {
      const before = asked.by.get(from)?.state;
      if (before === receipt.state) continue;
      if (!mayFollow(before, receipt.state)) blame = "a receipt takes back an earlier one";
      else {
        const said = { state: receipt.state, atMs: nowMs };
        state.set(receipt.id, { ...asked, by: new Map([...asked.by, [from, said]]) });
        news.push(receipt);
      }
    }
  }
  return { news, blame, unknown };
}
