/** How one program reads the messages of an agent that it holds alone: by loops of the channel, or one message at a time. */
import type { Channel } from "../channel.ts";
import type { InboxReader as EnvelopeReader } from "../channel/inbox.ts";
import type { Envelope } from "../content/envelope.ts";
import { maxMoreBytes, type MessageReader, type ReadMessage, type ReadOptions, sizeOf } from "./held.ts";

/** A message of a loop, with its turn. */
interface Turn {
  readonly turn: number;
  readonly envelope: Envelope;
}

/** Asking for the next message acknowledges those given, except with `manual`. */
export function readAlone(channel: Channel, { all, manual }: ReadOptions): MessageReader {
  const reader = channel.envelopes({ all, ack: "manual" });
  const given = new Set<Turn>();
  /** Given back, and not given again yet. */
  let returned: Turn[] = [];
  let turns = 0;
  const give = (turn: Turn): ReadMessage => {
    const { envelope } = turn;
    if (manual) return { envelope, ack: () => envelope.ack() };
    given.add(turn);
    const pass = async (): Promise<void> => {
      if (given.delete(turn)) await envelope.pass();
    };
    const giveBack = (): void => {
      if (given.delete(turn)) returned = [...returned, turn].toSorted((a, b) => a.turn - b.turn);
    };
    return { envelope, pass, giveBack };
  };
  const takeGiven = (): Envelope[] => {
    const envelopes = Array.from(given, ({ envelope }) => envelope);
    given.clear();
    return envelopes;
  };
  /** Undefined when there is none now. */
  const poll = (): Turn | undefined => {
    const first = returned.shift();
    if (first !== undefined) return first;
    const next = reader.poll?.();
    return next?.done === false ? { turn: ++turns, envelope: next.value } : undefined;
  };
  return {
    next: async () => {
      await Promise.all(takeGiven().map((envelope) => envelope.pass()));
      const first = returned.shift();
      if (first !== undefined) return give(first);
      const { done, value } = await reader.next();
      return done === true ? undefined : give({ turn: ++turns, envelope: value });
    },
    more: (count) => {
      const messages: ReadMessage[] = [];
      for (let bytes = 0; !manual && messages.length < count;) {
        const next = poll();
        if (next === undefined) break;
        bytes += sizeOf(next.envelope);
        if (bytes > maxMoreBytes) {
          returned.unshift(next);
          break;
        }
        messages.push(give(next));
      }
      return messages;
    },
    finish: async () => {
      await Promise.all(takeGiven().map((envelope) => envelope.ack()));
      await reader.return?.();
    },
    end: async () => void await reader.return?.(),
  };
}

/** Its loop is closed while nobody waits. The last message is acknowledged when the next one is asked for. */
export function readOneByOne(channel: Channel): MessageReader {
  let reader: EnvelopeReader | undefined;
  let given: Envelope | undefined;
  const close = async (): Promise<void> => {
    const closed = reader;
    reader = undefined;
    await closed?.return?.();
  };
  return {
    next: async () => {
      const before = given;
      given = undefined;
      // A program that is far ahead of the disk waits for it, as a loop does.
      await before?.pass();
      reader ??= channel.envelopes({ ack: "manual" });
      for (;;) {
        const { done, value } = await reader.next();
        if (done === true) return undefined;
        if (value.id !== before?.id) {
          given = value;
          return { envelope: value };
        }
        // Another loop has not asked past it yet.
        await value.pass();
      }
    },
    finish: async () => {
      await given?.ack();
      await close();
    },
    rest: () => void close(),
    end: async () => {
      given = undefined;
      await close();
    },
  };
}
