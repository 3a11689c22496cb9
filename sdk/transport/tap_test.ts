import { assertEquals, assertRejects } from "@std/assert";
import { limits } from "../../proto/mod.ts";
import { SimulatedClock } from "../../tests/support/mod.ts";
import type { ThreadedStream } from "./outlet.ts";
import { tapped, withOptions } from "./tap.ts";
import { startSimulatedThread } from "./testing/thread.ts";
import type { CellTap, Connector } from "./transport.ts";
import { type StreamThread, withThread } from "./worker_stream.ts";

const target = { host: "h", port: 1, trust: { caCerts: [], certificateHashes: [] } };
const { signal } = new AbortController();

/** Takes everything; the relay says one byte each time. */
function createConnector(written: Uint8Array[] = []): Connector {
  return {
    transport: "quic",
    carrier: "udp",
    unusable: () => undefined,
    connect: () =>
      Promise.resolve({
        read: () => Promise.resolve(Uint8Array.of(2)),
        write: (cells) => Promise.resolve(void written.push(cells.slice())),
        close: () => {},
        closed: new Promise(() => {}),
      }),
  };
}

function createTap(): { readonly tap: CellTap; readonly seen: unknown[] } {
  const seen: unknown[] = [];
  return {
    seen,
    tap: (cells, cellBytes, direction) => seen.push([[...cells], cellBytes, direction]),
  };
}

Deno.test("a tap is shown what goes to the relay and what comes from it", async () => {
  const { tap, seen } = createTap();
  const stream = await tapped(createConnector(), tap).connect(target, signal);
  await stream.write(Uint8Array.of(1), 1024);
  await stream.read();
  assertEquals(seen, [[[1], 1024, "sent"], [[2], 1024, "received"]]);
});

Deno.test("a tap is shown what a thread sends, cell by cell, and what comes until the stream is closed", async () => {
  const clock = new SimulatedClock();
  const written: Uint8Array[] = [];
  const { tap, seen } = createTap();
  const connector = createConnector(written);
  const threaded = withThread(connector, () => startSimulatedThread(connector, clock).thread);
  const opened = await withOptions(threaded, { tap }).connectInThread?.(target, signal);
  const stream = opened as ThreadedStream; // cast: a stream with a thread of its own
  stream.push("control", Uint8Array.of(7));
  await clock.settle();
  assertEquals(written.length, 1);
  stream.setCellBytes(1024);
  stream.push("data", new Uint8Array(1500));
  await clock.settle();
  await stream.read();
  const sent = written.map((cells, i) => [[...cells], i === 0 ? limits.cellBytes : 1024, "sent"]);
  assertEquals(seen, [...sent, [[2], 1024, "received"]]);
  assertEquals(written.map(({ length }) => length), [limits.cellBytes, 2048]);
  stream.close(0);
  await stream.read();
  assertEquals(seen.length, 3);
});

Deno.test("a thread reports no cells when nobody watches", async () => {
  const clock = new SimulatedClock();
  const connector = createConnector();
  const { thread, said } = startSimulatedThread(connector, clock);
  const opened = await withOptions(withThread(connector, () => thread), {}).connectInThread?.(
    target,
    signal,
  );
  const stream = opened as ThreadedStream; // cast: a stream with a thread of its own
  stream.push("control", Uint8Array.of(7));
  await clock.settle();
  assertEquals(said.map(({ kind }) => kind), ["connected", "written"]);
});

/** A thread that the browser refuses: at once, or a moment after it was started. */
const refusals: Readonly<Record<string, () => StreamThread>> = {
  "at once": () => {
    throw new Error("refused");
  },
  later: () => ({
    post: () => {},
    listen: () => {},
    onCrash: (run) => queueMicrotask(() => run("refused")),
    terminate: () => {},
  }),
};

for (const [when, start] of Object.entries(refusals)) {
  Deno.test(`a thread that is refused ${when}: cells are scheduled and shown here, or a wrong address is told`, async () => {
    const { tap, seen } = createTap();
    const threaded = withThread(createConnector(), start);
    const stream = await withOptions(threaded, { tap }).connectInThread?.(target, signal);
    await stream?.write(Uint8Array.of(1), 1024);
    assertEquals(seen, [[[1], 1024, "sent"]]);
    const elsewhere = withOptions(threaded, { tap, workerUrl: "https://elsewhere.example/w.js" });
    const connect = async (): Promise<unknown> => await elsewhere.connectInThread?.(target, signal);
    await assertRejects(
      connect,
      Error,
      "Cannot start the worker at https://elsewhere.example/w.js: refused",
    );
  });
}
