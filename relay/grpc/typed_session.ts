/**
 * One session of typed calls: matches replies to requests, and holds what the relay pushes until
 * the client's `Deliver` stream takes it. Without a stream, or with a slow one, the buffer is
 * bounded by the core's own back-pressure, and by the end of the session if that does not help.
 */
import {
  type CallName,
  calls,
  type ChannelId,
  encodeRequest,
  limits,
  type NoticeEnvelope,
  type RelayEnvelope,
  type ReplyBody,
  type RequestBody,
} from "../../proto/mod.ts";
import { SessionSockets } from "../../server/http2/mod.ts";
import type { EndReason } from "../core/client_link.ts";
import { endedError, toConnectError } from "./errors.ts";
import type { TypedClient, TypedLink, Upstream } from "./upstream.ts";

export interface TypedSessionOptions {
  readonly remoteAddress: string;
  readonly onAuthenticated: () => void;
  /** Called once, when no call can succeed any more. */
  readonly onEnded: (reason: EndReason | undefined) => void;
}

interface PendingCall {
  readonly operation: CallName;
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of one session at once: as many as the HTTP/2 server has streams for one connection. */
const maxCalls = 512;
/**
 * More than the core sends above its high-water mark: the mark itself and one envelope of the
 * largest size.
 */
const maxBufferedBytes = 2 * limits.envelopeBytes;

export class TypedSession implements TypedClient {
  readonly remoteAddress: string;
  /** The sockets that carry the session's calls. */
  readonly sockets: SessionSockets = new SessionSockets();
  readonly #options: TypedSessionOptions;
  readonly #link: TypedLink;
  readonly #pending = new Map<number, PendingCall>();
  readonly #subscribed = new Set<ChannelId>();
  readonly #notices: { readonly notice: NoticeEnvelope; readonly bytes: number }[] = [];
  #nextId = 1;
  #callsUnderWay = 0;
  #pendingBytes = 0;
  #maxEnvelopeBytes: number = limits.handshakeEnvelopeBytes;
  /** The core has enough to do, or subscriptions of an earlier stream are being ended. */
  #busy: Promise<void> | undefined;
  #end: { readonly reason: EndReason | undefined } | undefined;
  /** The stream that takes notices; a newer one makes it end. */
  #stream: { wake: () => void } | undefined;

