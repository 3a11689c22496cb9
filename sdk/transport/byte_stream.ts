/**
 * A cell stream over one bidirectional byte stream of a connection: QUIC and WebTransport. The last
 * bytes of a connection that is closed are thrown away, so each side ends its direction first and
 * closes when the other has done so too.
 */
import { errorCodeOfClose } from "../../proto/mod.ts";
import { reasonOf } from "./reason.ts";
import type { CellStream, StreamEnd } from "./transport.ts";

/** The one stream, and the connection that carries nothing else. */
export interface ByteCarrier {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Settles when the connection is gone, with the peer's close code if it gave one. */
  readonly closed: Promise<{ readonly closeCode?: number | undefined }>;
  /** Closes the connection. */
  close(closeCode: number): void;
  /** Runs once after the time; returns a function to cancel it. */
  after(ms: number, run: () => void): () => void;
}

/** How long the other side gets to end its direction, and to close. */
const lingerMs = 1_500;
const readBytes = 64 * 1024;

export function createByteStream(carrier: ByteCarrier): CellStream {
  const reader = carrier.readable.getReader({ mode: "byob" });
  const writer = carrier.writable.getWriter();
  writer.closed.catch(() => {});
  let buffer = new ArrayBuffer(readBytes);
  let settle: (end: StreamEnd) => void = () => {};
  const closed = new Promise<StreamEnd>((resolve) => settle = resolve);
  let cancelLinger: (() => void) | undefined;

  const gone = (end: StreamEnd): void => {
    cancelLinger?.();
    settle(end);
  };
  carrier.closed.then(
    ({ closeCode = 0 }) => gone(endOf(closeCode)),
    (error) => gone({ message: reasonOf(error) }),
  );
  /**
   * Says that nothing more will be written, and closes when the other side has, or had its time.
   */
  const finish = (): void => {
    writer.close().catch(() => {});
    cancelLinger ??= carrier.after(lingerMs, () => {
      carrier.close(0);
      settle({ message: "the relay ended the stream" });
    });
  };
  return {
    read: async () => {
      try {
        const { value } = await reader.read(new Uint8Array(buffer));
        if (value !== undefined && value.length > 0) {
          buffer = value.buffer;
          return value;
        }
      } catch {
        // The reason is in `closed`.
      }
      finish();
      return undefined;
    },
    write: async (cells) => {
      try {
        await writer.write(cells);
      } catch (error) {
        // Perhaps only this direction is gone; a stream of which half is left is of no use.
        finish();
        throw error;
      }
    },
    close: (closeCode) => {
      settle({ message: "it was closed by this side" });
      if (closeCode === 0) finish();
      else carrier.close(closeCode);
    },
    closed,
  };
}

/** The relay's reason to close, by its code. */
export function endOf(closeCode: number): StreamEnd {
  const code = errorCodeOfClose(closeCode);
  if (code === undefined) return { message: "the relay closed the connection" };
  return { code, message: `the relay closed the connection with ${code}` };
}
