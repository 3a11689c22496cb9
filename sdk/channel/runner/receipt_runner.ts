/**
 * Carries out what `stepOwed` says, and keeps what is asked of others. An acknowledgement is
 * stepped at once, beside the queue: its debt has to be in the very write that takes it. Timers,
 * answers and the rest are stepped there.
 */
import {
  type AgentId,
  encodeContent,
  encodeReceipts,
  type MessageId,
  type Receipt,
  receiptsCapability,
  type ReceiptState,
} from "../../../proto/mod.ts";
import type { SpentReceipts } from "../../content/receipt_budget.ts";
import type { AskingMessage, OwedChange, ReceiptPort } from "../../content/receipts.ts";
import type { RecordChange } from "../../store/mod.ts";
import { StaticError } from "../../base/errors.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import { Capability } from "../group/capability.ts";
import type { Membership } from "../group/membership.ts";
import { type HealthLog, reportBadContent } from "../health.ts";
import { ask, hear, type ReceiptRequest, restoreAsked } from "../messages/asked_receipts.ts";
import type { ReceiptOf } from "../messages/send_options.ts";
import { stepOwed } from "../messages/owed_receipts.ts";
import {
  keyOf,
  type OwedEffect,
  type OwedEvent,
  type OwedFacts,
  type OwedState,
  type ReceiptDebt,
  restoreOwed,
  timersOf,
} from "../messages/owed_receipts_state.ts";
import {
  deleteAsked,
  deleteDebt,
  putAsked,
  putDebt,
  putSpent,
} from "../messages/receipt_records.ts";
import type { ChannelQueue, Steps } from "./channel_queue.ts";
import type { StoredReceipts } from "../stored_channel.ts";
import type { OutboxRunner } from "./outbox_runner.ts";
import type { NotedChange, PositionRunner } from "./position_runner.ts";

export interface ReceiptParts {
  readonly receipts: StoredReceipts;
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly outbox: Pick<OutboxRunner, "send">;
  readonly position: () => Pick<PositionRunner, "note" | "written">;
  /** Permission to work, of this moment. */
  readonly work: () => Permit | undefined;
  /** Somebody is not done with this message of an agent. */
  readonly isHere: (id: MessageId, sender: AgentId) => boolean;
  readonly queue: ChannelQueue;
}

/** How long a receipt waits for others to become due: 1 to 5 seconds. */
const [leastMs, moreMs] = [1_000, 4_000];

export class ReceiptRunner implements ReceiptPort {
  readonly #parts: ReceiptParts;
  readonly #deps: ChannelDeps;
  readonly #facts: OwedFacts;
  readonly #state: OwedState;
  readonly #asked: Map<MessageId, ReceiptRequest>;
  readonly #steps: Steps<OwedEvent, OwedEffect>;
  readonly #readers: Capability;
  #spent: SpentReceipts | undefined;
  /** Debts that the write under way holds, as they were then. */
  readonly #taken: ReceiptDebt[] = [];
  /** Debts that have changed, and that no write has taken yet. */
  readonly #pending = new Set<string>();

