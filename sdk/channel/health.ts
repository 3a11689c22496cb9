/** Troubles of a channel, kept in words for `health()`. Nothing here is secret: no payloads, no keys. */
import { type AgentId, shownSentence } from "../../proto/mod.ts";
import { RemoteError, type StaticError } from "../base/errors.ts";
import type { ChannelEventBody } from "./events.ts";
import type { HealthIssue, IssueKind } from "./issues.ts";

export type { HealthIssue, IssueKind };

/** Senders whose unreadable messages are counted one by one; the one that was heard longest ago goes first. */
const maxSenders = 256;

/** A channel that a commit has stopped, in words. */
export interface StoppedState {
  readonly problem: string;
  readonly action: string;
  /** This agent may begin the channel anew now. */
  readonly recoverable: boolean;
}

/** Where a channel stands. */
export interface LiveChannelState {
  readonly ended: { readonly error: StaticError | undefined } | undefined;
  /** The commit at which it is stopped, and what to do about it. */
  readonly stopped: StoppedState | undefined;
  /** Why it is joining anew. */
  readonly rejoining: string | undefined;
  /** No usable Welcome has come so far: a new invite may be the only solution. */
  readonly unwelcome: boolean;
  readonly caughtUp: boolean;
  readonly relayEpoch: number;
  /** Messages that would come again after a crash now. */
  readonly unacknowledged: number;
}

export class HealthLog {
  readonly #issues = new Map<IssueKind, HealthIssue>();
  readonly #unreadable = new Map<AgentId, number>();
  #expired = 0;
  readonly #nowMs: () => number;
  /** For `events()`. */
  readonly tell: (event: ChannelEventBody) => void;

  constructor(nowMs: () => number, tell: (event: ChannelEventBody) => void = () => {}) {
    this.#nowMs = nowMs;
    this.tell = (event) => {
      if (event.type === "expired") this.#expired++;
      tell(event);
      // A mistake in a program must not need somebody who listens to be seen.
      if (event.type === "handler_failed" && !(event.error instanceof RemoteError)) {
        const name = event.error instanceof Error ? event.error.name : typeof event.error;
        this.report("handler_failed", `The handler of a request of ${event.sender} failed: ${name}; see events()`);
      }
    };
  }

  report(kind: IssueKind, text: string, more = 1): void {
    const [known, nowMs] = [this.#issues.get(kind), this.#nowMs()];
    const count = (known?.count ?? 0) + more;
    const issue = { kind, text: shownSentence(text), count, firstAtMs: known?.firstAtMs ?? nowMs, lastAtMs: nowMs };
    this.#issues.set(kind, issue);
    this.tell({ type: "issue", issue });
  }

  /** A message that does not open. The sender's name comes from the relay. */
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

  /** Messages that arrived after their expiry. */
  get expired(): number {
    return this.#expired;
  }

  get issues(): HealthIssue[] {
    return [...this.#issues.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
  }
}
