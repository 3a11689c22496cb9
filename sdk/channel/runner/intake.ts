/**
 * Opened messages on their way to the inbox. Each is shown once, under the name of the member that
 * sealed it while it was a member, and only to the readers that its content concerns. Messages that
 * are not shown are reported, and their keys are used up all the same.
 */
import {
  type AgentId,
  type BundledMessage,
  decodeBundle,
  decodeMessageAad,
  type MessageAad,
  type NoticeBody,
  type PrivateMessageHeader,
  WireError,
} from "../../../proto/mod.ts";
import {
  askingOf,
  type IncomingEnvelope,
  type IncomingHead,
  readContent,
} from "../../content/incoming.ts";
import type { AskingMessage } from "../../content/receipts.ts";
import type { ConsumptionReceipt } from "../../mls/durable_group.ts";
import type { ReceiveOutcome } from "../../mls/receive.ts";
import type { RecordChange } from "../../store/mod.ts";
import { type HealthLog, reportBadContent } from "../health.ts";
import type { Recogniser } from "../group/recognition.ts";
import { reportDoubtful } from "../group/key_reports.ts";
import type { Membership } from "../group/membership.ts";
import { senderWriter } from "../records.ts";
import type { ArrivedMessage, MessageCounter, Senders } from "../reading/senders.ts";
import type { ConfirmationRunner } from "./confirmation_runner.ts";
import type { OrderRunner } from "./order_runner.ts";
import type { InboxItem, InboxRunner, UsedMessageKey } from "./inbox_runner.ts";
import type { NotedChange } from "./position_runner.ts";
import type { ReceiptRunner } from "./receipt_runner.ts";

type MessageOutcome = ReceiveOutcome & { readonly kind: "message" };

/** One of the messages that were sealed together, or the only one. */
interface TakenPart {
  /** Undefined in a bundle that cannot be read. */
  readonly part: BundledMessage | undefined;
  readonly counter: number;
  readonly aad: MessageAad;
  readonly opening: UsedMessageKey;
}

/** A key and a nonce, as they lie in memory. */
const skippedKeyBytes = 64;

