/** One message at a time, for a whole program: one reader for each channel, opened with the first question. */
import type { Channel } from "../channel.ts";
import type { OneByOne } from "../channel/inbox.ts";
import { Receiver } from "../channel/receiver.ts";
import { createError, type StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Envelope } from "../content/envelope.ts";
import type { Held, MessageReader } from "./held.ts";

interface Opened {
  readonly reader: MessageReader;
  readonly receiver: Receiver;
}

export class Receivers {
  readonly #held: Held;
  readonly #runtime: Runtime;
  /** By the channel's id: one that was left and joined again is another. */
  readonly #opened = new Map<string, Promise<Opened>>();

  constructor(held: Held, runtime: Runtime) {
    this.#held = held;
    this.#runtime = runtime;
  }

  async of(channel: Channel): Promise<Receiver> {
    let opened = this.#opened.get(channel.id);
    if (opened === undefined) {
      opened = this.#open(channel);
      this.#opened.set(channel.id, opened);
      opened.catch(() => this.#opened.delete(channel.id));
    }
    return (await opened).receiver;
  }

  /** What was given counts as done with. */
  async finish(): Promise<void> {
    for (const opened of this.#opened.values()) await (await opened).receiver.finish();
    this.#opened.clear();
  }

  /** What was given comes again. */
  end(): void {
    for (const opened of this.#opened.values()) opened.then(({ reader }) => reader.end()).catch(() => {});
    this.#opened.clear();
  }

  async #open(channel: Channel): Promise<Opened> {
    const reader = await this.#held.read(channel, { as: undefined, tail: false, all: false, manual: false });
    return { reader, receiver: new Receiver(asOneByOne(reader), this.#runtime) };
  }
}

/** A channel that was left, or whose client was closed, says no more. */
export function channelOver(): StaticError {
  return createError("transport_error", "The channel has ended; open it again");
}

type Next = IteratorResult<Envelope, undefined>;

/** Asking such a reader cannot be taken back: what arrives when nobody waits any more is kept for the next who does. */
function asOneByOne(reader: MessageReader): OneByOne {
  let kept: (() => Next) | undefined;
  let asking: Promise<void> | undefined;
  const ask = (): void => {
    if (kept !== undefined) return;
    asking ??= reader.next().then(
      (next) => kept = () => next === undefined ? over : { done: false, value: next.envelope },
      (error) =>
        kept = () => {
          throw error;
        },
    ).then(() => asking = undefined);
  };
  return {
    acknowledge: () => {
      ask();
      return undefined;
    },
    poll: () => {
      const next = kept?.();
      // An end, or an error, is the same for everybody.
      if (next !== undefined && next.done !== true) kept = undefined;
      return next;
    },
    park: () => {},
    news: async () => {
      ask();
      await asking;
    },
    finish: async () => {
      if (asking === undefined && kept === undefined) await reader.finish();
    },
  };
}

const over: Next = { done: true, value: undefined };
