/**
 * Messages that were opened, on their way to the inbox: each is shown once, under the name of the member that sealed it while it
 * was one. What is not shown is reported, and its key is used up all the same.
 */
import {
  type AgentId,
  decodeMessageAad,
  type MessageAad,
  type NoticeBody,
  type PrivateMessageHeader,
  WireError,
} from "../../proto/mod.ts";
import type { Receipt } from "../mls/durable_group.ts";
import type { Outcome } from "../mls/receive.ts";
import type { RecordChange } from "../store/mod.ts";
import type { Endings } from "./endings.ts";
import type { HealthLog } from "./health.ts";
import type { Inbox, InboxItem } from "./inbox.ts";
import type { Membership } from "./membership.ts";
import { putSender, type SenderRecord } from "./records.ts";
import type { Senders } from "./senders.ts";

type ReadMessage = Outcome & { readonly kind: "message" };

/** A key and a nonce, as they lie in memory. */
const skippedKeyBytes = 64;

export interface IntakeParts {
  readonly membership: Membership;
  readonly senders: Senders;
  readonly inbox: Inbox;
  readonly health: HealthLog;
  readonly endings: Endings;
  /** The application wants no messages: each is done with as it arrives. */
  readonly discard: boolean;
  readonly onDone: (changes: readonly RecordChange[]) => void;
}

export class Intake {
  readonly #parts: IntakeParts;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  take(
    entry: NoticeBody<"DeliverMessage">,
    { payload, sender, epoch, authenticatedData }: ReadMessage,
    receipt: Receipt,
  ): void {
    const { senders, inbox, health, endings, discard, membership } = this.#parts;
    const { agentId, identity } = sender;
    const aad = aadOf({ authenticatedData });
    if (aad === undefined) {
      health.report("undecryptable", "A message has no id and counter: its sender speaks another version");
      return this.#finish(receipt);
    }
    if (aad.messageId !== entry.messageId || agentId !== entry.sender) {
      health.report("relay_lied", "The relay named another sender or id than the message's sender has authenticated");
    }
    const counted = { counter: aad.counter, epoch };
    if (endings.isAfter(agentId, counted)) {
      this.#reportAfterRemoval(agentId);
      return this.#finish(receipt);
    }
    const verdict = senders.judge(agentId, counted);
    if (verdict === "duplicate") {
      this.reportRepeated(agentId, { epoch, aad });
      return this.#finish(receipt);
    }
    if (verdict === "gap") this.#reportMissing(agentId, aad.counter);
    if (verdict === "late") health.report("reordered", "A message arrived after later ones of its sender");
    const item: InboxItem = {
      envelope: { payload, sender: { agentId, identity }, id: aad.messageId, timeMs: entry.timeMs },
      sequence: entry.sequence,
      epoch,
      receipt,
      bytes: payload.length + receipt.ratchets.application.skipped.size * skippedKeyBytes,
      arrived: senders.take(agentId, counted, aad.messageId),
    };
    const hidden = membership.isDoubtful(agentId);
    if (hidden) membership.reportDoubtful(identity);
    if (discard || hidden) this.#parts.onDone(this.changesOf([item]));
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

  #reportMissing(sender: AgentId, counter: number): void {
    const text =
      `Before message ${counter} of ${sender} others are missing: the relay did not deliver them, or they were ` +
      "never sent; ask for them again if they matter";
    this.#parts.health.report("missing_messages", text);
  }

  #reportAfterRemoval(sender: AgentId): void {
    const text =
      `A message of ${sender} was put into the log where it was still a member, after it was removed. It is not ` +
      "shown; the sender or the relay is to blame";
    this.#parts.health.report("spoke_after_removal", text);
  }

  /** A counter that was seen before. The same message again is nothing: after a crash or a lost connection it comes twice. */
  reportRepeated(sender: AgentId, { epoch, aad }: { epoch: number; aad: MessageAad | undefined }): void {
    if (aad === undefined) return;
    const { counter, messageId } = aad;
    if (!this.#parts.senders.contradicts(sender, { counter, epoch }, messageId)) return;
    const text =
      `${sender} used counter ${counter} for two messages, and the second was not read. Its data directory was ` +
      "probably restored from a backup: it must rejoin, and send again what was not read";
    this.#parts.health.report("repeated_counter", text);
  }
}

/** Undefined when there is none: its sender speaks another version. */
export function aadOf({ authenticatedData }: Pick<PrivateMessageHeader, "authenticatedData">): MessageAad | undefined {
  try {
    return decodeMessageAad(authenticatedData);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
