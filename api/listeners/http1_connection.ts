/**
 * One connection of plain HTTP/1.1. A request exists when its body has come whole: until then a
 * client costs its socket and its bytes, and a connection that is closed leaves nothing behind.
 * (The runtime's own server keeps a read that waits for a body for ever when its connection is
 * closed for it: 7 KB each, without end.)
 */
import { after } from "../../server/mod.ts";
import type { CloseReason, RequestStage, TrackedConnection } from "./connections.ts";
import { type Http1RequestHead, isTrailer, parseChunkLine, parseHead } from "./http1_head.ts";
import { IncomingBytes } from "./incoming.ts";
import { refusalText } from "./listener.ts";
import { encodeHead, encodeResponse } from "./http1_response.ts";

export interface Http1Deps {
  readonly answer: (request: Request) => Response | Promise<Response>;
  /** Larger ones are cut off after one byte more, and their connections end with the answer. */
  readonly maxBodyBytes: number;
}

const maxHeadBytes = 16 * 1024;
/** The longest line with a size, or with a trailer, which nobody reads. */
const maxLineBytes = 1024;
const maxTrailers = 32;
/** The time for an answer that says why the connection ends. Its client may not read. */
const lastWordsMs = 200;
/** The time for the rest of a request that was answered before its end. */
const restMs = 2_000;
const [headEnd, lineEnd] = [new TextEncoder().encode("\r\n\r\n"), new TextEncoder().encode("\r\n")];

/** Its client waits: for nothing, for an answer that is not begun, or for the rest of one. */
type State = "idle" | "asked" | "answering" | "closed";

/** The bytes of a body as far as they are wanted. */
interface PartialBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isWhole: boolean;
}

/** The client did not send a request to its end. Without a fault it has left. */
class BrokenOff extends Error {
  constructor(readonly fault?: string) {
    super(fault ?? "The client has left");
  }
}

export class Http1Connection {
  readonly #socket: Deno.TcpConn;
  readonly #incoming: IncomingBytes;
  readonly #deps: Http1Deps;
  #state: State = "idle";
  #isStopping = false;
  readonly #closed = Promise.withResolvers<void>();

  constructor(socket: Deno.TcpConn, deps: Http1Deps) {
    this.#socket = socket;
    this.#incoming = new IncomingBytes(socket);
    this.#deps = deps;
  }

  /** Resolves when it is closed, also when the app still works for it. */
  serve(place: Pick<TrackedConnection, "begin">): Promise<void> {
    void this.#serveAll(place);
    return this.#closed.promise;
  }

  async #serveAll(place: Pick<TrackedConnection, "begin">): Promise<void> {
    try {
      // An answer does not wait until its client has confirmed the one before it.
      this.#socket.setNoDelay();
      while (await this.#serveOne(place));
    } catch (error) {
      if (error instanceof BrokenOff) await this.#refuse(error.fault);
      // The app answers every error itself; this is what is left.
      else if (!isGone(error)) await this.#sayLast(encodeHead(500));
    } finally {
      this.#close();
    }
  }

