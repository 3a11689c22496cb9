/**
 * Messages on their way out. They reach the log in the order in which they were given; several are under way at once. Each
 * keeps its id through every retry, so the relay takes it once: after a lost connection the same bytes go again, after a
 * commit of somebody else the message is sealed anew under the same id. Plaintext is in memory only.
 */
import { binaryIdFromBytes, decodeContent, encodeMessageAad, limits, type MessageId } from "../../proto/mod.ts";
import { createError, isRefusal, type StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import type { MessageOptions } from "../content/values.ts";
import type { Sealed } from "../mls/group.ts";
import type { Confirmations } from "./confirmations.ts";
import type { ChannelDeps } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";
import { putCounter } from "./records.ts";
import { isNoRoom, type Obstacle, obstacleOf, silencedError } from "./sending_obstacles.ts";

/** How a message is sent, and what it says about itself. */
export interface SendOptions extends MessageOptions {
  /** While the relay cannot be reached, keep the message in memory and send it later, instead of failing after a while. */
  readonly queue?: boolean;
  /** How long to try; 30 seconds when not given. */
  readonly timeoutMs?: number;
  /** Gives up; the call then rejects with its reason. What the relay was given already may be delivered. */
  readonly signal?: AbortSignal;
  /** @internal Under which the relay takes it once; a new one when not given. A host is told it, to be told twice. */
  readonly id?: MessageId;
}

/** How a plaintext goes out. */
export type PostOptions = Pick<SendOptions, "queue" | "timeoutMs" | "signal" | "id">;

/** What became of a message. */
export interface Sent {
  /** The message's id, which receivers see too. */
  readonly id: MessageId;
  /** False when it waits in the outbox: the relay cannot be reached now. */
  readonly accepted: boolean;
}

interface Sending {
  readonly id: MessageId;
  readonly payload: Uint8Array;
  counter: number | undefined;
  sealed: Sealed | undefined;
  /** Whether the relay may have it. */
  tried: boolean;
  /** Whether it was given to the relay and no answer came: then it may stand in the log under its counter. */
  mayStand: boolean;
  /** Why the relay had no room for it when it was last given it. */
  noRoom: StaticError | undefined;
  /** When its caller is told that it failed. */
  readonly untilMs: number;
  settled: boolean;
  readonly settle: (result: Sent | StaticError) => void;
  readonly queued: boolean;
}

const defaultTimeoutMs = 30_000;
const catchUpMs = 30_000;
const maxUnderWay = 32;
const maxUnderWayBytes = 4 * 1024 * 1024;
const maxWaiting = 4096;
const maxWaitingBytes = 32 * 1024 * 1024;
const messageIdBytes = 16;
/** A request as JSON to two members has 107 bytes of them, its reply fewer. */
const hiddenFieldBytes = 128;

export interface OutboxParts {
  /** Of the last message that we may have sent. */
  readonly counter: number;
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly confirmations: Pick<Confirmations, "carry">;
  /** Sending itself failed: a disk that does not write. The channel cannot go on either. */
  readonly onFault: (fault: unknown) => void;
}

export class Outbox {
  readonly #deps: ChannelDeps;
  readonly #membership: Membership;
  readonly #health: HealthLog;
  readonly #onFault: (fault: unknown) => void;
  readonly #confirmations: OutboxParts["confirmations"];
  /** In the order in which they will be sent. */
  #waiting: Sending[] = [];
  readonly #underWay = new Set<Sending>();
  #obstacle: Obstacle | undefined;
  #online = false;
  #running = false;
  #ended: StaticError | undefined;
  /** The last counter that was given to a message, and those that came back unused. */
  #counter: number;
  #durableCounter: number;
  #unusedCounters: number[] = [];
  readonly #onSettled: (() => void)[] = [];

  constructor({ counter, membership, health, confirmations, onFault }: OutboxParts, deps: ChannelDeps) {
    this.#counter = this.#durableCounter = counter;
    this.#membership = membership;
    this.#health = health;
    this.#onFault = onFault;
    this.#confirmations = confirmations;
    this.#deps = deps;
  }

  /** Of the last message that may have been sent. */
  get counter(): number {
    return this.#durableCounter;
  }

  get size(): { readonly waiting: number; readonly underWay: number } {
    return { waiting: this.#waiting.length, underWay: this.#underWay.size };
  }

  /** `plaintext` is the content as it is sealed. */
  send(plaintext: Uint8Array, options: PostOptions): Promise<Sent> {
    const { queue = false, timeoutMs = defaultTimeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const refusal = this.#refusal(plaintext);
      if (refusal !== undefined) return reject(refusal);
      const id = options.id ?? binaryIdFromBytes<MessageId>(this.#deps.runtime.randomBytes(messageIdBytes));
      const cancel = queue ? () => {} : this.#deps.runtime.after(timeoutMs, () => this.#expire(sending, timeoutMs));
      const finish = (): boolean => {
        if (sending.settled) return false;
        sending.settled = true;
        cancel();
        signal?.removeEventListener("abort", abort);
        return true;
      };
      const settle = (result: Sent | StaticError): void => {
        if (!finish()) return;
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      const abort = (): void => {
        this.#withdraw(sending);
        if (finish()) reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort);
      // The caller may reuse its buffer.
      const payload = plaintext.slice();
      const start = { counter: undefined, sealed: undefined, noRoom: undefined, tried: false, mayStand: false };
      const untilMs = queue ? Infinity : this.#deps.runtime.nowMs() + timeoutMs;
      const sending: Sending = { id, payload, ...start, untilMs, settled: false, settle, queued: queue };
      this.#waiting.push(sending);
      if (queue && !this.#online) settle({ id, accepted: false });
      this.#run();
    });
  }

  /** The relay can be reached, and the channel knows where it stands. */
  resume(): void {
    this.#online = true;
    this.#run();
  }

  /** The relay cannot be reached: what is under way comes back by itself. Who may queue need not wait for it. */
  suspend(): void {
    this.#online = false;
    for (const { queued, id, settle } of [...this.#waiting, ...this.#underWay]) {
      if (queued) settle({ id, accepted: false });
    }
  }

  /** Resolves when nothing waits and nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0 || this.#underWay.size > 0) {
      await new Promise<void>((resolve) => this.#onSettled.push(resolve));
    }
  }

  /** We joined anew: counters begin anew, for us and for those who count. */
  async restart(): Promise<void> {
    this.#counter = this.#durableCounter = 0;
    this.#unusedCounters = [];
    for (const sending of [...this.#waiting, ...this.#underWay]) sending.counter = sending.sealed = undefined;
    await this.#deps.store.batch([putCounter(this.#membership.channelId, 0)]);
  }

  /** Nothing more can be sent. */
  end(error: StaticError): void {
    this.#ended = error;
    for (const sending of [...this.#waiting, ...this.#underWay]) sending.settle(error);
    this.#waiting = [];
  }

  #refusal(payload: Uint8Array): StaticError | undefined {
    if (this.#ended !== undefined) return this.#ended;
    const { state } = this.#deps.session;
    if (state.kind === "ended") {
      return state.error ?? createError("transport_error", "Cannot send: the client was closed; connect again");
    }
    if (payload.length === 0) {
      return createError("invalid_request", "Cannot send an empty payload; send at least a byte");
    }
    const most = state.kind === "online" ? state.connection.limits.payloadBytes : limits.payloadBytes;
    const length = payload.length > most ? contentLength(payload) : payload.length;
    if (length > most) {
      const text = `Cannot send ${length} bytes: a payload has at most ${most}; send it in parts`;
      return createError("payload_too_large", text);
    }
    const bytes = this.#waiting.reduce((sum, sending) => sum + sending.payload.length, payload.length);
    if (this.#waiting.length < maxWaiting && bytes <= maxWaitingBytes) return undefined;
    return createError(
      "queue_full",
      `Cannot send: ${this.#waiting.length} messages wait already; wait for some of them`,
    );
  }

  /** Not sent, unless the relay has been given it already. */
  #withdraw(sending: Sending): void {
    this.#waiting = this.#waiting.filter((each) => each !== sending);
    if (!sending.tried && sending.counter !== undefined) this.#unusedCounters.push(sending.counter);
  }

  #expire(sending: Sending, timeoutMs: number): void {
    this.#withdraw(sending);
    if (sending.noRoom !== undefined) return sending.settle(sending.noRoom);
    const reachable = this.#deps.session.state.kind === "online";
    const why = sending.tried
      ? "the relay did not answer, so it may have been delivered or not"
      : reachable
      ? "the channel could not send yet, so it was not sent; see health()"
      : "the relay could not be reached, so it was not sent; use { queue: true } to send it later";
    const code = sending.tried || reachable ? "transport_error" : "connection_error";
    sending.settle(createError(code, `Cannot send within ${timeoutMs} ms: ${why}`));
  }

  #run(): void {
    if (this.#running) return;
    this.#running = true;
    this.#pump().catch((fault) => {
      this.end(toStaticError(fault, "Cannot send"));
      this.#onFault(fault);
    }).finally(() => {
      this.#running = false;
      if (this.#hasWork()) this.#run();
    });
  }

  #hasWork(): boolean {
    if (!this.#online || this.#ended !== undefined) return false;
    if (this.#obstacle !== undefined) return this.#underWay.size === 0;
    // In batches, because each batch waits once for the disk.
    return this.#waiting.length > 0 && this.#underWay.size <= maxUnderWay / 2 && this.#hasRoom();
  }

  #hasRoom(): boolean {
    let bytes = 0;
    for (const { payload } of this.#underWay) bytes += payload.length;
    return this.#underWay.size < maxUnderWay && bytes < maxUnderWayBytes;
  }

  async #pump(): Promise<void> {
    while (this.#hasWork()) {
      if (this.#obstacle !== undefined) await this.#overcome(this.#obstacle);
      else await this.#sendNext();
    }
  }

  /** Everything that was under way has come back. */
  async #overcome(obstacle: Obstacle): Promise<void> {
    if (obstacle.kind === "epoch") {
      try {
        await this.#membership.waitForEpoch(obstacle.epoch, catchUpMs);
      } catch (error) {
        const given = this.#waiting.filter(({ queued }) => !queued);
        this.#waiting = this.#waiting.filter(({ queued }) => queued);
        for (const sending of given) this.#giveUp(sending, toStaticError(error, "Cannot send"));
      }
    } else {
      await pause(this.#deps.runtime, jitter(this.#deps.runtime, obstacle.ms));
    }
    this.#obstacle = undefined;
  }

  /** As many as there is room for. Their counters are durable before the first of them leaves. */
  async #sendNext(): Promise<void> {
    const batch = this.#waiting.slice(0, maxUnderWay - this.#underWay.size);
    const numbered = this.#number(batch);
    // Awaited below, unless sealing fails first.
    numbered.catch(() => {});
    for (const sending of batch) {
      if (!this.#hasRoom() || this.#obstacle !== undefined || !this.#online) break;
      if (sending.sealed?.epoch !== this.#membership.epoch) {
        if (!this.#membership.mayPost) {
          this.#withdraw(sending);
          this.#lose(sending, silencedError(sending.mayStand));
          continue;
        }
        const aad = encodeMessageAad({ messageId: sending.id, counter: sending.counter ?? 0 });
        const carried = this.#confirmations.carry(sending.payload);
        sending.sealed = await this.#membership.durable.seal(sending.payload, aad, {
          slackBytes: slackOf(sending.payload),
          fuller: carried?.plaintext,
        });
        if (sending.sealed.isFuller) carried?.done();
      }
      await numbered;
      // Sealed it stays: another connection has to show first that it may be sent.
      if (!this.#online) break;
      if (this.#waiting[0] !== sending) continue; // it expired meanwhile
      this.#waiting.shift();
      this.#transmit(sending, sending.sealed);
    }
    await numbered;
  }

  async #number(batch: readonly Sending[]): Promise<void> {
    this.#unusedCounters.sort((a, b) => a - b);
    for (const sending of batch) sending.counter ??= this.#unusedCounters.shift() ?? ++this.#counter;
    if (this.#counter <= this.#durableCounter) return;
    const counter = this.#counter;
    await this.#deps.store.batch([putCounter(this.#membership.channelId, counter)]);
    this.#durableCounter = Math.max(this.#durableCounter, counter);
  }

  #transmit(sending: Sending, { epoch, message }: { readonly epoch: number; readonly message: Uint8Array }): void {
    this.#underWay.add(sending);
    sending.tried = true;
    sending.noRoom = undefined;
    const { channelId } = this.#membership;
    this.#deps.session.call("SendMessage", { channelId, epoch, messageId: sending.id, ciphertext: message }).then(
      ({ duplicate }) => {
        this.#underWay.delete(sending);
        // It stands there since an earlier life, under another counter: this one was not used.
        const unused = duplicate && !sending.mayStand ? sending.counter : undefined;
        if (unused !== undefined) this.#unusedCounters.push(unused);
        sending.settle({ id: sending.id, accepted: true });
      },
      (error: unknown) => {
        this.#underWay.delete(sending);
        this.#failed(sending, toStaticError(error, "Cannot send"));
      },
    ).finally(() => {
      for (const tell of this.#onSettled.splice(0)) tell();
      this.#run();
    });
  }

  #failed(sending: Sending, error: StaticError): void {
    const obstacle = obstacleOf(error, sending.sealed?.epoch ?? 0);
    if (obstacle === undefined) return this.#giveUp(sending, error);
    if (isNoRoom(error)) {
      // No sooner than the relay says: who waits for less long need not wait at all.
      const waitMs = obstacle.kind === "wait" ? obstacle.ms : 0;
      if (this.#deps.runtime.nowMs() + waitMs >= sending.untilMs) return this.#giveUp(sending, error);
      sending.noRoom = error;
      sending.tried = false;
    } else if (obstacle.kind === "epoch") sending.tried = false;
    else sending.mayStand = true;
    this.#obstacle = obstacle;
    if (sending.settled && !sending.queued) return; // its caller has been told that it failed
    const numbered = [sending, ...this.#waiting.filter(({ counter }) => counter !== undefined)];
    numbered.sort((a, b) => (a.counter ?? 0) - (b.counter ?? 0));
    this.#waiting = [...numbered, ...this.#waiting.filter(({ counter }) => counter === undefined)];
  }

  /** The relay will not take it: its counter goes to the next message, so that nobody misses it. */
  #giveUp(sending: Sending, error: StaticError): void {
    if (sending.counter !== undefined && (!sending.tried || isRefusal(error))) {
      this.#unusedCounters.push(sending.counter);
    }
    this.#lose(sending, error);
  }

  #lose(sending: Sending, error: StaticError): void {
    if (sending.settled) this.#health.report("undelivered", `A queued message was lost: ${error.message}`);
    sending.settle(error);
    for (const tell of this.#onSettled.splice(0)) tell();
  }
}

/** Up to here the fields of a content do not show: a payload with fewer, or none, is filled up as if it had so many. */
function slackOf(plaintext: Uint8Array): number {
  return Math.max(0, hiddenFieldBytes - (plaintext.length - contentLength(plaintext)));
}

/** Of what is said, without what is said about it. */
function contentLength(plaintext: Uint8Array): number {
  const decoded = decodeContent(plaintext);
  return decoded.form === "enveloped" ? decoded.content.body.length : plaintext.length;
}
