/**
 * Cells over `CellUp` and `CellDown`, for runtimes whose only network is `fetch`: each cell up is a call of its own, and one
 * call streams the cells down. A secret link id, made here, ties them together. Connect protocol, binary: sizes stay fixed.
 */
import { createError } from "../errors.ts";
import { readBoundedText } from "./bounded_text.ts";
import { streamEndOf } from "./connect_error.ts";
import {
  concat,
  decodeCell,
  encodeCellDown,
  encodeCellUp,
  encodeFrame,
  endOfStreamFlag,
  FrameReader,
} from "./frames.ts";
import { reasonOf } from "./reason.ts";
import type { CellStream, Connector, HttpClient, StreamEnd, Target, Trust } from "./transport.ts";

export interface CellsDeps {
  readonly openHttp: (trust: Trust) => HttpClient;
  readonly unusable: (trust: Trust) => string | undefined;
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
  /** Calls at once: the relay puts their cells in order, and a round trip carries more than one. */
  readonly callsAtOnce: number;
}

const linkBytes = 32;
/** An error and its padding. */
const maxErrorLength = 64 * 1024;
const headers = { "connect-protocol-version": "1" };

export function createCellsConnector({ openHttp, unusable, randomBytes, callsAtOnce }: CellsDeps): Connector {
  return {
    transport: "cells",
    carrier: "tcp",
    unusable,
    connect: (target, signal) => {
      const http = openHttp(target.trust);
      const ending = new AbortController();
      ending.signal.addEventListener("abort", () => http.close());
      const call = createCall(http, target, ending.signal);
      const link = randomBytes(linkBytes);
      // Answered with the first cell down, which comes after the first cell up: nothing to wait for here.
      const down = call("CellDown", "application/connect+proto", encodeFrame(encodeCellDown(link)));
      const up: Up = (index, cell) => call("CellUp", "application/proto", encodeCellUp(link, index, cell));
      const stream = new FetchedStream(down, { up, callsAtOnce }, ending);
      if (signal.aborted) stream.close();
      return Promise.resolve(stream);
    },
  };
}

type Up = (index: number, cell: Uint8Array) => Promise<Response>;
type Call = (method: string, contentType: string, body: Uint8Array<ArrayBuffer>) => Promise<Response>;

/** Throws `StaticError` for every answer but 200. */
function createCall(http: HttpClient, { host, port }: Target, signal: AbortSignal): Call {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return async (method, contentType, body) => {
    const response = await http.request(`https://${authority}/static.relay.v1.Relay/${method}`, {
      method: "POST",
      headers: { ...headers, "content-type": contentType },
      body,
      signal,
      redirect: "error",
      credentials: "omit",
      cache: "no-store",
    });
    if (response.status === 200) return response;
    const text = await readBoundedText(response, maxErrorLength) ?? "";
    const { code, message } = streamEndOf(text, `${method} was answered ${response.status}`);
    throw createError(code ?? "transport_error", message);
  };
}

class FetchedStream implements CellStream {
  readonly #down: Promise<ReadableStreamDefaultReader<Uint8Array> | undefined>;
  readonly #up: Up;
  readonly #callsAtOnce: number;
  readonly #ending: AbortController;
  readonly #frames = new FrameReader();
  #index = 0;
  #settle: (end: StreamEnd) => void = () => {};
  readonly closed: Promise<StreamEnd>;

  constructor(
    down: Promise<Response>,
    { up, callsAtOnce }: { readonly up: Up; readonly callsAtOnce: number },
    ending: AbortController,
  ) {
    this.#down = down.then((response) => response.body?.getReader());
    this.#down.catch(() => {});
    this.#up = up;
    this.#callsAtOnce = callsAtOnce;
    this.#ending = ending;
    this.closed = new Promise((resolve) => this.#settle = resolve);
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      for (;;) {
        const next = await (await this.#down)?.read();
        if (next?.value === undefined) return this.#end({ message: "the connection was cut off" });
        const { cells, end } = this.#cellsOf(next.value);
        if (end !== undefined) this.#end(end);
        if (cells.length > 0) return concat(cells);
        if (end !== undefined) return undefined;
      }
    } catch (error) {
      return this.#end({ message: reasonOf(error) });
    }
  }

  async write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void> {
    const starts = Array.from({ length: cells.length / cellBytes }, (_, i) => i * cellBytes);
    try {
      while (starts.length > 0) {
        const now = starts.splice(0, this.#callsAtOnce);
        await Promise.all(now.map((at) => this.#send(cells.subarray(at, at + cellBytes))));
      }
    } catch (error) {
      this.#end({ message: reasonOf(error) });
      throw error;
    }
  }

  async #send(cell: Uint8Array): Promise<void> {
    const reply = await this.#up(++this.#index, cell);
    // Read to its end, so that the connection can be used again.
    await reply.arrayBuffer();
  }

  /** A broken `CellDown` ends the link at the relay, whatever the reason: there is no code to give it. */
  close(): void {
    this.#end({ message: "it was closed by this side" });
  }

  #cellsOf(chunk: Uint8Array): { cells: Uint8Array[]; end: StreamEnd | undefined } {
    const cells: Uint8Array[] = [];
    let end: StreamEnd | undefined;
    this.#frames.read(chunk, (flags, message) => {
      if (flags === 0) cells.push(decodeCell(message).slice());
      else end = flags === endOfStreamFlag ? endOf(message) : { message: "compressed cells were not asked for" };
    });
    return { cells, end };
  }

  #end(end: StreamEnd): undefined {
    this.#settle(end);
    this.#ending.abort(createError("transport_error", end.message));
    return undefined;
  }
}

function endOf(message: Uint8Array): StreamEnd {
  return streamEndOf(new TextDecoder().decode(message), "the relay ended the stream");
}
