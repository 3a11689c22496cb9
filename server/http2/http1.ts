/**
 * Serves the requests of HTTP/1.1 clients (health checks, browsers without HTTP/2) with the same
 * handler.
 */
import type { IncomingMessage, ServerResponse as NodeResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { ErrorCode, type HeaderPairs } from "../../proto/http2/mod.ts";
import type { SocketClient } from "./socket_admission.ts";
import type {
  Handler,
  HeaderField,
  ServerRequest,
  ServerRequestBody,
  ServerResponse,
  StandingOf,
} from "./handler.ts";
import { discardBody, quietly } from "./sender.ts";
import { retryAfter } from "./streams.ts";
import { StreamAborted } from "./stream_aborted.ts";

const lingerMs = 1_000;

export interface Http1Parts {
  readonly handler: Handler;
  readonly standingOf: StandingOf;
  /** Undefined when the socket is gone. */
  readonly clientOf: (socket: TLSSocket) => SocketClient | undefined;
  /** Sockets that a handler has vouched for. */
  readonly vouched: WeakSet<object>;
  readonly onFault: (error: unknown) => void;
}

export async function serveHttp1(
  exchange: { incoming: IncomingMessage; outgoing: NodeResponse },
  { handler, standingOf, clientOf, vouched, onFault }: Http1Parts,
): Promise<void> {
  const { incoming, outgoing } = exchange;
  const client = clientOf(incoming.socket as TLSSocket); // cast: the server has no other sockets
  if (client === undefined) return void outgoing.destroy();
  const aborted = whenAborted(incoming, outgoing, onFault);
  outgoing.once("finish", () => closeUnlessComplete(incoming));
  const { address, peer, place } = client;
  const request = toRequest(incoming, aborted, {
    remoteAddress: address,
    vouch: (session) => {
      session.carry(place);
      vouched.add(incoming.socket);
      begun.call?.ended();
    },
  });
  const standing = standingOf(request, vouched.has(incoming.socket));
  request.isMember = standing === "member";
  const begun = peer.begin(standing, () => outgoing.destroy());
  const { refused } = begun;
  if (refused !== undefined) {
    outgoing.writeHead(refused, [
      ...(refused === 429 ? retryAfter.flat() : []),
      "connection",
      "close",
    ]).end();
    return;
  }
  place.serves();
  outgoing.once("close", () => {
    begun.call?.ended();
    place.rests();
  });
  try {
    await send(outgoing, await handler(request), incoming.method !== "HEAD");
  } catch (error) {
    if (aborted.reason !== undefined) return;
    onFault(error);
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(500, { connection: "close" }).end();
  }
}

interface AbortState {
  reason: Error | undefined;
  readonly listeners: ((reason: Error) => void)[];
}

function whenAborted(
  incoming: IncomingMessage,
  outgoing: NodeResponse,
  onFault: (error: unknown) => void,
): AbortState {
  const aborted: AbortState = { reason: undefined, listeners: [] };
  outgoing.once("close", () => {
    if (outgoing.writableFinished) return;
    aborted.reason = new StreamAborted(ErrorCode.cancel, "The connection was lost");
    for (const listener of aborted.listeners) {
      try {
        listener(aborted.reason);
      } catch (error) {
        onFault(error);
      }
    }
  });
  // Without a listener an aborted request would be an uncaught error; readers get it through the
  // body.
  incoming.on("error", () => {});
  outgoing.on("error", () => {});
  return aborted;
}

/**
 * A request that was not read to its end leaves a socket that cannot carry another one, and that
 * Deno does not read again to notice its end. Closing it at once could cost the client its answer,
 * so it gets a moment to take it.
 */
function closeUnlessComplete(incoming: IncomingMessage): void {
  if (incoming.complete) return;
  const { socket } = incoming;
  const timer = setTimeout(() => !incoming.complete && socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

function toRequest(
  incoming: IncomingMessage,
  aborted: AbortState,
  { remoteAddress, vouch }: Pick<ServerRequest, "remoteAddress" | "vouch">,
): ServerRequest & { isMember: boolean } {
  return {
    httpVersion: "1.1",
    method: incoming.method ?? "",
    scheme: "https",
    authority: incoming.headers.host ?? "",
    path: incoming.url ?? "",
    headers: toFields(incoming.rawHeaders),
    body: new Http1Body(incoming),
    onAbort: (listener) => {
      if (aborted.reason === undefined) aborted.listeners.push(listener);
      else listener(aborted.reason);
    },
    remoteAddress,
    isMember: false,
    vouch,
  };
}

class Http1Body implements ServerRequestBody {
  readonly #incoming: IncomingMessage;
  readonly #chunks: AsyncIterator<Uint8Array>;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
    this.#chunks = incoming[Symbol.asyncIterator]();
  }

  get trailers(): readonly HeaderField[] {
    return toFields(this.#incoming.rawTrailers);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return this.#chunks.next();
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    // Not the node iterator's own return(), which would destroy the socket before the response is
    // written.
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** Node gives names and values in turn. */
function toFields(raw: readonly string[]): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    fields.push({ name: (raw[i] ?? "").toLowerCase(), value: raw[i + 1] ?? "" });
  }
  return fields;
}

async function send(
  outgoing: NodeResponse,
  response: ServerResponse,
  withBody: boolean,
): Promise<void> {
  const { body, trailers } = response;
  outgoing.writeHead(response.status, flatten(response.headers));
  if (body instanceof Uint8Array) {
    if (withBody) outgoing.write(body);
  } else if (withBody && body !== undefined) {
    await sendBody(outgoing, body[Symbol.asyncIterator]());
  } else {
    discardBody(response);
  }
  if (trailers !== undefined) {
    outgoing.addTrailers([...trailers].map(([name, value]): [string, string] => [name, value]));
  }
  outgoing.end();
}

async function sendBody(outgoing: NodeResponse, chunks: AsyncIterator<Uint8Array>): Promise<void> {
  // A body that waits for something must learn that nobody waits for it any more.
  outgoing.once("close", () => quietly(() => chunks.return?.()));
  for (
    let next = await chunks.next();
    !next.done && !outgoing.destroyed;
    next = await chunks.next()
  ) {
    if (!outgoing.write(next.value)) await drained(outgoing);
  }
}

function flatten(pairs: HeaderPairs | undefined): string[] {
  return pairs === undefined ? [] : [...pairs].flatMap(([name, value]) => [name, value]);
}

function drained(outgoing: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off("drain", settle);
      outgoing.off("close", settle);
      resolve();
    };
    outgoing.on("drain", settle);
    outgoing.on("close", settle);
  });
}
