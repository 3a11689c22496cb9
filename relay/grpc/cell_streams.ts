/** The `Session` call: a whole session as one stream of cells each way, one cell per message. */
import { Code, ConnectError } from "@connectrpc/connect";
import { limits } from "../../proto/mod.ts";
import { SessionSockets } from "../../server/http2/mod.ts";
import { prefixOf } from "../../server/limits/mod.ts";
import type { EndReason } from "../core/client_link.ts";
import type { GrpcCaller } from "./caller.ts";
import { CellQueue } from "./cell_queue.ts";
import type { GrpcDeps } from "./deps.ts";
import { admitted, ownFault } from "./errors.ts";
import type { CellPipe } from "./upstream.ts";

interface CellMessage {
  readonly cell: Uint8Array;
}

export class CellStreams {
  readonly #deps: GrpcDeps;
  #size = 0;

  constructor(deps: GrpcDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#size;
  }

  async *run(
    requests: AsyncIterable<CellMessage>,
    { remoteAddress, vouch }: GrpcCaller,
    signal: AbortSignal,
  ): AsyncGenerator<{ cell: Uint8Array }> {
    const queue = new CellQueue();
    const sockets = new SessionSockets();
    const stranger = admitted(this.#deps.strangers.admit(remoteAddress, (reason) => {
      pipe.lost();
      queue.end(reason);
    }));
    this.#size++;
    const pipe = this.#deps.upstream.openCells({
      transport: "grpc",
      remoteAddress: prefixOf(remoteAddress),
      write: (cells, cellBytes) => queue.write(cells, cellBytes),
      authenticated: () => {
        stranger.known();
        vouch(sockets);
      },
      close: (reason) => queue.end(reason),
    });
    const abort = (): void => {
      pipe.lost();
      queue.abort();
    };
    signal.addEventListener("abort", abort);
    void passOn(requests, pipe, queue, this.#deps.onFault);
    try {
      yield* queue.cells();
    } finally {
      signal.removeEventListener("abort", abort);
      abort();
      stranger.gone(queue.reason);
      sockets.end();
      this.#size--;
    }
  }
}

/** Resolves when the stream of requests is over, however it ends. */
async function passOn(
  requests: AsyncIterable<CellMessage>,
  pipe: CellPipe,
  queue: CellQueue,
  onFault: GrpcDeps["onFault"],
): Promise<void> {
  try {
    for await (const cell of cellsOf(requests)) {
      if (cell.length !== pipe.cellBytes) {
        const message = `A cell has ${cell.length} bytes, this session's have ${pipe.cellBytes}`;
        return queue.end({ code: "protocol_error", message });
      }
      const busy = pipe.receive(cell);
      if (busy !== undefined) await busy;
    }
    pipe.ended();
  } catch (error) {
    pipe.lost();
    // Nobody reads the end of a request that was reset. The sender of a request whose bytes are no
    // cells reads its end.
    if (error instanceof NoCells) return queue.end(error.reason);
    onFault(error);
    queue.end(ownFault);
  }
}

class NoCells extends Error {
  readonly reason: EndReason;

  constructor(cause: unknown) {
    super("The request's bytes are no cells", { cause });
    const isTooLarge = cause instanceof ConnectError && cause.code === Code.ResourceExhausted;
    this.reason = isTooLarge
      ? { code: "payload_too_large", message: `A cell has at most ${limits.maxCellBytes} bytes` }
      : { code: "invalid_request", message: this.message };
  }
}

async function* cellsOf(requests: AsyncIterable<CellMessage>): AsyncGenerator<Uint8Array> {
  try {
    for await (const { cell } of requests) yield cell;
  } catch (cause) {
    throw new NoCells(cause);
  }
}
