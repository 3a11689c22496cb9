/**
 * Messages for a model, in batches. A batch has a cursor; the next question with that cursor acknowledges it, and one without it
 * gets the same batch again. Between two questions nothing is asked of the host, so that a session that sleeps takes no message
 * away from another one on the same reader.
 */
import { type Channel, type IncomingRequest, RemoteError, type Sendable } from "../../sdk/mod.ts";
import { Feed, type Given, type Judge } from "./feed.ts";

export interface InboxParts {
  /** The durable reader. */
  readonly reader: string;
  /** Of this session, in front of its cursors. */
  readonly session: string;
  readonly channels: (names: readonly string[] | undefined) => Promise<readonly Channel[]>;
  readonly deadline: (ms: number) => AbortSignal;
  readonly judge: Judge;
  /** Messages that were held, and that a person has released. */
  readonly released: (count: number) => Promise<readonly Given[]>;
}

export interface Question {
  readonly channels?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
  readonly timeoutMs: number;
  readonly maxMessages: number;
  readonly signal: AbortSignal;
}

export interface Batch {
  readonly items: readonly Given[];
  readonly cursor: string;
  /** It was given before. */
  readonly again: boolean;
  readonly problems: readonly { readonly channel: string; readonly error: unknown }[];
}

/** A request may wait for days: one sender must not take all the places. */
const maxPendingOfOne = 16;

/** After the first message, for those right behind it. */
const lingerMs = 50;

export class Inbox {
  readonly #parts: InboxParts;
  readonly #feeds = new Map<string, Feed>();
  /** Requests that wait for their reply, by id. */
  readonly #pending = new Map<string, Asked>();
  #given: readonly Given[] = [];
  #count = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** One question at a time; the next one waits for its turn. Throws the signal's reason. */
  wait(question: Question): Promise<Batch> {
    const asked = this.#turn.then(() => this.#wait(question));
    this.#turn = asked.catch(() => {});
    return asked;
  }

  /** False when nobody waits for this reply any more. */
  reply(id: string, value: Sendable | RemoteError): boolean {
    const asked = this.#pending.get(id);
    asked?.settle(value);
    return asked !== undefined;
  }

  async #wait({ channels: names, cursor, timeoutMs, maxMessages, signal }: Question): Promise<Batch> {
    signal.throwIfAborted();
    if (cursor !== undefined && cursor === this.#cursor) await this.#acknowledge();
    this.#given = this.#given.filter(({ request, message }) => request === undefined || this.#pending.has(message.id));
    if (this.#given.length > 0) return { items: this.#given, cursor: this.#cursor, again: true, problems: [] };
    const released = await this.#parts.released(maxMessages);
    if (released.length > 0) return this.#give(released);
    const feeds = (await this.#parts.channels(names)).map((channel) => this.#feedOf(channel));
    const over = AbortSignal.any([signal, this.#parts.deadline(timeoutMs)]);
    for (const feed of feeds) feed.begin();
    try {
      await anyReady(feeds, over);
      if (!over.aborted) await enoughReady(feeds, AbortSignal.any([over, this.#parts.deadline(lingerMs)]), maxMessages);
    } finally {
      for (const feed of feeds) feed.rest();
    }
    // A client that has given up hears nothing of it: what came is given to the next question.
    const items: Given[] = [];
    if (!signal.aborted) { for (const feed of feeds) items.push(...feed.take(maxMessages - items.length)); }
    signal.throwIfAborted();
    const problems = feeds.flatMap(({ channel, error }) =>
      error === undefined ? [] : [{ channel: channel.name, error }]
    );
    for (const { channel } of problems) this.#feeds.delete(channel);
    return this.#give(items, problems);
  }

  #give(items: readonly Given[], problems: Batch["problems"] = []): Batch {
    this.#given = items;
    if (items.length > 0) this.#count++;
    return { items, cursor: this.#cursor, again: false, problems };
  }

  get #cursor(): string {
    return `${this.#parts.session}-${this.#count}`;
  }

  /** One that cannot be acknowledged because the host has just died comes again. */
  async #acknowledge(): Promise<void> {
    const done = this.#given;
    this.#given = [];
    await Promise.allSettled(done.map(({ ack }) => ack()));
  }

  #feedOf(channel: Channel): Feed {
    const known = this.#feeds.get(channel.name);
    if (known !== undefined && known.channel === channel) return known;
    const { reader, judge } = this.#parts;
    const feed = new Feed({ channel, reader, judge, ask: (request) => this.#ask(request) });
    this.#feeds.set(channel.name, feed);
    return feed;
  }

  /** Settled by `reply`, or when its requester stops waiting. Throws at once when the sender has too many. */
  #ask(request: IncomingRequest): Promise<Sendable> {
    const { id, sender: { agentId }, signal } = request;
    const theirs = [...this.#pending.values()].filter(({ sender }) => sender === agentId).length;
    // Senders choose ids: with another one's id the reply would go astray.
    if (theirs >= maxPendingOfOne || this.#pending.has(id)) {
      throw new RemoteError("Too many requests wait", { remoteCode: "overloaded", retryable: true });
    }
    const settled = new AbortController();
    return new Promise<Sendable>((resolve, reject) => {
      const settle = (value: Sendable | RemoteError): void => value instanceof Error ? reject(value) : resolve(value);
      this.#pending.set(id, { sender: agentId, settle });
      signal.addEventListener("abort", () => reject(signal.reason), { signal: settled.signal });
    }).finally(() => {
      settled.abort();
      this.#pending.delete(id);
    });
  }
}

interface Asked {
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

async function until(feeds: readonly Feed[], over: AbortSignal, isSo: () => boolean): Promise<void> {
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
