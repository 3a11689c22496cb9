/**
 * Messages on their way out. They reach the log in the order in which they were given; several are under way at once,
 * and those that wait together go together. A message keeps its id through every retry, so the relay takes it once:
 * after a lost connection the same bytes go again, after another member's commit it is sealed anew under the same id.
 * Plaintext is in memory only. Long because a message has few states, and every transition between them is here.
 */
import { binaryIdFromBytes, limits, type MessageId } from "../../proto/mod.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import type { Sealed } from "../mls/group.ts";
import { BundleSealer } from "./bundle_sealer.ts";
import { type Bundle, contentLength, countersOf, isBehind, type Sending, type Sent, slackOf } from "./bundling.ts";
import { CounterLag, Counters } from "./counters.ts";
import type { ChannelDeps } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";
import type { CounterRecord } from "./records.ts";
import type { ConfirmationRunner } from "./runner/confirmation_runner.ts";
import type { PostOptions } from "./send_options.ts";
import type { SendGroup } from "./send_group.ts";
import { SendQueue } from "./send_queue.ts";
import { standsInLog } from "./standing.ts";
import { expiredError, isNoRoom, type Obstacle, obstacleOf, silencedError } from "./sending_obstacles.ts";

const defaultTimeoutMs = 30_000;
const catchUpMs = 30_000;
const [maxUnderWay, maxUnderWayBytes] = [32, 4 * 1024 * 1024];
const [maxWaiting, maxWaitingBytes] = [4096, 32 * 1024 * 1024];
const messageIdBytes = 16;
export interface OutboxParts {
  readonly counters: CounterRecord;
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly confirmations: Pick<ConfirmationRunner, "carry">;
  /** Sending itself failed: a disk that does not write. The channel cannot go on either. */
  readonly onFault: (fault: unknown) => void;
}

export class Outbox {
  readonly #deps: ChannelDeps;
  readonly #membership: Membership;
  readonly #health: HealthLog;
  readonly #onFault: (fault: unknown) => void;
  readonly #counters: Counters;
  readonly #sealer: BundleSealer;
  readonly #queue = new SendQueue();
  /** Taken from the queue and not under way yet. */
  #sealing: Bundle | undefined;
  readonly #underWay = new Set<Bundle>();
  #obstacle: Obstacle | undefined;
  /** The next message cannot leave before something that is under way is back. */
  #mustWait = false;
  /** A bundle was refused as too much for the quota: what was behind it was refused because of it. */
  #isDissolving = false;
  /** Grows whenever sending goes on after an obstacle: the relay lets nothing of a run overtake what it refused of it. */
  #run: number;
  #order = 0;
  #online = false;
  /** Ends with the session: a wait that a relay has asked for is not the next one's. */
  #session = new AbortController();
  #running = false;
  #ended: StaticError | undefined;
  readonly #lag: CounterLag;
  readonly #onSettled: (() => void)[] = [];

