import { assertEquals } from "@std/assert";
import { CellReader, limits } from "../../proto/mod.ts";
import { SimulatedClock } from "../../tests/support/mod.ts";
import type { ThreadedStream } from "./outlet.ts";
import { RiderQueue } from "./rider_queue.ts";
import { startSimulatedThread } from "./testing/thread.ts";
import type { CellStream, Connector } from "./transport.ts";
import { withThread } from "./worker_stream.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (envelope: Uint8Array | undefined): string | undefined =>
  envelope && new TextDecoder().decode(envelope);

Deno.test("of each key the newest rides, once, the longest waiting first and those that fit", () => {
  const queue = new RiderQueue();
  for (
    const [key, text] of [["a", "old"], ["b", "long one"], ["a", "new"], ["c", "see"]] as const
  ) {
    queue.offer(key, bytes(text));
  }
  assertEquals(
    [queue.take(3), queue.take(3), queue.take(3), queue.take(8), queue.take(8)].map(textOf),
    [
      "new",
      "see",
      undefined,
      "long one",
      undefined,
    ],
  );
});

Deno.test("what is offered to a stream with a thread of its own rides in its next cell, and makes none", async () => {
  const clock = new SimulatedClock();
  const heard: (string | undefined)[] = [];
  const reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  let cells = 0;
  const stream: CellStream = {
    read: () => new Promise(() => {}),
    write: (written, cellBytes) => {
      cells += written.length / cellBytes;
      reader.read(written, (envelope) => heard.push(textOf(envelope)));
      return Promise.resolve();
    },
    close: () => {},
    closed: new Promise(() => {}),
  };
  const connector: Connector = {
    transport: "quic",
    carrier: "udp",
    unusable: () => undefined,
    connect: () => Promise.resolve(stream),
  };
  const threaded = withThread(connector, () => startSimulatedThread(connector, clock).thread);
  const target = { host: "relay.test", port: 1, trust: { caCerts: [], certificateHashes: [] } };
  const opened = await threaded.connectInThread?.(target, new AbortController().signal);
  const outlet = opened as ThreadedStream; // cast: a stream with a thread of its own
  outlet.offer("a", bytes("rider"));
  await clock.advance(60_000);
  assertEquals([cells, heard], [0, []]);
  outlet.push("control", bytes("content"));
  await clock.settle();
  assertEquals([cells, heard], [1, ["content", "rider"]]);
});
