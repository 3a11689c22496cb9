/** What went wrong in a channel, kept in words: `health()` shows it. Nothing here is secret: no payloads, no keys. */
import type { AgentId } from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";

/** What can go wrong in a channel without ending it. */
export type IssueKind =
  /** A commit was not followed: it did something else than declared, or something that its sender may not do. */
  | "refused_commit"
  /** A message that no key of ours opens: its sender sealed something else, or it was changed on its way. */
  | "undecryptable"
  /** Senders counted more messages than arrived. */
  | "missing_messages"
  /** Messages arrived in another order than they were sent. */
  | "reordered"
  /** The relay gave up messages that were too old or too many. */
  | "dropped_by_relay"
  /** The relay delivers messages of an epoch whose commit it does not deliver. */
  | "withheld_commit"
  /** What the relay says about an entry is not what its sender authenticated. */
  | "relay_lied"
  /** A message of a member that was removed, inserted where it was still one: its sender or the relay is to blame. */
  | "spoke_after_removal"
  /** A sender used a counter for two messages: its data directory was restored from a backup, or it is misused. */
  | "repeated_counter"
  /** This agent's data directory is older than what it sent, which its own signature in the log proves; it joins anew. */
  | "store_rolled_back"
  /** The relay says that this agent's data directory is too old, and the log holds no proof; it joins anew. */
  | "store_unproven"
  /** An identity came back with another key. Unless an owner brought it in, its messages are not shown. */
  | "key_changed"
  /** A member that was known before this agent came back is none any more. */
  | "members_changed"
  /** Somebody was refused to join. */
  | "refused_join"
  /** An answer to our request to come back was worth nothing; another member is asked. */
  | "refused_welcome"
  /** A member said that it leaves, but not about its present leaf: only an owner can remove it. */
  | "void_leave"
  /** This agent was out of step and joined anew; messages in between are lost to it. */
  | "rejoined"
  /** A message that was queued while offline could not be sent in the end. */
  | "undelivered"
  /** A duty of this member (removing a leaver, answering a request) failed and will be tried again. */
  | "duty_failed";

/** One kind of trouble, and how often it was seen. */
export interface HealthIssue {
  /** What kind. */
  readonly kind: IssueKind;
  /** The latest of its kind, in words. */
  readonly text: string;
  /** How often since the channel was opened. */
  readonly count: number;
  /** When it was first seen, by the local clock. */
  readonly firstAtMs: number;
  /** When it was last seen. */
  readonly lastAtMs: number;
}

/** Senders whose unreadable messages are counted one by one; the one that was heard longest ago goes first. */
const maxSenders = 256;

/** Where a channel stands. */
export interface LiveChannelState {
  readonly ended: { readonly error: StaticError | undefined } | undefined;
  /** Why nothing more can be done. */
  readonly blocked: string | undefined;
  /** Why it is joining anew. */
  readonly rejoining: string | undefined;
  /** Answers that it got were worth nothing so far: a new invite may be the only way. */
  readonly unwelcome: boolean;
  readonly caughtUp: boolean;
  readonly relayEpoch: number;
  /** Messages that would come again after a crash now. */
  readonly unacknowledged: number;
}

export class HealthLog {
  readonly #issues = new Map<IssueKind, HealthIssue>();
  readonly #unreadable = new Map<AgentId, number>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  report(kind: IssueKind, text: string, more = 1): void {
    const [known, nowMs] = [this.#issues.get(kind), this.#nowMs()];
    this.#issues.set(kind, {
      kind,
      text,
      count: (known?.count ?? 0) + more,
      firstAtMs: known?.firstAtMs ?? nowMs,
      lastAtMs: nowMs,
    });
  }

  /** A message that does not open. Whose it is, is the relay's word. */
  unreadableFrom(sender: AgentId, reason: string): void {
    const text = `A message that the relay says is of ${sender} cannot be read: ${reason}. The sender or the relay ` +
      "is to blame; this agent is still in step";
    this.report("undecryptable", text);
    const known = this.#unreadable.get(sender) ?? 0;
    this.#unreadable.delete(sender);
    this.#unreadable.set(sender, known + 1);
    const [oldest] = this.#unreadable.keys();
    if (this.#unreadable.size > maxSenders && oldest !== undefined) this.#unreadable.delete(oldest);
  }

  /** By sender, the latest last. */
  get unreadable(): { readonly sender: AgentId; readonly messages: number }[] {
    return Array.from(this.#unreadable, ([sender, messages]) => ({ sender, messages }));
  }

  get issues(): HealthIssue[] {
    return [...this.#issues.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
  }
}
