/**
 * Messages for a model, in answers. A question acknowledges the answers that were sent before it
 * was asked: the model that asks again has them. An answer that its client cancels before that
 * comes again, and so does one that no question came after, in the next session. Between two
 * questions nothing is asked of the host, so that a session that sleeps takes no message away from
 * another one on the same reader.
 */
import { type Channel, type IncomingRequest, RemoteError, type Sendable } from "../../sdk/mod.ts";
import { Feed, type GivenMessage, type MessageJudge } from "./feed.ts";
import type { GivenNotes } from "./given_notes.ts";
import type { ReceiptView, SessionReceipts } from "./receipts.ts";

export interface ModelInboxParts {
  /** The durable reader. */
  readonly reader: string;
  readonly channels: (names: readonly string[] | undefined) => Promise<readonly Channel[]>;
  readonly deadline: (ms: number) => AbortSignal;
  readonly judge: MessageJudge;
  /** Messages that were held, and that a person has released. */
  readonly released: () => Promise<readonly GivenMessage[]>;
  readonly notes: Pick<GivenNotes, "give" | "forget">;
  readonly receipts: Pick<SessionReceipts, "coming" | "news" | "told">;
}

/** The client's id of a call. */
export type CallId = string | number;

export interface InboxRequest {
  readonly call: CallId;
  readonly channels?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly maxMessages: number;
  readonly signal: AbortSignal;
}

export interface InboxBatch {
  readonly items: readonly GivenMessage[];
  /** Messages that an earlier session was given, and did not come back for. */
  readonly again: ReadonlySet<GivenMessage>;
  readonly problems: readonly { readonly channel: string; readonly error: unknown }[];
  readonly receipts: readonly ReceiptView[];
}

/** A request may wait for days: one sender must not take all the places. */
const maxPendingOfOne = 16;

/** After the first message, for those right behind it. */
const lingerMs = 50;

