/**
 * Carries out what `stepLink` says: calls, timers, readings and writes, whose ends are its next events. One step is over, and
 * durable, before the next begins; readings and answers come back by themselves. Promises of the connection are here alone.
 */
import { type ChannelId, generationOf, type NoticeEnvelope } from "../../../proto/mod.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { StaticError } from "../../base/errors.ts";
import type { Serial } from "../../base/serial.ts";
import type { Permit } from "../connection/permit.ts";
import { newLink, stepLink } from "../connection/link.ts";
import { permitOf, windowBytes, workOf } from "../connection/link_run.ts";
import { isOfStream } from "../connection/notices.ts";
import type {
  About,
  Answer,
  Facts,
  Found,
  Link,
  LinkEffect,
  LinkEvent,
  LinkState,
  LinkStep,
  Notice,
  PutBack,
  Question,
  Taken,
} from "../connection/link_state.ts";
import type { ChannelDeps } from "../deps.ts";
import type { HealthLog } from "../health.ts";
import type { LinkFinding } from "../root/root_state.ts";
import type { StoreAge } from "../store_age.ts";
import type { Door } from "./door.ts";
import { noticeOf } from "./notice_kinds.ts";

type Event = LinkEvent<NoticeEnvelope>;
type Effect = LinkEffect<NoticeEnvelope>;

/** The end of a wait. */
export type Waited = "now" | "late" | "over";

export interface LinkRunnerParts {
  readonly channelId: ChannelId;
  readonly log: Uint8Array | undefined;
  readonly health: HealthLog;
  /** One entry after the other, and nothing beside them. */
  readonly entries: Serial;
  /** Of this moment, whenever they are read. */
  readonly facts: Facts;
  /** Settles whether the log still holds the commit at which we are stopped. */
  readonly settleStop: () => Promise<void>;
  /** Settles a commit from before this connection, if the log says what became of it. */
  readonly settleCommit: () => Promise<void>;
  readonly storeAge: Pick<StoreAge, "noted" | "told">;
  readonly putBack: (epoch: number) => Promise<PutBack>;
  readonly findCommit: (epoch: number) => Promise<Found>;
  /** Returns what was read, for the window. */
  readonly read: (
    notice: NoticeEnvelope,
    permit: Permit | undefined,
  ) => Promise<Taken | undefined> | Taken | undefined;
  readonly found: Door;
  readonly onFault: (fault: unknown) => void;
}

export class LinkRunner {
  readonly #parts: LinkRunnerParts;
  readonly #deps: Pick<ChannelDeps, "session" | "runtime" | "store">;
  readonly #facts: Facts;
  readonly #state: LinkState<NoticeEnvelope>;
  readonly #queue: Event[] = [];
  readonly #timers = new Map<number, () => void>();
  readonly #operations = new Map<number, Deferred<Waited>>();
  #isStepping = false;
  #isOver = false;
  #operation = 0;
  /** Connections that have come or gone, and wait for their step: no permit counts any more. */
  #unstepped = 0;
  /** Nothing else is read, entered or founded from a `Subscribe` to its judgement. */
  #turn: { readonly tag: number; readonly end: () => void } | undefined;

  constructor(parts: LinkRunnerParts, deps: Pick<ChannelDeps, "session" | "runtime" | "store">) {
    this.#parts = parts;
    this.#deps = deps;
    this.#facts = parts.facts;
    this.#state = newLink(parts.log);
  }

  /** Of the log, as the relay said last. */
  get relayEpoch(): number {
    return this.#state.relayEpoch;
  }

  /** Whether entries flow. */
  get isUp(): boolean {
    const { at } = this.#state.link;
    return at === "reading" || at === "fetching";
  }

  /** Given by the present connection, if it has shown that our store is as new as what we did. */
  get permit(): Permit | undefined {
    return this.#isOver || this.#unstepped > 0 ? undefined : permitOf(this.#state);
  }

