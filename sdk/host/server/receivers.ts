/**
 * One message at a time, for a whole program: one reader for each channel, opened with the first
 * question. Of several who wait, each gets another message, in the order in which they asked. A
 * message that comes when nobody waits any more is given back, so that it holds up no other loop.
 */
import type { Channel } from "../../api/channel.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { ReceiveOptions } from "../../channel/runner/inbox_runner.ts";
import type { AgentHandle, MessageReader, ReadMessage } from "./agent_handle.ts";

interface WaitingReceiver {
  readonly give: (next: ReadMessage | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Undefined when none came in time; `over` when none ever will. */
export type ReceivedMessage = ReadMessage | "over" | undefined;

export class Receivers {
  readonly #held: AgentHandle;
  readonly #runtime: Runtime;
  /** Receivers by the channel's id: a channel that was left and joined again is another. */
  readonly #receivers = new Map<string, ChannelReceiver>();

  constructor(held: AgentHandle, runtime: Runtime) {
    this.#held = held;
    this.#runtime = runtime;
  }

  async receive(channel: Channel, options: ReceiveOptions): Promise<ReceivedMessage> {
    let receiver = this.#receivers.get(channel.id);
    if (receiver === undefined) {
      const wanted = { as: undefined, tail: false, all: false, manual: false, oneByOne: true };
      receiver = new ChannelReceiver(() => this.#held.read(channel, wanted), this.#runtime);
      this.#receivers.set(channel.id, receiver);
    }
    return await receiver.receive(options);
  }

  /** Marks the messages given as processed. One channel that fails keeps no other from it. */
  async finish(): Promise<void> {
    const all = await Promise.allSettled(
      Array.from(this.#receivers.values(), (receiver) => receiver.finish()),
    );
    for (const each of all) if (each.status === "rejected") throw each.reason;
  }

  /** The messages given come again. */
  end(): void {
    for (const receiver of this.#receivers.values()) receiver.end();
  }
}

class ChannelReceiver {
  readonly #open: () => Promise<MessageReader>;
  readonly #runtime: Runtime;
  /** In the order in which they asked. */
  readonly #waiting = new Set<WaitingReceiver>();
  #reader: Promise<MessageReader> | undefined;
  #isAsking = false;

  constructor(open: () => Promise<MessageReader>, runtime: Runtime) {
    this.#open = open;
    this.#runtime = runtime;
  }

  /** Asking acknowledges what was given before. Rejects with the signal's reason. */
  receive({ timeoutMs, signal }: ReceiveOptions): Promise<ReceivedMessage> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        cancel();
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(waiting);
        finish();
      };
      const waiting: WaitingReceiver = {
        give: (next) => settle(() => resolve(next ?? "over")),
        fail: (error) => settle(() => reject(error)),
      };
      const abort = (): void => waiting.fail(signal?.reason);
      const late = (): void => settle(() => resolve(undefined));
      const cancel = timeoutMs === undefined ? () => {} : this.#runtime.after(timeoutMs, late);
      signal?.addEventListener("abort", abort);
      this.#waiting.add(waiting);
      if (!this.#isAsking) void this.#ask();
    });
  }

  async finish(): Promise<void> {
    // A waiting caller has asked already.
    if (!this.#isAsking) await (await this.#reader)?.finish();
  }

  end(): void {
    this.#reader?.then((reader) => reader.end()).catch(() => {});
    this.#reader = undefined;
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#waiting.size > 0) {
        const reader = await (this.#reader ??= this.#open());
        const next = await reader.next();
        const [first] = this.#waiting;
        if (next === undefined) { for (const { give } of [...this.#waiting]) give(undefined); }
        else if (first === undefined) this.end();
        else first.give(next);
        if (this.#waiting.size === 0) reader.rest?.();
      }
    } catch (error) {
      this.#reader = undefined;
      for (const { fail } of [...this.#waiting]) fail(error);
    } finally {
      this.#isAsking = false;
    }
  }
}

/** A channel that was left, or whose client was closed, says no more. */
export function channelOver(): StaticError {
  return createError("transport_error", "The channel has ended; open it again");
}
