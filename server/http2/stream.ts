/**
 * One stream: a request with its body coming in, a response going out, and the states of RFC 9113
 * §5.1 that a server can see. `open` is neither flag, `half-closed (remote)` is `remoteEnded`; a
 * stream whose response is complete is closed at once, because we ask the peer to stop sending.
 */
import { ErrorCode, type Field } from "../../proto/http2/mod.ts";
import type { RequestStanding, ServerRequest, ServerResponse } from "./handler.ts";
import type { StrangerCall } from "./peer_budgets.ts";
import { type BodyOwner, StreamRequestBody } from "./request_body.ts";
import type { RequestHead } from "./request_head.ts";
import type { OutgoingResponse } from "./sender.ts";
import type { SessionSockets } from "./socket_places.ts";
import { StreamAborted } from "./stream_aborted.ts";

/** The parts of a connection that a stream uses. */
export interface StreamHost {
  readonly remoteAddress: string;
  /**
   * A handler took bytes; the stream may be granted more (`stream` is undefined when it may not).
   */
  grant(bytes: number, stream: Stream | undefined): void;
  /** Code of the application threw where nobody awaits it. */
  fault(error: unknown): void;
  vouch(stream: Stream, session: SessionSockets): void;
}

export class Stream implements ServerRequest, OutgoingResponse, BodyOwner {
  readonly httpVersion = "2.0";
  readonly id: number;
  readonly method: string;
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly headers: readonly Field[];
  readonly body: StreamRequestBody = new StreamRequestBody(this);

  remoteEnded = false;
  closed = false;
  /** The handler has not answered yet. */
  running = true;
  standing: RequestStanding;
  /** A stranger's, until it ends or a handler vouches for it. */
  call: StrangerCall | undefined = undefined;
  receiveWindow: number;
  /** Taken by the handler and not granted to the peer again yet. */
  ungranted = 0;

  sendWindow: number;
  response: ServerResponse | undefined = undefined;
  iterator: AsyncIterator<Uint8Array> | undefined = undefined;
  chunk: Uint8Array | undefined = undefined;
  chunkSent = 0;
  progressed = false;
  stalledSinceMs: number | undefined = undefined;
  seenSinceMs: number | undefined = undefined;

  readonly #host: StreamHost;
  /** Declared body bytes that have not come; -1 when none were declared. */
  #undelivered: number;
  #aborted: StreamAborted | undefined;
  #listeners: ((reason: Error) => void)[] | undefined;

  constructor(
    head: RequestHead,
    parts: {
      id: number;
      host: StreamHost;
      standing: RequestStanding;
      receiveWindow: number;
      sendWindow: number;
    },
  ) {
    this.id = parts.id;
    this.method = head.method;
    this.scheme = head.scheme;
    this.authority = head.authority;
    this.path = head.path;
    this.headers = head.headers;
    this.standing = parts.standing;
    this.receiveWindow = parts.receiveWindow;
    this.sendWindow = parts.sendWindow;
    this.#host = parts.host;
    this.#undelivered = head.contentLength;
  }

  get remoteAddress(): string {
    return this.#host.remoteAddress;
  }

  get isMember(): boolean {
    return this.standing === "member";
  }

  vouch(session: SessionSockets): void {
    this.#host.vouch(this, session);
  }

  onAbort(listener: (reason: Error) => void): void {
    if (this.#aborted !== undefined) listener(this.#aborted);
    else if (!this.closed) (this.#listeners ??= []).push(listener);
  }

  /** False when the body is longer than its content-length said (§8.1.1). */
  receiveData(payload: Uint8Array): boolean {
    if (this.#undelivered >= 0) {
      if (payload.length > this.#undelivered) return false;
      this.#undelivered -= payload.length;
    }
    if (payload.length > 0 && !this.body.push(payload)) this.dropped(payload.length);
    return true;
  }

  /** The peer's side is complete; false when the body is shorter than its content-length said. */
  receiveEnd(trailers?: readonly Field[]): boolean {
    if (this.#undelivered > 0) return false;
    this.remoteEnded = true;
    if (trailers !== undefined) this.body.trailers = trailers;
    this.body.end();
    return true;
  }

  /**
   * The response is complete. Bytes that the handler left unread are dropped; reading on is its
   * mistake, and throws.
   */
  finish(): void {
    this.closed = true;
    this.#listeners = undefined;
    if (!this.body.exhausted) {
      this.body.fail(
        new StreamAborted(
          ErrorCode.noError,
          "Cannot read the request: its response is already complete",
        ),
      );
    }
  }

  abort(reason: StreamAborted): void {
    this.closed = true;
    this.#aborted = reason;
    this.body.fail(reason);
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) {
      try {
        listener(reason);
      } catch (error) {
        this.#host.fault(error);
      }
    }
  }

  taken(bytes: number): void {
    this.#host.grant(bytes, this.remoteEnded || this.closed ? undefined : this);
  }

  dropped(bytes: number): void {
    this.#host.grant(bytes, undefined);
  }
}
