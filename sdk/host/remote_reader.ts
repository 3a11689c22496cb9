/**
 * A loop over a channel's messages at the host. When the host dies, the loop goes on at the next one; a message that the loop has
 * been given already is not given to it twice.
 */
import { Serial } from "../base/serial.ts";
import type { EnvelopeOptions, InboxReader } from "../channel/inbox.ts";
import { Envelope } from "../content/envelope.ts";
import type { Incoming } from "../content/incoming.ts";
import { Fields } from "./fields.ts";
import type { Header } from "./frames.ts";
import { type HostLink, isGone } from "./link.ts";
import { RecentMessages } from "./recent_messages.ts";
import { type OpenStream, RemoteStream } from "./remote_stream.ts";
import { decodeEnvelope } from "./wire_values.ts";

type Next = IteratorResult<Envelope, undefined>;

/** A message that the program works on. */
interface Given {
  readonly stream: OpenStream;
  readonly item: number;
  /** In the channel's log; undefined for a reader without a position. */
  readonly place: Header | undefined;
}

/** `onMissed` hears how many messages a reader that was too slow has lost. */
export function readRemote(
  link: HostLink,
  channel: string,
  options: EnvelopeOptions,
  onMissed: (messages: number) => void,
): InboxReader {
  const { signal, all, ack, as, tail } = options;
  const isManual = ack === "manual";
  const wanted = { channel, all: all ?? false, ack: ack ?? "auto", ...(as && { as }), ...(tail && { tail }) };
  const stream = new RemoteStream(link, "read", wanted);
  const recent = new RecentMessages();
  /** With `manual`, given and not acknowledged, with where. */
  const given = new Map<string, Given>();
  const calls = new Serial();
  const close = (): void => {
    signal?.removeEventListener("abort", close);
    void stream.end("end").catch(() => {});
  };
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted === true) close();
  const next = async (): Promise<Next> => {
    for (;;) {
      const answered = await stream.next();
      if (answered === undefined) return { done: true, value: undefined };
      const { fields, bytes, stream: from } = answered;
      const missed = fields.optionalNumber("missed");
      if (missed !== undefined) onMissed(missed);
      const incoming = decodeEnvelope(fields.optionalObject("envelope") ?? new Fields({}), bytes);
      const key = `${incoming.sender}.${incoming.id}`;
      const isKnown = stream.lives > 1 && (isManual ? given.has(key) : recent.has(key));
      if (isManual) given.set(key, { stream: from, item: fields.number("item"), place: placeOf(fields, incoming) });
      else recent.add(key);
      if (isKnown) continue;
      return { done: false, value: new Envelope(incoming, () => acknowledge(key)) };
    }
  };
  /** When the host went first, the next one is told the message's place. */
  const acknowledge = async (key: string): Promise<void> => {
    const item = given.get(key);
    if (item === undefined) return;
    try {
      await item.stream.connection.call("ack", { stream: item.stream.number, item: item.item });
    } catch (error) {
      if (!isGone(error) || link.isClosed) throw error;
      if (item.place !== undefined) await link.repeat("ack", { channel, ...(as && { as }), ...item.place });
    }
    given.delete(key);
  };
  return {
    next: () => calls.run(next),
    finish: () => stream.end("finish"),
    begun: async () => void await stream.open(),
    return: async () => {
      signal?.removeEventListener("abort", close);
      await stream.end("end");
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator](): InboxReader {
      return this;
    },
  };
}

function placeOf(item: Fields, { timeMs }: Incoming): Header | undefined {
  const sequence = item.optionalNumber("sequence");
  return sequence === undefined ? undefined : { sequence, timeMs };
}
