/**
 * Carries out what `stepLink` says: calls, timers, readings and writes, whose ends are its next
 * events. Promises of the connection are here alone.
 */
import { type ChannelId, generationOf, type NoticeEnvelope } from "../../../proto/mod.ts";
import { StaticError } from "../../base/errors.ts";
import type { Permit } from "../connection/permit.ts";
import { newLink, stepLink } from "../connection/link.ts";
import { permitOf, windowBytes, workOf } from "../connection/link_run.ts";
import { isOfStream } from "../connection/notices.ts";
import { timersOf } from "../connection/link_state.ts";
import type {
  ConnectionAnswer,
  ConnectionQuestion,
  FindCommitReply,
  LinkEffect,
  LinkEvent,
  LinkFacts,
  LinkState,
  QuestionSubject,
  RestoredCommits,
  TakenEntry,
} from "../connection/link_state.ts";
import type { ChannelDeps } from "../deps.ts";
import type { HealthLog } from "../health.ts";
import type { LinkFinding } from "../root/root_state.ts";
import type { StoreAge } from "./store_age.ts";
import type { RootDoor } from "./root_door.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";
import { noticeOf } from "./notice_kinds.ts";
import type { LogTurns } from "./log_turns.ts";

type Event = LinkEvent<NoticeEnvelope>;
type Effect = LinkEffect<NoticeEnvelope>;
interface QuestionTurn {
  readonly type: "turn";
  readonly question: ConnectionQuestion;
  readonly call: number;
  readonly about: QuestionSubject;
}

/** The end of a wait. */
export type WaitEnd = "now" | "late" | "over";

export interface LinkRunnerParts {
  readonly channelId: ChannelId;
  readonly log: Uint8Array | undefined;
  readonly health: HealthLog;
  readonly turns: LogTurns;
  readonly queue: ChannelQueue;
  /** Facts of the moment in which they are read. */
  readonly facts: LinkFacts;
  /** Settles whether the log still holds the commit at which we are stopped. */
  readonly settleStop: () => Promise<void>;
  /** Settles a commit from before this connection, if the log says what became of it. */
  readonly settleCommit: () => Promise<void>;
  readonly storeAge: Pick<StoreAge, "noted" | "told">;
  readonly putBack: (epoch: number) => Promise<RestoredCommits>;
  readonly findCommit: (epoch: number) => Promise<FindCommitReply>;
  /** Ends with `hasRead`. */
  readonly read: (notice: NoticeEnvelope, permit: Permit | undefined, reading: number) => void;
  readonly found: RootDoor;
  readonly onFault: (fault: unknown) => void;
}

export class LinkRunner {
  readonly #parts: LinkRunnerParts;
  readonly #deps: Pick<ChannelDeps, "session" | "runtime" | "store">;
  readonly #facts: LinkFacts;
  readonly #state: LinkState<NoticeEnvelope>;
  readonly #steps: Steps<Event | QuestionTurn, Effect | QuestionTurn>;
  readonly #waiting = new Calls<WaitEnd>();
  /**
   * Connections that have come or gone, and wait for their step: nothing flows, and no permit
   * counts.
   */
  #unstepped = 0;
  /** Nothing else is read, entered or founded from a `Subscribe` to its judgement. */
  #turn: { readonly call: number; readonly tag: number | undefined } | undefined;