  /** Closes it at once, or after a last word to a client that waits for an answer. */
  end(why: CloseReason): void {
    if (this.#state !== "asked") return this.#close();
    void this.#sayLast(why === "late" ? encodeHead(408) : encodeHead(503, [["retry-after", "1"]]));
  }

  /** Ends it when the request under way is answered. */
  stop(): void {
    this.#isStopping = true;
    if (this.#state === "idle") this.#close();
  }

  /** Returns whether another request may follow. */
  async #serveOne(place: Pick<TrackedConnection, "begin">): Promise<boolean> {
    const bytes = await this.#incoming.until(headEnd, maxHeadBytes);
    if (bytes === "ended" || this.#state === "closed") return false;
    const head = bytes === "too_long"
      ? { fault: `The head is larger than ${maxHeadBytes} bytes` }
      : parseHead(bytes);
    if ("fault" in head) throw new BrokenOff(head.fault);
    const reach = place.begin(head.body === 0 ? "work" : "body");
    this.#state = "asked";
    const body = await this.#receive(head);
    if (this.#state !== "asked") return false;
    reach("work");
    return await this.#answer(head, body, reach);
  }

  async #answer(
    head: Http1RequestHead,
    body: PartialBody,
    reach: (stage: RequestStage) => void,
  ): Promise<boolean> {
    const request = requestOf(head, body.bytes);
    if (request === undefined) {
      throw new BrokenOff("The Host header, the path or the method is malformed");
    }
    const response = await this.#deps.answer(request);
    const isKept = (): boolean => head.isKept && body.isWhole && !this.#isStopping;
    const encoded = await encodeResponse(response, {
      isHead: head.method === "HEAD",
      isKept: isKept(),
    });
    if (this.#state !== "asked") return false;
    this.#state = "answering";
    reach("answer");
    for (const part of encoded) await this.#write(part);
    if (!body.isWhole) await this.#discardRest();
    reach("over");
    this.#state = "idle";
    return isKept();
  }

  async #receive({ body, awaitsContinue }: Http1RequestHead): Promise<PartialBody> {
    const { maxBodyBytes } = this.#deps;
    if (body === 0) return { bytes: new Uint8Array(), isWhole: true };
    // The request's head says that it is too large: nobody reads it.
    if (body !== "chunked" && body > maxBodyBytes) {
      return { bytes: new Uint8Array(), isWhole: false };
    }
    if (awaitsContinue && this.#incoming.isEmpty) await this.#write(encodeHead(100));
    return body === "chunked"
      ? await this.#receiveChunks(maxBodyBytes)
      : { bytes: (await this.#take(body)).slice(), isWhole: true };
  }

  async #receiveChunks(maxBytes: number): Promise<PartialBody> {
    let bytes = new Uint8Array();
    for (let length = 0;;) {
      const size = parseChunkLine(await this.#line());
      if (size === undefined) {
        throw new BrokenOff("The size of a chunk is malformed, or has an extension");
      }
      if (size === 0) {
        bytes = bytes.subarray(0, length);
        break;
      }
      if (length + size > maxBytes) return { bytes: new Uint8Array(maxBytes + 1), isWhole: false };
      const chunk = await this.#take(size);
      if (length + size > bytes.length) bytes = grown(bytes, 2 * (length + size));
      bytes.set(chunk, length);
      length += size;
      if ((await this.#line()).length > 0) throw new BrokenOff("A chunk is longer than its size");
    }
    for (let trailers = 0;; trailers++) {
      const line = await this.#line();
      if (line.length === 0) return { bytes, isWhole: true };
      if (trailers === maxTrailers || !isTrailer(line)) {
        throw new BrokenOff("A trailer is malformed, or one too many");
      }
    }
  }

  async #line(): Promise<Uint8Array> {
    const line = await this.#incoming.until(lineEnd, maxLineBytes);
    if (line === "ended") throw new BrokenOff();
    if (line === "too_long") throw new BrokenOff("A line of the body is too long");
    return line;
  }

  async #take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#incoming.take(length);
    if (bytes === "ended") throw new BrokenOff();
    return bytes;
  }

  /**
   * In the shape of every refusal (`routes/errors.ts`). Nothing more is read from this connection.
   */
  async #refuse(fault: string | undefined): Promise<void> {
    if (fault === undefined) return;
    const headers = { "content-type": "application/json" };
    const response = new Response(refusalText(fault), { status: 400, headers });
    const [words = new Uint8Array()] = await encodeResponse(response, {
      isHead: false,
      isKept: false,
    });
    await this.#sayLast(words, () => this.#discardRest());
  }

  /**
   * A socket that is closed with bytes unread takes its answer back, and breaks a client off that
   * sends before it reads.
   */
  async #discardRest(): Promise<void> {
    const cancel = after(restMs, () => this.#close());
    try {
      await this.#socket.closeWrite();
      await this.#incoming.discard();
    } finally {
      cancel();
    }
  }

  /** Nobody is told twice. */
  async #sayLast(
    words: Uint8Array,
    listen = (): Promise<void> => Promise.resolve(),
  ): Promise<void> {
    if (this.#state === "answering" || this.#state === "closed") return;
    this.#state = "answering";
    const cancel = after(lastWordsMs, () => this.#close());
    await this.#write(words).catch(() => {});
    cancel();
    await listen().catch(() => {});
    this.#close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.#socket.write(bytes.subarray(sent));
  }

  #close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#closed.resolve();
    try {
      this.#socket.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }
}

/** Undefined for an address that is none, and for a method that no request of the standard has. */
function requestOf(
  { method, url, headers }: Http1RequestHead,
  bytes: Uint8Array<ArrayBuffer>,
): Request | undefined {
  const hasBody = method !== "GET" && method !== "HEAD" && bytes.length > 0;
  try {
    const request = new Request(url, { method, ...(hasBody ? { body: bytes } : {}) });
    // One by one: the runtime takes three times as long for a list of them.
    for (const [name, value] of headers) request.headers.append(name, value);
    // Others are lists with commas.
    const cookies = headers.flatMap(([name, value]) => name === "cookie" ? [value] : []);
    if (cookies.length > 1) request.headers.set("cookie", cookies.join("; "));
    return request;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

/** Errors of a socket whose other end has left, or that was closed here. */
const {
  BadResource,
  BrokenPipe,
  ConnectionAborted,
  ConnectionReset,
  Interrupted,
  NotConnected,
  TimedOut,
} = Deno.errors;
const gone = [
  BadResource,
  BrokenPipe,
  ConnectionAborted,
  ConnectionReset,
  Interrupted,
  NotConnected,
  TimedOut,
];

export function isGone(error: unknown): boolean {
  return gone.some((kind) => error instanceof kind);
}