  /** Permission to send and to commit, in step. */
  get work(): Permit | undefined {
    return this.permit === undefined ? undefined : workOf(this.#state, this.#facts);
  }

  /** Everything in front of the commit at which we are stopped is here. */
  get isAllHere(): boolean {
    return this.#state.arrival.isOver;
  }

  connection(online: boolean): void {
    this.#unstepped++;
    this.push({ type: online ? "connected" : "disconnected" });
    if (this.#deps.session.state.kind === "ended") this.#settleAll("late");
  }

  deliver(notice: NoticeEnvelope): void {
    if (notice.operation === "DeliverStart") return this.push({ type: "started", tag: notice.body.tag });
    this.push({ type: "delivered", notice: noticeOf(notice) });
  }

  /** Reads the log again from where the reader is. */
  fetchAgain(afterMs = 0): void {
    this.push({ type: "fetch", afterMs });
  }

  /** Resolves when what stands in front of the stop is here, or when nothing comes any more. */
  allHere(): Promise<Waited> {
    return this.#wait();
  }

  /** Nothing waits to be acknowledged any more. */
  flush(): void {
    this.push({ type: "flush" });
  }

  end(): void {
    this.push({ type: "over" });
    this.#isOver = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#settleAll("over");
    this.#turn?.end();
  }

  #settleAll(result: Waited): void {
    for (const { resolve } of this.#operations.values()) resolve(result);
    this.#operations.clear();
  }

  push(event: Event): void {
    if (this.#isOver) return;
    this.#queue.push(event);
    if (!this.#isStepping) this.#run();
  }

  #wait(): Promise<Waited> {
    if (this.#isOver) return Promise.resolve("over");
    // No connection comes any more.
    if (this.#deps.session.state.kind === "ended") return Promise.resolve("late");
    const waiting = createDeferred<Waited>();
    const operation = ++this.#operation;
    this.#operations.set(operation, waiting);
    this.push({ type: "wait", operation });
    return waiting.promise;
  }

  /** At once, as long as nothing has to be written or waited for. A fault ends the channel. */
  #run(): void {
    this.#isStepping = true;
    try {
      this.#endTurn();
      for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
        const step = stepLink(this.#state, event, this.#facts);
        if (event.type === "connected" || event.type === "disconnected") this.#unstepped--;
        const rest = this.#carryOut(step);
        if (rest !== undefined) return void rest.then(() => this.#run(), (fault) => this.#fail(fault));
        this.#endTurn();
      }
      this.#isStepping = false;
      this.#forgetTimers();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #fail(fault: unknown): void {
    this.#isStepping = false;
    this.#parts.onFault(fault);
  }

  /** Returns a promise when something has to be waited for. */
  #carryOut({ write, effects }: LinkStep<NoticeEnvelope>): Promise<void> | undefined {
    if (write !== undefined) {
      return this.#carryOutLater(effects, this.#deps.store.batch([this.#parts.storeAge.noted(write)]));
    }
    for (const [at, effect] of effects.entries()) {
      const done = this.#perform(effect);
      if (done !== undefined) return this.#carryOutLater(effects.slice(at + 1), done);
    }
    return undefined;
  }

  async #carryOutLater(effects: readonly Effect[], first: Promise<void>): Promise<void> {
    await first;
    for (const effect of effects) await this.#perform(effect);
  }

  #perform(effect: Effect): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const parts = this.#parts;
    switch (effect.type) {
      case "ask":
        this.#ask(effect.question, effect.call, effect.about);
        return undefined;
      case "read":
        this.#read(effect.reading, effect.notice, effect.permit);
        return undefined;
      case "wake":
        this.#timers.set(effect.timer, this.#deps.runtime.after(effect.afterMs, () => this.#wake(effect.timer)));
        return undefined;
      case "cleared": {
        const { permit, begins } = effect;
        const moved = (): void => this.push({ type: "moved" });
        const cleared = this.#found({ is: "cleared", permit, begins });
        return cleared === undefined ? void moved() : cleared.then(moved);
      }
      case "resumed":
        return void this.#found({ is: "resumed", permit: effect.permit });
      case "lose_log":
        return void this.#found({ is: "log_lost" });
      case "rest":
        return void this.#found({ is: "rests" });
      case "come_back":
        return void this.#found({ is: "doubted", doubt: effect.doubt });
      case "unknown":
        return void parts.found({ from: "relay", type: "ends", reason: "unknown" });
      case "report":
        return void parts.health.report(effect.kind, effect.text);
      case "acknowledge":
        return void this.#acknowledge(effect);
      case "settle":
        this.#operations.get(effect.operation)?.resolve(effect.result);
        this.#operations.delete(effect.operation);
        return undefined;
    }
  }

  #found(finding: LinkFinding): Promise<void> | undefined {
    return this.#parts.found({ from: "link", finding });
  }

  #wake(timer: number): void {
    this.#timers.delete(timer);
    this.push({ type: "time", timer });
  }

  /** Those that no state holds any more. */
  #forgetTimers(): void {
    if (this.#timers.size === 0) return;
    const held = timersOf(this.#state);
    for (const [timer, cancel] of this.#timers) {
      if (held.has(timer)) continue;
      cancel();
      this.#timers.delete(timer);
    }
  }

  #acknowledge({ consumed, received }: Pick<Extract<Effect, { type: "acknowledge" }>, "consumed" | "received">): void {
    const { session } = this.#deps;
    if (session.state.kind !== "online") return;
    session.acknowledge({ channelId: this.#parts.channelId, consumed, received });
  }

  #read(reading: number, { kind, content }: Notice<NoticeEnvelope>, permit: Permit | undefined): void {
    const isDue = (): boolean => !this.#isOver && (kind === "word" || isOfStream(this.#state, reading));
    this.#parts.entries.run(() => isDue() ? this.#parts.read(content, permit) : undefined)
      .then((took) => this.push({ type: "read", reading, ...(took !== undefined && { took }) }))
      .catch((fault) => this.#parts.onFault(fault));
  }

  #ask(question: Question, call: number, about: About): void {
    this.#answer(question, call, about).then((answer) => {
      if (answer !== undefined) this.push({ type: "answered", call, answer });
    }).catch((error) => {
      // Anything but a refusal is a fault of ours. Of a session that is over the channel hears in another way.
      if (!(error instanceof StaticError)) return this.#parts.onFault(error);
      if (this.#deps.session.state.kind === "ended") return;
      this.push({ type: "refused", call, code: error.code, text: error.message });
    });
  }

  /** Undefined when nobody waits for it any more. */
  async #answer(question: Question, call: number, { tag = 0, epoch = 0 }: About): Promise<Answer | undefined> {
    const { entries, settleStop, settleCommit, putBack, findCommit } = this.#parts;
    switch (question) {
      case "stop":
        // Before anything comes: entries are read as by a member that is not stopped, or not at all.
        await entries.run(() => this.#isHeld(call) ? settleStop() : Promise.resolve());
        return { question };
      case "open_commit":
        await settleCommit();
        return { question };
      case "subscribe":
        return await this.#takeTurn(call, tag) ? await this.#subscribe(call, tag) : undefined;
      case "put_back":
        return { question, reply: await putBack(epoch) };
      default:
        return { question, reply: await findCommit(epoch) };
    }
  }

  /** Until the answers are judged: a new membership or generation that came in between would be worked in with an old permit. */
  #takeTurn(call: number, tag: number): Promise<boolean> {
    const [taken, over] = [createDeferred<boolean>(), createDeferred<void>()];
    this.#parts.entries.run(() => {
      const isHeld = this.#isHeld(call);
      if (isHeld) this.#turn = { tag, end: over.resolve };
      taken.resolve(isHeld);
      return isHeld ? over.promise : Promise.resolve();
    }).catch((fault) => this.#parts.onFault(fault));
    return taken.promise;
  }

  #endTurn(): void {
    const { link } = this.#state;
    if (this.#turn === undefined || (isWaiting(link) && link.stream?.tag === this.#turn.tag)) return;
    this.#turn.end();
    this.#turn = undefined;
  }

  /** Behind what is being read: the place from which to go on is known then. */
  async #subscribe(call: number, tag: number): Promise<Answer | undefined> {
    const { channelId, facts, storeAge } = this.#parts;
    const [after, { log }] = [facts.received, this.#state];
    const reply = await this.#deps.session.call("Subscribe", {
      channelId,
      ...(after !== undefined && { after }),
      ...(after !== undefined && log !== undefined && { log }),
      windowBytes,
      tag,
    });
    if (!this.#isHeld(call)) return undefined;
    storeAge.told(reply.joinedSequence);
    await this.#found({ is: "subscribed", generation: generationOf(reply.epoch) });
    return { question: "subscribe", reply };
  }

  #isHeld(call: number): boolean {
    const { link } = this.#state;
    return !this.#isOver && "call" in link && link.call === call;
  }
}

/** For an answer by which it is judged. */
function isWaiting(link: Link): link is Extract<Link, { at: "settling" | "fetching" }> {
  return link.at === "settling" || link.at === "fetching";
}

function timersOf(
  { link, window, calm, arrival }: LinkState<NoticeEnvelope>,
): ReadonlySet<number | undefined> {
  const of = "timer" in link ? link.timer : undefined;
  const waits = arrival.waiting.map(({ timer }) => timer);
  return new Set([of, window.timer, calm, ...waits]);
}
