/**
 * Troubles of a channel, kept in words for `health()`. Nothing here is secret: no payloads, no
 * keys.
 */
import { type AgentId, type MessageId, shownSentence } from "../../proto/mod.ts";
import { RemoteError, type StaticError, textOf } from "../base/errors.ts";
import type { ChannelEventBody } from "./events.ts";
import type { HealthIssue, IssueKind } from "./issues.ts";

export type { HealthIssue, IssueKind };

/** Troubles of one kind that are told apart; the one that was seen longest ago goes first. */
const maxSubjects = 16;
/**
 * Senders whose unreadable messages are counted one by one; the one that was heard longest ago goes
 * first.
 */
const maxSenders = 256;

/** A channel that a commit has stopped, in words. */
export interface StoppedState {
  readonly problem: string;
  readonly action: string;
  /** This agent may begin the channel anew now. */
  readonly recoverable: boolean;
}

/** Where a channel stands. */
export interface HealthState {
  readonly ended: { readonly error: StaticError | undefined } | undefined;
  /** The commit at which it is stopped, and what to do about it. */
  readonly stopped: StoppedState | undefined;
  /** Why it is joining anew. */
  readonly rejoining: string | undefined;
  /** No usable Welcome has come so far: a new invite may be the only solution. */
  readonly unwelcome: boolean;
  /** When this agent asks again: it joined anew too often. */
  readonly pausesUntilMs: number | undefined;
  readonly caughtUp: boolean;
  readonly relayEpoch: number;
  /** Messages that would come again after a crash now. */
  readonly unacknowledged: number;
}

/** A report beside its kind and text. */
interface ReportOptions {
  /**
   * Reports of one kind about the same are one issue: an agent, or a sort of trouble. The text when
   * not given.
   */
  readonly about?: string;
  readonly count?: number;
}

export class HealthLog {
  /** The issues by kind and subject, the latest last. */
  readonly #issues = new Map<IssueKind, Map<string, HealthIssue>>();
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
        const { error } = event;
        const name = textOf(() => error instanceof Error ? error.name : typeof error);
        const text = `The handler of a request of ${event.sender} failed: ${name}; see events()`;
        this.report("handler_failed", text);
      }
    };
  }

  report(
    kind: IssueKind,
    text: string,
    { about = text, count: more = 1 }: ReportOptions = {},
  ): void {
    const subjects = this.#issues.get(kind) ?? new Map<string, HealthIssue>();
    const [known, nowMs] = [subjects.get(about), this.#nowMs()];
    const count = (known?.count ?? 0) + more;
    const issue = {
      kind,
      text: shownSentence(text),
      count,
      firstAtMs: known?.firstAtMs ?? nowMs,
      lastAtMs: nowMs,
    };
    putLast(subjects, about, issue, maxSubjects);
    this.#issues.set(kind, subjects);
    this.tell({ type: "issue", issue });
  }

  /** A message that does not open. The sender's name comes from the relay. */
  unreadableFrom(sender: AgentId, reason: string): void {
    const text =
      `A message that the relay says is of ${sender} cannot be read: ${reason}. The sender or the relay ` +
      "is to blame; this agent is still in step";
    this.report("undecryptable", text, { about: sender });
    putLast(this.#unreadable, sender, (this.#unreadable.get(sender) ?? 0) + 1, maxSenders);
  }

  /** The number of unreadable messages by sender, the latest sender last. */
  get unreadable(): { readonly sender: AgentId; readonly messages: number }[] {
    return Array.from(this.#unreadable, ([sender, messages]) => ({ sender, messages }));
  }

  /** Messages that arrived after their expiry. */
  get expired(): number {
    return this.#expired;
  }

  get issues(): HealthIssue[] {
    const all = [...this.#issues.values()].flatMap((subjects) => [...subjects.values()].reverse());
    return all.sort((a, b) => b.lastAtMs - a.lastAtMs);
  }
}

/** The last entry of a map that keeps the latest. */
function putLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}

/** A message that its sender should not have sent so. */
export function reportBadContent(
  health: HealthLog,
  { id, sender }: { readonly id: MessageId; readonly sender: AgentId },
  why: string,
): void {
  health.tell({ type: "skipped", why, id, sender });
  const text = `A message of ${sender} is not shown: ${why}. Its sender is to blame`;
  health.report("bad_content", text, { about: sender });
}
