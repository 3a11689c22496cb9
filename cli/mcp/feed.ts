/**
 * The feed of one channel while a call waits for it: messages of a durable reader, and requests.
 * Each message has a loop of its own at the host, because one loop could not both keep the messages
 * that it has given and ask for no more.
 */
import type {
  Channel,
  Envelope,
  EnvelopeReader,
  IncomingRequest,
  Sendable,
  Serving,
} from "../../sdk/mod.ts";
import type { RequestToAnswer, ShownMessage } from "./message_view.ts";

export interface GivenMessage {
  readonly channel: string;
  readonly message: ShownMessage;
  /** The message is done with. A request has nothing to acknowledge: it waits for its reply. */
  readonly ack: () => Promise<void>;
  /** The message was not read: it comes again, before others. */
  readonly back: () => void;
  readonly request?: RequestToAnswer;
}

/**
 * Decides about a sender's message. One that holds a message has it on disk. For a request, throws
 * to the requester.
 */
export type MessageJudge = (
  channel: Channel,
  message: Envelope,
  isRequest: boolean,
) => Promise<"accept" | "done">;

export interface FeedParts {
  readonly channel: Channel;
  readonly reader: string;
  readonly judge: MessageJudge;
  /** Resolves with the reply. Throws at once when it cannot be asked. */
  readonly ask: (request: IncomingRequest) => Promise<Sendable>;
}

/** Messages that are taken ahead of the one who waits. */
const maxAhead = 50;
/** Requests of a channel that wait for replies at once; `Inbox` bounds those of one sender. */
const maxRequests = 256;

export class Feed {
  readonly #parts: FeedParts;
  readonly #ready: GivenMessage[] = [];
  #reader: EnvelopeReader | undefined;
  #serving: Serving | undefined;
  #isWanted = false;
  #isAsking = false;
  /** Why nothing more comes. */
  error: unknown;
  /** Told when something has become ready, or has ended. */
  onReady: () => void = () => {};

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  get channel(): Channel {
    return this.#parts.channel;
  }

  get size(): number {
    return this.#ready.length;
  }

  get isReady(): boolean {
    return this.#ready.length > 0 || this.error !== undefined;
  }

  /** Somebody waits. */
  begin(): void {
    this.#isWanted = true;
    if (!this.#isAsking) void this.#read();
    this.#serving ??= this.channel.serve((request) => this.#take(request), {
      concurrency: maxRequests,
    });
  }

  /**
   * Stops reading, because no call waits. The reader has returned nothing yet; ending it leaves its
   * message to other programs.
   */
  rest(): void {
    this.#isWanted = false;
    const [serving, reader] = [this.#serving, this.#reader];
    this.#serving = undefined;
    this.#reader = undefined;
    // Requests that were begun can still be replied to.
    serving?.stop().catch(() => {});
    void reader?.return?.();
  }

  take(count: number): GivenMessage[] {
    return this.#ready.splice(0, count);
  }

  async #read(): Promise<void> {
    const { reader: as, judge, channel } = this.#parts;
    this.#isAsking = true;
    try {
      while (this.#isWanted && this.#ready.length < maxAhead) {
        const reader = this.#reader ??= channel.envelopes({ as, ack: "manual" });
        const { done, value: message } = await reader.next();
        // One that was let go meanwhile has given back what it had.
        if (reader !== this.#reader) continue;
        if (done === true) return;
        // It gives no more: a reader that has given something cannot be let go without giving it
        // back.
        this.#reader = undefined;
        const ack = acknowledging(reader, message);
        const verdict = await judge(channel, message, false).catch((error) => {
          // Nobody has read it: it is for the next one that asks.
          void reader.return?.();
          throw error;
        });
        if (verdict === "accept") this.#put({ message, ack });
        else await ack();
      }
    } catch (error) {
      this.error = error;
      this.onReady();
    } finally {
      this.#isAsking = false;
    }
  }

  async #take(request: IncomingRequest): Promise<Sendable> {
    await this.#parts.judge(this.channel, request, true);
    const { attempt, deadlineMs } = request;
    const ack = (): Promise<void> => Promise.resolve();
    // One that is refused is not shown.
    const reply = this.#parts.ask(request);
    this.#put({ message: request, ack, request: { attempt, deadlineMs } });
    return await reply;
  }

  #put(item: Omit<GivenMessage, "channel" | "back">): void {
    const given: GivenMessage = {
      ...item,
      channel: this.channel.name,
      back: () => void this.#ready.unshift(given),
    };
    this.#ready.push(given);
    this.onReady();
  }
}

/** Once; then the reader of this one message ends. */
function acknowledging(reader: EnvelopeReader, message: Envelope): () => Promise<void> {
  let acknowledged: Promise<void> | undefined;
  return () => {
    acknowledged ??= message.ack().finally(() => void reader.return?.());
    return acknowledged;
  };
}
