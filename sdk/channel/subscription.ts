/**
 * Our place in the stream of deliveries. Every Subscribe has a tag; what arrives before the relay repeats it belongs to an
 * earlier subscription and is ignored. Room in the window is given back as entries are processed, before they are read.
 */
import type { ChannelId, ReplyBody } from "../../proto/mod.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RelaySession } from "../session/relay_session.ts";

/** An honest relay says at once where the entries begin. */
const startMs = 10_000;
/** Acknowledgements are collected for this long: the relay trims the log by them, and nobody waits. */
const acknowledgeMs = 100;
/** Two of the largest messages on their way, and many small ones. */
const windowBytes = 4 * 1024 * 1024;

export interface SubscriptionDeps {
  readonly session: RelaySession;
  readonly runtime: Pick<Runtime, "after">;
  /** The relay has taken the subscription, and has not said where the entries begin: they would all be ignored. */
  readonly onLate: () => void;
}

export class Subscription {
  readonly #channelId: ChannelId;
  readonly #session: RelaySession;
  /** The log that positions are of, as far as is known. */
  #log: Uint8Array | undefined;
  #tag = 0;
  /** The relay has said on this connection that our positions are of its log. Before, none is acknowledged. */
  #isOpen = false;
  #live = false;
  #consumed = 0;
  #received = 0;
  #toldReceived = 0;
  #bytesSince = 0;
  #cancelAcknowledge: (() => void) | undefined;
  readonly #deps: SubscriptionDeps;
  #cancelLate: () => void = () => {};

  /** `log`: the one that positions are of, as far as is known. */
  constructor(channelId: ChannelId, log: Uint8Array | undefined, deps: SubscriptionDeps) {
    this.#channelId = channelId;
    this.#log = log;
    this.#session = deps.session;
    this.#deps = deps;
  }

  /** Whether what arrives belongs to us. */
  get live(): boolean {
    return this.#live;
  }

  /** Entries after this one, or after what the relay knows to be consumed. */
  async open(after: number | undefined): Promise<ReplyBody<"Subscribe">> {
    const tag = this.#tag = (this.#tag + 1) % 2 ** 32;
    this.lost();
    const reply = await this.#session.call("Subscribe", {
      channelId: this.#channelId,
      ...(after !== undefined && { after }),
      ...(after !== undefined && this.#log !== undefined && { log: this.#log }),
      windowBytes,
      tag,
    });
    this.#log = reply.log;
    this.#isOpen = true;
    this.#received = this.#toldReceived = reply.after;
    // The log was not where we left it: what stood behind this place is not acknowledged any more.
    if (after === undefined) this.#consumed = Math.min(this.#consumed, reply.after);
    this.#bytesSince = 0;
    if (this.#consumed > reply.consumed) this.#acknowledge();
    if (!this.#live && tag === this.#tag) this.#cancelLate = this.#deps.runtime.after(startMs, this.#deps.onLate);
    return reply;
  }

  started(tag: number): void {
    if (tag !== this.#tag) return;
    this.#cancelLate();
    this.#live = true;
  }

  /** Also a beginning that is on its way, and what follows it, does not belong to us any more. */
  abandon(): void {
    this.#tag = (this.#tag + 1) % 2 ** 32;
    this.lost();
  }

  lost(): void {
    this.#cancelLate();
    this.#forgetAcknowledgement();
    this.#live = this.#isOpen = false;
  }

  /** An entry was processed. */
  received(sequence: number, bytes: number): void {
    this.#received = Math.max(this.#received, sequence);
    this.#bytesSince += bytes;
    if (this.#bytesSince >= windowBytes / 4) this.#acknowledge();
  }

  /** The application is done with everything up to here, and that is on disk. */
  consumed(position: number): void {
    this.#consumed = Math.max(this.#consumed, position);
    this.#received = Math.max(this.#received, position);
    // Positions that are not reported now are reported when the subscription is opened again.
    if (!this.#isOpen) return;
    this.#cancelAcknowledge ??= this.#deps.runtime.after(acknowledgeMs, () => this.flush());
  }

  /** Nothing waits to be acknowledged any more. */
  flush(): void {
    if (this.#cancelAcknowledge === undefined) return;
    if (this.#isOpen && this.#session.state.kind === "online") this.#acknowledge();
    else this.#forgetAcknowledgement();
  }

  /** Positions were of another log. */
  forget(): void {
    this.#consumed = this.#received = this.#toldReceived = 0;
  }

  /** A new membership begins behind this entry, wherever the one before has been. */
  restart(position: number): void {
    this.#consumed = this.#received = this.#toldReceived = 0;
    this.consumed(position);
  }

  #forgetAcknowledgement(): void {
    this.#cancelAcknowledge?.();
    this.#cancelAcknowledge = undefined;
  }

  #acknowledge(): void {
    this.#forgetAcknowledgement();
    this.#toldReceived = Math.max(this.#received, this.#toldReceived);
    this.#bytesSince = 0;
    this.#session.acknowledge({
      channelId: this.#channelId,
      consumed: this.#consumed,
      received: this.#toldReceived,
    });
  }
}