  constructor(parts: ReceiptParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    const { receipts: { owed, asked, spent }, membership, queue } = parts;
    this.#readers = new Capability(membership, receiptsCapability);
    this.#state = restoreOwed(owed);
    this.#asked = restoreAsked(asked);
    this.#spent = spent;
    if (spent !== undefined) deps.receiptBudget.restore(spent);
    this.#facts = this.#createFacts();
    this.#steps = queue.add({
      step: (event) => ({ effects: stepOwed(this.#state, event, this.#facts) }),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
    membership.onMoved(() => this.look());
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): OwedFacts {
    const { membership, work } = this.#parts;
    const { runtime, receiptBudget, areReceiptsGiven } = this.#deps;
    const areRead = (): boolean => this.areRead;
    return {
      get nowMs() {
        return runtime.nowMs();
      },
      get mayTell() {
        return areReceiptsGiven && work() !== undefined && membership.mayPost && areRead();
      },
      isMember: (agentId) => membership.leafOf(agentId) !== undefined,
      get collectMs() {
        const [byte = 0] = runtime.randomBytes(1);
        return leastMs + Math.round(moreMs * byte / 255);
      },
      get budgetMs() {
        return receiptBudget.waitMs;
      },
    };
  }

  /** Every member knows what a receipt is. */
  get areRead(): boolean {
    return this.#readers.isOfAll;
  }

  // For those who asked

  /** Nobody is owed anything, as nearly always. */
  get isIdle(): boolean {
    return this.#state.debts.size === 0;
  }

  /** All that read here are done with it. To be written with that. */
  done(about: AskingMessage): readonly NotedChange[] {
    return this.#isOwed(about) ? this.#note(this.#acknowledge(about, true)) : [];
  }

  /** The same, where readers have positions of their own: what they acknowledged is known. */
  passed(about: AskingMessage): readonly NotedChange[] {
    if (!this.#state.debts.has(keyFor(about))) return [];
    return this.#note(this.#acknowledge(about, true));
  }

  /** One of several readers is done with it. */
  owe(about: AskingMessage): OwedChange | undefined {
    if (!this.#isOwed(about)) return undefined;
    const key = keyFor(about);
    // The write of that reader takes it, and no other.
    const others = this.#acknowledge(about, false).filter((each) => each !== key);
    if (others.length > 0) this.#parts.position().note(this.#note(others));
    const taken: ReceiptDebt[] = [];
    return {
      change: () => this.#changeOf(key, taken),
      written: () => this.#steps.push({ type: "written", debts: taken.splice(0) }),
    };
  }

  /**
   * The time of a message was over before a program saw it. `isLast`: the message was never here.
   */
  expired(about: AskingMessage, isLast: boolean): readonly NotedChange[] {
    if (!this.#isOwed(about)) return [];
    const keys = this.#say(about, "refused", true);
    return this.#note(isLast ? [...keys, ...this.#acknowledge(about, true)] : keys);
  }

  /** The program says it. Resolves when that is on disk. */
  async say(about: AskingMessage, state: ReceiptState): Promise<void> {
    if (!this.#isOwed(about)) return;
    if (state === "done" && about.receipt !== "done") return;
    const keys = this.#say(about, state, this.#parts.isHere(about.id, about.sender));
    if (keys.length === 0) return;
    const position = this.#parts.position();
    position.note(this.#note(keys));
    await position.written({ isUrgent: true });
  }

  /** A write of the position has ended. */
  written(): void {
    if (this.#taken.length === 0) return;
    this.#steps.push({ type: "written", debts: this.#taken.splice(0) });
  }

  look(): void {
    if (!this.isIdle) this.#steps.push({ type: "look" });
  }

  /** Another membership: what was to be written is not. */
  entered(): void {
    this.#taken.splice(0);
    this.#steps.pushFirst({ type: "entered" });
    this.#parts.position().note(this.#note([...this.#pending]));
  }

  end(): void {
    this.#steps.end();
  }

  #isOwed({ to }: AskingMessage): boolean {
    const { agentId, areReceiptsGiven } = this.#deps;
    return areReceiptsGiven && to?.includes(agentId) === true && this.areRead;
  }

  #acknowledge({ id, sender: asker }: AskingMessage, isLast: boolean): readonly string[] {
    return this.#step({ type: "acknowledged", id, asker, isLast });
  }

  #say(
    { id, sender: asker }: AskingMessage,
    state: ReceiptState,
    isHere: boolean,
  ): readonly string[] {
    return this.#step({ type: "said", id, asker, state, isHere });
  }

  /** Beside the queue. Returns the debts that have changed. */
  #step(event: OwedEvent): readonly string[] {
    const keys: string[] = [];
    for (const effect of stepOwed(this.#state, event, this.#facts)) {
      if (effect.type === "note") keys.push(...effect.keys);
      else this.#perform(effect);
    }
    return keys;
  }

  #note(keys: readonly string[]): readonly NotedChange[] {
    for (const key of keys) this.#pending.add(key);
    return keys.map((key) => () => this.#changeOf(key, this.#taken));
  }

  /** Returns the change of a debt as the debt is when it is written. */
  #changeOf(key: string, taken: ReceiptDebt[]): RecordChange {
    const { channelId } = this.#parts.membership;
    this.#pending.delete(key);
    const debt = this.#state.debts.get(key);
    if (debt === undefined) return deleteDebt(channelId, key);
    if (debt.at === "noted") taken.push(debt);
    return putDebt(channelId, debt);
  }

  #perform(effect: OwedEffect): void {
    switch (effect.type) {
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "send":
        return this.#send(effect.call, effect.asker, effect.receipts);
      case "note":
        return this.#parts.position().note(this.#note(effect.keys));
    }
  }

  #send(call: number, asker: AgentId, receipts: readonly Receipt[]): void {
    const { outbox, position, membership: { channelId } } = this.#parts;
    const spent = this.#spent = this.#deps.receiptBudget.spend(this.#spent);
    position().note([putSpent(channelId, spent)]);
    const content = encodeContent({
      kind: "receipt",
      fields: { to: [asker] },
      body: encodeReceipts(receipts),
    });
    outbox.send(content, {}).then(
      () => this.#steps.push({ type: "accepted", call }),
      (error) => {
        const waitMs = error instanceof StaticError ? error.retryAfterMs ?? 0 : 0;
        this.#steps.push({ type: "refused", call, waitMs });
      },
    );
  }

  // From the agents that were asked

  /** A message is about to be sealed. To be written before that, as it is then. */
  ask(id: MessageId, to: readonly AgentId[]): () => readonly RecordChange[] {
    const ids = ask(this.#asked, { id, to }, this.#deps.runtime.nowMs());
    return () => ids.map((each) => this.#askedChange(each));
  }

  /** A receipt for this agent. To be written when it is acknowledged. */
  heard(
    from: AgentId,
    { id, receipts }: { readonly id: MessageId; readonly receipts: readonly Receipt[] },
  ): readonly NotedChange[] {
    const { health } = this.#parts;
    const heard = { from, receipts };
    const { news, blame, unknown } = hear(this.#asked, heard, this.#deps.runtime.nowMs());
    if (blame !== undefined) reportBadContent(health, { id, sender: from }, blame);
    else if (unknown > 0) {
      const why = "a receipt is about a message that is not known here";
      health.tell({ type: "skipped", why, id, sender: from });
    }
    for (const { id, state } of news) health.tell({ type: "receipt", id, agentId: from, state });
    return news.map(({ id }) => () => this.#askedChange(id));
  }

  receiptsOf(id: MessageId): readonly ReceiptOf[] {
    const by = this.#asked.get(id)?.by ?? new Map();
    return Array.from(by, ([agentId, said]) => ({ agentId, ...said }));
  }

  #askedChange(id: MessageId): RecordChange {
    const { channelId } = this.#parts.membership;
    const asked = this.#asked.get(id);
    return asked === undefined ? deleteAsked(channelId, id) : putAsked(channelId, asked);
  }
}

function keyFor({ id, sender }: AskingMessage): string {
  return keyOf({ id, asker: sender });
}
