/**
 * Messages that were opened, on their way to the inbox: each is shown once, under the name of the member that sealed it while it
 * was one, and to those whom its content concerns. What is not shown is reported, and its key is used up all the same.
 */
import {
  type AgentId,
  decodeMessageAad,
  type MessageAad,
  type NoticeBody,
  type PrivateMessageHeader,
  WireError,
} from "../../proto/mod.ts";
import { type Incoming, type Opened, readContent } from "../content/incoming.ts";
import type { Receipt } from "../mls/durable_group.ts";
import type { Outcome } from "../mls/receive.ts";
import type { RecordChange } from "../store/mod.ts";
import type { Confirmations } from "./confirmations.ts";
import type { Endings } from "./endings.ts";
import type { HealthLog } from "./health.ts";
import type { Inbox, InboxItem } from "./inbox.ts";
import { reportDoubtful } from "./key_reports.ts";
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
  readonly agentId: AgentId;
  readonly relayNowMs: () => number;
  readonly maxAgeMs: () => number;
  readonly onDone: (changes: readonly RecordChange[]) => void;
  readonly confirmations: Pick<Confirmations, "heard">;
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
    const { senders, health, endings, membership } = this.#parts;
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
    const arrival = senders.take(agentId, counted, aad.messageId);
    if (!sender.mayPost) {
      this.#reportAgainstPolicy(agentId);
      return this.#parts.onDone(this.#changes([{ receipt, arrival }]));
    }
    const verified = !membership.isDoubtful(agentId);
    if (!verified) reportDoubtful(health, identity);
    const { timeMs, sequence } = entry;
    const opened = { id: aad.messageId, sender: agentId, identity, verified, timeMs, sequence };
    const incoming = this.#read(payload, opened);
    this.#parts.confirmations.heard(agentId, epoch, incoming?.fields.confirmation);
    if (incoming === undefined) return this.#parts.onDone(this.#changes([{ receipt, arrival }]));
    const bytes = payload.length + receipt.ratchets.application.skipped.size * skippedKeyBytes;
    this.#parts.inbox.push({ incoming, sequence, epoch, receipt, arrival, bytes });
  }

  /** Of a message that is looked at before its turn: a request or a reply to this agent. All else waits for its turn. */
  preview(entry: NoticeBody<"DeliverMessage">, outcome: ReadMessage): Incoming | undefined {
    const { senders, endings, membership, agentId, relayNowMs, maxAgeMs } = this.#parts;
    const { payload, epoch, sender: { agentId: sender, identity, mayPost } } = outcome;
    const aad = aadOf(outcome);
    if (!mayPost || aad === undefined) return undefined;
    if (aad.messageId !== entry.messageId || sender !== entry.sender) return undefined;
    const counted = { counter: aad.counter, epoch };
    if (endings.isAfter(sender, counted) || senders.judge(sender, counted) === "duplicate") return undefined;
    const { timeMs, sequence } = entry;
    const verified = !membership.isDoubtful(sender);
    const opened = { id: aad.messageId, sender, identity, verified, timeMs, sequence };
    const read = readContent(payload, opened, { agentId, nowMs: relayNowMs(), maxAgeMs: maxAgeMs() });
    if (read.outcome !== "incoming") return undefined;
    const { incoming } = read;
    return incoming.lane === "request" || incoming.lane === "reply" ? incoming : undefined;
  }

  /** Undefined for what is not shown: expired, of a later version, broken. */
  #read(payload: Uint8Array, opened: Opened): Incoming | undefined {
    const { health, inbox, agentId, relayNowMs, maxAgeMs } = this.#parts;
    const read = readContent(payload, opened, { agentId, nowMs: relayNowMs(), maxAgeMs: maxAgeMs() });
    const { id, sender } = opened;
    switch (read.outcome) {
      case "incoming":
        return read.incoming;
      case "expired":
        // One that was handed on before its turn is for its handler to tell about.
        if (!inbox.handedAhead.isOver(opened)) health.tell({ type: "expired", kind: read.kind, id, sender });
        return undefined;
      case "later":
        health.tell({ type: "skipped", why: read.what, id, sender });
        health.report(
          "later_content",
          `${sender} sends what a later version of the SDK understands (${read.what}); update`,
        );
        return undefined;
      case "broken":
        reportBadContent(health, opened, read.why);
        return undefined;
    }
  }

  /** What to write when the application is done with these. */
  changesOf(items: readonly InboxItem[]): RecordChange[] {
    return this.#changes(items);
  }

  #changes(items: readonly Pick<InboxItem, "receipt" | "arrival">[]): RecordChange[] {
    const { membership: { channelId, durable }, senders } = this.#parts;
    const newest = new Map<AgentId, SenderRecord>();
    const changes = items.flatMap(({ receipt }) => durable.consume(receipt));
    for (const { arrival } of items) {
      const record = senders.done(arrival);
      if (record !== undefined) newest.set(arrival.sender, record);
    }
    for (const [sender, record] of newest) changes.push(putSender(channelId, sender, record));
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

  #reportAgainstPolicy(sender: AgentId): void {
    const text =
      `${sender} sent a message although only owners speak in this channel. It is not shown; its sender is to blame`;
    this.#parts.health.report("posted_against_policy", text);
  }

  #reportAfterRemoval(sender: AgentId): void {
    const text =
      `A message of ${sender} was put into the log where it still might speak, after it was removed or silenced. It is ` +
      "not shown; the sender or the relay is to blame";
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

export function reportBadContent(health: HealthLog, { id, sender }: Pick<Opened, "id" | "sender">, why: string): void {
  health.tell({ type: "skipped", why, id, sender });
  health.report("bad_content", `A message of ${sender} is not shown: ${why}. Its sender is to blame`);
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
