/**
 * How one program reads the messages of an agent that it holds alone: by loops of the channel, or
 * one message at a time.
 */
import type { Channel } from "../../api/channel.ts";
import type { InboxReader as EnvelopeReader } from "../../channel/runner/inbox_runner.ts";
import type { Envelope } from "../../content/envelope.ts";
import {
  maxMoreBytes,
  type MessageReader,
  type ReadMessage,
  type ReadOptions,
  sizeOf,
} from "./agent_handle.ts";

/** Asking for the next message acknowledges those given, except with `manual`. */
export function readAlone(channel: Channel, { all, manual }: ReadOptions): MessageReader {
  const reader = channel.envelopes({ all, ack: "manual" });
  const given = new Set<Envelope>();
  /** The last one that is done with, perhaps not on disk. */
  let passed: Envelope | undefined;
  const goPast = async (envelope: Envelope): Promise<void> => {
    passed = envelope;
    await envelope.pass();
  };
  const give = (envelope: Envelope): ReadMessage => {
    if (manual) return { envelope, ack: () => envelope.ack() };
    given.add(envelope);
    const pass = async (): Promise<void> => {
      if (given.delete(envelope)) await goPast(envelope);
    };
    const finish = async (): Promise<void> => {
      if (given.delete(envelope)) await envelope.ack();
    };
    const giveBack = (): void => {
      if (given.delete(envelope)) envelope.giveBack();
    };
    return { envelope, pass, finish, giveBack };
  };
  const takeGiven = (): Envelope[] => {
    const envelopes = [...given];
    given.clear();
    return envelopes;
  };
  return {
    next: async () => {
      await Promise.all(takeGiven().map(goPast));
      const { done, value } = await reader.next();
      return done === true ? undefined : give(value);
    },
    more: (count) => {
      const messages: ReadMessage[] = [];
      for (let bytes = 0; !manual && messages.length < count;) {
        const envelope = reader.poll?.();
        if (envelope === undefined) break;
        bytes += sizeOf(envelope);
        if (bytes > maxMoreBytes) {
          envelope.giveBack();
          break;
        }
        messages.push(give(envelope));
      }
      return messages;
    },
    // All that was passed before it is written with it.
    written: async () => await passed?.ack(),
    finish: async () => {
      await Promise.all(
        [...takeGiven(), ...(passed ? [passed] : [])].map((envelope) => envelope.ack()),
      );
      await reader.return?.();
    },
    end: async () => void await reader.return?.(),
  };
}

/**
 * Reads with a loop that is closed while nobody waits. The last message is acknowledged when the
 * next one is asked for.
 */
export function readOneByOne(channel: Channel): MessageReader {
  let reader: EnvelopeReader | undefined;
  let given: Envelope | undefined;
  /** The last one that is done with, perhaps not on disk. */
  let passed: Envelope | undefined;
  const close = async (): Promise<void> => {
    const closed = reader;
    reader = undefined;
    await closed?.return?.();
  };
  return {
    next: async () => {
      const before = given;
      given = undefined;
      passed = before ?? passed;
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
      await (given ?? passed)?.ack();
      await close();
    },
    rest: () => void close().catch(() => {}),
    end: async () => {
      given = undefined;
      await close();
    },
  };
}
