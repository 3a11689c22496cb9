/**
 * Cells over `CellUp` and `CellDown`, for browsers, whose `fetch` cannot stream a request while it
 * reads the answer: each cell up is a call of its own, and one call streams the cells down. A
 * secret link id, made here, ties them together. Connect protocol, binary: sizes stay fixed.
 */
import { readBoundedText } from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { authorityOf } from "./authority.ts";
import { busyEndOf, streamEndOf } from "./http_refusal.ts";
import {
  concat,
  decodeCell,
  encodeCellDown,
  encodeCellUp,
  encodeFrame,
  endOfStreamFlag,
  GrpcFrameReader,
} from "./frames.ts";
import { reasonOf } from "./reason.ts";
import type {
  CellStream,
  CertificateTrust,
  Connector,
  ConnectTarget,
  HttpClient,
  StreamEnd,
} from "./transport.ts";

export interface CellsDeps {
  readonly openHttp: (trust: CertificateTrust) => HttpClient;
  readonly unusable: (trust: CertificateTrust) => string | undefined;
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
  /** Calls at once: the relay puts their cells in order, and a round trip carries more than one. */
  readonly callsAtOnce: number;
  readonly after: (ms: number, run: () => void) => () => void;
}

const linkBytes = 32;
/** The time for cells that are under way when this side closes; the last of them is the goodbye. */
const goodbyeMs = 1_000;
/** An error and its padding. */
const maxErrorLength = 64 * 1024;
const headers = { "connect-protocol-version": "1" };

export function createCellsConnector(deps: CellsDeps): Connector {
  const { openHttp, unusable, randomBytes } = deps;
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
      // Answered with the first cell down, which comes after the first cell up: nothing to wait for
      // here.
      const down = call("CellDown", "application/connect+proto", encodeFrame(encodeCellDown(link)));
      const up: CellUpload = (index, cell) =>
        call("CellUp", "application/proto", encodeCellUp(link, index, cell));
      const stream = new FetchedStream(down, up, ending, deps);
      if (signal.aborted) stream.close();
      return Promise.resolve(stream);
    },
  };
}

type CellUpload = (index: number, cell: Uint8Array) => Promise<Response>;
type CellCall = (
  method: string,
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
) => Promise<Response>;

/** Throws `StaticError` for every answer but 200. */
function createCall(
  http: HttpClient,
  { host, port }: ConnectTarget,
  signal: AbortSignal,
): CellCall {
  const authority = authorityOf({ host, port });
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
    const said = streamEndOf(
      text,
      `The relay returned HTTP status ${response.status} for ${method}`,
    );
    const { code, message, retryAfterMs } = busyEndOf(
      response.status,
      response.headers.get("retry-after"),
      said,
    );
    throw createError(
      code ?? "transport_error",
      message,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  };
}

class FetchedStream implements CellStream {
  readonly #down: Promise<ReadableStreamDefaultReader<Uint8Array> | undefined>;
  readonly #up: CellUpload;
  readonly #deps: Pick<CellsDeps, "callsAtOnce" | "after">;
  readonly #ending: AbortController;
  readonly #underWay = new Set<Promise<void>>();
  readonly #frames = new GrpcFrameReader();
  #index = 0;
  #settle: (end: StreamEnd) => void = () => {};
  readonly closed: Promise<StreamEnd>;

  constructor(
    down: Promise<Response>,
    up: CellUpload,
    ending: AbortController,
    deps: Pick<CellsDeps, "callsAtOnce" | "after">,
  ) {
    this.#down = down.then((response) => response.body?.getReader());
    this.#down.catch(() => {});
    this.#up = up;
    this.#deps = deps;
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
      return this.#end(endOfError(error));
    }
  }

  /**
   * Does not wait for answers while there is room: a cell that has its tick must not wait for the
   * one before.
   */
  async write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void> {
    for (let at = 0; at < cells.length; at += cellBytes) {
      this.#ending.signal.throwIfAborted();
      const sending = this.#send(cells.subarray(at, at + cellBytes)).finally(() =>
        this.#underWay.delete(sending)
      );
      this.#underWay.add(sending);
      if (this.#underWay.size >= this.#deps.callsAtOnce) await Promise.race(this.#underWay);
    }
    this.#ending.signal.throwIfAborted();
  }

  /** Never rejects: one cell that is lost ends the stream. */
  async #send(cell: Uint8Array): Promise<void> {
    try {
      const reply = await this.#up(++this.#index, cell);
      // Read to its end, so that the connection can be used again.
      await reply.arrayBuffer();
    } catch (error) {
      this.#end(endOfError(error));
    }
  }

  /** A broken `CellDown` ends the link at the relay whatever the reason, so no code is sent. */
  close(): void {
    const end = { message: "it was closed by this side" };
    if (this.#underWay.size === 0) return this.#end(end);
    this.#settle(end);
    const cancel = this.#deps.after(goodbyeMs, () => this.#end(end));
    void Promise.all(this.#underWay).then(() => {
      cancel();
      this.#end(end);
    });
  }

  #cellsOf(chunk: Uint8Array): { cells: Uint8Array[]; end: StreamEnd | undefined } {
    const cells: Uint8Array[] = [];
    let end: StreamEnd | undefined;
    this.#frames.read(chunk, (flags, message) => {
      if (flags === 0) cells.push(decodeCell(message).slice());
      else {end = flags === endOfStreamFlag
          ? endOf(message)
          : { message: "compressed cells were not asked for" };}
    });
    return { cells, end };
  }

  #end(end: StreamEnd): undefined {
    this.#settle(end);
    this.#ending.abort(createError("transport_error", end.message));
    return undefined;
  }
}

function endOfError(error: unknown): StreamEnd {
  if (!(error instanceof StaticError) || error.code === "transport_error") {
    return { message: reasonOf(error) };
  }
  const { code, message, retryAfterMs } = error;
  return { code, message, retryAfterMs };
}

function endOf(message: Uint8Array): StreamEnd {
  return streamEndOf(new TextDecoder().decode(message), "the relay ended the stream");
}
