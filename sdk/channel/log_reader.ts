/**
 * Reads a channel's log: messages to the inbox, commits to the group. The relay is not believed: what MLS does not open is
 * not shown, what was shown is not shown again, what is missing is fetched once more and then reported. When the log cannot
 * be followed any further, the verdict says so and the channel sees how it comes back into step.
 */
import { decodeMessageAad, type NoticeBody, readPrivateMessageHeader, WireError } from "../../proto/mod.ts";
import type { Receipt } from "../mls/durable_group.ts";
import type { Outcome } from "../mls/receive.ts";
import type { Committer } from "./commits.ts";
import type { HealthLog } from "./health.ts";
import type { Inbox, InboxItem } from "./inbox.ts";
import type { Membership } from "./membership.ts";
import { putSender, type SenderRecord } from "./records.ts";
import type { Counted, Senders } from "./senders.ts";
import type { RecordChange } from "../store/mod.ts";

type DeliverMessage = NoticeBody<"DeliverMessage">;
type DeliverCommit = NoticeBody<"DeliverCommit">;
type ReadMessage = Outcome & { readonly kind: "message" };

export type Verdict =
  | { readonly kind: "ok" }
  /** Ask for the log again from where it was last in order. */
  | { readonly kind: "fetch_again" }
  /** Our group cannot follow the log: join anew. */
  | { readonly kind: "out_of_step"; readonly reason: string }
  /** The log went somewhere where an honest member does not follow. */
  | { readonly kind: "blocked"; readonly reason: string }
  | { readonly kind: "removed" };

/** Messages in a row that no key opens, before we conclude that it is us who are out of step. */
const maxUndecryptable = 3;

const ok: Verdict = { kind: "ok" };

export interface LogReaderParts {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly senders: Senders;
  readonly inbox: Inbox;
  readonly health: HealthLog;
  /** The application wants no messages: each is done with as it arrives. */
  readonly discard: boolean;
  readonly onDone: (changes: readonly RecordChange[]) => void;
}

export class LogReader {
  readonly #parts: LogReaderParts;
  /** The last entry that was processed. */
  #received: number | undefined;
  /** Messages from here on were passed over because the inbox was full. */
  #passedOver: { readonly sequence: number; readonly epoch: number } | undefined;
  /**
   * The epoch at the place in the log that was read up to. Our own commits take the group ahead of it: what stands before them
   * still needs the keys of this epoch. Nothing is forgotten before the first entry has told where we are.
   */
  #epoch = 0;
  /** The entry for which the log was last fetched again: once is enough. */
  #fetchedAgainFor: number | undefined;
  #undecryptable = 0;

  constructor(received: number | undefined, parts: LogReaderParts) {
    this.#received = received;
    this.#parts = parts;
  }

  get received(): number | undefined {
    return this.#received;
  }

  get isPassingOver(): boolean {
    return this.#passedOver !== undefined;
  }

  /** The application is done with everything up to here. */
  get position(): number {
    const next = this.#parts.inbox.oldest?.sequence ?? this.#passedOver?.sequence;
    return next === undefined ? this.#received ?? 0 : Math.min(next - 1, this.#received ?? 0);
  }

  /** Keys of epochs before this one are of no use any more. */
  get oldestEpoch(): number {
    const { inbox, membership } = this.#parts;
    return inbox.oldest?.epoch ?? this.#passedOver?.epoch ?? Math.min(this.#epoch, membership.epoch);
  }

  restart(received: number | undefined): void {
    this.#received = received;
    this.#passedOver = undefined;
    this.#epoch = 0;
    this.#fetchedAgainFor = undefined;
    this.#undecryptable = 0;
  }