  constructor(upstream: Upstream, options: TypedSessionOptions) {
    this.#options = options;
    this.remoteAddress = options.remoteAddress;
    this.#link = upstream.openTyped(this);
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Undefined while it lives. */
  get end(): { readonly reason: EndReason | undefined } | undefined {
    return this.#end;
  }

  /** A call waits for its reply, or a stream for notices: the client is there. */
  get inUse(): boolean {
    return this.#callsUnderWay > 0 || this.#stream !== undefined;
  }

  /** Rejects with a ConnectError. */
  async call<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
    signal?: AbortSignal,
  ): Promise<ReplyBody<Name>> {
    if (this.#callsUnderWay >= maxCalls) {
      throw toConnectError({
        code: "overloaded",
        message: `More than ${maxCalls} calls of this session are under way`,
      });
    }
    this.#callsUnderWay++;
    try {
      while (this.#busy !== undefined) await this.#busy;
      return await this.#send(operation, body, signal);
    } finally {
      this.#callsUnderWay--;
    }
  }

  /**
   * Everything that the relay pushes. Ends with the session; subscriptions of an earlier stream end
   * before new calls.
   */
  async *deliver(signal: AbortSignal): AsyncGenerator<NoticeEnvelope> {
    const stream = { wake: (): void => {} };
    this.#stream?.wake();
    this.#stream = stream;
    const abort = (): void => stream.wake();
    signal.addEventListener("abort", abort);
    try {
      // Not awaited: a remote relay may be heard again only when what waits here was taken.
      void this.#endSubscriptions();
      while (this.#stream === stream && !signal.aborted) {
        const next = this.#notices.shift();
        if (next !== undefined) {
          this.#pendingBytes -= next.bytes;
          this.#link.taken();
          yield next.notice;
        } else if (this.#end === undefined) {
          await new Promise<void>((resolve) => stream.wake = resolve);
        } else if (this.#end.reason === undefined) {
          return;
        } else {
          throw endedError(this.#end.reason);
        }
      }
      if (!signal.aborted) {
        throw toConnectError({
          code: "session_replaced",
          message: "A newer Deliver stream was opened",
        });
      }
    } finally {
      signal.removeEventListener("abort", abort);
      if (this.#stream === stream) this.#stream = undefined;
    }
  }

  /** The client is gone or gets no more. */
  close(reason: EndReason | undefined): void {
    if (this.#end !== undefined) return;
    this.#link.close();
    this.ended(reason);
  }

  // From the upstream

  receive(envelope: RelayEnvelope, bytes: number): void {
    if (envelope.kind === "notice") return this.#hold(envelope, bytes);
    const call = this.#pending.get(envelope.id);
    if (call === undefined) return;
    this.#pending.delete(envelope.id);
    if (envelope.kind === "error") call.reject(toConnectError(envelope.body));
    else if (envelope.operation === call.operation) call.resolve(envelope.body);
    else {call.reject(
        toConnectError({ code: "internal", message: "The relay answered another operation" }),
      );}
  }

  authenticated(): void {
    this.#maxEnvelopeBytes = limits.envelopeBytes;
    this.#options.onAuthenticated();
  }

  ended(reason: EndReason | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    // A client that was too slow for them will not take them now; they are delivered again to its
    // next session.
    if (reason?.code === "slow_reader") this.#notices.length = 0;
    for (const { reject } of this.#pending.values()) reject(endedError(reason));
    this.#pending.clear();
    this.#stream?.wake();
    this.#options.onEnded(reason);
  }

  // Inside

  async #send<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
    signal?: AbortSignal,
  ): Promise<ReplyBody<Name>> {
    if (this.#end !== undefined) throw endedError(this.#end.reason);
    const id = this.#nextId++;
    const envelope = encodeRequest(id, operation, body);
    if (envelope.length > this.#maxEnvelopeBytes) {
      const message =
        `Cannot send ${operation}: ${envelope.length} bytes, at most ${this.#maxEnvelopeBytes} are allowed`;
      throw toConnectError({ code: "payload_too_large", message });
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { operation, resolve, reject });
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      const busy = this.#link.send(calls[operation].lane, envelope);
      if (busy !== undefined) this.#waitFor(busy);
      const reply = await promise as ReplyBody<Name>; // cast: `receive` compares the operations
      this.#note(operation, body);
      return reply;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#pending.delete(id);
    }
  }

  /** New calls wait until this is done. */
  #waitFor(work: Promise<unknown>): Promise<void> {
    const turn: Promise<void> = work.then(() => {
      if (this.#busy === turn) this.#busy = undefined;
    });
    this.#busy = turn;
    return turn;
  }

  #note<Name extends CallName>(operation: Name, body: RequestBody<Name>): void {
    if (!("channelId" in body)) return;
    if (operation === "Subscribe") this.#subscribed.add(body.channelId);
    if (operation === "Unsubscribe") this.#subscribed.delete(body.channelId);
  }

  #hold(notice: NoticeEnvelope, bytes: number): void {
    if (this.#pendingBytes + bytes > maxBufferedBytes) {
      const message =
        "Notices were not taken: open a Deliver stream, read it, and resume from your last position";
      return this.close({ code: "slow_reader", message });
    }
    this.#notices.push({ notice, bytes });
    this.#pendingBytes += bytes;
    this.#stream?.wake();
  }

  /** The client cannot know what of them an earlier stream lost. */
  async #endSubscriptions(): Promise<void> {
    const channels = [...this.#subscribed];
    if (channels.length === 0) return;
    this.#subscribed.clear();
    const ends = channels.map((channelId) =>
      this.#send("Unsubscribe", { channelId }).catch(() => {})
    );
    await this.#waitFor(Promise.all(ends));
  }
}
