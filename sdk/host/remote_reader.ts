/**
 * A loop over a channel's messages at the host. When the host dies, the loop goes on at the next
 * one; a message that the loop has been given already is not given to it twice.
 */
import { Serial } from "../base/serial.ts";
import type { EnvelopeOptions, InboxReader } from "../channel/runner/inbox_runner.ts";
import { Envelope } from "../content/envelope.ts";
import type { IncomingEnvelope } from "../content/incoming.ts";
import type { ReceiptPort } from "../content/receipts.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import { type AheadRuntime, type HostItem, ReadAhead } from "./read_ahead.ts";
import { type HostLink, isGone } from "./host_link.ts";
import { RecentMessages } from "./recent_messages.ts";
import { type OpenStream, RemoteStream } from "./remote_stream.ts";
import { decodeEnvelope } from "./wire_values.ts";

type NextRemoteEnvelope = IteratorResult<Envelope, undefined>;

/** A message that the program works on. */
interface MessageInWork {
  readonly stream: OpenStream;
  readonly item: number;
  /** In the channel's log; undefined for a reader without a position. */
  readonly place: FrameHeader | undefined;
}

export interface ReadingParts {
  readonly runtime: AheadRuntime;
  /** Loops of this channel that have messages from the host that nobody has seen. */
  readonly holding: Set<ReadAhead>;
  /** Hears how many messages a reader that was too slow has lost. */
  readonly onMissed: (messages: number) => void;
}

export function readRemote(
  link: HostLink,
  channel: string,
  options: EnvelopeOptions,
  { runtime, holding, onMissed }: ReadingParts,
): InboxReader {
  const { signal, all, ack, as, tail } = options;
  const isManual = ack === "manual";
  const wanted = {
    channel,
    all: all ?? false,
    ack: ack ?? "auto",
    ...(as && { as }),
    ...(tail && { tail }),
  };
  const stream = new RemoteStream(link, "read", wanted);
  const [recent, ahead] = [new RecentMessages(), new ReadAhead(runtime, holding)];
  /** With `manual`, given and not acknowledged, with where. */
  const given = new Map<string, MessageInWork>();
  const calls = new Serial();
  let last: HostItem | undefined;
  const end = async (op: "finish" | "end"): Promise<void> => {
    ahead.giveBack();
    // Messages that are on their way are not done with.
    await stream.end(
      op,
      (open) => op === "end" ? {} : { item: last?.stream === open ? itemOf(last) : 0 },
    );
  };
  const close = (): void => {
    signal?.removeEventListener("abort", close);
    void end("end").catch(() => {});
  };
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted === true) close();
  /** A message that comes after the loop's end is not taken: it comes again. */
  const ask = async (): Promise<HostItem | undefined> => {
    const answered = await stream.next(isManual ? 1 : ahead.wanted);
    return answered === undefined || stream.isEnded ? undefined : ahead.put(answered);
  };
  const next = async (): Promise<NextRemoteEnvelope> => {
    for (;;) {
      const answered = stream.isEnded ? undefined : ahead.take() ?? await ask();
      if (answered === undefined) return { done: true, value: undefined };
      last = answered;
      const { fields, bytes, stream: from } = answered;
      const missed = fields.optionalNumber("missed");
      if (missed !== undefined) onMissed(missed);
      const incoming = decodeEnvelope(
        fields.optionalObject("envelope") ?? new HeaderFields({}),
        bytes,
      );
      const key = `${incoming.sender}.${incoming.id}`;
      const isKnown = stream.lives > 1 && (isManual ? given.has(key) : recent.has(key));
      if (isManual) {
        given.set(key, { stream: from, item: itemOf(answered), place: placeOf(fields, incoming) });
      } else recent.add(key);
      if (isKnown) continue;
      return { done: false, value: envelopeAt(link, channel, incoming, () => acknowledge(key)) };
    }
  };
  const acknowledge = async (key: string): Promise<void> => {
    const item = given.get(key);
    if (item === undefined) return;
    await acknowledgeAt(link, item, { channel, ...(as && { as }) });
    given.delete(key);
  };
  return {
    next: () => calls.run(next),
    finish: () => end("finish"),
    begun: async () => void await stream.open(),
    return: async () => {
      signal?.removeEventListener("abort", close);
      await end("end");
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator](): InboxReader {
      return this;
    },
  };
}

/** When the host went first, the next one is told the message's place. */
async function acknowledgeAt(
  link: HostLink,
  { stream, item, place }: MessageInWork,
  reader: FrameHeader,
): Promise<void> {
  try {
    await stream.connection.call("ack", { stream: stream.number, item });
  } catch (error) {
    if (!isGone(error) || link.isClosed) throw error;
    if (place !== undefined) await link.ask("ack", { ...reader, ...place });
  }
}

function itemOf({ fields }: HostItem): number {
  return fields.number("item");
}

function placeOf(item: HeaderFields, { timeMs, id }: IncomingEnvelope): FrameHeader | undefined {
  const sequence = item.optionalNumber("sequence");
  return sequence === undefined ? undefined : { sequence, timeMs, message: id };
}

/** A message whose program has its say at the host. */
export function envelopeAt(
  link: HostLink,
  channel: string,
  incoming: IncomingEnvelope,
  ack: () => Promise<void>,
): Envelope {
  const say: ReceiptPort["say"] = async ({ id, sender, receipt }, state) => {
    await link.ask("giveReceipt", { channel, message: id, sender, receipt, state });
  };
  return new Envelope(incoming, { ack }, { say, owe: () => undefined });
}
