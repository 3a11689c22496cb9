/**
 * Carries out what `stepOutbox` says: sealing, calls, timers and writes, whose ends are its next events. A step runs at once, and
 * nothing of it waits. Plaintext is in memory only. Promises of messages on their way out are here alone.
 * Long because each effect, and the end of each, is here.
 */
import { binaryIdFromBytes, limits, type MessageId } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import { jitter } from "../../base/runtime.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { ConfirmationRunner } from "./confirmation_runner.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import { toStaticError } from "../faults.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../membership.ts";
import type { Bundle, Message, SealedBundle, SendGroup } from "../messages/bundles.ts";
import { needsReservation } from "../messages/next_bundle.ts";
import { isFull, stepOutbox } from "../messages/outbox.ts";
import {
  allMessages,
  type OutboxEffect,
  type OutboxEvent,
  type OutboxFacts,
  outboxSize,
  type OutboxState,
  type Rejection,
  restoreOutbox,
} from "../messages/outbox_state.ts";
import { type CounterRecord, putCounters } from "../records.ts";
import type { PostOptions, Sent } from "../send_options.ts";
import { standsInLog } from "../standing.ts";
import { BundleSealer, contentLength, type Sealable, slackOf } from "./bundle_sealer.ts";
import { rejectionOf } from "./sending_words.ts";

const defaultTimeoutMs = 30_000;
const messageIdBytes = 16;

/** The content of a message, and its caller. */
interface Given extends Sealable {
  readonly timeoutMs: number;
  readonly resolve: (sent: Sent) => void;
  readonly reject: (why: unknown) => void;
  readonly signal: AbortSignal | undefined;
  cancel: (() => void) | undefined;
  abort: (() => void) | undefined;
}

export interface OutboxParts {
  readonly counters: CounterRecord;
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly confirmations: Pick<ConfirmationRunner, "carry">;
  /** Permission to work, of this moment. */
  readonly work: () => Permit | undefined;
  /** Sending itself failed: a disk that does not write. The channel cannot go on either. */
  readonly onFault: (fault: unknown) => void;
}

export class OutboxRunner {
  readonly #parts: OutboxParts;
  readonly #deps: ChannelDeps;
  readonly #facts: OutboxFacts;
  readonly #state: OutboxState<Given>;
  readonly #sealer: BundleSealer;
  readonly #events: OutboxEvent<Given>[] = [];
  readonly #timers = new Map<number, () => void>();
  readonly #onSettled: (() => void)[] = [];
  readonly #gathered = (): void => this.#push({ type: "gathered" });
  #isStepping = false;
  #order = 0;
  #run: number;
  #over: StaticError | undefined;

  constructor(parts: OutboxParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#state = restoreOutbox(parts.counters);
    this.#sealer = new BundleSealer(parts, deps);
    this.#facts = this.#createFacts();
    this.#run = deps.nextRun();
    parts.membership.onMoved(() => this.look());
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): OutboxFacts {
    const { membership, work } = this.#parts;
    const { runtime } = this.#deps;
    const sealer = this.#sealer;
    return {
      get work() {
        return work();
      },
      get epoch() {
        return membership.epoch;
      },
      get mayPost() {
        return membership.mayPost;
      },
      get mayBundle() {
        return sealer.doesRelayBundle && sealer.doAllRead;
      },
      get doAllReadBundles() {
        return sealer.doAllRead;
      },
      get nowMs() {
        return runtime.nowMs();
      },
      newId: () => this.#newId(),
      jitter: (ms) => jitter(runtime, ms),
    };
  }