export class Inbox {
  readonly #parts: ModelInboxParts;
  readonly #feeds = new Map<string, Feed>();
  /** Requests that wait for their reply, by id. */
  readonly #pending = new Map<string, UnansweredRequest>();
  /** By call, until the client asks again. */
  readonly #answers = new Map<CallId, InboxAnswer>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: ModelInboxParts) {
    this.#parts = parts;
  }

  /** One question at a time; the next one waits for its turn. Throws the signal's reason. */
  wait(question: InboxRequest): Promise<InboxBatch> {
    // Those that are not sent yet are of questions that were asked at the same time: they prove
    // nothing.
    const read = [...this.#answers].filter(([, { isSent }]) => isSent);
    for (const [call] of read) this.#answers.delete(call);
    const asked = this.#turn.then(async () => {
      for (const [, { receipts }] of read) this.#parts.receipts.told(receipts);
      await this.#acknowledge(read.flatMap(([, { items }]) => items));
      return await this.#wait(question);
    });
    this.#turn = asked.catch(() => {});
    return asked;
  }

  /** The answer to a call is on its way to the client. */
  sent(call: CallId): void {
    const answer = this.#answers.get(call);
    if (answer !== undefined) answer.isSent = true;
  }

  /**
   * The client has given up a call, and drops its answer if that is on its way: the next question
   * gets it.
   */
  givenUp(call: CallId): void {
    const items = this.#answers.get(call)?.items ?? [];
    this.#answers.delete(call);
    for (const item of items.toReversed()) item.back();
    void this.#parts.notes.forget(items);
  }

  /** False when nobody waits for this reply any more. */
  reply(id: string, value: Sendable | RemoteError): boolean {
    const asked = this.#pending.get(id);
    asked?.settle(value);
    return asked !== undefined;
  }

  async #wait(question: InboxRequest): Promise<InboxBatch> {
    const { channels: names, timeoutMs, maxMessages, signal } = question;
    signal.throwIfAborted();
    const released = (await this.#parts.released()).filter((each) => !this.#isOut(each)).slice(
      0,
      maxMessages,
    );
    signal.throwIfAborted();
    if (released.length > 0) return await this.#give(question, released);
    const feeds = (await this.#parts.channels(names)).map((channel) => this.#feedOf(channel));
    const over = AbortSignal.any([signal, this.#parts.deadline(timeoutMs)]);
    for (const feed of feeds) feed.begin();
    try {
      await this.#untilSomething(feeds, over);
      if (!over.aborted) {
        await enoughReady(
          feeds,
          AbortSignal.any([over, this.#parts.deadline(lingerMs)]),
          maxMessages,
        );
      }
    } finally {
      for (const feed of feeds) feed.rest();
    }
    // A client that has given up hears nothing of it: what came is given to the next question.
    signal.throwIfAborted();
    const isWaiting = ({ message, request }: GivenMessage): boolean =>
      request === undefined || this.#pending.has(message.id);
    const items: GivenMessage[] = [];
    for (const feed of feeds) {
      items.push(...feed.take(maxMessages - items.length).filter(isWaiting));
    }
    const problems = feeds.flatMap(({ channel, error, size }) =>
      error === undefined || size > 0 ? [] : [{ channel: channel.name, error }]
    );
    for (const { channel } of problems) this.#feeds.delete(channel);
    return await this.#give(question, items, problems);
  }

  /** Resolves when there are messages, or a receipt that the model has not been told. */
  async #untilSomething(feeds: readonly Feed[], over: AbortSignal): Promise<void> {
    for (;;) {
      // One that comes while the host is asked is asked for again.
      const { coming } = this.#parts.receipts;
      if ((await this.#news()).length > 0) return;
      await anyReady(feeds, AbortSignal.any([over, coming]));
      if (!coming.aborted || over.aborted) return;
    }
  }

  /** Without those of answers that nobody has come back for yet. */
  async #news(): Promise<readonly ReceiptView[]> {
    const out = [...this.#answers.values()].flatMap(({ receipts }) => receipts);
    const isOut = (view: ReceiptView): boolean =>
      out.some(({ id, agent_id, state }) =>
        id === view.id && agent_id === view.agent_id && state === view.state
      );
    return (await this.#parts.receipts.news()).filter((view) => !isOut(view));
  }

  async #give(
    { call, signal }: InboxRequest,
    items: readonly GivenMessage[],
    problems: InboxBatch["problems"] = [],
  ): Promise<InboxBatch> {
    const receipts = await this.#news();
    if (items.length > 0 || receipts.length > 0) {
      this.#answers.set(call, { items, receipts, isSent: false });
    }
    const again = await this.#parts.notes.give(items);
    if (signal.aborted) this.givenUp(call);
    signal.throwIfAborted();
    return { items, again, problems, receipts };
  }

  /** An answer has it that nobody has come back for yet. */
  #isOut({ message }: GivenMessage): boolean {
    const { id, sender: { agentId } } = message;
    return [...this.#answers.values()].some(({ items }) =>
      items.some((each) => each.message.id === id && each.message.sender.agentId === agentId)
    );
  }

  /** One that cannot be acknowledged because the host has just died comes again. */
  async #acknowledge(items: readonly GivenMessage[]): Promise<void> {
    await Promise.allSettled(items.map(({ ack }) => ack()));
    await this.#parts.notes.forget(items);
  }

  #feedOf(channel: Channel): Feed {
    const known = this.#feeds.get(channel.name);
    if (known !== undefined && known.channel === channel) return known;
    const { reader, judge } = this.#parts;
    const feed = new Feed({ channel, reader, judge, ask: (request) => this.#ask(request) });
    this.#feeds.set(channel.name, feed);
    return feed;
  }

  /**
   * Settled by `reply`, or when its requester stops waiting. Throws at once when the sender has too
   * many.
   */
  #ask(request: IncomingRequest): Promise<Sendable> {
    const { id, sender: { agentId }, signal } = request;
    const theirs = [...this.#pending.values()].filter(({ sender }) => sender === agentId).length;
    // Senders choose ids: with another one's id the reply would go astray.
    if (theirs >= maxPendingOfOne || this.#pending.has(id)) {
      throw new RemoteError("Too many requests wait", {
        remoteCode: "overloaded",
        retryable: true,
      });
    }
    const settled = new AbortController();
    return new Promise<Sendable>((resolve, reject) => {
      const settle = (value: Sendable | RemoteError): void =>
        value instanceof Error ? reject(value) : resolve(value);
      this.#pending.set(id, { sender: agentId, settle });
      signal.addEventListener("abort", () => reject(signal.reason), { signal: settled.signal });
    }).finally(() => {
      settled.abort();
      this.#pending.delete(id);
    });
  }
}

interface InboxAnswer {
  readonly items: readonly GivenMessage[];
  readonly receipts: readonly ReceiptView[];
  isSent: boolean;
}

interface UnansweredRequest {
  readonly sender: string;
  readonly settle: (value: Sendable | RemoteError) => void;
}

/** Something is ready, or nothing more will be. */
function anyReady(feeds: readonly Feed[], over: AbortSignal): Promise<void> {
  return until(feeds, over, () => feeds.some(({ isReady }) => isReady));
}

/** Enough is ready. */
function enoughReady(feeds: readonly Feed[], over: AbortSignal, wanted: number): Promise<void> {
  return until(feeds, over, () => feeds.reduce((sum, { size }) => sum + size, 0) >= wanted);
}

async function until(
  feeds: readonly Feed[],
  over: AbortSignal,
  isSo: () => boolean,
): Promise<void> {
  while (!isSo() && !over.aborted) {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        over.removeEventListener("abort", wake);
        resolve();
      };
      over.addEventListener("abort", wake, { once: true });
      for (const feed of feeds) feed.onReady = wake;
    });
  }
}
