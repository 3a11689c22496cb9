/** The function that a server calls for each request, in any version of HTTP. */
import type { Field, HeaderPairs } from "./field.ts";

export interface ServerRequest {
  readonly httpVersion: "1.1" | "2.0";
  readonly method: string;
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  /** Names in lower case, in the order received; cookies joined. Pseudo-headers are left out. */
  readonly headers: readonly HeaderField[];
  readonly body: ServerRequestBody;
  /** Calls back once if the request ends before its response is complete; at once if it already did. */
  onAbort(listener: (reason: Error) => void): void;
  readonly remoteAddress: string;
  /** As `IsMember` judged it, or because a handler has vouched since. */
  readonly isMember: boolean;
  /** The application knows whom this request's connection serves: limits on strangers no longer count it. */
  vouch(): void;
}

/** Returns whether a member sent the request. `isVouched` says so for its connection. Other requests count as a stranger's. */
export type IsMember = (request: Pick<ServerRequest, "path" | "headers">, isVouched: boolean) => boolean;

export type HeaderField = Pick<Field, "name" | "value">;

/** Reading grants the peer room to send more; not reading holds it back. `return()` drops the rest. */
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
