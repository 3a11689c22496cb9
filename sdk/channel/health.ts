/** What went wrong in a channel, kept in words: `health()` shows it. Nothing here is secret: no payloads, no keys. */

/** What can go wrong in a channel without ending it. */
export type IssueKind =
  /** A commit was not followed: it did something else than declared, or something that its sender may not do. */
  | "refused_commit"
  /** A message that no key of ours opens: changed on its way, or its sender is in another state of the group. */
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
  /** An identity came back with another key, brought in by an owner. */
  | "key_changed"
  /** Somebody was refused to join. */
  | "refused_join"
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

export class HealthLog {
  readonly #issues = new Map<IssueKind, HealthIssue>();
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

  get issues(): HealthIssue[] {
    return [...this.#issues.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
  }
}