  /** The highest counter that this agent may have used, and how many keys of this epoch. */
  get sent(): { readonly counter: number; readonly usedKeys: number } {
    return { counter: this.#state.counters.last, usedKeys: this.#parts.membership.durable.usedKeys };
  }

  get size(): { readonly waiting: number; readonly underWay: number } {
    return outboxSize(this.#state);
  }

  /** `content` is the content as it is sealed. */
  send(content: Uint8Array, options: PostOptions): Promise<Sent> {
    const { queue = false, timeoutMs = defaultTimeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const refusal = this.#refusal(content);
      if (refusal !== undefined) return reject(refusal);
      const order = this.#order++;
      const given: Given = {
        // The caller may reuse its buffer.
        content: content.slice(),
        timeoutMs,
        resolve,
        reject,
        signal,
        cancel: queue ? undefined : this.#deps.runtime.after(timeoutMs, () => this.#push({ type: "expired", order })),
        abort: signal && (() => this.#abort(order, given)),
      };
      if (given.abort !== undefined) signal?.addEventListener("abort", given.abort);
      this.#push({ type: "send", message: this.#messageOf(given, order, options) });
    });
  }

  #messageOf(given: Given, order: number, { id, group, alone, queue }: PostOptions): Message<Given> {
    const { content, timeoutMs } = given;
    const isAlone = alone === true || (id !== undefined && group === undefined);
    return {
      order,
      id: id ?? this.#newId(),
      given,
      bytes: content.length,
      slackBytes: slackOf(content),
      untilMs: queue === true ? Infinity : this.#deps.runtime.nowMs() + timeoutMs,
      group,
      mayBeKnown: id !== undefined || group !== undefined,
      goes: isAlone ? "alone" : wayOf(group),
      caller: "waits",
    };
  }

  /** The permit or the place has changed. */
  look(): void {
    this.#push({ type: "look" });
  }

  /** Resolves when nothing waits and nothing is under way any more. */
  async idle(): Promise<void> {
    while (!this.#isIdle) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
  }

  get #isIdle(): boolean {
    return allMessages(this.#state).next().done === true;
  }

  /** We joined anew: counters begin anew, for us and for those who count. Messages on their way keep their ids. */
  async restart(): Promise<void> {
    await this.#writeOf({ type: "entered" });
  }

  /** Nothing more can be sent. */
  end(error: StaticError): void {
    if (this.#over !== undefined) return;
    this.#over = error;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#push({ type: "over" });
  }

  /** The channel is closed here. Counters that were reserved and not used are given back, so that nobody wonders about them. */
  async close(): Promise<void> {
    await this.#writeOf({ type: "closing" });
  }

  async #writeOf(event: OutboxEvent<Given>): Promise<void> {
    const changes = this.#stepToWrite(event);
    if (changes.length > 0) await this.#deps.store.batch(changes);
  }

  #newId(): MessageId {
    return binaryIdFromBytes<MessageId>(this.#deps.runtime.randomBytes(messageIdBytes));
  }

  #refusal(content: Uint8Array): StaticError | undefined {
    if (this.#over !== undefined) return this.#over;
    const { state } = this.#deps.session;
    if (state.kind === "ended") {
      return state.error ?? createError("transport_error", "Cannot send: the client was closed; connect again");
    }
    if (content.length === 0) {
      return createError("invalid_request", "Cannot send an empty payload; send at least a byte");
    }
    const most = state.kind === "online" ? state.connection.limits.payloadBytes : limits.payloadBytes;
    const length = content.length > most ? contentLength(content) : content.length;
    if (length > most) {
      const text = `Cannot send ${length} bytes: a payload has at most ${most}; send it in parts`;
      return createError("payload_too_large", text);
    }
    if (!isFull(this.#state, content.length)) return undefined;
    const { waiting } = this.size;
    return createError("queue_full", `Cannot send: ${waiting} messages wait already; wait for some of them`);
  }

  #abort(order: number, given: Given): void {
    const { signal, reject } = given;
    forget(given);
    this.#push({ type: "withdrawn", order });
    reject(signal?.reason);
  }

  // Steps

  #push(event: OutboxEvent<Given>): void {
    if (this.#isStepping) return void this.#events.push(event);
    this.#isStepping = true;
    try {
      for (let next: OutboxEvent<Given> | undefined = event; next !== undefined; next = this.#events.shift()) {
        const write = this.#step(next);
        if (write !== undefined) this.#note(write);
      }
      this.#isStepping = false;
    } catch (fault) {
      // The channel ends, and that is stepped at once.
      this.#isStepping = false;
      this.#fail(fault);
    }
    if (this.#onSettled.length > 0 && this.#isIdle) { for (const tell of this.#onSettled.splice(0)) tell(); }
  }

  #step(event: OutboxEvent<Given>): CounterRecord | undefined {
    const { write, effects } = stepOutbox(this.#state, event, this.#facts);
    for (const effect of effects) this.#perform(effect);
    return write;
  }

  /** For a write that goes with others, or is waited for. */
  #stepToWrite(event: OutboxEvent<Given>): RecordChange[] {
    const write = this.#step(event);
    return write === undefined ? [] : [putCounters(this.#parts.membership.channelId, write)];
  }

  /** Nobody waits for it. */
  #note(record: CounterRecord): void {
    const { membership: { channelId }, onFault } = this.#parts;
    this.#deps.store.batch([putCounters(channelId, record)]).catch((fault) => onFault(fault));
  }

  #fail(fault: unknown): void {
    this.end(toStaticError(fault, "Cannot send"));
    this.#parts.onFault(fault);
  }

  // Effects

  #perform(effect: OutboxEffect<Given>): void {
    switch (effect.type) {
      case "gather":
        return queueMicrotask(this.#gathered);
      case "ask":
        return this.#ask(effect.call, effect.id);
      case "seal":
        return this.#seal(effect.job, effect.bundle);
      case "send":
        return this.#send(effect.call, effect.bundle, effect.sealed);
      case "begin_run":
        this.#run = this.#deps.nextRun();
        return;
      case "wake":
        return this.#wakeAfter(effect.afterMs, effect.timer);
      case "accepted":
        for (const message of effect.messages) if (message.caller === "waits") settle(message, true);
        return;
      case "queued":
        return settle(effect.message, false);
      case "rejected":
        forget(effect.message.given);
        return effect.message.given.reject(this.#wordsOf(effect.why, effect.message.given.timeoutMs));
      case "undelivered": {
        const { message } = this.#wordsOf(effect.why, 0);
        return this.#parts.health.report("undelivered", `A queued message was lost: ${message}`);
      }
      case "false_duplicate":
        return this.#parts.health.report("relay_lied", falseDuplicate);
    }
  }

  #wordsOf(why: Rejection, timeoutMs: number): StaticError {
    const { membership } = this.#parts;
    return rejectionOf(why, {
      isReachable: this.#deps.session.state.kind === "online",
      timeoutMs,
      over: this.#over,
      notArrived: (epoch) => membership.notArrived(epoch),
    });
  }

  #wakeAfter(ms: number, timer: number): void {
    const cancel = this.#deps.runtime.after(ms, () => {
      this.#timers.delete(timer);
      this.#push({ type: "time", timer });
    });
    this.#timers.set(timer, cancel);
  }

