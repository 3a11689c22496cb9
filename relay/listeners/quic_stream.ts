/**
 * Carries one cell session over one bidirectional QUIC stream, native or of WebTransport, until
 * both sides are done.
 */
import { CellSession } from "../cells/cell_session.ts";
import type { LinkHost } from "../cells/link_host.ts";
import type { EndReason, TransportKind } from "../core/client_link.ts";

/** At the other end of a connection. */
export interface QuicClient {
  readonly remoteAddress: string;
  readonly authenticated: () => void;
  /** The session has ended; its peer may still have to read why. */
  readonly ended: (reason: EndReason | undefined) => void;
}

export interface QuicCellStream extends QuicClient {
  readonly transport: TransportKind;
  /**
   * The next bytes of the peer; undefined when it will send no more. They are used before the next
   * call.
   */
  readonly next: () => Promise<Uint8Array | undefined>;
  readonly writable: WritableStream<Uint8Array>;
  /** The peer has read everything or had its time for it: close what carries the stream. */
  readonly close: (reason: EndReason | undefined) => void;
}

/**
 * Closing a QUIC connection throws away what the peer has not received: it gets this long to read
 * the last cells.
 */
const lingerMs = 1_000;
/** Held by every session while it waits for bytes, so not larger than pays off. */
const readBytes = 16 * 1024;

/** Resolves when the peer sends no more. */
export function carrySession(host: LinkHost, stream: QuicCellStream): Promise<void> {
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  const session = new CellSession(host, {
    transport: stream.transport,
    remoteAddress: stream.remoteAddress,
    authenticated: stream.authenticated,
    write: (cells) => writer.write(cells),
    close: (reason) => {
      stream.ended(reason);
      void goodbye(reason);
    },
  });
  const read = readAll(stream, session);

  /**
   * Ends our direction, waits until the peer has ended its own, which it does when it has read
   * ours, then closes.
   */
  const goodbye = async (reason: EndReason | undefined): Promise<void> => {
    const lingered = Promise.withResolvers<void>();
    const cancel = host.after(lingerMs, lingered.resolve);
    const finished = writer.close().then(() => read, () => {});
    await Promise.race([finished, lingered.promise]);
    cancel();
    stream.close(reason);
  };
  return read;
}

async function readAll(stream: QuicCellStream, session: CellSession): Promise<void> {
  try {
    for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next()) {
      const busy = session.receive(chunk);
      if (busy !== undefined) await busy;
    }
    session.ended();
  } catch {
    // The peer reset the stream, or the connection is gone. A connection without a session must not
    // stay.
    session.lost();
    stream.close({ code: "transport_error", message: "The stream was reset" });
  }
}

/**
 * Reads into one buffer that is used again and again: a new one for every read would dominate the
 * memory of a session. `first` is what was read from the stream before.
 */
export function readWithOneBuffer(
  readable: ReadableStream<Uint8Array>,
  first: Uint8Array = new Uint8Array(0),
): () => Promise<Uint8Array | undefined> {
  const reader = readable.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(readBytes);
  let before: Uint8Array | undefined = first.length > 0 ? first : undefined;
  return async () => {
    if (before !== undefined) {
      const bytes = before;
      before = undefined;
      return bytes;
    }
    const { value } = await reader.read(new Uint8Array(buffer));
    if (value === undefined || value.length === 0) return undefined;
    buffer = value.buffer;
    return value;
  };
}

/** Tells the peer that nobody will read or write this stream. */
export function refuseStream(stream: Deno.QuicBidirectionalStream | Deno.QuicReceiveStream): void {
  if ("writable" in stream) {
    stream.writable.abort().catch(() => {});
    stream.readable.cancel().catch(() => {});
  } else {
    stream.cancel().catch(() => {});
  }
}

/** Refuses every stream that still comes. */
export async function refuseStreams(
  streams: ReadableStreamDefaultReader<Deno.QuicBidirectionalStream | Deno.QuicReceiveStream>,
): Promise<void> {
  try {
    for (let next = await streams.read(); !next.done; next = await streams.read()) {
      refuseStream(next.value);
    }
  } catch {
    // The connection is gone, and its streams with it.
  }
}