  constructor(parts: LinkRunnerParts, deps: Pick<ChannelDeps, "session" | "runtime" | "store">) {
    this.#parts = parts;
    this.#deps = deps;
    this.#facts = parts.facts;
    this.#state = newLink(parts.log);
    this.#steps = parts.queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
      stepped: () => this.#endTurn(),
    });
  }

  /** The epoch of the log, as the relay said last. */
  get relayEpoch(): number {
    return this.#state.relayEpoch;
  }

  /** The connection of the state does not count. */
  get #isOut(): boolean {
    return this.#steps.isOver || this.#unstepped > 0;
  }

  /** Whether entries flow. */
  get isUp(): boolean {
    const { at } = this.#state.link;
    return !this.#isOut && (at === "reading" || at === "fetching");
  }

  /** Given by the present connection, if it has shown that our store is as new as what we did. */
  get permit(): Permit | undefined {
    return this.#isOut ? undefined : permitOf(this.#state);
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
    if (this.#deps.session.state.kind === "ended") this.#waiting.settleAll("late");
  }

  deliver(notice: NoticeEnvelope): void {
    if (notice.operation === "DeliverStart") {
      return this.push({ type: "started", tag: notice.body.tag });
    }
    this.push({ type: "delivered", notice: noticeOf(notice) });
  }

  /** Reads the log again from where the reader is. */
  fetchAgain(afterMs = 0): void {
    this.push({ type: "fetch", afterMs });
  }

  /** Resolves when what stands in front of the stop is here, or when nothing comes any more. */
  allHere(): Promise<WaitEnd> {
    if (this.#steps.isOver) return Promise.resolve("over");
    // No connection comes any more.
    if (this.#deps.session.state.kind === "ended") return Promise.resolve("late");
    return this.#waiting.begin((operation) => this.push({ type: "wait", operation }));
  }

  /** Nothing waits to be acknowledged any more. */
  flush(): void {
    this.push({ type: "flush" });
  }

  end(): void {
    this.#steps.end();
    this.#waiting.settleAll("over");
  }

  push(event: Event): void {
    this.#steps.push(event);
  }

  #step(event: Event | QuestionTurn): StepResult<Effect | QuestionTurn> {
    if (event.type === "turn") return { effects: [event] };
    const { write, effects } = stepLink(this.#state, event, this.#facts);
    if (event.type === "connected" || event.type === "disconnected") this.#unstepped--;
    if (write === undefined) return { effects };
    return { effects, written: this.#deps.store.batch([this.#parts.storeAge.noted(write)]) };
  }

  #perform(effect: Effect | QuestionTurn): void {
    const { turns, health, found } = this.#parts;
    switch (effect.type) {
      case "ask":
        return this.#ask(effect.question, effect.call, effect.about);
      case "turn":
        return this.#begin(effect);
      case "read":
        return turns.take(() =>
          this.#parts.read(effect.notice.content, effect.permit, effect.reading)
        );
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "cleared":
        return this.#found({ is: "cleared", permit: effect.permit, begins: effect.begins });
      case "resumed":
        return this.#found({ is: "resumed", permit: effect.permit });
      case "lose_log":
        return this.#found({ is: "log_lost" });
      case "rest":
        return this.#found({ is: "rests" });
      case "come_back":
        return this.#found({ is: "doubted", doubt: effect.doubt });
      case "unknown":
        return void found({ from: "relay", type: "ends", reason: "unknown" });
      case "report":
        return health.report(effect.kind, effect.text);
      case "acknowledge":
        return this.#acknowledge(effect);
      case "settle":
        return this.#waiting.settle(effect.operation, effect.result);
    }
  }

  #found(finding: LinkFinding): void {
    void this.#parts.found({ from: "link", finding });
  }

  #acknowledge(
    { consumed, received }: Pick<Extract<Effect, { type: "acknowledge" }>, "consumed" | "received">,
  ): void {
    const { session } = this.#deps;
    if (session.state.kind !== "online") return;
    session.acknowledge({ channelId: this.#parts.channelId, consumed, received });
  }

  /** Entries may come again since it was given to the reader. */
  isDue(reading: number): boolean {
    return isOfStream(this.#state, reading);
  }

  /** `took`: for the window. */
  hasRead(reading: number, took?: TakenEntry): void {
    this.#parts.turns.end();
    this.push({ type: "read", reading, ...(took !== undefined && { took }) });
  }

  #ask(question: ConnectionQuestion, call: number, about: QuestionSubject): void {
    const { turns } = this.#parts;
    if (question !== "stop" && question !== "subscribe") return this.#answer(question, call, about);
    // Nothing else is read, entered or founded until it is judged: it would be worked in with an
    // old permit. Behind what is being read: the place from which to go on is known then.
    turns.take(() => this.#steps.push({ type: "turn", question, call, about }));
  }

  #begin({ question, call, about }: QuestionTurn): void {
    if (!this.#isHeld(call)) return this.#parts.turns.end();
    this.#turn = { call, tag: about.tag };
    this.#answer(question, call, about);
  }

  #answer(question: ConnectionQuestion, call: number, about: QuestionSubject): void {
    this.#find(question, call, about).then((answer) => {
      if (answer !== undefined) this.push({ type: "answered", call, answer });
    }).catch((error) => {
      // Anything but a refusal is a fault of ours. The channel hears in another way of a session
      // that is over.
      if (!(error instanceof StaticError)) return this.#parts.onFault(error);
      if (this.#deps.session.state.kind === "ended") return;
      this.push({ type: "refused", call, code: error.code, text: error.message });
    });
  }

  /** Undefined when nobody waits for it any more. */
  async #find(
    question: ConnectionQuestion,
    call: number,
    { tag = 0, epoch = 0 }: QuestionSubject,
  ): Promise<ConnectionAnswer | undefined> {
    const { settleStop, settleCommit, putBack, findCommit } = this.#parts;
    switch (question) {
      case "stop":
        // Before anything comes: entries are read as by a member that is not stopped, or not at
        // all.
        await settleStop();
        return { question };
      case "open_commit":
        await settleCommit();
        return { question };
      case "subscribe":
        return await this.#subscribe(call, tag);
      case "put_back":
        return { question, reply: await putBack(epoch) };
      default:
        return { question, reply: await findCommit(epoch) };
    }
  }

  #endTurn(): void {
    if (this.#turn === undefined || this.#isJudged(this.#turn)) return;
    this.#turn = undefined;
    this.#parts.turns.end();
  }

  /** Also while what was answered is compared with more. */
  #isJudged({ call, tag }: { readonly call: number; readonly tag: number | undefined }): boolean {
    const { link } = this.#state;
    if (link.at !== "settling" && link.at !== "fetching") return false;
    return link.call === call || (tag !== undefined && link.stream?.tag === tag);
  }

  async #subscribe(call: number, tag: number): Promise<ConnectionAnswer | undefined> {
    const { channelId, facts, storeAge } = this.#parts;
    const [after, { log }] = [facts.received, this.#state];
    const reply = await this.#deps.session.call("Subscribe", {
      channelId,
      after,
      ...(after !== undefined && log !== undefined && { log }),
      windowBytes,
      tag,
    });
    if (!this.#isHeld(call)) return undefined;
    storeAge.told(reply.joinedSequence);
    this.#found({ is: "subscribed", generation: generationOf(reply.epoch) });
    return { question: "subscribe", reply };
  }

  #isHeld(call: number): boolean {
    const { link } = this.#state;
    return !this.#steps.isOver && "call" in link && link.call === call;
  }
}