export interface IntakeParts {
  readonly membership: Membership;
  readonly senders: Senders;
  readonly inbox: InboxRunner;
  readonly health: HealthLog;
  /** Whether a message was sent after its sender was removed, or silenced. */
  readonly isAfterEnd: (sender: AgentId, counted: MessageCounter) => boolean;
  readonly agentId: AgentId;
  readonly relayNowMs: () => number;
  readonly recogniser: Pick<Recogniser, "of">;
  readonly maxAgeMs: () => number;
  readonly onDone: (changes: readonly NotedChange[]) => void;
  readonly confirmations: Pick<ConfirmationRunner, "heard">;
  readonly order: Pick<OrderRunner, "opened">;
  readonly receipts: Pick<ReceiptRunner, "expired" | "heard">;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #putSender: ReturnType<typeof senderWriter>;
  /** For each sender, one change is noted with all its messages, so that it is written once. */
  readonly #arrived = new Map<AgentId, NotedChange>();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#putSender = senderWriter(parts.membership.channelId);
  }

  take(
    entry: NoticeBody<"DeliverMessage">,
    outcome: MessageOutcome,
    receipt: ConsumptionReceipt,
  ): void {
    const { senders, health } = this.#parts;
    const { epoch, sender: { agentId } } = outcome;
    const aad = aadOf(outcome);
    if (aad === undefined) {
      health.report(
        "undecryptable",
        "A message has no id and counter: its sender speaks another version",
      );
      return this.#finish(receipt);
    }
    if (aad.messageId !== entry.messageId || agentId !== entry.sender) {
      health.report(
        "relay_lied",
        "The relay named another sender or id than the message's sender has authenticated",
      );
    }
    if (this.#parts.isAfterEnd(agentId, { ...aad, epoch })) {
      this.#reportAfterRemoval(agentId);
      return this.#finish(receipt);
    }
    const { authenticatedData } = outcome;
    if (outcome.sender.mayPost) {
      this.#parts.order.opened({
        sender: agentId,
        sequence: entry.sequence,
        epoch,
        authenticatedData,
      });
    }
    senders.close(agentId, { ...aad, epoch });
    const opening: UsedMessageKey = { receipt, open: 0 };
    const parts = this.#partsOf(aad, outcome);
    if (aad.count > 1) senders.rememberBundle(agentId, { ...aad, epoch }, aad.messageId);
    const items = parts.flatMap((part, i) => {
      const item = this.#takePart(entry, outcome, { part, counter: aad.counter + i, aad, opening });
      return item ?? [];
    });
    // The key goes with the last of its messages that the application is done with.
    opening.open = items.length;
    if (items.length === 0) this.#finish(receipt);
    for (const item of items) this.#parts.inbox.push(item);
  }

  /**
   * Returns the parts of a bundle. If it is no bundle, or its sender may not speak, each message
   * counts as arrived, and none is shown.
   */
  #partsOf(
    { messageId, count }: MessageAad,
    { payload, sender: { agentId, mayPost } }: MessageOutcome,
  ): (BundledMessage | undefined)[] {
    if (!mayPost) {
      this.#reportAgainstPolicy(agentId);
      return new Array(count).fill(undefined);
    }
    if (count === 1) return [{ id: messageId, plaintext: payload }];
    try {
      return decodeBundle(payload, count);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      reportBadContent(this.#parts.health, { id: messageId, sender: agentId }, error.message);
      return new Array(count).fill(undefined);
    }
  }

  /** Undefined for what is not shown. */
  #takePart(
    { timeMs, sequence }: NoticeBody<"DeliverMessage">,
    { epoch, sender: from }: MessageOutcome,
    { part, counter, aad, opening }: TakenPart,
  ): InboxItem | undefined {
    const { senders, health, membership, recogniser } = this.#parts;
    const { agentId, identity } = from;
    const counted = { counter, epoch };
    const verdict = senders.judge(agentId, counted);
    if (verdict === "duplicate") {
      return void this.reportRepeated(agentId, { epoch, aad: { ...aad, counter } });
    }
    if (verdict === "gap") this.#reportMissing(agentId, counter);
    if (verdict === "late") {
      health.report("reordered", "A message arrived after later ones of its sender");
    }
    const isAlone = aad.count === 1;
    const arrival = senders.take(agentId, counted, isAlone ? aad.messageId : undefined);
    const keyUnchanged = !membership.isDoubtful(agentId);
    if (!keyUnchanged) reportDoubtful(health, identity);
    const isNew = part !== undefined && !senders.wasShown(agentId, part.id);
    const opened = isNew
      ? {
        id: part.id,
        sender: agentId,
        identity,
        keyUnchanged,
        ...recogniser.of(from),
        timeMs,
        sequence,
      }
      : undefined;
    const incoming = isNew && opened !== undefined
      ? this.#readPart(part.plaintext, opened, isAlone)
      : undefined;
    this.#parts.confirmations.heard(agentId, epoch, incoming?.fields.confirmation);
    if (incoming === undefined) return void this.#parts.onDone([this.#done(arrival)]);
    if (!isAlone) senders.shownInBundle(agentId, incoming.id);
    const keys = counter === aad.counter ? opening.receipt.ratchets.application.skipped.size : 0;
    const bytes = (part?.plaintext.length ?? 0) + keys * skippedKeyBytes;
    return { incoming, sequence, epoch, opening, arrival, bytes };
  }

  /** Requests and replies are known to the relay by their own ids, so they go alone. */
  #readPart(
    plaintext: Uint8Array,
    opened: IncomingHead,
    isAlone: boolean,
  ): IncomingEnvelope | undefined {
    const incoming = this.#read(plaintext, opened);
    if (incoming === undefined || isAlone) return incoming;
    if (incoming.lane !== "request" && incoming.lane !== "reply") return incoming;
    reportBadContent(
      this.#parts.health,
      opened,
      `a ${incoming.lane} came in one with other messages`,
    );
    return undefined;
  }

  /**
   * Returns a request or a reply to this agent, which may be looked at before its turn. All else
   * waits for its turn.
   */
  preview(
    entry: NoticeBody<"DeliverMessage">,
    outcome: MessageOutcome,
  ): IncomingEnvelope | undefined {
    const { senders, isAfterEnd, membership, agentId, relayNowMs, maxAgeMs } = this.#parts;
    const { payload, epoch, sender: { agentId: sender, identity, mayPost } } = outcome;
    const aad = aadOf(outcome);
    if (!mayPost || aad === undefined || aad.count > 1) return undefined;
    if (aad.messageId !== entry.messageId || sender !== entry.sender) return undefined;
    const counted = { counter: aad.counter, epoch };
    if (isAfterEnd(sender, counted) || senders.judge(sender, counted) === "duplicate") {
      return undefined;
    }
    const { timeMs, sequence } = entry;
    const keyUnchanged = !membership.isDoubtful(sender);
    const recognised = this.#parts.recogniser.of(outcome.sender);
    const from = { sender, identity, keyUnchanged, ...recognised };
    const opened = { id: aad.messageId, ...from, timeMs, sequence };
    const read = readContent(payload, opened, {
      agentId,
      nowMs: relayNowMs(),
      maxAgeMs: maxAgeMs(),
    });
    if (read.outcome !== "incoming") return undefined;
    const { incoming } = read;
    return incoming.lane === "request" || incoming.lane === "reply" ? incoming : undefined;
  }

  /** Undefined for what is not shown: expired, of a later version, broken. */
  #read(payload: Uint8Array, opened: IncomingHead): IncomingEnvelope | undefined {
    const { health, inbox, agentId, relayNowMs, maxAgeMs } = this.#parts;
    const read = readContent(payload, opened, {
      agentId,
      nowMs: relayNowMs(),
      maxAgeMs: maxAgeMs(),
    });
    const { id, sender } = opened;
    switch (read.outcome) {
      case "incoming":
        return read.incoming;
      case "expired":
        // Written with its end, which follows.
        this.#noteExpired(askingOf({ id, sender, fields: read.fields }));
        // One that was handed on before its turn is for its handler to tell about.
        if (!inbox.handedAhead.isOver(opened)) {
          health.tell({ type: "expired", kind: read.kind, id, sender });
        }
        return undefined;
      case "receipt": {
        const { receipts } = read;
        const noted = this.#parts.receipts.heard(sender, { id, receipts });
        if (noted.length > 0) this.#parts.onDone(noted);
        return undefined;
      }
      case "later":
        health.tell({ type: "skipped", why: read.what, id, sender });
        health.report(
          "later_content",
          `${sender} sends what a later version of the SDK understands (${read.what}); update`,
          { about: sender },
        );
        return undefined;
      case "broken":
        reportBadContent(health, opened, read.why);
        return undefined;
    }
  }

  #noteExpired(asking: AskingMessage | undefined): void {
    if (asking !== undefined) this.#parts.onDone(this.#parts.receipts.expired(asking, true));
  }

  /** The changes to write when the application is done with these. */
  changesOf(items: readonly InboxItem[]): NotedChange[] {
    const changes: NotedChange[] = [];
    for (const { opening, arrival } of items) {
      if (--opening.open === 0) {
        changes.push(...this.#parts.membership.durable.consume(opening.receipt));
      }
      changes.push(this.#done(arrival));
    }
    return changes;
  }

  #done(arrival: ArrivedMessage): NotedChange {
    const { sender } = arrival;
    this.#parts.senders.done(arrival);
    const known = this.#arrived.get(sender);
    if (known !== undefined) return known;
    const noted = (): RecordChange | undefined => {
      const record = this.#parts.senders.record(sender);
      return record && this.#putSender(sender, record);
    };
    this.#arrived.set(sender, noted);
    return noted;
  }

  #finish(receipt: ConsumptionReceipt): void {
    this.#parts.onDone(this.#parts.membership.durable.consume(receipt));
  }

  #reportMissing(sender: AgentId, counter: number): void {
    const text =
      `Before message ${counter} of ${sender} others are missing: the relay did not deliver them, or they were ` +
      "never sent; ask for them again if they matter";
    this.#parts.health.report("missing_messages", text, { about: sender });
  }

  #reportAgainstPolicy(sender: AgentId): void {
    const text =
      `${sender} sent a message although only owners speak in this channel. It is not shown; its sender is to blame`;
    this.#parts.health.report("posted_against_policy", text);
  }

  #reportAfterRemoval(sender: AgentId): void {
    const text =
      `A message of ${sender} was sent after this member was removed or silenced, and placed earlier in the log. It is ` +
      "not shown; the sender or the relay is to blame";
    this.#parts.health.report("spoke_after_removal", text);
  }

  /**
   * A counter that was seen before. The same message again is nothing: after a crash or a lost
   * connection it comes twice.
   */
  reportRepeated(
    sender: AgentId,
    { epoch, aad }: { epoch: number; aad: MessageAad | undefined },
  ): void {
    if (aad === undefined) return;
    const { counter, messageId } = aad;
    const { senders, health } = this.#parts;
    if (senders.wasClosed(sender, { counter, epoch })) {
      const late =
        `A message of ${sender} is not shown: it came after its sender had declared that it would not come`;
      return health.report("reordered", late);
    }
    if (!senders.contradicts(sender, { counter, epoch }, messageId)) return;
    const text =
      `${sender} used counter ${counter} for two messages, and the second was not read. Its data directory was ` +
      "probably restored from a backup: it must rejoin, and send again what was not read";
    health.report("repeated_counter", text, { about: sender });
  }
}

/** Undefined when there is none: its sender speaks another version. */
export function aadOf(
  { authenticatedData }: Pick<PrivateMessageHeader, "authenticatedData">,
): MessageAad | undefined {
  try {
    return decodeMessageAad(authenticatedData);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
