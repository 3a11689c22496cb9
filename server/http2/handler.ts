/** The function that a server calls for each request, in any version of HTTP. */
import type { Field, HeaderPairs } from "../../proto/http2/mod.ts";
import type { SessionSockets } from "./socket_places.ts";

export interface ServerRequest {
  readonly httpVersion: "1.1" | "2.0";
  readonly method: string;
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  /** Names in lower case, in the order received; cookies joined. Pseudo-headers are left out. */
  readonly headers: readonly HeaderField[];
  readonly body: ServerRequestBody;
  /**
   * Calls back once if the request ends before its response is complete; at once if it already did.
   */
  onAbort(listener: (reason: Error) => void): void;
  /** The client's, also behind a balancer. */
  readonly remoteAddress: string;
  /** The standing as `StandingOf` judged it, or because a handler has vouched since. */
  readonly isMember: boolean;
  /**
   * The application knows whose session this request's connection serves: limits on strangers no
   * longer count it.
   */
  vouch(session: SessionSockets): void;
}

/** Each kind of request has budgets of its own, and a member's has none here. */
export type RequestStanding = "member" | "check" | "stranger";

/** Returns whose the request is. `isVouched` tells of its connection. */
export type StandingOf = (
  request: Pick<ServerRequest, "method" | "path" | "headers">,
  isVouched: boolean,
) => RequestStanding;

export type HeaderField = Pick<Field, "name" | "value">;

/**
 * Reading grants the peer room to send more; not reading holds it back. `return()` drops the rest.
 */
export interface ServerRequestBody extends AsyncIterableIterator<Uint8Array> {
  /** Complete when the body has ended. */
  readonly trailers: readonly HeaderField[];
}

export interface ServerResponse {
  readonly status: number;
  readonly headers?: HeaderPairs;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Read after the body has ended, so a handler may still add to it meanwhile. */
  readonly trailers?: HeaderPairs;
}

/** A handler that throws before it answers is answered for with 500; later, its stream is reset. */
export type Handler = (request: ServerRequest) => ServerResponse | Promise<ServerResponse>;

export function headerValue(headers: readonly HeaderField[], name: string): string | undefined {
  return headers.find((field) => field.name === name)?.value;
}