  #ask(call: number, id: MessageId): void {
    standsInLog(id, { membership: this.#parts.membership, session: this.#deps.session }).then(
      (stands) => this.#push({ type: "asked", call, stands }),
      (error) => this.#push({ type: "refused", call, why: toStaticError(error, "Cannot send") }),
    );
  }

  #seal(job: number, bundle: Bundle<Given>): void {
    const reserving = {
      isNeeded: () => needsReservation(this.#state, bundle),
      changes: () => this.#stepToWrite({ type: "reserving", job }),
    };
    this.#sealer.seal(bundle, reserving).then(
      (sealed) => this.#push({ type: "sealed", job, sealed }),
      (fault) => this.#fail(fault),
    );
  }

  #send(call: number, bundle: Bundle<Given>, { epoch, message }: SealedBundle): void {
    this.#sealer.left(bundle);
    const { channelId } = this.#parts.membership;
    const request = { channelId, epoch, messageId: bundle.id, ciphertext: message };
    const { doesRelayBundle } = this.#sealer;
    this.#deps.session.call("SendMessage", doesRelayBundle ? { ...request, run: this.#run } : request).then(
      ({ duplicate }) => this.#push({ type: "taken", call, isDuplicate: duplicate }),
      (error) => this.#push({ type: "refused", call, why: toStaticError(error, "Cannot send") }),
    );
  }
}

const falseDuplicate =
  "The relay says that it had a message already which this agent has sent once; it may have dropped it";

function wayOf(group: SendGroup | undefined): Message<Given>["goes"] {
  if (group === undefined) return "freely";
  return group.isAgain ? "again" : "whole";
}

/** Its caller hears once. */
function forget(given: Given): void {
  const { cancel, abort, signal } = given;
  cancel?.();
  if (abort !== undefined) signal?.removeEventListener("abort", abort);
}

function settle({ id, given }: Message<Given>, accepted: boolean): void {
  forget(given);
  given.resolve({ id, accepted });
}