  constructor({ counters, membership, health, confirmations, onFault }: OutboxParts, deps: ChannelDeps) {
    this.#counters = new Counters(membership.channelId, counters);
    this.#sealer = new BundleSealer({
      membership,
      counters: this.#counters,
      confirmations,
      waiting: () => Math.min(this.#queue.length, maxUnderWay),
    }, deps);
    this.#lag = new CounterLag(this.#counters, onFault, deps);
    this.#membership = membership;
    this.#health = health;
    this.#onFault = onFault;
    this.#deps = deps;
    this.#run = deps.nextRun();
  }

  /** The highest counter that this agent may have used, and how many keys of this epoch. */
  get sent(): { readonly counter: number; readonly usedKeys: number } {
    return { counter: this.#counters.last, usedKeys: this.#membership.durable.usedKeys };
  }

  get size(): { readonly waiting: number; readonly underWay: number } {
    const waiting = this.#queue.length + (this.#sealing?.messages.length ?? 0);
    return { waiting, underWay: [...this.#underWay].reduce((sum, { messages }) => sum + messages.length, 0) };
  }

  /** `plaintext` is the content as it is sealed. */
  send(plaintext: Uint8Array, options: PostOptions): Promise<Sent> {
    const { queue = false, timeoutMs = defaultTimeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const refusal = this.#refusal(plaintext);
      if (refusal !== undefined) return reject(refusal);
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
      const sending: Sending = {
        order: this.#order++,
        id: options.id ?? this.#newId(),
        // The caller may reuse its buffer.
        payload: plaintext.slice(),
        slackBytes: slackOf(plaintext),
        untilMs: queue ? Infinity : this.#deps.runtime.nowMs() + timeoutMs,
        queued: queue,
        settle,
        settled: false,
        isOver: false,
        isAlone: options.alone === true || (options.id !== undefined && options.group === undefined),
        group: options.group,
        mayBeKnown: options.id !== undefined || options.group !== undefined,
        bundle: undefined,
      };
      this.#queue.add(sending);
      if (queue && !this.#online) settle({ id: sending.id, accepted: false });
      this.#start();
    });
  }

  /** The relay can be reached, and the channel knows where it stands. */
  resume(): void {
    this.#online = true;
    this.#lag.writeLater();
    this.#start();
  }

  /**
   * The relay cannot be reached: bundles under way come back when their calls fail. Callers that allow queueing need
   * not wait for it.
   */
  suspend(): void {
    this.#online = false;
    this.#session.abort();
    this.#session = new AbortController();
    this.#lag.cancel();
    for (const { queued, id, settle } of this.#all()) if (queued) settle({ id, accepted: false });
  }

  /** Resolves when nothing waits and nothing is under way any more. */
  async idle(): Promise<void> {
    while ([...this.#all()].length > 0) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
  }

  /** We joined anew: counters begin anew, for us and for those who count. Messages on their way keep their ids. */
  async restart(): Promise<void> {
    const change = this.#counters.restart();
    await this.#deps.store.batch([change]);
  }

  /** Nothing more can be sent. */
  end(error: StaticError): void {
    this.#ended ??= error;
    this.#online = false;
    for (const { settle } of [...this.#all()]) settle(error);
    this.#queue.clear();
    this.#lag.cancel();
    this.#tellSettled();
  }

  /** The channel is closed here. Counters that were reserved and not used are given back, so that nobody wonders about them. */
  async close(): Promise<void> {
    this.#lag.cancel();
    if (this.#ended === undefined) await this.#deps.store.batch([this.#counters.close()]);
  }

  *#all(): Generator<Sending> {
    for (const { messages } of this.#underWay) yield* messages;
    if (this.#sealing !== undefined) yield* this.#sealing.messages;
    yield* this.#queue.all();
  }

  #newId(): MessageId {
    return binaryIdFromBytes<MessageId>(this.#deps.runtime.randomBytes(messageIdBytes));
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
    const { length: waiting, bytes } = this.#queue;
    if (waiting < maxWaiting && bytes + payload.length <= maxWaitingBytes) return undefined;
    return createError("queue_full", `Cannot send: ${waiting} messages wait already; wait for some of them`);
  }

  /** Its caller has given up. It is not sent, unless the relay has been given it already. */
  #withdraw(sending: Sending): void {
    sending.isOver = true;
    const { bundle } = sending;
    if (bundle === undefined) this.#queue.removeMessage(sending);
    else if (!bundle.tried || bundle.messages.every(({ isOver }) => isOver)) {
      if (this.#queue.removeBundle(bundle)) this.#scatter(bundle);
    }
    this.#tellSettled();
  }

  /** A bundle that the relay does not have: its counters are gone, and its messages wait again in their place. */
  #scatter(bundle: Bundle): void {
    this.#forget(bundle);
    this.#queue.scatter(bundle.messages.filter(({ isOver }) => !isOver));
  }

  /** Nothing will be sent under its counters any more. */
  #forget(bundle: Bundle): void {
    const range = countersOf(bundle);
    if (range !== undefined && bundle.life === this.#counters.life) this.#counters.giveUp(range);
    bundle.counter = bundle.sealed = undefined;
    // Counters grow with what goes: those behind it take later ones too, unless the relay may know them.
    for (const each of this.#queue.bundles) {
      if (!each.tried && each.counter !== undefined && isBehind(each, bundle)) return this.#forget(each);
    }
  }

  #expire(sending: Sending, timeoutMs: number): void {
    const { tried, noRoom } = sending.bundle ?? { tried: false, noRoom: undefined };
    this.#withdraw(sending);
    if (noRoom !== undefined) return sending.settle(noRoom);
    const isReachable = this.#deps.session.state.kind === "online";
    sending.settle(expiredError({ tried, isReachable, timeoutMs }));
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#pump().catch((fault) => {
      this.end(toStaticError(fault, "Cannot send"));
      this.#onFault(fault);
    }).finally(() => {
      this.#running = false;
      if (this.#hasWork()) this.#start();
    });
  }

  #hasWork(): boolean {
    if (!this.#online || this.#ended !== undefined) return false;
    if (this.#underWay.size === 0) return this.#obstacle !== undefined || !this.#queue.isEmpty;
    return this.#obstacle === undefined && !this.#mustWait && !this.#queue.isEmpty && this.#hasRoom();
  }

  /** Nothing of an epoch leaves while something of another one is under way, which might be refused and come after it. */
  #hasRoom(epoch = this.#membership.epoch): boolean {
    let bytes = 0;
    for (const { sealed } of this.#underWay) {
      if (sealed?.epoch !== epoch) return false;
      bytes += sealed.message.length;
    }
    return this.#underWay.size < maxUnderWay && bytes < maxUnderWayBytes;
  }

  async #pump(): Promise<void> {
    // So that what is given before the event loop turns goes together.
    await Promise.resolve();
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
        this.#giveUpAll(toStaticError(error, "Cannot send"));
      }
    } else if (obstacle.kind === "wait") {
      await pause(this.#deps.runtime, jitter(this.#deps.runtime, obstacle.ms), this.#session.signal);
    }
    this.#isDissolving = false;
    this.#obstacle = undefined;
    this.#run = this.#deps.nextRun();
  }

  /** Those that may wait for longer stay. */
  #giveUpAll(error: StaticError): void {
    for (const bundle of [...this.#queue.bundles]) {
      if (bundle.mayStandSince !== undefined && bundle.messages.some(({ queued }) => queued)) continue;
      this.#queue.removeBundle(bundle);
      this.#scatter(bundle);
    }
    for (const sending of [...this.#queue.all()]) {
      if (!sending.queued && this.#queue.removeMessage(sending)) sending.settle(error);
    }
    this.#tellSettled();
  }

  /** Its key and its counters are durable before it leaves. */
  async #sendNext(): Promise<void> {
    const bundle = this.#sealing = this.#queue.take({ mayBundle: this.#sealer.mayBundle, newId: () => this.#newId() });
    if (bundle === undefined || !await this.#keepTogether(bundle)) return;
    // One that may stand there goes as it was: the relay says whether it does.
    const mayStand = this.#sealer.isSealed(bundle) && bundle.mayStandSince !== undefined;
    if (!mayStand && !this.#sealer.isCurrent(bundle)) {
      if (!this.#membership.mayPost) return this.#silenced(bundle);
      await this.#sealer.seal(bundle);
    }
    this.#sealing = undefined;
    if (this.#ended !== undefined) return;
    const { sealed } = bundle;
    const isWhole = bundle.mayStandSince !== undefined || bundle.messages.every(({ isOver }) => !isOver);
    const isReadable = bundle.messages.length === 1 || mayStand || this.#sealer.mayBundle;
    if (!isWhole || !isReadable) {
      this.#scatter(bundle);
      return this.#tellSettled();
    }
    const mayGo = this.#online && this.#obstacle === undefined && sealed !== undefined && this.#hasRoom(sealed.epoch);
    if (!mayGo || !this.#sealer.isSealed(bundle)) {
      this.#mustWait = this.#underWay.size > 0;
      // Bundles that come back before this one leaves go first.
      if (!bundle.tried) this.#forget(bundle);
      return this.#queue.putBack(bundle);
    }
    this.#transmit(bundle, sealed);
  }

  /**
   * Messages that were given as one go as one, or each alone. Returns false when they are in the log already, or do not
   * go now.
   */
  async #keepTogether(bundle: Bundle): Promise<boolean> {
    const group = bundle.messages[0]?.group;
    if (group === undefined) return true;
    if (!group.isAgain) {
      group.isApart ||= bundle.id !== group.id;
      return true;
    }
    try {
      const stands = await standsInLog(group.id, { membership: this.#membership, session: this.#deps.session });
      group.isAgain = false;
      group.isApart = true;
      this.#sealing = undefined;
      if (this.#ended !== undefined) return false;
      this.#scatter(bundle);
      if (stands) this.#settleGroup(group, ({ id }) => ({ id, accepted: true }));
    } catch (error) {
      this.#sealing = undefined;
      const problem = toStaticError(error, "Cannot send");
      this.#scatter(bundle);
      this.#obstacle = obstacleOf(problem, this.#membership.epoch);
      if (this.#obstacle === undefined) this.#settleGroup(group, () => problem);
    }
    this.#tellSettled();
    return false;
  }

  #settleGroup(group: SendGroup, resultOf: (sending: Sending) => Sent | StaticError): void {
    for (const sending of [...this.#queue.all()]) {
      if (sending.group === group && this.#queue.removeMessage(sending)) sending.settle(resultOf(sending));
    }
  }

  #transmit(bundle: Bundle, { epoch, message }: Sealed): void {
    this.#underWay.add(bundle);
    bundle.tried = true;
    bundle.noRoom = undefined;
    bundle.onSent?.();
    bundle.onSent = undefined;
    const { channelId } = this.#membership;
    const request = { channelId, epoch, messageId: bundle.id, ciphertext: message };
    this.#deps.session.call("SendMessage", this.#sealer.relayBundles ? { ...request, run: this.#run } : request).then(
      ({ duplicate }) => {
        this.#underWay.delete(bundle);
        this.#accepted(bundle, duplicate);
      },
      (error: unknown) => {
        this.#underWay.delete(bundle);
        this.#failed(bundle, toStaticError(error, "Cannot send"));
      },
    ).finally(() => {
      this.#mustWait = false;
      this.#tellSettled();
      this.#start();
    });
  }

  #tellSettled(): void {
    for (const tell of this.#onSettled.splice(0)) tell();
  }

  #accepted(bundle: Bundle, duplicate: boolean): void {
    const range = countersOf(bundle);
    if (range !== undefined && bundle.life === this.#counters.life) {
      const mayStand = bundle.mayStandSince !== undefined || bundle.messages.some(({ mayBeKnown }) => mayBeKnown);
      if (duplicate && !mayStand) this.#reportLie();
      // It stands there under another counter, since an earlier life or membership: this one was not used.
      if (duplicate && mayStand && bundle.mayStandSince !== bundle.life) this.#counters.giveUp(range);
      else this.#counters.accepted(range, duplicate ? undefined : bundle.gone);
      if (this.#online) this.#lag.writeLater();
    }
    for (const { id, settle } of bundle.messages) settle({ id, accepted: true });
  }

  /** Its counter stays a used one: if the relay has dropped the message, those that count miss it. */
  #reportLie(): void {
    const text = "The relay says that it had a message already which this agent has sent once; it may have dropped it";
    this.#health.report("relay_lied", text);
  }

  #failed(bundle: Bundle, error: StaticError): void {
    if (isCode(error, "quota_exceeded") && (bundle.messages.length > 1 || this.#isDissolving)) {
      return this.#dissolve(bundle);
    }
    const obstacle = obstacleOf(error, bundle.sealed?.epoch ?? 0);
    if (obstacle === undefined) return this.#giveUp(bundle, error);
    const surelyNot = isNoRoom(error) || obstacle.kind === "epoch";
    if (isNoRoom(error)) {
      // No sooner than the relay says: callers with a shorter deadline need not wait at all.
      const waitMs = obstacle.kind === "wait" ? obstacle.ms : 0;
      const untilMs = Math.max(...bundle.messages.map((sending) => sending.untilMs));
      if (this.#deps.runtime.nowMs() + waitMs >= untilMs) {
        this.#obstacle ??= { kind: "run" };
        return this.#giveUp(bundle, error);
      }
      bundle.noRoom = error;
    }
    bundle.tried = !surelyNot;
    bundle.mayStandSince = surelyNot ? undefined : bundle.mayStandSince ?? bundle.life;
    this.#obstacle = obstacle.kind === "wait" && !this.#online ? { kind: "run" } : obstacle;
    if (bundle.messages.every(({ isOver }) => isOver)) return this.#forget(bundle);
    this.#queue.putBack(bundle);
  }

  /** A bundle that the quota does not take whole goes in parts, when everything that was sent behind it is back. */
  #dissolve(bundle: Bundle): void {
    this.#obstacle ??= { kind: "run" };
    this.#isDissolving = true;
    for (const sending of bundle.messages) sending.isAlone = true;
    this.#scatter(bundle);
  }

  /** Nobody would show it. */
  #silenced(bundle: Bundle): void {
    this.#sealing = undefined;
    this.#giveUp(bundle, silencedError(bundle.mayStandSince !== undefined));
    this.#tellSettled();
  }

  /** The relay will not take it. */
  #giveUp(bundle: Bundle, error: StaticError): void {
    this.#forget(bundle);
    for (const { settled, queued, isOver, settle } of bundle.messages) {
      if (settled && queued && !isOver) {
        this.#health.report("undelivered", `A queued message was lost: ${error.message}`);
      }
      settle(error);
    }
  }
}
