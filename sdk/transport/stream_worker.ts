/**
 * The inside of a thread that owns one stream: connects, and decides when cells leave. Nothing that
 * its session computes can delay a tick here, and a cell costs the same whether it carries
 * something or not.
 */
import { CellSender, envelopePrefixBytes, limits } from "../../proto/mod.ts";
import { reasonOf } from "./reason.ts";
import { RiderQueue } from "./rider_queue.ts";
import type { CellStream, Connector } from "./transport.ts";
import type { FromWorker, MessagePipe, ToWorker } from "./worker_messages.ts";

export interface StreamWorkerDeps {
  readonly connectors: readonly Connector[];
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
  /** Ends this thread. */
  readonly exit: () => void;
}

/** Time that a connection gets to close before its thread ends. */
const lingerMs = 2_000;

export function serveStream(pipe: MessagePipe<FromWorker, ToWorker>, deps: StreamWorkerDeps): void {
  let stream: CellStream | undefined;
  let sender: CellSender | undefined;
  let pushedBytes = 0;
  const riders = new RiderQueue();
  const written = (from: CellSender): void => {
    pipe.post({
      kind: "written",
      takenBytes: pushedBytes - from.pendingBytes,
      counts: from.counts,
    });
  };
  const connect = async (
    { transport, target, isTapped }: Extract<ToWorker, { kind: "connect" }>,
  ): Promise<void> => {
    const connector = deps.connectors.find((known) => known.transport === transport);
    if (connector === undefined) {
      throw new Error(`no way to connect by ${transport} in a thread of its own`);
    }
    const opened = stream = await connector.connect(target, new AbortController().signal);
    const made = sender = new CellSender({
      cellBytes: limits.cellBytes,
      write: (cells, cellBytes) => {
        if (isTapped) pipe.post({ kind: "sent", cells: cells.slice(), cellBytes });
        return opened.write(cells, cellBytes);
      },
      after: deps.after,
      nowMs: deps.nowMs,
      random: () => new DataView(deps.randomBytes(4).buffer).getUint32(0) / 2 ** 32,
      rider: (room) => riders.take(room),
      onWritten: () => written(made),
      onFailed: () => pipe.post({ kind: "failed" }),
    });
    void opened.closed.then((end) => pipe.post({ kind: "closed", end }));
    pipe.post({ kind: "connected" });
  };
  const read = async (): Promise<void> => {
    const bytes = await stream?.read();
    pipe.post({ kind: "chunk", bytes: bytes?.slice() });
  };
  pipe.listen((message) => {
    switch (message.kind) {
      case "connect":
        return void connect(message).catch((error) =>
          pipe.post({ kind: "refused", message: reasonOf(error) })
        );
      case "push":
        pushedBytes += message.envelope.length + envelopePrefixBytes;
        return sender?.push(message.lane, message.envelope);
      case "offer":
        return riders.offer(message.key, message.envelope);
      case "cellBytes":
        return sender?.setCellBytes(message.cellBytes);
      case "configure":
        return sender?.configure(message.mode, message.intervalMs);
      case "covering":
        return sender?.setCovering(message.covering);
      case "flush":
        return void sender?.flush(message.timeoutMs).then((flushed) => {
          pipe.post({ kind: "flushed", id: message.id, flushed });
        });
      case "read":
        return void read();
      case "stop":
        return sender?.stop();
      case "close":
        stream?.close(message.closeCode);
        return void deps.after(lingerMs, deps.exit);
    }
  });
}
