/**
 * Carries out what `stepOutbox` says: sealing, calls, timers and writes, whose ends are its next
 * events. Plaintext is in memory only. Promises of messages on their way out are here alone.
 */
import { type AgentId, binaryIdFromBytes, limits, type MessageId } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import { jitter } from "../../base/runtime.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { ConfirmationRunner } from "./confirmation_runner.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import { toStaticError } from "../faults.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import type { Bundle, OutgoingMessage, SealedBundle, SendGroup } from "../messages/bundles.ts";
import { needsReservation, reserveFor } from "../messages/next_bundle.ts";
import { isFull, stepOutbox } from "../messages/outbox.ts";
import {
  type OutboxEffect,
  type OutboxEvent,
  type OutboxFacts,
  outboxSize,
  type OutboxState,
  type Rejection,
  restoreOutbox,
  timersOf,
} from "../messages/outbox_state.ts";
import { type CounterRecord, putCounters } from "../records.ts";
import type { PostOptions, Sent } from "../messages/send_options.ts";
import { standsInLog } from "./own_message_place.ts";
import type { OrderRunner } from "./order_runner.ts";
import { BundleSealer, contentLength, type SealableContent, slackOf } from "./bundle_sealer.ts";
import { Callers, Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";
import { rejectionOf, suspendedError } from "./sending_words.ts";

const defaultTimeoutMs = 30_000;
const messageIdBytes = 16;

/** The content of a message, and its caller. */
interface SendCall extends SealableContent {
  readonly timeoutMs: number;
  readonly resolve: (sent: Sent) => void;
  readonly reject: (why: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly cancel: (() => void) | undefined;
  readonly abort: (() => void) | undefined;
  /** Only for a message that asks for receipts. */
  asking?: () => readonly RecordChange[];
}

export interface OutboxParts {
  /** A message asks for receipts: returns what is on disk before it can reach anybody. */
  readonly ask: (id: MessageId, to: readonly AgentId[]) => () => readonly RecordChange[];
  readonly counters: CounterRecord;
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly confirmations: Pick<ConfirmationRunner, "carry">;
  readonly order: OrderRunner;
  /** Permission to work, of this moment. */
  readonly work: () => Permit | undefined;
  readonly queue: ChannelQueue;
  /** Sending itself failed: a disk that does not write. The channel cannot go on either. */
  readonly onFault: (fault: unknown) => void;
}

export class OutboxRunner {
  readonly #parts: OutboxParts;
  readonly #deps: ChannelDeps;
  readonly #facts: OutboxFacts;
  readonly #state: OutboxState<SendCall>;
  readonly #sealer: BundleSealer;
  readonly #steps: Steps<OutboxEvent<SendCall>, OutboxEffect<SendCall>>;
  readonly #calls = new Calls();
  readonly #gathered = (): void => this.#steps.push({ type: "gathered" });
  /** Messages that are given, and wait for their step while another room writes. */
  readonly #unstepped = { messages: 0, bytes: 0 };
  readonly #callers: Callers;
  #run: number;
  #over: StaticError | undefined;

  constructor(parts: OutboxParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#state = restoreOutbox(parts.counters);
    this.#sealer = new BundleSealer(parts, deps);
    this.#facts = this.#createFacts();
    this.#run = deps.nextRun();
    this.#steps = parts.queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
    parts.membership.onMoved(() => this.look());
    this.#callers = new Callers(
      deps.session,
      (order) => this.#steps.push({ type: "expired", order }),
    );
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
    return {
      counter: this.#state.counters.last,
      usedKeys: this.#parts.membership.durable.usedKeys,
    };
  }

  get size(): { readonly waiting: number; readonly underWay: number } {
    const { waiting, underWay } = outboxSize(this.#state);
    return { waiting: waiting + this.#unstepped.messages, underWay };
  }

  /** `content` is the content as it is sealed. */
  send(content: Uint8Array, options: PostOptions): Promise<Sent> {
    const { queue = false, timeoutMs = defaultTimeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const refusal = this.#refusal(content, queue);
      if (refusal !== undefined) return reject(refusal);
      const order = this.#callers.next();
      const given: SendCall = {
        // The caller may reuse its buffer.
        content: content.slice(),
        timeoutMs,
        resolve,
        reject,
        signal,
        cancel: queue ? undefined : this.#expireLater(order, timeoutMs),
        abort: signal && (() => this.#abort(order, given)),
      };
      if (given.abort !== undefined) signal?.addEventListener("abort", given.abort);
      this.#unstepped.messages++;
      this.#unstepped.bytes += content.length;
      this.#steps.push({ type: "send", message: this.#messageOf(given, order, options) });
    });
  }

  #expireLater(order: number, timeoutMs: number): () => void {
    const cancel = this.#steps.pushLater({ type: "expired", order }, timeoutMs);
    return this.#callers.wait(order, cancel);
  }

  #messageOf(
    given: SendCall,
    order: number,
    { id, group, alone, queue, asks }: PostOptions,
  ): OutgoingMessage<SendCall> {
    const { content, timeoutMs } = given;
    const named = id ?? this.#newId();
    if (asks !== undefined) given.asking = this.#parts.ask(named, asks);
    const isAlone = alone === true || (id !== undefined && group === undefined);
    return {
      order,
      id: named,
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
    this.#steps.push({ type: "look" });
  }

  /** Resolves when nothing waits and nothing is under way any more. */
  whenEmpty(): Promise<void> {
    return this.#calls.begin((operation) => this.#steps.push({ type: "when_empty", operation }));
  }

  /**
   * We joined anew: counters begin anew, for us and for those who count. Messages on their way keep
   * their ids.
   */
  restart(): Promise<void> {
    return this.#calls.begin((operation) => this.#steps.push({ type: "entered", operation }));
  }

  /** Nothing more can be sent. */
  end(error: StaticError): void {
    if (this.#over !== undefined) return;
    this.#over = error;
    this.#callers.stop();
    this.#steps.push({ type: "over" });
  }

  /**
   * The channel is closed here. Counters that were reserved and not used are given back, so that
   * nobody wonders about them.
   */
  close(): Promise<void> {
    this.#callers.stop();
    return this.#calls.begin((operation) => this.#steps.push({ type: "closing", operation }));
  }

  #newId(): MessageId {
    return binaryIdFromBytes<MessageId>(this.#deps.runtime.randomBytes(messageIdBytes));
  }

  #refusal(content: Uint8Array, queue: boolean): StaticError | undefined {
    if (this.#over !== undefined) return this.#over;
    const { state, suspension } = this.#deps.session;
    if (state.kind === "ended") {
      return state.error ??
        createError("transport_error", "Cannot send: the client was closed; connect again");
    }
    if (suspension !== undefined && !queue) return suspendedError(suspension, false);
    if (content.length === 0) {
      return createError("invalid_request", "Cannot send an empty payload; send at least a byte");
    }
    const most = state.kind === "online"
      ? state.connection.limits.payloadBytes
      : limits.payloadBytes;
    const length = content.length > most ? contentLength(content) : content.length;
    if (length > most) {
      const text = `Cannot send ${length} bytes: a payload has at most ${most}; send it in parts`;
      return createError("payload_too_large", text);
    }
    const { messages, bytes } = this.#unstepped;
    if (!isFull(this.#state, messages + 1, bytes + content.length)) return undefined;
    const { waiting } = this.size;
    return createError(
      "queue_full",
      `Cannot send: ${waiting} messages wait already; wait for some of them`,
    );
  }

  #abort(order: number, given: SendCall): void {
    const { signal, reject } = given;
    forget(given);
    this.#steps.push({ type: "withdrawn", order });
    reject(signal?.reason);
  }

  #step(event: OutboxEvent<SendCall>): StepResult<OutboxEffect<SendCall>> {
    if (event.type === "send") {
      this.#unstepped.messages--;
      this.#unstepped.bytes -= event.message.bytes;
    }
    const step = stepOutbox(this.#state, event, this.#facts);
    const { write, effects } = step;
    if (write === undefined) return step;
    const written = this.#write(write);
    if ("operation" in event) written.catch((fault) => this.#calls.fail(event.operation, fault));
    return { effects, written };
  }

  #write(record: CounterRecord): Promise<void> {
    return this.#deps.store.batch([putCounters(this.#parts.membership.channelId, record)]);
  }

  #fail(fault: unknown): void {
    this.end(toStaticError(fault, "Cannot send"));
    this.#parts.onFault(fault);
  }

  #perform(effect: OutboxEffect<SendCall>): void {
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
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "note":
        return void this.#write(effect.record).catch(this.#parts.onFault);
      case "settle":
        return this.#calls.settle(effect.operation);
      case "dropped":
        return this.#parts.order.dropped(
          { counter: effect.counter, epoch: effect.epoch },
          effect.mayStand,
        );
      case "accepted":
        for (const message of effect.messages) {
          if (message.caller === "waits") settle(message, true);
        }
        return;
      case "queued":
        return settle(effect.message, false);
      case "rejected":
        forget(effect.message.given);
        return effect.message.given.reject(
          this.#wordsOf(effect.why, effect.message.given.timeoutMs),
        );
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
      suspension: this.#deps.session.suspension,
      timeoutMs,
      over: this.#over,
      notArrived: (epoch) => membership.notArrived(epoch),
    });
  }

  #ask(call: number, id: MessageId): void {
    standsInLog(id, { membership: this.#parts.membership, session: this.#deps.session }).then(
      (stands) => this.#steps.push({ type: "asked", call, stands }),
      (error) =>
        this.#steps.push({ type: "refused", call, why: toStaticError(error, "Cannot send") }),
    );
  }

  #seal(job: number, bundle: Bundle<SendCall>): void {
    const { membership: { channelId }, order } = this.#parts;
    const reserving = {
      isNeeded: () =>
        !order.isOpen || needsReservation(this.#state, bundle) ||
        bundle.messages.some(({ given }) => given.asking !== undefined),
      changes: (): RecordChange[] => {
        const record = reserveFor(this.#state, job, this.#facts);
        const counters = record === undefined ? [] : [putCounters(channelId, record)];
        const asking = bundle.messages.flatMap(({ given }) => given.asking?.() ?? []);
        return [...counters, order.opening(), ...asking];
      },
    };
    this.#sealer.seal(bundle, reserving).then(
      (sealed) => this.#steps.push({ type: "sealed", job, sealed }),
      (fault) => this.#fail(fault),
    );
  }

  #send(call: number, bundle: Bundle<SendCall>, { epoch, message }: SealedBundle): void {
    this.#sealer.left(bundle);
    const { membership: { channelId }, order } = this.#parts;
    const sealed = { counter: bundle.made?.first ?? 0, epoch };
    order.departs(sealed, message);
    const request = { channelId, epoch, messageId: bundle.id, ciphertext: message };
    const { doesRelayBundle } = this.#sealer;
    this.#deps.session.call(
      "SendMessage",
      doesRelayBundle ? { ...request, run: this.#run } : request,
    ).then(
      ({ duplicate, sequence }) => {
        const { fate } = bundle;
        const isOurs = !duplicate ||
          (fate.at === "under_way" && fate.since === this.#state.counters.life);
        // One that an earlier process or membership has sent stands there under another counter,
        // and with other bytes.
        if (isOurs) order.stands(sealed, sequence);
        else order.dropped(sealed, false);
        this.#steps.push({ type: "taken", call, isDuplicate: duplicate });
      },
      (error) =>
        this.#steps.push({ type: "refused", call, why: toStaticError(error, "Cannot send") }),
    );
  }
}

const falseDuplicate =
  "The relay says that it had a message already which this agent has sent once; it may have dropped it";

function wayOf(group: SendGroup | undefined): OutgoingMessage<SendCall>["goes"] {
  if (group === undefined) return "freely";
  return group.isAgain ? "again" : "whole";
}

/** Lets go of a call: its caller hears once. */
function forget(given: SendCall): void {
  const { cancel, abort, signal } = given;
  cancel?.();
  if (abort !== undefined) signal?.removeEventListener("abort", abort);
}

function settle({ id, given }: OutgoingMessage<SendCall>, accepted: boolean): void {
  forget(given);
  given.resolve({ id, accepted });
}