  /** There is room again: the log goes on with what was passed over. */
  resumeReading(): void {
    if (this.#passedOver === undefined) return;
    this.#received = this.#passedOver.sequence - 1;
    this.#epoch = this.#passedOver.epoch;
    this.#passedOver = undefined;
  }

  passedBy(sequence: number): void {
    this.#received = Math.max(this.#received ?? 0, sequence);
  }

  async message(entry: DeliverMessage): Promise<Verdict> {
    const { inbox, discard } = this.#parts;
    if (!discard && this.#passedOver === undefined && inbox.isFull) {
      this.#passedOver = { sequence: entry.sequence, epoch: entry.epoch };
    }
    if (this.#passedOver !== undefined) return this.#done(entry, entry.epoch);
    if (this.#announcesGap(entry) && this.#mayFetchAgainFor(entry)) return { kind: "fetch_again" };
    for (;;) {
      const { outcome, receipt } = await this.#parts.membership.durable.receive(
        entry.ciphertext,
        () => "It came as a message and not as a commit",
      );
      switch (outcome.kind) {
        case "message":
          if (receipt !== undefined) this.#take(entry, outcome, receipt);
          return this.#done(entry, outcome.epoch);
        case "own":
        case "duplicate":
          return this.#done(entry, entry.epoch);
        case "future":
          if (await this.#ownCommitSettled()) continue;
          return this.#withheld(entry);
        case "stale":
          this.#parts.health.report("undecryptable", `A message of epoch ${entry.epoch} came after its keys were gone`);
          return this.#done(entry, entry.epoch);
        case "undecryptable":
          return this.#unreadable(entry, outcome.reason);
        default:
          this.#parts.health.report("relay_lied", "The relay delivered something else as a message");
          return this.#done(entry, entry.epoch);
      }
    }
  }

  async commit(entry: DeliverCommit): Promise<Verdict> {
    for (;;) {
      const outcome = await this.#parts.membership.follow(entry);
      switch (outcome.kind) {
        case "commit":
          return this.#done(entry, outcome.epoch);
        case "stale":
        case "duplicate":
          return this.#done(entry, entry.epoch + 1);
        case "own":
          if (await this.#ownCommitSettled()) continue;
          return { kind: "out_of_step", reason: "a commit of ours was taken that this agent no longer knows" };
        case "removed":
          return { kind: "removed" };
        case "future":
          if (await this.#ownCommitSettled()) continue;
          return this.#withheld(entry);
        case "refused":
        case "undecryptable":
          return this.#refused(entry, outcome);
        default:
          this.#parts.health.report("relay_lied", "The relay delivered something else as a commit");
          return this.#done(entry, entry.epoch + 1);
      }
    }
  }

  #take(entry: DeliverMessage, { payload, sender, epoch, authenticatedData }: ReadMessage, receipt: Receipt): void {
    const { senders, inbox, health, discard } = this.#parts;
    this.#undecryptable = 0;
    const aad = attempt(() => decodeMessageAad(authenticatedData));
    if (aad === undefined) {
      health.report("undecryptable", "A message has no id and counter: its sender speaks another version");
      return this.#finish(receipt);
    }
    if (aad.messageId !== entry.messageId || sender.agentId !== entry.sender) {
      health.report("relay_lied", "The relay named another sender or id than the message's sender has authenticated");
    }
    const counted = { counter: aad.counter, epoch };
    const verdict = senders.judge(sender.agentId, counted);
    if (verdict === "duplicate") return this.#finish(receipt);
    if (verdict === "gap") this.#reportMissing(sender.agentId, aad.counter);
    if (verdict === "late") health.report("reordered", "A message arrived after later ones of its sender");
    const arrived = senders.take(sender.agentId, counted);
    const { agentId, identity } = sender;
    const item: InboxItem = {
      envelope: { payload, sender: { agentId, identity }, id: aad.messageId, timeMs: entry.timeMs },
      sequence: entry.sequence,
      epoch,
      receipt,
      arrived,
    };
    if (discard) this.#parts.onDone(this.changesOf([item]));
    else inbox.push(item);
  }

  /** What to write when the application is done with these. */
  changesOf(items: readonly InboxItem[]): RecordChange[] {
    const { channelId, durable } = this.#parts.membership;
    const newest = new Map<string, SenderRecord>();
    const changes = items.flatMap(({ receipt }) => durable.consume(receipt));
    for (const { envelope, arrived } of items) newest.set(envelope.sender.agentId, arrived);
    for (const { envelope: { sender } } of items) {
      const record = newest.get(sender.agentId);
      if (record !== undefined) changes.push(putSender(channelId, sender.agentId, record));
      newest.delete(sender.agentId);
    }
    return changes;
  }

  #finish(receipt: Receipt): void {
    this.#parts.onDone(this.#parts.membership.durable.consume(receipt));
  }

  #reportMissing(sender: string, counter: number): void {
    const text =
      `Before message ${counter} of ${sender} others are missing: the relay did not deliver them, or they were ` +
      "never sent; ask for them again if they matter";
    this.#parts.health.report("missing_messages", text);
  }

  /** Read from the clear header, before any key is used: the entry will come again in order. */
  #announcesGap({ sender, ciphertext }: DeliverMessage): boolean {
    const counted = attempt((): Counted => {
      const { epoch, authenticatedData } = readPrivateMessageHeader(ciphertext);
      return { counter: decodeMessageAad(authenticatedData).counter, epoch };
    });
    return counted !== undefined && this.#parts.senders.judge(sender, counted) === "gap";
  }

  #mayFetchAgainFor({ sequence }: { readonly sequence: number }): boolean {
    if (this.#fetchedAgainFor !== undefined && sequence <= this.#fetchedAgainFor) return false;
    this.#fetchedAgainFor = sequence;
    return true;
  }

  async #ownCommitSettled(): Promise<boolean> {
    const { underWay } = this.#parts.committer;
    if (underWay === undefined) return false;
    await underWay;
    return true;
  }

  #withheld(entry: DeliverMessage | DeliverCommit): Verdict {
    if (this.#mayFetchAgainFor(entry)) return { kind: "fetch_again" };
    const reason =
      `the relay delivers epoch ${entry.epoch} without the commits from epoch ${this.#parts.membership.epoch} on`;
    this.#parts.health.report("withheld_commit", reason);
    return { kind: "out_of_step", reason };
  }

  #unreadable(entry: DeliverMessage, reason: string): Verdict {
    if (this.#mayFetchAgainFor(entry)) return { kind: "fetch_again" };
    this.#parts.health.report("undecryptable", `A message of ${entry.sender} cannot be read: ${reason}`);
    this.#undecryptable++;
    if (this.#undecryptable < maxUndecryptable || entry.epoch !== this.#parts.membership.epoch) {
      return this.#done(entry, entry.epoch);
    }
    return { kind: "out_of_step", reason: "several messages in a row cannot be read" };
  }

  #refused(entry: DeliverCommit, outcome: Outcome & { readonly kind: "refused" | "undecryptable" }): Verdict {
    if (this.#mayFetchAgainFor(entry)) return { kind: "fetch_again" };
    this.#parts.health.report("refused_commit", `A commit of ${entry.sender} was refused: ${outcome.reason}`);
    // Without a cause it verified, and it was the channel's rules that refused it: joining anew would be following it.
    return outcome.kind === "refused" && outcome.cause === undefined
      ? { kind: "blocked", reason: outcome.reason }
      : { kind: "out_of_step", reason: outcome.reason };
  }

  /** `epoch` is that of the log behind the entry. */
  #done({ sequence }: { readonly sequence: number }, epoch: number): Verdict {
    this.passedBy(sequence);
    this.#epoch = Math.max(this.#epoch, epoch);
    this.#parts.onDone([]);
    return ok;
  }
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
