/**
 * A loop over a channel's messages at the host. When the host dies, the loop goes on at the next one; a message that the loop has
 * been given already is not given to it twice.
 */
import { Serial } from "../base/serial.ts";
import type { EnvelopeOptions, InboxReader } from "../channel/inbox.ts";
import { Envelope } from "../content/envelope.ts";
import { Fields } from "./fields.ts";
import type { HostLink } from "./link.ts";
import { type OpenStream, RemoteStream } from "./remote_stream.ts";
import { decodeEnvelope } from "./wire_values.ts";

type Next = IteratorResult<Envelope, undefined>;

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
  /** Of the latest messages: a host notes some of them later than it gives the next one. */
  const recent = new Set<string>();
  /** With `manual`, given and not acknowledged, with where. */
  const given = new Map<string, { stream: OpenStream; item: number }>();
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
      if (isManual) given.set(key, { stream: from, item: fields.number("item") });
      else remember(recent, key);
      if (isKnown) continue;
      return { done: false, value: new Envelope(incoming, () => acknowledge(given, key)) };
    }
  };
  return {
    next: () => calls.run(next),
    finish: () => stream.end("finish"),
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

/** More than a host is ever ahead of its disk. */
const maxRecent = 256;

function remember(recent: Set<string>, key: string): void {
  recent.add(key);
  const [oldest] = recent;
  if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
}

/** One that cannot be acknowledged because the host went is given again. */
async function acknowledge(
  given: Map<string, { readonly stream: OpenStream; readonly item: number }>,
  key: string,
): Promise<void> {
  const place = given.get(key);
  if (place === undefined) return;
  const { stream: { connection, number }, item } = place;
  given.delete(key);
  await connection.call("ack", { stream: number, item });
}
