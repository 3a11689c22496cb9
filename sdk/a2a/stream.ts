/**
 * A streaming call: the events are messages of one conversation, and the reply to the request ends
 * them. Both come on ways of their own, so the reply says how many events there are. After a
 * restart of the agent the request comes to it again, and the events of that attempt take the place
 * of those that are missing.
 */
import { formatSSEEvent } from "@a2a-js/sdk";
import { platform } from "#platform";
import { encodeBase64url } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { pause } from "../base/runtime.ts";
import { type Channel, type Envelope, type EnvelopeReader, InvalidArgumentError } from "../mod.ts";
import type { Callee, ChannelCall } from "./calls.ts";
import {
  contentType,
  eventHeader,
  type EventStreamEnd,
  parseEnd,
  parsePlace,
  stopMethod,
  versionHeader,
  withShortError,
} from "./wire.ts";

/**
 * How long to wait for events that the agent has sent and that have not come when its reply has.
 */
const lateMs = 30_000;
/** The agent is told that nobody reads, unless it is away. */
const stopMs = 60_000;
const idBytes = 16;
/** Events that are taken ahead of the program. */
const maxAhead = 256;

/**
 * A response as the A2A package reads it: server-sent events, or one JSON-RPC response when the
 * call failed before any.
 */
export async function openStream(callee: Callee, call: ChannelCall): Promise<Response> {
  const events = new Events(callee, call);
  try {
    await events.begin();
    const first = await events.next();
    const failed = first === undefined && events.failure !== undefined;
    if (failed) {
      return new Response(events.reply, { headers: { "content-type": "application/json" } });
    }
    return new Response(bodyOf(events, first), {
      headers: { "content-type": "text/event-stream" },
    });
  } catch (error) {
    events.close();
    throw error;
  }
}

function bodyOf(events: Events, first: string | undefined): ReadableStream<Uint8Array> {
  let next = first;
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  return new ReadableStream({
    pull: async (controller) => {
      const event = next ?? await events.next();
      next = undefined;
      if (event !== undefined) return controller.enqueue(encode(formatSSEEvent(JSON.parse(event))));
      // A stream that failed in the middle says so at its end.
      if (events.failure !== undefined) controller.enqueue(encode(formatSSEEvent(events.failure)));
      controller.close();
    },
    cancel: () => events.close(),
  });
}

class Events {
  readonly #callee: Callee;
  readonly #call: ChannelCall;
  readonly #conversation = encodeBase64url(platform.randomBytes(idBytes));
  readonly #stop = new AbortController();
  /** Events of the newest attempt that came, by their number. */
  readonly #waiting = new Map<number, string>();
  #attempt = 1;
  #next = 1;
  #end: EventStreamEnd | undefined;
  #error: unknown;
  #isLate = false;
  #wake: () => void = () => {};
  #taken: () => void = () => {};
  /** The reply's text. */
  reply = "";

  constructor(callee: Callee, call: ChannelCall) {
    this.#callee = callee;
    this.#call = call;
  }

  /** The JSON-RPC response of a stream that failed. */
  get failure(): unknown {
    const answer: unknown = this.reply === "" ? undefined : JSON.parse(this.reply);
    return typeof answer === "object" && answer !== null && "error" in answer ? answer : undefined;
  }

  /** Reads before it asks, so that no event is missed. */
  async begin(): Promise<void> {
    const { channel, agentId, timeoutMs } = this.#callee;
    const { body, headers, signal } = this.#call;
    signal?.addEventListener("abort", () => this.close(), {
      once: true,
      signal: this.#stop.signal,
    });
    const reader = openReader(channel, this.#stop.signal);
    await reader.begun();
    void this.#read(reader);
    const asked = channel.request(body, {
      to: agentId,
      contentType,
      conversation: this.#conversation,
      headers: { [versionHeader]: "1.0", ...headers },
      timeoutMs,
      signal: signal === undefined
        ? this.#stop.signal
        : AbortSignal.any([signal, this.#stop.signal]),
    });
    asked.then((reply) => this.#ended(withShortError(reply.text()))).catch((error: unknown) =>
      this.#failed(error)
    );
  }

  /** Undefined at the end. Throws why nothing more comes. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const event = this.#waiting.get(this.#next);
      if (event !== undefined) {
        this.#waiting.delete(this.#next++);
        this.#taken();
        return event;
      }
      const end = this.#end;
      if (this.#error !== undefined) throw this.#fault(this.#error);
      if (end !== undefined && (end.attempt < this.#attempt || this.#next > end.events)) {
        this.close();
        return undefined;
      }
      if (this.#isLate) throw this.#fault(createError("transport_error", lateText));
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Nobody reads on. */
  close(): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#taken();
    if (this.#end === undefined) void this.#tellAgent();
  }

  #fault(error: unknown): unknown {
    this.close();
    return error;
  }

  async #read(reader: AsyncIterable<Envelope>): Promise<void> {
    try {
      for await (const message of reader) {
        if (message.conversation !== this.#conversation || message.contentType !== contentType) {
          continue;
        }
        // Every member can read the conversation's name, and write under it.
        if (message.sender.agentId !== this.#callee.agentId) continue;
        this.#take(message);
        await message.ack();
        // A program that reads slowly leaves the rest where it is.
        while (this.#waiting.size >= maxAhead && !this.#stop.signal.aborted) {
          await new Promise<void>((resolve) => this.#taken = resolve);
        }
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  #take(message: Envelope): void {
    const place = parsePlace(message.headers[eventHeader]);
    if (place === undefined || place.attempt < this.#attempt) return;
    if (place.attempt > this.#attempt) {
      this.#attempt = place.attempt;
      this.#next = 1;
      this.#waiting.clear();
    }
    // They come in order: one that is too far ahead would be waited for in vain.
    if (place.number >= this.#next + maxAhead) {
      return this.#failed(createError("transport_error", lateText));
    }
    if (place.number >= this.#next) this.#waiting.set(place.number, message.text());
    this.#wake();
  }

  #ended(reply: string): void {
    this.reply = reply;
    const end = parseEnd(JSON.parse(reply)) ?? { attempt: this.#attempt, events: 0 };
    this.#end = end;
    if (end.attempt > this.#attempt) {
      this.#attempt = end.attempt;
      this.#next = 1;
      this.#waiting.clear();
    }
    void pause(platform, lateMs, this.#stop.signal).then(() => {
      this.#isLate = true;
      this.#stop.abort();
      this.#wake();
    });
    this.#wake();
  }

  #failed(error: unknown): void {
    this.#error ??= error;
    this.#wake();
  }

  async #tellAgent(): Promise<void> {
    const { channel, agentId } = this.#callee;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: stopMethod, params: {} });
    const about = { contentType, conversation: this.#conversation, timeoutMs: stopMs };
    await channel.request(body, { to: agentId, ...about }).catch(() => {});
  }
}

/**
 * With a host, opens a reader without a position, which holds nothing back. Without a host there is
 * no such reader: then entries that are not events stay unacknowledged, and other readers of this
 * program get them when this one has ended.
 */
function openReader(channel: Channel, signal: AbortSignal): EnvelopeReader {
  try {
    return channel.envelopes({ tail: true, ack: "manual", signal });
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return channel.envelopes({ ack: "manual", signal });
  }
}

const lateText = "Events of the stream have not come; subscribe to the task again, or get it";
