/**
 * The thread of a stream without a thread: its messages are cloned and come later, as between real
 * ones.
 */
import type { SimulatedClock } from "../../../tests/support/mod.ts";
import { serveStream } from "../stream_worker.ts";
import type { Connector } from "../transport.ts";
import type { FromWorker, ToWorker } from "../worker_messages.ts";
import type { StreamThread } from "../worker_stream.ts";

export interface SimulatedThread {
  readonly thread: StreamThread;
  /** Messages that the thread has sent. */
  readonly said: readonly FromWorker[];
}

export function startSimulatedThread(connector: Connector, clock: SimulatedClock): SimulatedThread {
  let [toWorker, fromWorker] = [(_: ToWorker): void => {}, (_: FromWorker): void => {}];
  const said: FromWorker[] = [];
  const post = (message: FromWorker): void => {
    said.push(message);
    const clone = structuredClone(message);
    queueMicrotask(() => fromWorker(clone));
  };
  serveStream({ post, listen: (hear) => toWorker = hear }, {
    connectors: [connector],
    nowMs: clock.nowMs,
    after: clock.after,
    randomBytes: (length) => new Uint8Array(length),
    exit: () => {},
  });
  const thread: StreamThread = {
    post: (message) => {
      const clone = structuredClone(message);
      queueMicrotask(() => toWorker(clone));
    },
    listen: (hear) => fromWorker = hear,
    onCrash: () => {},
    terminate: () => {},
  };
  return { thread, said };
}
